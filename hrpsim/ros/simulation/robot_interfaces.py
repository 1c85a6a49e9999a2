"""The interfaces of a world's robots, which come and go with them, and their transforms."""

from __future__ import annotations

from collections.abc import Iterator

from rclpy.expand_topic_name import expand_topic_name
from rclpy.node import Node

from hrpsim.errors import WorldError
from hrpsim.ros.base import parameters
from hrpsim.ros.base.entities import Refusal
from hrpsim.ros.base.stamps import SimulationClock
from hrpsim.ros.robot.lockstep import Lockstep
from hrpsim.ros.robot.node_part import NodePart
from hrpsim.ros.robot.robot_interface import Place, RobotInterface
from hrpsim.ros.robot.sensor_noise import NoiseLevels
from hrpsim.world.objects.robot import Robot


class RobotInterfaces:
    """One RobotInterface for each robot of the world, in the order in which they came.

    The only robot of a world stands without a namespace; each of several, and each that comes
    later, has its own. In lockstep, time waits for the robots that were there at first.
    """

    def __init__(self, node: Node, world, clock: SimulationClock, levels: NoiseLevels):
        self._node = node
        self._world = world
        self._clock = clock
        self._levels = levels
        self._frame_prefix = parameters.value_of(node, "frame_prefix")
        lockstep = parameters.value_of(node, "lockstep")
        robots = list(world.robots.values())
        places = _first_places(robots, self._frame_prefix)
        self._all = [self._made(*pair, lockstep) for pair in zip(robots, places)]
        self.transforms = self._make_transforms()

    def __iter__(self) -> Iterator[RobotInterface]:
        return iter(self._all)

    def __getitem__(self, number: int) -> RobotInterface:
        return self._all[number]

    @property
    def locksteps(self) -> list[Lockstep]:
        """Those that time waits for."""
        return [interface.lockstep for interface in self._all if interface.lockstep]

    def add(self, robot: Robot, namespace: str) -> str:
        """Show a robot that has come, in `namespace` or else in one of its name; return which.

        Raises Refusal where that cannot be a namespace or is another robot's.
        """
        if not namespace and not _is_name_of_ros(robot.name):
            raise Refusal(
                "NAME_INVALID",
                f"the name of a robot is its namespace, so {robot.name!r} must be made of letters, "
                "digits and _ and begin with no digit; or give it an entity_namespace",
            )
        topics = (namespace or robot.name).rstrip("/") + "/"
        commands = expand_topic_name(
            f"{topics}joint_commands", self._node.get_name(), self._node.get_namespace()
        )
        for other in self._all:
            if other.commands.topic == commands:
                raise Refusal(
                    "NAMESPACE_INVALID", f"{topics!r} is the namespace of {other.robot.name!r}"
                )
        place = Place(topics, f"{self._frame_prefix}{robot.name}/", f"{robot.name}.")
        self._all.append(self._made(robot, place, lockstep=False))
        self._show_transforms()
        return topics

    def drop_removed(self) -> None:
        """Take down the interfaces of robots that have left the world."""
        robots = self._world.robots
        gone = [one for one in self._all if robots.get(one.robot.name) is not one.robot]
        for interface in gone:
            self._all.remove(interface)
            interface.destroy()
        if gone:
            self._show_transforms()

    def _made(self, robot: Robot, place: Place, lockstep: bool) -> RobotInterface:
        part = NodePart(self._node)
        try:
            return RobotInterface(part, robot, place, self._clock, self._levels, lockstep=lockstep)
        except BaseException:
            part.destroy()
            raise

    def _make_transforms(self):
        links, odometry = (
            parameters.value_of(self._node, name)
            for name in ("publish_link_tf", "publish_odometry")
        )
        if not links and not odometry:
            return None
        try:
            from hrpsim.ros.simulation.transforms import TransformPublisher
        except ModuleNotFoundError as error:
            if error.name != "tf2_msgs":
                raise
            self._node.get_logger().warning(
                "tf2_msgs is not installed: no transforms are published"
            )
            return None
        transforms = TransformPublisher(self._node, odometry=odometry, links=links)
        transforms.show(self._all)
        return transforms

    def _show_transforms(self) -> None:
        if self.transforms is not None:
            self.transforms.show(self._all)


def _first_places(robots: list[Robot], frame_prefix: str) -> list[Place]:
    if len(robots) == 1:
        return [Place(frames=frame_prefix)]
    for robot in robots:
        if not _is_name_of_ros(robot.name):
            raise WorldError(
                f"robot {robot.name!r}: with several robots in a world the name of each is a "
                "namespace of ROS, so it is made of letters, digits and _ and begins with no digit"
            )
    return [Place(f"{r.name}/", f"{frame_prefix}{r.name}/", f"{r.name}.") for r in robots]


def _is_name_of_ros(name: str) -> bool:
    return name.isidentifier() and name.isascii()
