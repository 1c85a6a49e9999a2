# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Tendons and transmissions of a robot: commands and readings at the tendon or actuator side."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hrpsim.common.closed import Closed
from hrpsim.common.errors import StateError
from hrpsim.common.values import NOT_NEGATIVE, finite_vector, is_number, number
from hrpsim.model.transmission import Tendon
from hrpsim.world.objects.entity import _frozen


class TransmissionView(Closed):
    """A transmission of a robot between k joints and k actuators.

    Positions of actuators are ratios (q - offsets). Efforts follow by virtual work.
    """

    def __init__(self, robot: Any, name: str) -> None:
        self.robot = robot
        self.name = name
        self._map = robot.model.transmissions[name]

    def __repr__(self) -> str:
        return f"<transmission {self.name!r} of {self.robot.name!r}>"

    @property
    def joints(self) -> tuple[str, ...]:
        """Names of the joints (k)."""
        return self._map.joints

    @property
    def actuators(self) -> tuple[str, ...]:
        """Names of the actuators (k). All values of a transmission have this order."""
        return self._map.actuators

    @property
    def ratios(self) -> np.ndarray:
        """Derivatives of the actuators' positions with respect to the joints' positions (k, k)."""
        return _frozen(self._map.ratios.copy())

    @property
    def positions(self) -> np.ndarray:
        """Positions of the actuators (k,) [rad or m]."""
        q = self._of_joints(self.robot.joint_positions)
        return _frozen(self._map.ratios @ (q - self._map.offsets))

    @property
    def velocities(self) -> np.ndarray:
        """Velocities of the actuators (k,) [rad/s or m/s]."""
        return _frozen(self._map.ratios @ self._of_joints(self.robot.joint_velocities))

    @property
    def efforts(self) -> np.ndarray:
        """Efforts of the actuators in the last step (k,) [Nm or N]."""
        efforts = self._of_joints(self.robot.joint_efforts)
        return _frozen(np.linalg.solve(self._map.ratios.T, efforts))

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
        """Command all actuators by position (PD), velocity (damping gain) or effort.

        Args:
            positions: targets (k,) [rad or m].
            velocities: targets (k,) [rad/s or m/s].
            efforts: (k,) [Nm or N].
            over: as for `Robot.command`.
            kp: gains of this command at the actuators, one number or (k,) [Nm/rad or N/m]. By
                default the joints' own gains act.
            kd: damping gains of this command [Nms/rad or Ns/m], with the same rules.

        Raises:
            StateError: as for `Robot.command`, and if gains would couple the joints. Nothing
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
        """Return the gains of the joints that are equivalent to gains at the actuators."""
        if values is None:
            return None
        each = np.broadcast_to(values, len(self.joints)) if np.ndim(values) == 0 else values
        try:
            return self._map.for_each_joint(what, self._checked(what, each))
        except ValueError as cause:
            raise StateError(f"{self!r}: {cause}") from None


class TendonView(Closed):
    """A driven fixed tendon of a robot, with the length c_a q_a + c_b q_b.

    A tendon with gains starts by holding its length. The efforts of the tendon's actuator and of
    the joints' actuators add up.
    """

    def __init__(self, robot: Any, name: str, number: int) -> None:
        self.robot = robot
        self.name = name
        self._number = number  # number among the robot's transmissions

    def __repr__(self) -> str:
        return f"<tendon {self.name!r} of {self.robot.name!r}>"

    @property
    def properties(self) -> Tendon:
        """Joints, coefficients, gains and limit of the tendon."""
        return self.robot.model.tendons[self.name]

    @property
    def length(self) -> float:
        """Sum of the coefficients times the joints' positions [m or rad]."""
        return self._sum(self.robot.joint_positions)

    @property
    def velocity(self) -> float:
        """Rate of change of the length [m/s or rad/s]."""
        return self._sum(self.robot.joint_velocities)

    @property
    def effort(self) -> float:
        """Effort of the actuator in the last step [N or Nm], positive towards larger lengths."""
        return float(self.record()["impulse"][0]) / self.robot.world.time_step

    def _sum(self, values: np.ndarray) -> float:
        joints = self.robot.joint_index.indices(self.properties.joints)
        return float(np.dot(self.properties.coefficients, values[joints]))

    def record(self) -> np.ndarray:
        """Return the TENDON_DRIVE record (1,) in the scene."""
        robot, tendons = self.robot, self.robot.world.scene.tendons
        dofs = tendons.joints["dof_a"]
        first = int(np.flatnonzero((dofs >= robot.first_v) & (dofs < robot.first_v + robot.nv))[0])
        return tendons.drives[first + self._number : first + self._number + 1]

    def command(
        self,
        position: float | None = None,
        velocity: float | None = None,
        effort: float | None = None,
        *,
        kp: float | None = None,
        kd: float | None = None,
    ) -> None:
        """Command the actuator by length (PD), rate (damping gain) or effort.

        The rules of `Robot.command` apply. Without a position kp does not act. With an effort alone
        neither gain acts.

        Args:
            position: target of the length [m or rad].
            velocity: target of the rate [m/s or rad/s].
            effort: force of the actuator, or feed-forward beside a target [N or Nm].
            kp: gain of this command [N/m or Nm/rad]. The default is the gain of the description.
            kd: damping gain of this command [Ns/m or Nms/rad], with the same default.

        Raises:
            StateError: a value is not finite, no value is given, or a position or velocity alone is
                given to a tendon without gains. Nothing changes then.
            WorldError: negative gain.
        """
        own = dict(zip(("kp", "kd"), self.properties.gains, strict=True))
        gains = {
            gain: number(f"{gain} of {self!r}", own[gain] if value is None else value, NOT_NEGATIVE)
            for gain, value in (("kp", kp), ("kd", kd))
        }
        self._check_command(position, velocity, effort, has_gains=any(gains.values()))
        drive = self.record()
        drive["kp"] = 0.0 if position is None else gains["kp"]
        drive["kd"] = 0.0 if position is None and velocity is None else gains["kd"]
        drive["target_position"] = position or 0.0
        drive["target_velocity"] = velocity or 0.0
        drive["effort"] = effort or 0.0

    def _check_command(
        self, position: float | None, velocity: float | None, effort: float | None, has_gains: bool
    ) -> None:
        """Raise StateError for an invalid command."""
        targets = {"position": position, "velocity": velocity, "effort": effort}
        for target, value in targets.items():
            if value is not None and not (is_number(value) and np.isfinite(value)):
                raise StateError(f"{target} of {self!r} must be a finite number, got {value!r}")
        if all(value is None for value in targets.values()):
            raise StateError(f"a command of {self!r} needs a position, a velocity or an effort")
        if effort is None and not has_gains:
            raise StateError(
                f"{self!r} has no gains, so it can be commanded by effort only. Give kp and kd"
            )

    def hold(self) -> None:
        """Hold the present length. A tendon without gains exerts no force."""
        drive, (kp, kd) = self.record(), self.properties.gains
        drive[:] = np.zeros(1, dtype=drive.dtype)
        drive["kp"], drive["kd"], drive["target_position"] = kp, kd, self.length if kp else 0.0
