# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Properties of joints: armature, damping, dry friction, limits of torque and speed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from hrpsim.explain.differences.difference import Change, Difference, There, are_alike, from_to
from hrpsim.explain.runs.subject import Subject, joint_order


class JointValues(Difference):
    """A property of each joint. A subclass names the array of `System` and the guesses."""

    array: ClassVar[str]
    unit: ClassVar[str]

    def known(self, here: Subject, there: There, feet: Sequence[str]) -> list[Change]:
        """Return the change to the values of the reference's file."""
        names, old = self._values(here)
        other = there.robot_like(here.robot)
        at = other.joint_index.v[other.joint_index.indices(names)]
        new = getattr(other.system, self.array)[at]
        return [] if are_alike(old, new) else [self._to(names, old, new)]

    def guesses(self, here: Subject, feet: Sequence[str]) -> list[Change]:
        """Return the changes to guessed values."""
        names, old = self._values(here)
        tried = self.tried(here, names, old)
        return [self._to(names, old, new) for new in tried if not are_alike(old, new)]

    def tried(self, here: Subject, names: list[str], old: np.ndarray) -> list[np.ndarray]:
        """Return guesses of the joints' values, by default fractions of the present values."""
        return [share * old for share in (0.3, 0.5, 0.7, 1.5)]

    def apply(self, subject: Subject, values: Mapping[str, Any], there: There | None) -> None:
        """Set the values of all joints."""
        robot = subject.robot
        changed = getattr(robot.system, self.array).copy()
        indices = robot.joint_index.indices(list(values["names"]))
        changed[robot.joint_index.v[indices]] = values["values"]
        subject.use_system(**{self.array: changed})

    def _values(self, here: Subject) -> tuple[list[str], np.ndarray]:
        robot, order = here.robot, joint_order(here.robot)
        names = [robot.joint_names[k] for k in order]
        return names, getattr(robot.system, self.array)[robot.joint_index.v[order]]

    def _to(self, names: list[str], old: np.ndarray, new: np.ndarray) -> Change:
        text = from_to(names, old, new, self.unit)
        return self.change(text, names=tuple(names), values=tuple(np.asarray(new).tolist()))


def _torque(here: Subject, names: list[str]) -> np.ndarray:
    """Return a typical torque of each joint: kp times 0.1 rad [Nm]."""
    gains = dict(zip(here.policy.joints, here.policy.kp))
    usual = float(np.median(here.policy.kp))
    return 0.1 * np.array([gains.get(name, usual) for name in names])


class Armature(JointValues):
    """Rotor inertia reflected to the joints (armature)."""

    name = "armature"
    array = "rotor_inertia"
    unit = "kg m^2"

    def tried(self, here: Subject, names: list[str], old: np.ndarray) -> list[np.ndarray]:
        """Return other rotor inertias."""
        added = [old + more for more in (0.005, 0.01, 0.02, 0.05, 0.1)]
        return [0.0 * old, 0.5 * old, 2.0 * old, *added]


class JointDamping(JointValues):
    """Viscous damping of joints."""

    name = "joint damping"
    array = "damping"
    unit = "Nms/rad"

    def tried(self, here: Subject, names: list[str], old: np.ndarray) -> list[np.ndarray]:
        """Return no damping, and the present damping plus fractions of a typical torque."""
        torque = _torque(here, names)
        return [0.0 * old, *(old + share * torque for share in (0.05, 0.1, 0.2, 0.5, 1.0))]


class DryFriction(JointValues):
    """Dry friction of joints."""

    name = "dry friction of joints"
    array = "friction"
    unit = "Nm"

    def tried(self, here: Subject, names: list[str], old: np.ndarray) -> list[np.ndarray]:
        """Return no friction, and the present friction plus fractions of a typical torque."""
        torque = _torque(here, names)
        return [0.0 * old, *(old + share * torque for share in (0.05, 0.1, 0.2, 0.4))]


class TorqueLimits(JointValues):
    """Effort limits of joints."""

    name = "torque limits"
    array = "effort_limit"
    unit = "Nm"

    def tried(self, here: Subject, names: list[str], old: np.ndarray) -> list[np.ndarray]:
        """Return fractions of the present limits. Without a limit a typical torque is used."""
        limit = np.where(np.isfinite(old), old, 10.0 * _torque(here, names))
        return [share * limit for share in (0.2, 0.3, 0.4, 0.5, 0.7, 0.85)]


class SpeedLimits(JointValues):
    """Velocity limits of joints."""

    name = "speed limits"
    array = "velocity_limit"
    unit = "rad/s"

    def tried(self, here: Subject, names: list[str], old: np.ndarray) -> list[np.ndarray]:
        """Return low and high velocity limits."""
        return [np.full(len(old), limit) for limit in (2.0, 4.0, 8.0, np.inf)]
