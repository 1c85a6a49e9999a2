# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The contact points of a robot, the contact wrenches on its links and its zero-moment point.

In the simulator's process the points are read from the world. Over ROS the points are received in
messages. Everything else is computed here from the points, so both ways give the same bits.
"""

from collections.abc import Iterable
from typing import NamedTuple, cast

import numpy as np

from hrpsim.common.constants import STANDARD_GRAVITY
from hrpsim.control.framework.controller import LinkContact
from hrpsim.model.model import Model
from hrpsim.world.objects.robot import Robot
from hrpsim.world.world import World

_LEAST_LOAD = 0.01  # fraction of the weight, below which there is no support


class ContactPoints(NamedTuple):
    """The n points at which other bodies pressed on a robot in the last step, in world axes."""

    links: np.ndarray  # links with contacts (n,): indices in Model.link_names
    points: np.ndarray  # (n, 3) [m]
    forces: np.ndarray  # forces on the link (n, 3) [N]
    positions: np.ndarray  # positions of the link (n, 3) [m]
    orientations: np.ndarray  # orientations of the link, quaternions x y z w (n, 4)


def pressing_points(robot: Robot) -> ContactPoints:
    """Return the contact points that press on a robot, in the order of the world's contacts."""
    contacts = robot.contact_arrays()
    pressing = contacts.forces.any(axis=1)
    names = cast(World, robot.world).link_names
    links = contacts.links[pressing] - names.index((robot.name, robot.model.link_names[0]))
    positions, orientations = robot.link_poses()
    points, forces = contacts.points[pressing], contacts.forces[pressing]
    return ContactPoints(links, points, forces, positions[links], orientations[links])


class ContactSums:
    """Sums the forces at contact points to contact wrenches on links, and to a zero-moment point.

    Args:
        model: model of the robot.
        links: names of the links.
    """

    def __init__(self, model: Model, links: Iterable[str]) -> None:
        self._links = {link: _Carried(model, link) for link in links}
        self._least_force = _LEAST_LOAD * model.mass * STANDARD_GRAVITY

    def of_links(self, pressing: ContactPoints) -> dict[str, LinkContact]:
        """Return the contact of each link, by name.

        The contact of a link includes the contacts of links that are fixed to the link.
        """
        return {link: carried.contact(pressing) for link, carried in self._links.items()}

    def zero_moment_point(self, pressing: ContactPoints) -> np.ndarray | None:
        """Return the point (3,) [m] about which the contact forces have no horizontal moment.

        The height of this point is the mean height of the contact points, weighted by the
        vertical forces. Returns None if the total vertical force is below a hundredth of the
        weight.
        """
        points, forces = pressing.points, pressing.forces
        f_z = forces[:, 2].sum()
        if not f_z >= self._least_force > 0.0:
            return None
        bearing = np.maximum(forces[:, 2], 0.0)
        height = bearing @ points[:, 2] / bearing.sum()
        above = (points[:, 2] - height)[:, None]
        x, y = (points[:, :2] * forces[:, 2:] - above * forces[:, :2]).sum(axis=0) / f_z
        return np.array([x, y, height])


class _Carried:
    """A link together with the links that are fixed to it, to sum their contacts."""

    def __init__(self, model: Model, link: str) -> None:
        frame = model.frames[link]
        self._is_carried = np.zeros(len(model.frames), dtype=bool)
        self._origins = np.zeros((len(model.frames), 3))
        for index, other in enumerate(model.frames.values()):
            if other.body == frame.body:
                self._is_carried[index] = True
                self._origins[index] = other.R.T @ (frame.p - other.p)

    def contact(self, pressing: ContactPoints) -> LinkContact:
        """Return the contact of this link: force, torque about the link's origin, and points."""
        mine = np.flatnonzero(self._is_carried[pressing.links])
        points, forces = pressing.points[mine], pressing.forces[mine]
        torque = np.zeros(3)
        if len(mine):
            first = mine[0]  # any contact of one body gives the origin
            offset = self._origins[pressing.links[first]]
            turned = _turned(pressing.orientations[first], offset)
            torque = np.cross(points - (pressing.positions[first] + turned), forces).sum(axis=0)
        return LinkContact(forces.sum(axis=0), torque, points, forces)


def _turned(quaternion: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """Rotate a vector by a unit quaternion x y z w."""
    twice = 2.0 * np.cross(quaternion[:3], vector)
    return vector + quaternion[3] * twice + np.cross(quaternion[:3], twice)
