# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Forces as arrows: those of contacts and of force sensors."""

from __future__ import annotations

import numpy as np

from hrpsim.world.objects.body import rotation_matrix
from hrpsim.world.objects.sensor_view import SensorView
from hrpsim.world.parts.results import Contact

LEAST_FORCE = 1e-3  # [N]; an arrow needs a direction
_LONGEST_WEIGHT = 1.0  # length of the arrow of the heaviest entity's weight [m]


def force_scale(world) -> float:
    """Return the length of arrows [m/N] with which the heaviest entity's weight is 1 m long."""
    weights = [entity.system.mass.sum() for entity in world.entities.values()]
    return _LONGEST_WEIGHT / (9.8 * max(weights, default=1.0))


def contact_arrows(contacts: list[Contact], scale: float) -> np.ndarray:
    """Return start and tip (k, 2, 3) [m] of the arrows of `contact_arrows_by_link`."""
    by_link = contact_arrows_by_link(contacts, scale)
    return np.concatenate([np.empty((0, 2, 3)), *by_link.values()])


def contact_arrows_by_link(
    contacts: list[Contact], scale: float
) -> dict[tuple[str, str], np.ndarray]:
    """Return start and tip (k, 2, 3) [m] of the forces' arrows, `scale` [m/N] long, in the world.

    The keys are the links that they act on, as (entity name, link name): the first of the two
    bodies, or the other where the first is the world.
    """
    arrows: dict[tuple[str, str], list] = {}
    for contact in contacts:
        if np.linalg.norm(contact.force) >= LEAST_FORCE:
            link, force = contact.a, contact.force
            if link[0] == "world":
                link, force = contact.b, -force
            arrow = [contact.point, contact.point + scale * force]
            arrows.setdefault(link, []).append(arrow)
    return {link: np.array(points) for link, points in arrows.items()}


def wrench_arrows(sensors: list[SensorView], scale: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the arrows (k, 2, 3) [m] of forces and of torques that sensors read.

    They start at the sensors; a force is `scale` [m/N] long, a torque ten times that [m/Nm].
    """
    forces, torques = [], []
    for sensor in sensors:
        origin, R = sensor_pose(sensor)
        force, torque = R @ sensor.force, R @ sensor.torque
        if np.linalg.norm(force) >= LEAST_FORCE:
            forces.append([origin, origin + scale * force])
        if np.linalg.norm(torque) >= LEAST_FORCE:
            torques.append([origin, origin + 10.0 * scale * torque])
    return np.array(forces).reshape(-1, 2, 3), np.array(torques).reshape(-1, 2, 3)


def sensor_pose(sensor: SensorView) -> tuple[np.ndarray, np.ndarray]:
    """Return origin (3,) [m] and rotation (3, 3) of a sensor's frame in the world."""
    described = sensor.description
    origin, orientation = sensor.robot.frame_pose(described.body, described.R, described.p)
    return origin, rotation_matrix(orientation)
