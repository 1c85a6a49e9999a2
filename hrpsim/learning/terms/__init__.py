# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Terms of learning tasks: functions of the state of all worlds, one table entry for each name.

A term that Isaac Lab or mjlab also has bears the name used there.
"""
