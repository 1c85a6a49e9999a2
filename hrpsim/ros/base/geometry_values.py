# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Conversions between numbers and messages of geometry and contacts (ros_gz_interfaces/Contacts).

Imports ROS where it needs it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from hrpsim.errors import optional_module
from hrpsim.model.shapes.placement import Placement, quaternion_of
from hrpsim.ros.base.entities import Refusal
from hrpsim.world.objects.body import rotation_matrix

if TYPE_CHECKING:
    from geometry_msgs.msg import Pose, Vector3
    from rclpy.node import Node

_FARTHEST = 1e4  # [m]; positions are then still exact to 2e-12 m
LINK = 3  # ros_gz_interfaces/Entity.LINK


def placement_of(pose: Pose) -> Placement:
    """Return a pose as a placement; Refusal INVALID_POSE for an invalid one."""
    p, quaternion = np.split(pose_of(pose), [3])
    return Placement(rotation_matrix(quaternion / np.linalg.norm(quaternion)), p)


def pose_of(pose: Pose) -> np.ndarray:
    """Return position [m] and quaternion x y z w (7,); Refusal INVALID_POSE for an invalid pose."""
    p, quaternion = numbers_of(pose.position), numbers_of(pose.orientation)
    if not (np.abs(p) <= _FARTHEST).all():
        raise Refusal(
            "INVALID_POSE", f"the position must be finite, {_FARTHEST:g} m from the origin at most"
        )
    length = np.linalg.norm(quaternion)
    if not abs(length - 1.0) < 1e-2:
        raise Refusal("INVALID_POSE", f"the quaternion's length must be 1, it is {length:.6g}")
    return np.concatenate([p, quaternion])


def fill_pose(pose: Pose, placement: Placement) -> None:
    """Write a placement to a pose."""
    fill(pose.position, placement.p)
    fill(pose.orientation, quaternion_of(placement.R))


def numbers_of(message) -> np.ndarray:
    """Return x, y, z of a vector (3,), x, y, z, w of a quaternion (4,)."""
    return np.array([getattr(message, axis) for axis in "xyzw" if hasattr(message, axis)])


def fill(message, numbers: Sequence[float] | np.ndarray) -> None:
    """Write three or four numbers to x, y, z and w of a message."""
    for axis, number in zip("xyzw", numbers):
        setattr(message, axis, float(number))


def vector_of(numbers: Sequence[float] | np.ndarray) -> Vector3:
    """Return three numbers as a message."""
    from geometry_msgs.msg import Vector3

    x, y, z = map(float, numbers)
    return Vector3(x=x, y=y, z=z)


def contact_types(node: Node, consequence: str) -> ModuleType | None:
    """Return the module of the types, or None after a log entry if it is not installed."""
    return optional_module("ros_gz_interfaces.msg", consequence, node.get_logger().info)


def contacts_message(types, contacts, names) -> Any:
    """Return the message of `contacts`, in the world's axes; names: `World.link_names`.

    One Contact for each pair of links that touch, in the order of `names`: positions [m], normals
    towards `collision1`, depths [m], and for each point the force [N] on either link, mean over the
    step. Separated points without force are omitted.
    """
    message = types.Contacts()
    shown = np.flatnonzero((contacts.gaps <= 0.0) | contacts.forces.any(axis=1))
    pairs = [(int(contacts.links[k]), int(contacts.partners[k]), int(k)) for k in shown]
    for pair, points in groupby(sorted(pairs), key=lambda point: point[:2]):
        a, b = ("::".join(names[link]) for link in pair)
        message.contacts.append(_contact(types, a, b, [k for _, _, k in points], contacts))
    return message


def _contact(types, a: str, b: str, points: list[int], contacts) -> Any:
    contact = types.Contact()
    for entity, name in ((contact.collision1, a), (contact.collision2, b)):
        entity.name, entity.type = name, LINK
    for k in points:
        force = contacts.forces[k]
        wrench = types.JointWrench()
        wrench.body_1_name.data, wrench.body_2_name.data = a, b
        fill(wrench.body_1_wrench.force, force)
        fill(wrench.body_2_wrench.force, -force)
        contact.positions.append(vector_of(contacts.points[k]))
        contact.normals.append(vector_of(contacts.normals[k]))
        contact.depths.append(-float(contacts.gaps[k]))
        contact.wrenches.append(wrench)
    return contact
