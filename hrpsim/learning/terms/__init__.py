# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Terms of learning tasks: functions of the state of all worlds, one table entry for each name.

Terms have the names of Isaac Lab and mjlab where these have the same term.
"""
