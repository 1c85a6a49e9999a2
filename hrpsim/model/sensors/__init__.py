# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Kinds of sensors: one class a kind, in the tables of `kinds.py`."""
