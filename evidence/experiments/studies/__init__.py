# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The experiments E1 to E14 and R1 to R4, a file each: e07_stopping.py is E7, found by the name.

A file defines `EXPERIMENT` (framework/experiment.py). There is nothing to register.
"""
