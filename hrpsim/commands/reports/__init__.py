# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Reports and pictures of commands."""
