# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Functions that the launch files of hrpsim share, imported from the same folder.

Nothing is started if a required package is missing. If a process fails, the launch ends with exit
code 1. No process outlives the launch.
"""

import os
import shutil
from difflib import get_close_matches

from ament_index_python.packages import PackageNotFoundError, get_package_prefix
from launch.actions import DeclareLaunchArgument, ExecuteProcess, OpaqueFunction, Shutdown
from launch.conditions import IfCondition
from launch.logging import get_logger
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import FindPackageShare

from launch import LaunchDescription

PACKAGE = "hrpsim"
SIMULATED_TIME = {"use_sim_time": True}
ALIKE = 0.75  # a name as near to that of an argument is a misspelt one (difflib's ratio)
declared = []  # names of arguments
# Programs of hrpsim end with the process that this names (hrpsim/common/orphans.py).
END_WITH_LAUNCH = {"HRPSIM_END_WITH": str(os.getpid())}


def argument(name, default, description, choices=None):
    """Declare a launch argument.

    If the default is "true" or "false", the argument is a truth value.
    """
    if default in ("true", "false"):
        choices = ["true", "false", "True", "False"]
    declared.append(name)
    return DeclareLaunchArgument(
        name, default_value=default, description=description, choices=choices
    )


def parameter(name, value_type):
    """Return a launch argument as a parameter of a node."""
    return ParameterValue(LaunchConfiguration(name), value_type=value_type)


def config(file):
    """Return the path of a file in the package's config folder."""
    return PathJoinSubstitution([FindPackageShare(PACKAGE), "config", file])


def look_up(*packages, **on_request):
    """Return an action that checks packages, and raises an error if a package is missing.

    Args:
        *packages: packages that are always required.
        **on_request: packages that are required if a launch argument is true: with rviz="rviz2",
            rviz2 is required for rviz:=true.
    """

    def check(context):
        warn_of_misspelt(context)
        reasons = {package: "" for package in packages}
        for name, package in on_request.items():
            if LaunchConfiguration(name).perform(context).lower() == "true":
                reasons[package] = f"{name}:=true needs "
        missing = [why + package for package, why in reasons.items() if not is_installed(package)]
        if missing:
            distribution = os.environ.get("ROS_DISTRO", "jazzy")
            names = [package for package in reasons if not is_installed(package)]
            apt = " ".join(f"ros-{distribution}-{name.replace('_', '-')}" for name in names)
            raise RuntimeError(
                f"not installed: {', '.join(missing)}. Nothing was started. "
                f"Run: sudo apt install {apt}"
            )

    return OpaqueFunction(function=check)


def warn_of_misspelt(context):
    """Warn of unknown arguments that resemble a declared argument, which launch ignores."""
    for name in set(context.launch_configurations) - set(declared):
        if near := get_close_matches(name, declared, cutoff=ALIKE):
            get_logger("hrpsim").warning(
                f"there is no argument {name!r}. Did you mean {near[0]!r}? --show-args lists them"
            )


def is_installed(package):
    """Return whether a ROS package is installed."""
    try:
        get_package_prefix(package)
    except (PackageNotFoundError, OSError):  # the latter without any prefix to look in
        return False
    return True


def program(executable, end="", **options):
    """Run a program of hrpsim.

    end: reason to shut down the launch when the program ends. "" keeps the launch running.
    """
    return Node(
        package=PACKAGE,
        executable=executable,
        output="screen",
        additional_env=END_WITH_LAUNCH,
        on_exit=after(executable, end),
        **options,
    )


def simulation(*flags, xacro_arguments=()):
    """Run the simulation of a world with a humanoid. The launch ends with the simulation.

    The simulation reads the arguments of `humanoid_launch`.

    Args:
        *flags: names of further launch arguments with truth values, passed as parameters.
        xacro_arguments: further arguments for xacro.
    """
    return program(
        "hrpsim_node",
        end="the simulation has ended",
        name="hrpsim",
        namespace=LaunchConfiguration("namespace"),
        parameters=[
            {
                "world_file": LaunchConfiguration("world_file"),
                "xacro_arguments": [["bush:=", LaunchConfiguration("bush")], *xacro_arguments],
                "real_time_factor": parameter("real_time_factor", float),
                "publish_rate": parameter("publish_rate", float),
                **{name: parameter(name, bool) for name in flags},
            }
        ],
    )


