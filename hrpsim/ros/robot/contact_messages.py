# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Contacts as ros_gz_interfaces/Contacts, the messages of Gazebo's bridge."""

from __future__ import annotations

from itertools import groupby
from types import ModuleType
from typing import Any

import numpy as np
from rclpy.node import Node

from hrpsim.common.errors import optional_module
from hrpsim.ros.base.geometry_values import fill, vector_of

PACKAGE = "ros_gz_interfaces"
LINK = 3  # ros_gz_interfaces/Entity.LINK


def contact_types(node: Node, consequence: str) -> ModuleType | None:
    """Return the module of the types. Without the module, log the absence and return None."""
    return optional_module(f"{PACKAGE}.msg", consequence, node.get_logger().info)


def contacts_message(types, contacts, names) -> Any:
    """Return the Contacts message of `contacts`, along the world's axes.

    names: `World.link_names`. The message has one Contact for each pair of links that touch, in the
    order of `names`. A Contact has positions [m], normals towards `collision1`, depths [m], and the
    mean force over the step on each link [N]. Separated points without force are omitted.
    """
    message = types.Contacts()
    active = np.flatnonzero((contacts.gaps <= 0.0) | contacts.forces.any(axis=1))
    pairs = [(int(contacts.links[k]), int(contacts.partners[k]), int(k)) for k in active]
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
