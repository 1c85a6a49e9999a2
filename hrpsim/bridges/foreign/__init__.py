# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Functions shared by the readers of other projects' policy files."""
