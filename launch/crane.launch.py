# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The crane game: a claw over a table, moved by sensor_msgs/Joy on joy or Twist on cmd_vel.

ros2 launch hrpsim crane.launch.py --show-args ros2 launch hrpsim crane.launch.py joystick:=true
viewer:=true

Without a joystick: ros2 run teleop_twist_keyboard teleop_twist_keyboard, and for the claws ros2
topic pub --once /close_claws std_msgs/msg/Bool '{data: true}'. Ctrl-C ends all processes.
"""

import sys
from pathlib import Path

from launch.conditions import IfCondition
from launch.substitutions import LaunchConfiguration

from launch import LaunchDescription

sys.path.append(str(Path(__file__).parent))
from hrpsim_launch import argument, config, look_up, other, parameter, program

PERIOD = 0.01  # of the world file and of the crane [s]

ARGUMENTS = [
    argument(
        "world_file", config("crane.yaml"), "World to play in (YAML), with a robot called crane"
    ),
    argument("real_time_factor", "1.0", "Simulated seconds for each second of wall time"),
    argument("grip", "10.0", "Force of each pad [N]"),
    argument("acceleration", "1.5", "Most acceleration of the hand [m/s^2]"),
    argument("joystick", "false", "Run joy's joy_node"),
    argument("viewer", "false", "Show the world in a browser, at http://127.0.0.1:8080/"),
    argument("namespace", "", "Namespace of all nodes and topics but /clock"),
]


def generate_launch_description():
    namespace = LaunchConfiguration("namespace")
    simulation = program(
        "hrpsim_node",
        end="the simulation has ended",
        name="hrpsim",
        namespace=namespace,
        parameters=[
            {
                "world_file": LaunchConfiguration("world_file"),
                "real_time_factor": parameter("real_time_factor", float),
                "viewer": parameter("viewer", bool),
                "lockstep": True,
                "control_period": PERIOD,
            }
        ],
    )
    # Without a name: the plug-in brings a node of its own into the process.
    crane = program(
        "hrpsim_controller",
        namespace=namespace,
        parameters=[
            {
                "controller": "evidence.crane:JoystickCrane",
                "base": "fixed",
                "lockstep": True,
                "parameters": [
                    ["grip:=", LaunchConfiguration("grip")],
                    ["acceleration:=", LaunchConfiguration("acceleration")],
                ],
                "use_sim_time": True,
            }
        ],
    )
    joystick = other(
        "joy",
        "joy_node",
        namespace=namespace,
        condition=IfCondition(LaunchConfiguration("joystick")),
    )
    return LaunchDescription([*ARGUMENTS, look_up(joystick="joy"), simulation, crane, joystick])
