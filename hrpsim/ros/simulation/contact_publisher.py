# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The topic contacts: pairs of links in contact and their forces, as in Gazebo's bridge."""

from __future__ import annotations

from itertools import groupby
from typing import Any

import numpy as np

from hrpsim.ros.base import qos
from hrpsim.ros.base.geometry_values import fill, vector_of
from hrpsim.ros.base.optional_packages import optional_module
from hrpsim.ros.base.stamps import Stamp

PACKAGE = "ros_gz_interfaces"
TOPIC = "contacts"
LINK = 3  # ros_gz_interfaces/Entity.LINK


class ContactPublisher:
    """Publishes the contacts of the last step, in the world's axes, if there is a subscription.

    One Contact for each pair of links that touch, in the order of `World.link_names`: positions
    [m], normals towards `collision1`, depths [m], and for each point the force [N] on either link,
    mean over the step. Separated points without force are omitted.
    `messages` is the module of the types.
    """

    def __init__(self, node, world, frame: str, messages):
        self._world, self._frame, self._types = world, frame, messages
        self._publisher = node.create_publisher(messages.Contacts, TOPIC, qos.STATE)

    def hold(self, world) -> None:
        """Switch to the contacts of another world."""
        self._world = world

    def publish(self, stamp: Stamp) -> None:
        """Publish the present contacts; an empty list without contact."""
        if self._publisher.get_subscription_count():
            self._publisher.publish(self.message(stamp))

    def message(self, stamp: Stamp):
        """Return the message of the present contacts."""
        contacts, names = self._world.contact_arrays(), self._world.link_names
        message = self._types.Contacts()
        message.header.stamp, message.header.frame_id = stamp.to_message(), self._frame
        shown = np.flatnonzero((contacts.gaps <= 0.0) | contacts.forces.any(axis=1))
        pairs = [(int(contacts.links[k]), int(contacts.partners[k]), int(k)) for k in shown]
        for pair, points in groupby(sorted(pairs), key=lambda point: point[:2]):
            a, b = ("::".join(names[link]) for link in pair)
            message.contacts.append(self._contact(a, b, [k for _, _, k in points], contacts))
        return message

    def _contact(self, a: str, b: str, points: list[int], contacts) -> Any:
        types = self._types
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


def offer_contacts(node, world, frame: str) -> ContactPublisher | None:
    """Return the publisher, or None after a log entry if its types are not installed."""
    info = node.get_logger().info
    messages = optional_module(f"{PACKAGE}.msg", f"no topic {TOPIC}", info)
    return messages and ContactPublisher(node, world, frame, messages)
