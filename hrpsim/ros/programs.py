# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The installed programs: each reports missing packages before it imports what needs them."""

from __future__ import annotations

import sys
from importlib import import_module

from hrpsim.errors import HrpsimError, require_packages

_REMEDY = "source a ROS 2, or pip install 'hrpsim[ros,record]'"


def node() -> int:
    """Run hrpsim_node; return its exit code."""
    return _run("hrpsim_node", "hrpsim.ros.simulation.node", "rclpy")


def controller() -> int:
    """Run hrpsim_controller; return its exit code."""
    return _run("hrpsim_controller", "hrpsim.ros.controller.controller_node", "rclpy")


def observer() -> int:
    """Run dynamics_observer; return its exit code."""
    return _run("dynamics_observer", "hrpsim.ros.recording.analysis_node", "rclpy")


def recorder() -> int:
    """Run wrench_recorder; return its exit code."""
    return _run("wrench_recorder", "hrpsim.ros.recording.recorder", "rclpy", "rosbags")


def _run(program: str, module: str, *packages: str) -> int:
    try:
        require_packages(program, packages, _REMEDY)
        main = import_module(module).main
    except HrpsimError as error:
        print(f"hrpsim: {error}", file=sys.stderr, flush=True)
        return 1
    except KeyboardInterrupt:  # of a launch that fails while this starts, say
        return 130
    return main()
