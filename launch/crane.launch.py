"""The crane game: a claw over a table, moved by sensor_msgs/Joy on joy or Twist on cmd_vel.

ros2 launch hrpsim crane.launch.py --show-args
ros2 launch hrpsim crane.launch.py joystick:=true viewer:=true

Without a joystick: ros2 run teleop_twist_keyboard teleop_twist_keyboard, and for the claws
ros2 topic pub --once /close_claws std_msgs/msg/Bool '{data: true}'. Ctrl-C ends everything.
"""

from launch.actions import DeclareLaunchArgument, Shutdown
from launch.conditions import IfCondition
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import FindPackageShare

from launch import LaunchDescription

PACKAGE = "hrpsim"
BOOLEAN = ["true", "false"]
PERIOD = 0.01  # of the world file and of the crane [s]

ARGUMENTS = [
    DeclareLaunchArgument(
        "world_file",
        default_value=PathJoinSubstitution([FindPackageShare(PACKAGE), "config", "crane.yaml"]),
        description="World to play in (YAML), with a robot called crane",
    ),
    DeclareLaunchArgument(
        "real_time_factor",
        default_value="1.0",
        description="Simulated seconds for each second of wall time",
    ),
    DeclareLaunchArgument("grip", default_value="10.0", description="Force of each pad [N]"),
    DeclareLaunchArgument(
        "acceleration", default_value="1.5", description="Most acceleration of the hand [m/s^2]"
    ),
    DeclareLaunchArgument(
        "joystick", default_value="false", choices=BOOLEAN, description="Run joy's joy_node"
    ),
    DeclareLaunchArgument(
        "viewer",
        default_value="false",
        choices=BOOLEAN,
        description="Show the world in a browser, at http://127.0.0.1:8080/",
    ),
    DeclareLaunchArgument(
        "namespace", default_value="", description="Namespace of all nodes and topics but /clock"
    ),
]


def generate_launch_description():
    namespace = LaunchConfiguration("namespace")
    simulation = Node(
        package=PACKAGE,
        executable="hrpsim_node",
        name="hrpsim",
        namespace=namespace,
        output="screen",
        parameters=[
            {
                "world_file": LaunchConfiguration("world_file"),
                "real_time_factor": ParameterValue(
                    LaunchConfiguration("real_time_factor"), value_type=float
                ),
                "viewer": ParameterValue(LaunchConfiguration("viewer"), value_type=bool),
                "lockstep": True,
                "control_period": PERIOD,
            }
        ],
        on_exit=Shutdown(reason="the simulation has ended"),
    )
    # Without a name: the plug-in brings a node of its own into the process.
    crane = Node(
        package=PACKAGE,
        executable="hrpsim_controller",
        namespace=namespace,
        output="screen",
        parameters=[
            {
                "controller": "hrpsim.crane.joystick:JoystickCrane",
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
    joystick = Node(
        package="joy",
        executable="joy_node",
        namespace=namespace,
        condition=IfCondition(LaunchConfiguration("joystick")),
    )
    return LaunchDescription([*ARGUMENTS, simulation, crane, joystick])
