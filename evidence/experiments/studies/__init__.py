# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The experiments E1 to E14 and R1 to R4, one file each. The file e07_stopping.py is E7.

A file defines `EXPERIMENT` (framework/experiment.py). The file name registers the experiment.
"""
