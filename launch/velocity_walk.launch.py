# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A humanoid walks at the velocities of cmd_vel, until the launch is stopped.

ros2 launch hrpsim velocity_walk.launch.py ros2 run teleop_twist_keyboard teleop_twist_keyboard ros2
launch hrpsim velocity_walk.launch.py world_file:=my_robot/world.yaml stamped_cmd_vel:=true

To make a world file of another robot: hrpsim walk --robot my.urdf --write-robot my_robot --check.
"""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent))
from hrpsim_launch import argument, config, controller, humanoid_launch, parameter, simulation

ARGUMENTS = [
    argument("lockstep", "true", "Let simulated time wait for the controller at each control tick"),
    argument("stamped_cmd_vel", "false", "Whether cmd_vel has TwistStamped in place of Twist"),
]


def generate_launch_description():
    return humanoid_launch(
        ARGUMENTS,
        simulation("lockstep"),
        controller(
            "hrpsim.control:VelocityWalk", stamped_cmd_vel=parameter("stamped_cmd_vel", bool)
        ),
        world=config("walking_demo.yaml"),
        bag="walking_bag",
    )
