# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The cases; each file has a CASE."""
