# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Without rclpy the other files of this folder are not collected; this one says so."""

import pytest


def test_rclpy_can_be_imported():
    pytest.importorskip(
        "rclpy", reason="rclpy is not installed: the ROS tests are left out (pip install .[ros])"
    )
