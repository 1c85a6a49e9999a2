# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Motion and forces of robots, judged: inverse dynamics along a motion, limits, support, reports.

Offers Analyser, MotionObserver and their reports; imports what is below control and control's
motions.
"""
