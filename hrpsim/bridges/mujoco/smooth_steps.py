# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Steps of MuJoCo without constraints, which give the forces that hrpsim's world does not simulate.

Late forces are forces that an implicit integrator evaluates at the end of the step. hrpsim's world
treats fewer forces in this way than MuJoCo. MuJoCo's late forces also include:

- dampers of free bodies
- with implicitfast: fluids, tendons, and actuators that hrpsim's joints cannot represent
- with implicit: additionally Coriolis forces.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from hrpsim.bridges.mujoco.forces import find_actuator_forces, late_time
from hrpsim.bridges.mujoco.native import package

_STATE = ("qpos", "qvel", "act", "ctrl", "qfrc_applied", "xfrc_applied", "mocap_pos", "mocap_quat")
_ROUNDING = 1e-9


class Servos(NamedTuple):
    """Damping coefficients, damping gains and effort limits of the world's joints, each (nv,)."""

    dampers: np.ndarray
    gains: np.ndarray
    limits: np.ndarray


def is_staged(m: Any) -> bool:
    """Return whether the integrator of a mujoco.MjModel is RK4."""
    return m.opt.integrator == package().mjtIntegrator.mjINT_RK4


def has_late_forces(m: Any, alone: np.ndarray, others_act: bool) -> bool:
    """Return whether MuJoCo's step has late forces that hrpsim's world does not simulate.

    Args:
        m: a mujoco.MjModel.
        alone: dofs of free bodies.
        others_act: whether forces act that hrpsim's world does not simulate.
    """
    sorts, kind = package().mjtIntegrator, m.opt.integrator
    if kind == sorts.mjINT_RK4:
        return False
    if kind == sorts.mjINT_IMPLICIT:
        return True
    if kind == sorts.mjINT_IMPLICITFAST:
        return others_act
    polynomials = [np.any(getattr(m, f"{of}_dampingpoly", 0.0)) for of in ("dof", "actuator")]
    dampers = m.dof_damping[alone].any() or np.any(getattr(m, "actuator_damping", 0.0))
    return bool(dampers or any(polynomials))


class SmoothSteps:
    """Steps of a mujoco.MjModel by MuJoCo, with constraints disabled."""

    def __init__(self, m: Any) -> None:
        self._model = copy.copy(m)
        self._model.opt.disableflags |= package().mjtDisableBit.mjDSBL_CONSTRAINT
        self._data = package().MjData(self._model)
        self._gravity = m.opt.gravity  # which a script may change without a new world

    def _begin(self, data: Any) -> None:
        self._model.opt.gravity[:] = self._gravity
        for name in _STATE:
            getattr(self._data, name)[:] = getattr(data, name)
        self._data.time = data.time


class LateForces(SmoothSteps):
    """Computes the late forces that hrpsim's world does not simulate, for one step.

    A step of MuJoCo without constraints gives the mean acceleration a and the forces f at the
    start. hrpsim's world has the mass matrix M, and its dampers and gains D add the inertia h D.
    The force (M + h D) a - f gives the world the same acceleration.

    Args:
        m: a mujoco.MjModel.
        servos: dampers and gains of the world's joints.
    """

    def __init__(self, m: Any, servos: Servos) -> None:
        super().__init__(m)
        self._servos = servos
        self.force = np.zeros(m.nv)  # of the last step [N or Nm]

    def compute(self, data: Any, others: np.ndarray) -> None:
        """Compute `force` for the step from a mujoco.MjData.

        others: forces of the actuators that hrpsim's joints cannot represent (nv,) [N or Nm].
        """
        mujoco, m, d = package(), self._model, self._data
        self._begin(data)
        d.qacc_warmstart[:] = 0.0
        mujoco.mj_step(m, d)
        acceleration = (d.qvel - data.qvel) / m.opt.timestep
        gains = np.zeros(m.nv)
        if m.opt.integrator != mujoco.mjtIntegrator.mjINT_EULER:
            within = np.abs(d.qfrc_actuator - others) < (1.0 - _ROUNDING) * self._servos.limits
            gains = m.opt.timestep * np.where(within, self._servos.gains, 0.0)
        added = gains + late_time(m) * self._servos.dampers
        mujoco.mj_mulM(m, d, self.force, acceleration)
        self.force += added * acceleration - d.qfrc_smooth


