# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Terms of learning tasks: functions of the state of all worlds, listed in tables by name.

A term that Isaac Lab or mjlab also has keeps the name used there.
"""
