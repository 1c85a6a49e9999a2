# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A humanoid walks, stabilised by foot forces, optionally with RViz and a recording.

ros2 launch hrpsim walking_demo.launch.py --show-args ros2 launch hrpsim walking_demo.launch.py
rviz:=true record:=true bag:=my_bag ros2 launch hrpsim walking_demo.launch.py stabilizer:=false
bush_set:=jaxon pattern:=turn

The end of the walk ends all processes. Ctrl-C ends all processes, too.
"""

import sys
from pathlib import Path

from launch.substitutions import LaunchConfiguration

sys.path.append(str(Path(__file__).parent))
from hrpsim_launch import argument, config, controller, humanoid_launch, simulation

ARGUMENTS = [
    argument(
        "bush_set",
        "openhrp",
        "Published constants of the bushes",
        choices=["openhrp", "jaxon", "hrp2_soft", "hrp2_stiff"],
    ),
    argument(
        "stabilizer",
        "true",
        "Feedback from foot forces and IMU; without it the pattern is only played",
    ),
    argument(
        "pattern",
        "E5",
        "E5, stepping, forward, backward, sideways, turn, stairs, or the basename of a set of "
        "hrpsys sequence files",
    ),
    argument("start_paused", "false", "Wait for the service hrpsim/resume"),
    argument("lockstep", "true", "Let simulated time wait for the controller at each control tick"),
]


def generate_launch_description():
    return humanoid_launch(
        ARGUMENTS,
        simulation(
            "start_paused",
            "lockstep",
            xacro_arguments=[["bush_set:=", LaunchConfiguration("bush_set")]],
        ),
        controller(
            "hrpsim.control:Walk",
            end="the walk has ended",
            parameters=[
                ["pattern:=", LaunchConfiguration("pattern")],
                ["stabilizer:=", LaunchConfiguration("stabilizer")],
            ],
        ),
        world=config("walking_demo.yaml"),
        bag="walking_bag",
    )
