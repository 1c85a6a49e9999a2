# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Properties of joints: armature, damping, dry friction, limits of torque and speed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from hrpsim.explain.differences.difference import Change, Difference, There, are_alike, from_to
from hrpsim.explain.runs.subject import Subject, joint_order

Guesses = Callable[[np.ndarray, np.ndarray], list[np.ndarray]]


class JointValues(Difference):
    """A property of each joint.

    Args:
        name: name of the difference.
        array: array of `System` with the values.
        unit: unit of the values.
        tried: function that returns guesses of the values. The arguments are the present values and
            a typical torque of each joint.
    """

    def __init__(self, name: str, array: str, unit: str, tried: Guesses) -> None:
        self.name, self.array, self.unit, self.tried = name, array, unit, tried

    def known(self, here: Subject, there: There, feet: Sequence[str]) -> list[Change]:
        """Return the change to the values in the reference's file."""
        names, old = self._values(here)
        other = there.robot_like(here.robot)
        at = other.joint_index.v[other.joint_index.indices(names)]
        new = getattr(other.system, self.array)[at]
        return [] if are_alike(old, new) else [self._to(names, old, new)]

    def guesses(self, here: Subject, feet: Sequence[str]) -> list[Change]:
        """Return the changes to guessed values."""
        names, old = self._values(here)
        tried = self.tried(old, _torque(here, names))
        return [self._to(names, old, new) for new in tried if not are_alike(old, new)]

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
    """Return a typical torque of each joint: the torque kp times 0.1 rad [Nm]."""
    gains = dict(zip(here.policy.joints, here.policy.kp))
    usual = float(np.median(here.policy.kp))
    return 0.1 * np.array([gains.get(name, usual) for name in names])


def _rotor_inertias(old: np.ndarray, torque: np.ndarray) -> list[np.ndarray]:
    return [0.0 * old, 0.5 * old, 2.0 * old, *(old + k for k in (0.005, 0.01, 0.02, 0.05, 0.1))]


def _added(*fractions: float) -> Guesses:
    """Return a function that guesses zero, and values increased by fractions of the torque."""
    return lambda old, torque: [0.0 * old, *(old + k * torque for k in fractions)]


def _torque_limits(old: np.ndarray, torque: np.ndarray) -> list[np.ndarray]:
    """Return fractions of the present limits.

    For joints without a limit, use the typical torque.
    """
    limit = np.where(np.isfinite(old), old, 10.0 * torque)
    return [k * limit for k in (0.2, 0.3, 0.4, 0.5, 0.7, 0.85)]


def _speed_limits(old: np.ndarray, torque: np.ndarray) -> list[np.ndarray]:
    return [np.full(len(old), limit) for limit in (2.0, 4.0, 8.0, np.inf)]


JOINT_VALUES = (
    JointValues("armature", "rotor_inertia", "kg m^2", _rotor_inertias),
    JointValues("joint damping", "damping", "Nms/rad", _added(0.05, 0.1, 0.2, 0.5, 1.0)),
    JointValues("dry friction of joints", "friction", "Nm", _added(0.05, 0.1, 0.2, 0.4)),
    JointValues("torque limits", "effort_limit", "Nm", _torque_limits),
    JointValues("speed limits", "velocity_limit", "rad/s", _speed_limits),
)
