"""A humanoid walks, stabilised by the forces of its feet; on request with RViz and a recording.

ros2 launch hrpsim walking_demo.launch.py --show-args
ros2 launch hrpsim walking_demo.launch.py rviz:=true record:=true bag:=my_bag
ros2 launch hrpsim walking_demo.launch.py stabilizer:=false bush_set:=jaxon pattern:=turn

The end of the walk ends everything; Ctrl-C does, too.
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
        default_value=PathJoinSubstitution(
            [FindPackageShare(PACKAGE), "config", "walking_demo.yaml"]
        ),
        description="World to walk in (YAML)",
    ),
    DeclareLaunchArgument(
        "bush",
        default_value="true",
        choices=BOOLEAN,
        description="Rubber bushes between the ankles and the soles",
    ),
    DeclareLaunchArgument(
        "bush_set",
        default_value="openhrp",
        choices=["openhrp", "jaxon", "hrp2_soft", "hrp2_stiff"],
        description="Published constants of the bushes",
    ),
    DeclareLaunchArgument(
        "stabilizer",
        default_value="true",
        choices=BOOLEAN,
        description="Feedback from foot forces and IMU; without it the pattern is only played",
    ),
    DeclareLaunchArgument(
        "pattern",
        default_value="E5",
        description="E5, stepping, forward, backward, sideways, turn, or the basename of a set of "
        "hrpsys sequence files",
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
        "lockstep",
        default_value="true",
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
        "record",
        default_value="false",
        choices=BOOLEAN,
        description="Record all topics: with ros2 bag where installed, else with wrench_recorder",
    ),
    DeclareLaunchArgument(
        "bag", default_value="walking_bag", description="Folder of the recording, to be made"
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
                "xacro_arguments": [
                    ["bush:=", LaunchConfiguration("bush")],
                    ["bush_set:=", LaunchConfiguration("bush_set")],
                ],
                "real_time_factor": parameter("real_time_factor", float),
                "publish_rate": parameter("publish_rate", float),
                "start_paused": parameter("start_paused", bool),
                "lockstep": parameter("lockstep", bool),
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
                "controller": "hrpsim.control.walk:Walk",
                "parameters": [
                    ["pattern:=", LaunchConfiguration("pattern")],
                    ["stabilizer:=", LaunchConfiguration("stabilizer")],
                ],
                "lockstep": parameter("lockstep", bool),
            },
            SIMULATED_TIME,
        ],
        on_exit=Shutdown(reason="the walk has ended"),
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