class Starts(SmoothSteps):
    """Computes the acceleration at the start of an RK4 step minus the mean acceleration."""

    def compute(self, data: Any) -> np.ndarray:
        """Return the difference (nv,) [rad/s^2 or m/s^2] for the step from a mujoco.MjData."""
        mujoco, m, d = package(), self._model, self._data
        self._begin(data)
        mujoco.mj_forward(m, d)
        first = d.qacc.copy()
        mujoco.mj_step(m, d)
        return first - (d.qvel - data.qvel) / m.opt.timestep


class Laws(SmoothSteps):
    """Computes actuator forces at the start of a step by MuJoCo's actuator laws.

    The efforts of the world's joints do not determine the forces of actuators that share a joint,
    or whose joint has its own limit (actfrcrange). In an RK4 step, sensors read the forces at the
    start of the step.
    """

    def compute(self, data: Any) -> None:
        """Compute the forces for the step from a mujoco.MjData."""
        self._begin(data)
        find_actuator_forces(self._model, self._data)

    def write(self, data: Any, numbers: list[int], sensors: list[tuple[int, int, bool]]) -> None:
        """Write the computed forces of actuators and of their sensors to a mujoco.MjData.

        Args:
            data: the mujoco.MjData.
            numbers: the actuators.
            sensors: see `sensors_of_actuators`.
        """
        computed = self._data
        data.actuator_force[numbers] = computed.actuator_force[numbers]
        for at, number, is_joint in sensors:
            source = computed.qfrc_actuator if is_joint else computed.actuator_force
            data.sensordata[at] = source[number]


class Stages(SmoothSteps):
    """The states at which an RK4 step of MuJoCo without constraints evaluates its forces.

    Attributes:
        end: qpos and qvel at the end of the step.
        last: qpos, qvel and act at the last stage.
    """

    def of(self, data: Any) -> Iterator[tuple[float, Any]]:
        """Yield the weight and the state of each stage of a step from a mujoco.MjData."""
        m, d, h = self._model, self._data, self._model.opt.timestep
        self._begin(data)
        rates: list[tuple[np.ndarray, ...]] = []
        weights = (1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0)
        for part, weight in zip((0.0, 0.5, 0.5, 1.0), weights, strict=True):
            if rates:
                velocity, acceleration, act_dot = rates[-1]
                d.qpos[:], d.qvel[:] = data.qpos, data.qvel + part * h * acceleration
                package().mj_integratePos(m, d.qpos, part * velocity, h)
                d.act[:], d.time = data.act + part * h * act_dot, data.time + part * h
            package().mj_forward(m, d)
            rates.append((d.qvel.copy(), d.qacc.copy(), d.act_dot.copy()))
            self.last = d.qpos.copy(), d.qvel.copy(), d.act.copy()
            yield weight, d
        self._begin(data)
        package().mj_step(m, d)  # turns free bodies otherwise than mj_integratePos
        self.end = d.qpos.copy(), d.qvel.copy()


class StageForces(Stages):
    """Computes actuator forces at the last stage of an RK4 step, as MuJoCo leaves them in its data.

    If constraints act in the step, the forces belong to the end of the step instead.
    """

    def begin(self, data: Any) -> None:
        """Simulate a step without constraints from a mujoco.MjData, to find its last stage."""
        for _ in self.of(data):
            pass

    def finish(self, data: Any, is_free: bool) -> None:
        """Write the actuator forces of the last stage to a mujoco.MjData at the end of the step.

        is_free: whether no constraint acted in the step.
        """
        if not is_free:
            self.write(data)
            return
        m, d = self._model, self._data  # at the end of the step without constraints
        change = np.zeros(m.nv)
        package().mj_differentiatePos(m, change, 1.0, self.end[0], self.last[0])
        d.qpos[:], d.qvel[:] = data.qpos, data.qvel + self.last[1] - self.end[1]
        package().mj_integratePos(m, d.qpos, change, 1.0)
        d.act[:] = data.act + self.last[2] - d.act
        self._write(data)

    def write(self, data: Any) -> None:
        """Write the actuator forces for the present state of a mujoco.MjData."""
        self._begin(data)
        self._write(data)

    def _write(self, data: Any) -> None:
        find_actuator_forces(self._model, self._data)
        for name in ("actuator_force", "qfrc_actuator", "act_dot"):
            getattr(data, name)[:] = getattr(self._data, name)
