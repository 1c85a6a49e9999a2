"""hrpsim as the hardware of ros2_control: every ros2_control controller moves the robot.

    ros2 launch hrpsim ros2_control.launch.py --show-args
    ros2 launch hrpsim ros2_control.launch.py controllers:="joint_trajectory_controller"

Needs ros2_control, ros2_controllers and joint_state_topic_hardware_interface. docs/ros_howto.md.
"""

from ament_index_python.packages import PackageNotFoundError, get_package_prefix
from launch.actions import DeclareLaunchArgument, ExecuteProcess, OpaqueFunction, Shutdown
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
        description="World to simulate (YAML); its robot needs a <ros2_control> element",
    ),
    DeclareLaunchArgument(
        "controllers_file",
        default_value=PathJoinSubstitution(
            [FindPackageShare(PACKAGE), "config", "ros2_control.yaml"]
        ),
        description="Parameters of the controller manager and of all controllers (YAML)",
    ),
    DeclareLaunchArgument(
        "controllers",
        default_value="joint_state_broadcaster joint_trajectory_controller",
        description="Controllers of controllers_file to start, with spaces between them",
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
        default_value="500.0",
        description="Joint states and clock [Hz, simulated time]; the controllers see no more",
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
        "bag", default_value="ros2_control_bag", description="Folder of the recording, to be made"
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
            }
        ],
        on_exit=Shutdown(reason="the simulation has ended"),
    )
    # It takes the description from the topic robot_description, which hrpsim publishes.
    manager = Node(
        package="controller_manager",
        executable="ros2_control_node",
        namespace=LaunchConfiguration("namespace"),
        output="screen",
        parameters=[LaunchConfiguration("controllers_file"), SIMULATED_TIME],
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
    return LaunchDescription(
        [*ARGUMENTS, recorder(), simulation, manager, OpaqueFunction(function=spawners), rviz]
    )


def spawners(context):
    """Start the controllers one after another in one process: they have one manager."""
    return [
        Node(
            package="controller_manager",
            executable="spawner",
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
