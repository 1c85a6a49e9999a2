# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The indices of a robot's joints in its arrays, and checks of values for joints."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase

import numpy as np
from numpy.typing import ArrayLike

from hrpsim.common.errors import StateError, unknown_name
from hrpsim.common.values import LARGEST, as_numbers, numeric_array, several
from hrpsim.model.model import Model
from hrpsim.model.system import FREE

_LISTS_KEPT = 64  # number of stored lists of joint names


class JointIndex:
    """Indices of the n named joints of a robot, in the order of `names`.

    q, v: indices of the joints in the robot's q and v (n,). robot: name of the robot, for errors.
    """

    def __init__(self, robot: str, model: Model) -> None:
        joints = [joint for joint in model.joints if joint.joint_type != FREE]
        self.robot = robot
        self.names = model.joint_names
        self.q = np.array([joint.q_index for joint in joints], dtype=np.int64)
        self.v = np.array([joint.v_index for joint in joints], dtype=np.int64)
        self.everywhere = np.arange(len(joints))
        # Whether a joint can have an actuator. Springs and mimic joints cannot.
        self.actuated = (model.system.stiffness[self.v] == 0.0) & (
            model.system.mimic_dof[self.v] < 0
        )
        self._index_of = {joint.name: k for k, joint in enumerate(joints)}
        self._indices_of: dict[tuple, np.ndarray] = {}  # indices of earlier lists of names
        self._last_names: Iterable[str] | None = None  # hashing takes more time than a command
        self._last_indices = self.everywhere

    def __len__(self) -> int:
        return len(self.everywhere)

    def indices(self, names: str | Iterable[str] | None) -> np.ndarray:
        """Return the indices in `names` of one or several joints. The default is all joints.

        Do not change the result, which is not a copy. An unknown joint, or a joint that is named
        twice, raises StateError. The error lists the existing joints.
        """
        if names is None:
            return self.everywhere
        if names is self._last_names:
            return self._last_indices
        known = several(names)
        indices = self._indices_of.get(known)
        if indices is None:
            if len(self._indices_of) >= _LISTS_KEPT:
                self._indices_of.clear()
            indices = self._indices_of[known] = self._find(known)
        self._last_names, self._last_indices = known, indices
        return indices

    def position_controlled(self, model: Model) -> np.ndarray:
        """Return indices of the joints with an actuator that accepts positions.

        If the description has command interfaces, joints without interfaces have no actuator.
        Joints with effort commands only are left out.
        """
        interfaces = model.command_interfaces
        controlled = [
            not interfaces or not {"position", "velocity"}.isdisjoint(interfaces.get(name, ()))
            for name in self.names
        ]
        return np.flatnonzero(self.actuated & np.array(controlled, dtype=bool))

    def matching(self, pattern: str) -> list[str]:
        """Return the joints that have an actuator and a name that matches a pattern with * and ?.

        A complete name is returned unchanged.
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
        """Return one number for each joint. Any numbers are accepted, and arrays are not copied.

        A wrong number of values, or a value that is not a number, raises StateError. `what` is the
        name of the quantity in the error.
        """
        vector = np.asarray(as_numbers(f"{what} for {self.robot!r}", values), order="C")
        if vector.shape != (len(indices),):
            raise StateError(
                f"{what} for {self.robot!r} must be {len(indices)} numbers, one for each joint, "
                f"got shape {vector.shape}"
            )
        return vector

    def values(
        self, what: str, values: ArrayLike, indices: np.ndarray, largest: float = LARGEST
    ) -> np.ndarray:
        """Check and return one number for each joint, as `vector` does.

        A number beyond `largest` in magnitude, or NaN, also raises StateError.
        """
        vector = self.vector(what, values, indices)
        bad = np.flatnonzero(~(np.abs(vector) <= largest))
        if bad.size:
            joint = self.names[indices[bad[0]]]
            raise StateError(
                f"{what} for joint {joint!r} of {self.robot!r} must be finite and at most "
                f"{largest:g}, got {vector[bad[0]]}"
            )
        return vector

    def gains(
        self, what: str, values: ArrayLike, indices: np.ndarray, default: np.ndarray | None = None
    ) -> np.ndarray:
        """Return gains (k,) for joints, checked as in `values`.

        `values` is one number for all joints, or one number for each joint. `default` (k,), if
        given, replaces NaN. A negative number also raises StateError.
        """
        values = numeric_array(f"{what} for {self.robot!r}", values)
        if values.ndim == 0:
            values = np.full(len(indices), values)
        vector = self.vector(what, values, indices)
        if default is not None:
            vector = np.where(np.isnan(vector), default, vector)
        self.values(what, vector, indices)
        if (vector < 0.0).any():
            k = int(np.argmax(vector < 0.0))
            raise StateError(
                f"{what} for joint {self.names[indices[k]]!r} of {self.robot!r} must not be "
                f"negative, got {vector[k]:g}"
            )
        return vector
