# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Kinds of sensors, with one class for each kind. The tables are in `kinds.py`."""
