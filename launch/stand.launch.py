# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A humanoid stands on rigid ground: simulation, controller, and optionally RViz and a recording.

ros2 launch hrpsim stand.launch.py --show-args ros2 launch hrpsim stand.launch.py bush:=true
rviz:=true record:=true bag:=my_bag

Ctrl-C ends all processes. The end of the simulation ends all processes, too.
"""

import sys
from pathlib import Path

from launch.conditions import IfCondition
from launch.substitutions import LaunchConfiguration

sys.path.append(str(Path(__file__).parent))
from hrpsim_launch import argument, config, controller, humanoid_launch, simulation

ARGUMENTS = [
    argument("controller", "true", "Run the example: half-sitting, squat, sway, steps in place"),
    argument(
        "lockstep", "false", "Let simulated time wait for the controller at each control tick"
    ),
    argument("viewer", "false", "Show the world in a browser, at http://127.0.0.1:8080/"),
    argument("start_paused", "false", "Wait for the service hrpsim/resume"),
]


def generate_launch_description():
    return humanoid_launch(
        ARGUMENTS,
        simulation("start_paused", "lockstep", "viewer"),
        controller(
            "hrpsim.control:StandController",
            condition=IfCondition(LaunchConfiguration("controller")),
        ),
        world=config("stand.yaml"),
        bag="stand_bag",
    )
