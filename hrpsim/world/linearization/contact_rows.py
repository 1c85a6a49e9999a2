# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The rows of contacts that hold in a step, and their changes as the contact points move."""

from __future__ import annotations

import numpy as np

from hrpsim.collision.records import CONTACT
from hrpsim.jit.compiled import prepared
from hrpsim.jit.reference import Reference
from hrpsim.step.arrays import Scene
from hrpsim.world.linearization.contact_geometry import contact_derivatives
from hrpsim.world.linearization.coordinates import skew
from hrpsim.world.linearization.motions import Motions
from hrpsim.world.linearization.taken_step import TakenStep

_contact_derivatives = prepared(contact_derivatives)


class ContactRoom:
    """Room to search the contacts of a scene again, whose bodies `kinematics` (n,) places."""

    def __init__(self, scene: Scene, reference: Reference, kinematics: np.ndarray):
        capacity = len(scene.collision.contacts)
        work = scene.collision._replace(
            pairs=np.zeros((capacity + 1, 2), dtype=np.int64),
            contacts=np.zeros(capacity, dtype=CONTACT),
        )
        self.scene, self.work = reference, Reference(work)
        self.kinematics, self.moved = kinematics, kinematics.copy()


class ContactRows:
    """The contacts of a step: where they are, which hold, and how they move.

    In arrays, the first index is the contact; directions are the normal and two tangents.
    """

    def __init__(self, step: TakenStep, motions: Motions, room: ContactRoom):
        self.step, self.records = step, step.contacts
        count = len(self.records)
        rows = step.rows[: 3 * count].reshape(count, 3)
        self.normals, self.impulses = rows[:, 0], rows["impulse"]
        self.inverse_masses = rows["inverse_mass"]
        on_a = self.records["body_a"] >= 0
        self.directions = np.where(on_a[:, None, None], 1.0, -1.0) * rows["J_a"][:, :, 3:]
        self.places = [motions.places(self.records[body]) for body in ("body_a", "body_b")]
        self.arms = [skew(self.records[point]) for point in ("point_a", "point_b")]
        self.motions = motions
        self.twists = [motions.jacobians[place] for place in self.places]
        moves = self._point_motion(*self.twists)
        self.velocities = moves @ step.end_velocity  # of a against b at the point
        self.jacobians = self.directions @ moves
        self._find_geometry(room)

    def _point_motion(self, twist_a: np.ndarray, twist_b: np.ndarray) -> np.ndarray:
        """Return the motion of a's point against b's for twists (c, 6, ...) of the bodies."""
        a, b = (t[:, 3:] - arm @ t[:, :3] for t, arm in zip((twist_a, twist_b), self.arms))
        return a - b

    def _find_geometry(self, room: ContactRoom) -> None:
        """Find how points, normals and gaps move with q: (c, 3, nv), (c, 3, nv), (c, nv)."""
        count = len(self.records)
        bodies = np.unique(np.concatenate([self.records["body_a"], self.records["body_b"]]))
        geometry, found = np.empty((count, 2, 7, 6)), np.empty((count, 2), dtype=np.int64)
        room.moved[:] = room.kinematics
        _contact_derivatives(
            room.scene,
            room.kinematics,
            room.moved,
            room.work,
            bodies[bodies >= 0],
            count,
            geometry,
            found,
        )
        has_body = np.stack([self.records["body_a"] >= 0, self.records["body_b"] >= 0], axis=1)
        self.is_steady = (found == 12 * has_body).all(axis=1)
        by_q = geometry[:, 0] @ self.twists[0] + geometry[:, 1] @ self.twists[1]
        self.points, self.normal_turns, self.gaps = by_q[:, :3], by_q[:, 3:6], by_q[:, 6]

    def force_changes(self, impulses: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return how J' l changes with q while impulses l (c, 3) stay, and its sums on trees.

        Less what they change by if they turned with their bodies; the second, (nv, nv), has rows
        for the linear velocities of free bases alone.
        """
        force = np.einsum("cd,cdr->cr", impulses, self.directions)
        n, slip = self.directions[:, 0], force - impulses[:, :1] * self.directions[:, 0]
        turned = impulses[:, :1, None] * self.normal_turns
        turned -= n[:, :, None] * np.einsum("cr,crm->cm", slip, self.normal_turns)[:, None]
        size = self.gaps.shape[1]
        total, linear = np.zeros((size, size)), np.zeros((size, size))
        across = skew(force)
        for sign, twist, arm in zip((1.0, -1.0), self.twists, self.arms):
            angular, moment = twist[:, :3], (arm @ force[:, :, None])[:, :, 0]
            wrench = np.empty_like(twist)
            wrench[:, :3] = arm @ turned - across @ self.points
            wrench[:, :3] += skew(moment) @ angular + across @ twist[:, 3:]
            wrench[:, 3:] = turned + across @ angular
            total += sign * _summed(twist, wrench)
            linear += sign * _summed(twist[:, 3:], turned)
        return total, linear

    def rate_changes(self, velocity: np.ndarray) -> np.ndarray:
        """Return how J v (c, 3) changes with q, (c, 3, nv), while v (nv,) stays."""
        rates = self.motions.rates(velocity)
        twists = [twist @ velocity for twist in self.twists]
        change = self._point_motion(*(rates[place] for place in self.places))
        change += skew(twists[0][:, :3] - twists[1][:, :3]) @ self.points
        moving = self._point_motion(*(twist[:, :, None] for twist in twists))[:, :, 0]
        out = self.directions @ change
        along = np.einsum("cr,cr->c", self.directions[:, 0], moving)
        out[:, 0] += np.einsum("cr,crm->cm", moving, self.normal_turns)
        out[:, 1:] -= along[:, None, None] * (self.directions[:, 1:] @ self.normal_turns)
        return out


def _summed(twist: np.ndarray, wrench: np.ndarray) -> np.ndarray:
    size = twist.shape[2]
    return twist.reshape(-1, size).T @ wrench.reshape(-1, size)
