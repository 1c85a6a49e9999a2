# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The simulation node with services, parameters and diagnostics."""