def controller(plugin, end="", condition=None, **parameters):
    """Run a controller of hrpsim, in step with the simulation if `lockstep` is true."""
    return program(
        "hrpsim_controller",
        end=end,
        name="hrpsim_controller",
        namespace=LaunchConfiguration("namespace"),
        parameters=[
            {"controller": plugin, "lockstep": parameter("lockstep", bool), **parameters},
            SIMULATED_TIME,
        ],
        condition=condition,
    )


def other(package, executable, **options):
    """Run a program of another package."""
    return Node(
        package=package,
        executable=executable,
        prefix=ends_with_launch() or None,
        on_exit=after(executable),
        **options,
    )


def after(what, end=""):
    """Return an exit handler. If the process fails, the launch fails.

    end: reason to shut down the launch after a regular end. "" keeps the launch running.
    """

    def handle(event, context):
        if context.is_shutdown:
            return None
        if event.returncode:
            raise RuntimeError(f"{what} ended with code {event.returncode}")
        return Shutdown(reason=end) if end else None

    return handle


def ends_with_launch():
    """Return a command prefix that sends SIGTERM to the command when the launch is killed."""
    return "setpriv --pdeathsig TERM --" if shutil.which("setpriv") else ""


def rviz():
    """Show the robot in RViz with rviz:=true."""
    return other(
        "rviz2",
        "rviz2",
        namespace=LaunchConfiguration("namespace"),
        arguments=["-d", config("hrpsim.rviz")],
        remappings=[("/tf", "tf"), ("/tf_static", "tf_static")],
        parameters=[SIMULATED_TIME],
        condition=IfCondition(LaunchConfiguration("rviz")),
    )


def recorder():
    """Record all topics if record:=true, with ros2 bag if installed, else with wrench_recorder."""
    condition, bag = IfCondition(LaunchConfiguration("record")), LaunchConfiguration("bag")
    if not is_installed("ros2bag"):
        return program("wrench_recorder", arguments=["--output", bag], condition=condition)
    command = ["ros2", "bag", "record", "--all", "--storage", "mcap", "--output", bag]
    return ExecuteProcess(
        cmd=[*ends_with_launch().split(), *command],
        output="screen",
        on_exit=after("ros2 bag record"),
        condition=condition,
    )


def humanoid_launch(arguments, *programs, world, bag, publish_rate="200.0", packages=()):
    """Describe a launch of programs with a humanoid, optionally with RViz and a recording.

    The launch has the arguments common to all humanoid launches, and `arguments`.

    Args:
        arguments: further launch arguments.
        *programs: programs to run.
        world: default of the world file.
        bag: default of the recording's folder.
        publish_rate: default rate of state topics [Hz, simulated].
        packages: packages that the programs require.
    """
    return LaunchDescription(
        [
            argument("world_file", world, "World to simulate (YAML, MJCF, SDF, USD, .cnoid)"),
            *arguments,
            argument("bush", "true", "Rubber bushes between the ankles and the soles"),
            argument("real_time_factor", "1.0", "Simulated seconds a wall second; 0: full speed"),
            argument("publish_rate", publish_rate, "Topics of state, and clock [Hz, simulated]"),
            argument("namespace", "", "Namespace of all nodes and topics but /clock"),
            argument("rviz", "false", "Show the robot in RViz"),
            argument("record", "false", "Record all topics: with ros2 bag, else wrench_recorder"),
            argument("bag", bag, "Folder of the recording, to be made"),
            look_up(*packages, rviz="rviz2"),
            recorder(),
            *programs,
            rviz(),
        ]
    )
