# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Replay of recorded commands in a new world, and comparison with the recording. No rclpy."""
