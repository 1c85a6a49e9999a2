# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""What readers of other projects' policy files have in common."""
