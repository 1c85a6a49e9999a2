# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Forces of a model that hrpsim's world does not simulate, computed by MuJoCo from the state.

A second MuJoCo model has only these forces:

- fluids
- springs, dampers, limits and dry friction of tendons, and limits of ball joints
- springs and dampers of free bodies, and polynomial springs and dampers
- actuators with states, and actuators on sites, spatial tendons and muscles.

hrpsim applies these forces as generalised forces, constant over each step. With the integrator RK4
the constant forces are means over the stages of a MuJoCo step without constraints. If no constraint
acts in a step, the end state is replaced by the end state of MuJoCo's step.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from hrpsim.bridges.mujoco.actuators import acting_actuators
from hrpsim.bridges.mujoco.forces import find_actuator_forces
from hrpsim.bridges.mujoco.native import package
from hrpsim.bridges.mujoco.other_limits import OtherLimits, has_other_limits
from hrpsim.bridges.mujoco.sensing import sensors_of_actuators
from hrpsim.bridges.mujoco.smooth_steps import (
    LateForces,
    Servos,
    Stages,
    has_late_forces,
    is_staged,
)

_PASSIVE = ("tendon_stiffness", "tendon_damping", "dof_dampingpoly", "jnt_stiffnesspoly")
_PASSIVE += ("tendon_stiffnesspoly", "tendon_dampingpoly")
_DAMPERS = ("actuator_damping", "actuator_dampingpoly")
_NOTHING = np.empty(0)
_MEANS = ("qfrc_passive", "qfrc_actuator", "actuator_force", "act_dot")


class OtherForces:
    """Computes the forces of a model that hrpsim's world does not simulate (nv,) [N or Nm].

    Attributes:
        numbers: the actuators whose forces are computed here.
        total: sum of the computed forces and qfrc_applied (nv,).

    Args:
        m: a mujoco.MjModel.
        taken: the actuators that hrpsim's joints represent.
        dofs: dofs of the joints whose springs and dampers hrpsim's world simulates.
    """

    def __init__(self, m: Any, taken: list[int], dofs: list[int]) -> None:
        self.taken, self.dofs = taken, dofs
        alone = np.setdiff1d(np.arange(m.nv), dofs)  # dofs of free bodies
        springs = np.isin(m.jnt_dofadr, alone)
        self.numbers = [k for k in acting_actuators(m) if k not in taken]
        own = (m.dof_damping[alone], m.jnt_stiffness[springs], m.opt.density, m.opt.viscosity)
        own += tuple(getattr(m, name, 0.0) for name in _PASSIVE)
        self.act = bool(self.numbers) or any(map(np.any, own))
        is_late = has_late_forces(m, alone, self.act)
        self.limits = OtherLimits(m) if has_other_limits(m) else None
        self.act |= is_late or self.limits is not None
        self.servos = Servos(np.zeros(m.nv), np.zeros(m.nv), np.full(m.nv, np.inf))
        self.late = LateForces(m, self.servos) if is_late else None
        self.total = np.zeros(m.nv)
        self._sensors = sensors_of_actuators(m, self.numbers) if self.act else []
        self.sensors_read = [at for at, *_ in self._sensors]  # indices in sensordata
        self._with_states = [k for k in self.numbers if m.actuator_actadr[k] >= 0]
        if self.act:
            self._model = copy.copy(m)
            self._data = package().MjData(self._model)
            self._model.dof_damping[dofs] = 0.0
            self._model.jnt_stiffness[~springs] = 0.0
            self._model.body_gravcomp[:] = 0.0
            self._stages = Stages(m) if is_staged(m) else None
            for k in set(range(len(m.actuator_gear))) - set(self.numbers):
                self._model.actuator_gainprm[k] = self._model.actuator_biasprm[k] = 0.0
                self._model.actuator_gaintype[k] = self._model.actuator_biastype[k] = 0
                for name in _DAMPERS:
                    getattr(self._model, name, _NOTHING)[k : k + 1] = 0.0

    def compute(self, data: Any) -> None:
        """Compute the forces of a step from the state and the inputs of a mujoco.MjData."""
        d = self._data
        if not self._stages:
            self._evaluate(data)
        else:
            means = [np.zeros_like(getattr(d, name)) for name in _MEANS]
            for weight, stage in self._stages.of(data):
                self._evaluate(stage)
                for name, mean in zip(_MEANS, means, strict=True):
                    mean += weight * getattr(d, name)
            for name, mean in zip(_MEANS, means, strict=True):
                getattr(d, name)[:] = mean
        np.add(d.qfrc_passive, d.qfrc_actuator, out=self.total)
        self.total += data.qfrc_applied
        if self.late:
            self.late.compute(data, d.qfrc_actuator)
            self.total += self.late.force
        if self.limits:
            self.limits.compute(data)
            self.total += self.limits.force

    def end(self, data: Any) -> tuple[np.ndarray, np.ndarray] | None:
        """Return qpos and qvel after an RK4 step of MuJoCo, or None if a constraint may act."""
        may_act = self._model.dof_frictionloss.any() or data.eq_active.any()
        may_act |= self.limits is not None and self.limits.force.any()
        return self._stages.end if self._stages and not may_act else None

    def _evaluate(self, data: Any) -> None:
        """Compute the forces at the state and the inputs of a mujoco.MjData."""
        for name in ("qpos", "qvel", "act", "ctrl"):
            getattr(self._data, name)[:] = getattr(data, name)
        self._data.time = data.time
        find_actuator_forces(self._model, self._data)

    def finish(self, data: Any) -> None:
        """Add the actuator forces of the step to a mujoco.MjData. Advance the actuators' states."""
        d = self._data
        data.actuator_force[self.numbers] = d.actuator_force[self.numbers]
        data.qfrc_actuator[:] += d.qfrc_actuator
        for at, number, is_joint in self._sensors:
            source = data.qfrc_actuator if is_joint else data.actuator_force
            data.sensordata[at] = source[number]
        for k in self._with_states:
            first = int(self._model.actuator_actadr[k])
            last = first + int(self._model.actuator_actnum[k])
            data.act_dot[first:last] = d.act_dot[first:last]
            data.act[first:last] = self._next(k, data.act[first:last], d.act_dot[first:last])

    def _next(self, k: int, act: np.ndarray, rate: np.ndarray) -> np.ndarray:
        """Integrate the activation of an actuator over one step, as MuJoCo does."""
        m, horizon = self._model, self._model.opt.timestep
        if m.actuator_dyntype[k] == package().mjtDyn.mjDYN_FILTEREXACT:
            lag = max(float(m.actuator_dynprm[k][0]), package().mjMINVAL)
            horizon = -lag * np.expm1(-horizon / lag)
        after = act + horizon * rate
        return np.clip(after, *m.actuator_actrange[k]) if m.actuator_actlimited[k] else after
