# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Readings and noise of simulated sensors."""
