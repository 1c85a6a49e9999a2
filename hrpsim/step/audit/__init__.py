# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The audit of energy: what a step stores, what its inputs do, and what it creates."""
