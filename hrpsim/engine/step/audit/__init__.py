# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The audit of energy: energy stored in a step, work of inputs, and energy created."""
