# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The crane game: control, player, score, scripts, its page and its joystick.

Imports control, world, the viewer and, for the joystick and the node, ros.
"""
