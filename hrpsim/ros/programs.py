# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The installed programs. Each reports missing packages before importing further modules."""

from __future__ import annotations

import sys
from functools import partial
from importlib import import_module

from hrpsim.common.errors import HrpsimError, require_packages

_REMEDY = "source a ROS 2, or pip install 'hrpsim[ros,record]'"


def _run(program: str, module: str, *packages: str) -> int:
    """Run the `main` of a module below hrpsim.ros. Return the exit code."""
    try:
        require_packages(program, packages, _REMEDY)
        main = import_module(f"hrpsim.ros.{module}").main
    except HrpsimError as error:
        print(f"hrpsim: {error}", file=sys.stderr, flush=True)
        return 1
    except KeyboardInterrupt:  # for example a launch that fails during this start
        return 130
    return main()


node = partial(_run, "hrpsim_node", "simulation.node", "rclpy")
controller = partial(_run, "hrpsim_controller", "controller.controller_node", "rclpy")
observer = partial(_run, "dynamics_observer", "recording.analysis_node", "rclpy")
recorder = partial(_run, "wrench_recorder", "recording.recorder", "rclpy", "rosbags")
