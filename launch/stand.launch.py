"""A humanoid on rigid ground: simulation, controller, and on request RViz and a recording.

ros2 launch hrpsim stand.launch.py --show-args
ros2 launch hrpsim stand.launch.py bush:=true rviz:=true record:=true bag:=my_bag

Ctrl-C ends everything; the end of the simulation does, too.
"""

from ament_index_python.packages import PackageNotFoundError, get_package_prefix
from launch.actions import DeclareLaunchArgument, ExecuteProcess, Shutdown
from launch.conditions import IfCondition
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import FindPackageShare

from launch import LaunchDescription

PACKAGE = "hrpsim"
BOOLEAN = ["true", "false"]
SIMULATED_TIME = {"use_sim_time": True}

ARGUMENTS = [
    DeclareLaunchArgument(
        "world_file",
        default_value=PathJoinSubstitution([FindPackageShare(PACKAGE), "config", "stand.yaml"]),
        description="World to simulate (YAML)",
    ),
    DeclareLaunchArgument(
        "bush",
        default_value="true",
        choices=BOOLEAN,
        description="Rubber bushes between the ankles and the soles",
    ),
    DeclareLaunchArgument(
        "real_time_factor",
        default_value="1.0",
        description="Simulated seconds for each second of wall time; 0 runs as fast as possible",
    ),
    DeclareLaunchArgument(
        "publish_rate",
        default_value="200.0",
        description="Joint states, wrenches, IMU, odometry and clock [Hz, simulated time]",
    ),
    DeclareLaunchArgument(
        "start_paused",
        default_value="false",
        choices=BOOLEAN,
        description="Wait for the service hrpsim/resume",
    ),
    DeclareLaunchArgument(
        "controller",
        default_value="true",
        choices=BOOLEAN,
        description="Run the example controller: half-sitting, squat, sway, steps in place",
    ),
    DeclareLaunchArgument(
        "lockstep",
        default_value="false",
        choices=BOOLEAN,
        description="Let simulated time wait for the controller at each control tick",
    ),
    DeclareLaunchArgument(
        "namespace", default_value="", description="Namespace of all nodes and topics but /clock"
    ),
    DeclareLaunchArgument(
        "rviz", default_value="false", choices=BOOLEAN, description="Show the robot in RViz"
    ),
    DeclareLaunchArgument(
        "viewer",
        default_value="false",
        choices=BOOLEAN,
        description="Show the world in a browser, at http://127.0.0.1:8080/",
    ),
    DeclareLaunchArgument(
        "record",
        default_value="false",
        choices=BOOLEAN,
        description="Record all topics: with ros2 bag where installed, else with wrench_recorder",
    ),
    DeclareLaunchArgument(
        "bag", default_value="stand_bag", description="Folder of the recording, to be made"
    ),
]


def generate_launch_description():
    simulation = Node(
        package=PACKAGE,
        executable="hrpsim_node",
        name="hrpsim",
        namespace=LaunchConfiguration("namespace"),
        output="screen",
        parameters=[
            {
                "world_file": LaunchConfiguration("world_file"),
                "xacro_arguments": [["bush:=", LaunchConfiguration("bush")]],
                "real_time_factor": parameter("real_time_factor", float),
                "publish_rate": parameter("publish_rate", float),
                "start_paused": parameter("start_paused", bool),
                "lockstep": parameter("lockstep", bool),
                "viewer": parameter("viewer", bool),
            }
        ],
        on_exit=Shutdown(reason="the simulation has ended"),
    )
    controller = Node(
        package=PACKAGE,
        executable="hrpsim_controller",
        name="hrpsim_controller",
        namespace=LaunchConfiguration("namespace"),
        output="screen",
        parameters=[
            {
                "controller": "hrpsim.control.motion.stand_controller:StandController",
                "lockstep": parameter("lockstep", bool),
            },
            SIMULATED_TIME,
        ],
        condition=IfCondition(LaunchConfiguration("controller")),
    )
    rviz = Node(
        package="rviz2",
        executable="rviz2",
        namespace=LaunchConfiguration("namespace"),
        arguments=[
            "-d",
            PathJoinSubstitution([FindPackageShare(PACKAGE), "config", "hrpsim.rviz"]),
        ],
        remappings=[("/tf", "tf"), ("/tf_static", "tf_static")],
        parameters=[SIMULATED_TIME],
        condition=IfCondition(LaunchConfiguration("rviz")),
    )
    return LaunchDescription([*ARGUMENTS, recorder(), simulation, controller, rviz])


def parameter(argument, value_type):
    return ParameterValue(LaunchConfiguration(argument), value_type=value_type)


def recorder():
    wanted = IfCondition(LaunchConfiguration("record"))
    try:
        get_package_prefix("ros2bag")
    except PackageNotFoundError:
        return Node(
            package=PACKAGE,
            executable="wrench_recorder",
            output="screen",
            arguments=["--output", LaunchConfiguration("bag")],
            condition=wanted,
        )
    command = ["ros2", "bag", "record", "--all", "--storage", "mcap", "--output"]
    return ExecuteProcess(
        cmd=[*command, LaunchConfiguration("bag")], output="screen", condition=wanted
    )
