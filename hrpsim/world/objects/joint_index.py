# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Indices of a robot's joints in its arrays, and values given for joints by name."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase

import numpy as np
from numpy.typing import ArrayLike

from hrpsim.errors import StateError, unknown_name
from hrpsim.model.model import Model
from hrpsim.model.system import FREE, JOINT_NV

_BEYOND = 1e-3  # a limit [rad or m]
_NAMED = 3  # joints beyond their limits
_LISTS_KEPT = 64  # of joints' names


class JointIndex:
    """Indices of the n joints that users name, in the order of `names`.

    q, v: their indices in the robot's q and v (n,); `robot`: its name, for errors.
    """

    def __init__(self, robot: str, model: Model):
        joints = [joint for joint in model.joints if joint.joint_type != FREE]
        self.robot = robot
        self.names = model.joint_names
        self.q = np.array([joint.q_index for joint in joints], dtype=np.int64)
        self.v = np.array([joint.v_index for joint in joints], dtype=np.int64)
        self.everywhere = np.arange(len(joints))
        # Whether a joint is for an actuator: springs are not, nor those that mimic another.
        self.actuated = (model.system.stiffness[self.v] == 0.0) & (
            model.system.mimic_dof[self.v] < 0
        )
        self._index_of = {joint.name: k for k, joint in enumerate(joints)}
        self._indices_of: dict[tuple, np.ndarray] = {}  # of lists of names that came before
        self._last_names: Iterable[str] | None = None  # hashing a tuple takes longer than a command
        self._last_indices = self.everywhere

    def __len__(self) -> int:
        return len(self.everywhere)

    def indices(self, names: str | Iterable[str] | None) -> np.ndarray:
        """Return the indices in `names` of one joint or some, by default of all; not a copy.

        StateError, which names those that exist, for an unknown joint or one that is named twice.
        """
        if names is None:
            return self.everywhere
        if names is self._last_names:
            return self._last_indices
        known = (names,) if isinstance(names, str) else tuple(names)
        indices = self._indices_of.get(known)
        if indices is None:
            if len(self._indices_of) >= _LISTS_KEPT:
                self._indices_of.clear()
            indices = self._indices_of[known] = self._find(known)
        self._last_names, self._last_indices = known, indices
        return indices

    def position_controlled(self, model: Model) -> np.ndarray:
        """Return the indices of the joints for an actuator, except those commanded by effort only.

        Where the description has command interfaces, joints without any have no actuator.
        """
        interfaces = model.command_interfaces
        controlled = [
            not interfaces or not {"position", "velocity"}.isdisjoint(interfaces.get(name, ()))
            for name in self.names
        ]
        return np.flatnonzero(self.actuated & np.array(controlled, dtype=bool))

    def matching(self, pattern: str) -> list[str]:
        """Return the joints whose names fit a pattern with * and ?, of those for an actuator.

        A name is returned as it is.
        """
        if pattern in self._index_of:
            return [pattern]
        fitting = [name for name in self.names if fnmatchcase(name, pattern)]
        return [name for name in fitting if self.actuated[self._index_of[name]]] or [pattern]

    def _find(self, names: tuple) -> np.ndarray:
        indices = []
        for name in names:
            if name not in self._index_of:
                raise StateError(f"{self.robot!r}: {unknown_name('joint', name, self.names)}")
            indices.append(self._index_of[name])
        if len(set(indices)) != len(indices):
            twice = next(n for n in names if names.count(n) > 1)
            raise StateError(f"{self.robot!r}: joint {twice!r} is named twice in one command")
        return np.array(indices, dtype=np.int64)

    def vector(self, what: str, values: ArrayLike, indices: np.ndarray) -> np.ndarray:
        """Return one number for each joint, not copied if it is an array; they may be anything.

        StateError, which names `what` they are, for another number of values or a non-number.
        """
        try:
            vector = np.asarray(values, dtype=np.float64, order="C")
        except (TypeError, ValueError) as error:
            raise StateError(
                f"{what} for {self.robot!r} must be numbers, got {values!r}"
            ) from error
        if vector.shape != (len(indices),):
            raise StateError(
                f"{what} for {self.robot!r} must be {len(indices)} numbers, one a joint, "
                f"got shape {vector.shape}"
            )
        return vector

    def values(self, what: str, values: ArrayLike, indices: np.ndarray) -> np.ndarray:
        """Return the same as `vector`; StateError also for a number that is not finite."""
        vector = self.vector(what, values, indices)
        bad = np.flatnonzero(~np.isfinite(vector))
        if bad.size:
            joint = self.names[indices[bad[0]]]
            raise StateError(f"{what} for joint {joint!r} of {self.robot!r} is {vector[bad[0]]}")
        return vector

    def gains(
        self, what: str, values: ArrayLike, indices: np.ndarray, default: np.ndarray | None = None
    ) -> np.ndarray:
        """Return the same as `values`, of one number for all joints or one for each.

        NaN becomes `default` (k,), where that is given. StateError also for a negative number.
        """
        if np.ndim(values) == 0:
            values = [values] * len(indices)
        vector = self.vector(what, values, indices)
        if default is not None:
            vector = np.where(np.isnan(vector), default, vector)
        self.values(what, vector, indices)
        if (vector < 0.0).any():
            k = int(np.argmax(vector < 0.0))
            raise StateError(
                f"{what} for joint {self.names[indices[k]]!r} of {self.robot!r} is {vector[k]:g}; "
                "gains must not be negative"
            )
        return vector


def beyond_limits(model: Model, q: np.ndarray) -> str:
    """Return which joints are beyond their limits at q (nq,), where, and by which limits.

    The first three are named; "" if none is.
    """
    system, found = model.system, []
    for joint in (joint for joint in model.joints if JOINT_NV[joint.joint_type] == 1):
        at, dof = float(q[joint.q_index]), joint.v_index
        low, high = system.lower[dof], system.upper[dof]
        if max(low - at, at - high) > _BEYOND:
            found.append(f"{joint.name!r} at {at:.3f}, outside of {low:.3f} to {high:.3f}")
    more = f" and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
    return "; ".join(found[:_NAMED]) + more
