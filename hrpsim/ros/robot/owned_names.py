# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Names of topics and frames, each with one owner. Needs no ROS.

A description names sensors, and may name topics for Gazebo. Such a name must not be the name of
another owner: two publishers of one topic mix, and two frames of one name break the tree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from importlib.util import find_spec
from typing import NamedTuple

from hrpsim.common.errors import WorldError
from hrpsim.ros.robot.frame_names import RobotFrames

OF_NODE = (
    *("/clock", "/diagnostics", "/parameter_events", "/rosout"),
    *("contact_markers", "contacts", "energy", "simulation_description", "solver"),
    *("tf", "tf_static"),
)
OF_ROBOT = (
    *("apply_wrench", "contact_points", "dynamic_joint_commands", "joint_commands"),
    *("joint_states", "joint_trajectory", "link_contacts", "odom", "robot_description"),
    *("set_base_pose", "set_joint_states", "zmp"),
)
# Topic of each image: below the sensor's name, and below the Gazebo topic of a camera with several
# images.
_IMAGES = {
    "color": ("image_raw", "image"),
    "depth": ("depth/image_raw", "depth_image"),
    "segmentation": ("segmentation/image_raw", "labels_map"),
}
_SHARED = "info"  # cameras in one namespace share one camera_info, as in Gazebo


class NamedRobot(NamedTuple):
    """A robot, the prefix of the topics, and the frames."""

    robot: object
    prefix: str
    frames: RobotFrames


def camera_topics(view) -> dict[str, str]:
    """Return the topics of a camera: info, each image, compressed and points.

    A camera with one image and a declared topic has the image on the topic and camera_info in the
    same namespace. A camera with several images has image, depth_image, labels_map and camera_info
    below the topic. Points are below the topic.
    """
    kinds, own = view.pattern.wanted, view.description.topic
    top = own or view.description.name
    if own and kinds in (("color",), ("depth",)):
        topics = {_SHARED: f"{own.rpartition('/')[0]}/camera_info".lstrip("/"), kinds[0]: own}
    else:
        topics = {_SHARED: f"{top}/camera_info".lstrip("/")}
        topics |= {image: f"{top}/{_IMAGES[image][bool(own)]}" for image in kinds}
    if "color" in kinds and find_spec("PIL"):
        topics["compressed"] = f"{topics['color']}/compressed"
    if "depth" in kinds:
        topics["points"] = f"{top}/points"
    return topics


def scan_topics(view) -> dict[str, str]:
    """Return the topic of a height scan or lidar.

    The key is "ranges" for a lidar with one ring, otherwise "points".
    """
    name, own = view.description.name, view.description.topic
    if is_one_ring(view):
        return {"ranges": own or name}
    return {"points": f"{own}/points" if own else name}


def is_one_ring(view) -> bool:
    """Return whether a sensor is a lidar with a single ring."""
    is_lidar = view.description.kind == "lidar"
    return is_lidar and view.pattern.repeats and view.pattern.shape[0] == 1


def contact_topics(view) -> dict[str, str]:
    """Return the topics of a contact sensor."""
    name = view.description.name
    return {"wrench": name, "contacts": view.description.topic or f"{name}/contacts"}


_TOPICS: dict[str, Callable[..., dict[str, str]]] = {
    "camera": camera_topics,
    "contact": contact_topics,
    "height_scan": scan_topics,
    "lidar": scan_topics,
}


def check_names(
    robots: Iterable[NamedRobot], resolved: Callable[[str], str], step_topic: Callable[..., str]
) -> None:
    """Raise WorldError for a topic or frame with two owners. The error names both.

    Args:
        robots: all robots of the world.
        resolved: returns the absolute name of a topic.
        step_topic: returns the topic of a sensor that is read in every step.
    """
    topics = {resolved(topic): "the node" for topic in OF_NODE}
    frames: dict[str, str] = {}
    for robot in robots:
        for topic, owner in _topics_of(robot, step_topic):
            _claim("topic", topics, resolved(topic), owner, "Rename the sensor, or its <topic>")
        remedy = "Rename one, or set the parameter frame_prefix or odom_frame"
        frames.setdefault(robot.frames.odom, "the node (odom_frame)")
        for frame, owner in _frames_of(robot):
            _claim("frame", frames, frame, owner, remedy)


def _claim(kind: str, owners: dict[str, str], name: str, owner: str, remedy: str) -> None:
    before = owners.setdefault(name, owner)
    if before != owner:
        raise WorldError(f"{owner} and {before} have the same {kind}, {name!r}. {remedy}")


def _topics_of(one: NamedRobot, step_topic) -> Iterator[tuple[str, str]]:
    robot = one.robot
    for topic in OF_ROBOT:
        yield one.prefix + topic, f"robot {robot.name!r}"
    for sensor in robot.model.sensors:
        yield one.prefix + step_topic(sensor), f"sensor {sensor.name!r} of {robot.name!r}"
    for view in robot.samplers:
        at = view.description
        for part, topic in _TOPICS[at.kind](view).items():
            shared = part == _SHARED
            owner = "cameras" if shared else f"sensor {at.name!r} of {robot.name!r}"
            yield one.prefix + topic, owner


def _frames_of(one: NamedRobot) -> Iterator[tuple[str, str]]:
    name = one.robot.name
    for link in one.robot.model.link_names:
        yield one.frames.of_link(link), f"link {link!r} of {name!r}"
    for _, frame, *_ in one.frames.sensor_offsets():
        yield frame, f"a sensor of {name!r}"
