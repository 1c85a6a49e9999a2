# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The transmissions of a robot: commands and states in the coordinates of actuators."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hrpsim.errors import StateError
from hrpsim.values import finite_vector


class TransmissionView:
    """A transmission of a robot, between k joints and k actuators.

    Positions of actuators are ratios (q - offsets), efforts follow by virtual work.
    """

    def __init__(self, robot: Any, name: str):
        self.robot = robot
        self.name = name
        self._map = robot.model.transmissions[name]

    def __repr__(self) -> str:
        return f"<transmission {self.name!r} of {self.robot.name!r}>"

    @property
    def joints(self) -> tuple[str, ...]:
        """Names of its joints (k)."""
        return self._map.joints

    @property
    def actuators(self) -> tuple[str, ...]:
        """Names of its actuators (k), the order of all values here."""
        return self._map.actuators

    @property
    def ratios(self) -> np.ndarray:
        """Changes of the actuators' positions with those of the joints (k, k)."""
        return self._map.ratios.copy()

    @property
    def positions(self) -> np.ndarray:
        """Positions of the actuators (k,) [rad or m]."""
        return self._map.ratios @ (self._of_joints(self.robot.joint_positions) - self._map.offsets)

    @property
    def velocities(self) -> np.ndarray:
        """Velocities of the actuators (k,) [rad/s or m/s]."""
        return self._map.ratios @ self._of_joints(self.robot.joint_velocities)

    @property
    def efforts(self) -> np.ndarray:
        """Efforts of the actuators in the last step (k,) [Nm or N]."""
        return np.linalg.solve(self._map.ratios.T, self._of_joints(self.robot.joint_efforts))

    def _of_joints(self, values: np.ndarray) -> np.ndarray:
        return values[self.robot.joint_index.indices(self.joints)]

    def command(
        self,
        positions: ArrayLike | None = None,
        velocities: ArrayLike | None = None,
        efforts: ArrayLike | None = None,
        over: float = 0.0,
        *,
        kp: ArrayLike | None = None,
        kd: ArrayLike | None = None,
    ) -> None:
        """Command all its actuators: by position (PD), velocity (damping gain) or effort.

        Args:
            positions: targets (k,) [rad or m].
            velocities: targets (k,) [rad/s or m/s].
            efforts: (k,) [Nm or N].
            over: as for `Robot.command`.
            kp: gains of this command at the actuators, one number or (k,) [Nm/rad or N/m]; by
                default the joints' own gains act.
            kd: likewise [Nms/rad or Ns/m].

        Raises:
            StateError: as for `Robot.command`, and for gains that would couple the joints; nothing
                changes then.
        """
        to_joints = np.linalg.inv(self._map.ratios)
        q = v = tau = None
        if positions is not None:
            q = self._map.offsets + to_joints @ self._checked("positions", positions)
        if velocities is not None:
            v = to_joints @ self._checked("velocities", velocities)
        if efforts is not None:
            tau = self._map.ratios.T @ self._checked("efforts", efforts)
        gains = {"kp": self._gains("kp", kp), "kd": self._gains("kd", kd)}
        self.robot.command(q, v, tau, self.joints, over, **gains)

    def _checked(self, what: str, values: ArrayLike) -> np.ndarray:
        return finite_vector(f"{what} of {self!r}", values, len(self.joints))

    def _gains(self, what: str, values: ArrayLike | None) -> np.ndarray | None:
        """Return gains at the actuators as the joints'."""
        if values is None:
            return None
        each = np.broadcast_to(values, len(self.joints)) if np.ndim(values) == 0 else values
        try:
            return self._map.for_each_joint(what, self._checked(what, each))
        except ValueError as cause:
            raise StateError(f"{self!r}: {cause}") from None
