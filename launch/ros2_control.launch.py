# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""hrpsim as the hardware of ros2_control: any ros2_control controller can move the robot.

    ros2 launch hrpsim ros2_control.launch.py --show-args
    ros2 launch hrpsim ros2_control.launch.py controllers:="joint_trajectory_controller"

Needs ros2_control, ros2_controllers and joint_state_topic_hardware_interface. The world's robot
needs a <ros2_control> element. See docs/howto/ros.md.
"""

import sys
from pathlib import Path

from launch.actions import OpaqueFunction
from launch.substitutions import LaunchConfiguration

sys.path.append(str(Path(__file__).parent))
from hrpsim_launch import SIMULATED_TIME, argument, config, humanoid_launch, other, simulation

ARGUMENTS = [
    argument(
        "controllers_file",
        config("ros2_control.yaml"),
        "Parameters of the controller manager and of all controllers (YAML)",
    ),
    argument(
        "controllers",
        "joint_state_broadcaster joint_trajectory_controller",
        "Controllers of controllers_file to start, with spaces between them",
    ),
]


def generate_launch_description():
    # It takes the description from the topic robot_description, which hrpsim publishes.
    manager = other(
        "controller_manager",
        "ros2_control_node",
        namespace=LaunchConfiguration("namespace"),
        output="screen",
        parameters=[LaunchConfiguration("controllers_file"), SIMULATED_TIME],
    )
    return humanoid_launch(
        ARGUMENTS,
        simulation(),
        manager,
        OpaqueFunction(function=spawners),
        world=config("stand.yaml"),
        bag="ros2_control_bag",
        publish_rate="500.0",
        packages=["controller_manager", "joint_state_topic_hardware_interface"],
    )


def spawners(context):
    """Start the controllers one after another in one process, because they share one manager."""
    return [
        other(
            "controller_manager",
            "spawner",
            namespace=LaunchConfiguration("namespace"),
            output="screen",
            arguments=[
                *LaunchConfiguration("controllers").perform(context).split(),
                "--controller-manager",
                "controller_manager",
                "--param-file",
                LaunchConfiguration("controllers_file"),
                "--controller-manager-timeout",
                "60",
            ],
            parameters=[SIMULATED_TIME],
        )
    ]
