# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""MuJoCo as the reference: the same policy, on the robot of an MJCF.

The policy's torques are sent to MuJoCo's motors, which clip the torques to the limits of the file.
Joints without a motor receive the torques as applied forces, clipped to the same limits.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from copy import copy
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from hrpsim.bridges.mujoco import MjModel
from hrpsim.bridges.mujoco.native import package
from hrpsim.bridges.policy_description import PolicyDescription
from hrpsim.common.errors import ModelWarning, unknown_name
from hrpsim.control.framework.controller import EFFORT, Command
from hrpsim.control.framework.controller_host import ControllerHost, steps_in_period
from hrpsim.explain.runs.case import Case, ExplainError, stamp_of
from hrpsim.explain.runs.described_policy import DescribedPolicy, divided, rate_is_fixed
from hrpsim.explain.runs.reference import Reference
from hrpsim.explain.runs.subject import StateView
from hrpsim.explain.runs.trace import Trace, TraceWriter
from hrpsim.world.file.mjcf_world import load_mjcf_world
from hrpsim.world.objects.robot import Robot
from hrpsim.world.world import World

_WHOLE = 1e-6  # tolerance of a whole number of periods [s]


def world_of(path: Path) -> World:
    """Return the world that hrpsim loads from an MJCF.

    The world is cached and must not be changed.
    """
    return _world(path, stamp_of(path))


@lru_cache(maxsize=2)
def _world(path: Path, stamp: int) -> World:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        return load_mjcf_world(path, None, None)


def mujoco_model(path: Path) -> Any:
    """Return MuJoCo's compiled model of an MJCF. The model is cached and must not be changed."""
    world_of(path)  # compiles in a child process with limits, and refuses unreadable files
    return _model(path, stamp_of(path))


@lru_cache(maxsize=2)
def _model(path: Path, stamp: int) -> Any:
    return MjModel.from_xml_path(str(path)).native


class MujocoReference(Reference):
    """A policy in MuJoCo.

    Args:
        case: the policy and its runs.
        mjcf: the robot and its surroundings for MuJoCo.
        alter: a function that changes the compiled model. None: no change.
        period: period of the PD control in MuJoCo [s]. None: the policy's period.

    Raises:
        ExplainError: the robots of the two worlds have different joints, or the period does not fit
            the time step.
    """

    def __init__(
        self,
        case: Case,
        mjcf: Path,
        alter: Callable[[Any], None] | None = None,
        period: float | None = None,
    ) -> None:
        self.mjcf, self._case = mjcf, case
        self.label = f"MuJoCo with {mjcf.name}"
        self._model = copy(mujoco_model(mjcf))
        if alter is not None:
            alter(self._model)
        self._robot = case.robot_in(case.load())
        self._map = _Coordinates(self._model, self._robot, mjcf)
        self._policy = _with_period(case.description(), period)
        self.period, step = self._policy.period, float(self._model.opt.timestep)
        self._steps = steps_in_period("the policy's period in MuJoCo", self.period, step)

    def trace(self, q: np.ndarray, v: np.ndarray) -> Trace:
        """Run the policy in MuJoCo from an initial state in hrpsim's layout."""
        sorts, policy = package(), self._policy
        data = sorts.MjData(self._model)
        self._map.place(data, q, v)
        sorts.mj_forward(self._model, data)
        host = ControllerHost(DescribedPolicy(policy), self._robot.model, self._case.parameters())
        motors = _Motors(self._map.model, self._map.joints(host.joint_names), self._robot, host)
        writer, view = TraceWriter(self._map.free), StateView(self._robot, policy.imu)
        forces = np.zeros(len(self._robot.model.frames))
        try:
            for tick in range(round(self._case.duration / policy.period) + 1):
                q, v = self._map.state(data)
                if tick and tick % policy.decimation == 0:
                    forces = self._map.upward_forces(data)
                if writer.add(tick * policy.period, q, v, forces):
                    break
                motors.give(data, host.command(view.measured(tick * policy.period, q, v)), q, v)
                sorts.mj_step(self._map.model, data, nstep=self._steps)
        finally:
            host.stop()
        return writer.trace()


def _with_period(policy: PolicyDescription, period: float | None) -> PolicyDescription:
    """Return the policy's description with another period of the PD control [s]."""
    if period is None:
        return policy
    count = max(round(policy.seconds / period), 1)
    if abs(count * period - policy.seconds) > _WHOLE:
        raise ExplainError(
            f"the policy's {policy.seconds:g} s between two evaluations are not a whole multiple "
            f"of the period in MuJoCo, {period:g} s"
        )
    if count != policy.decimation and rate_is_fixed(policy):
        raise ExplainError(
            f"{policy.source}: actuators with delays or networks have the period "
            f"{policy.period:g} s, so MuJoCo cannot have the period {period:g} s"
        )
    return divided(policy, count)


class _Coordinates:
    """Maps coordinates between MuJoCo's model and hrpsim's robot, by names of joints and links."""

    def __init__(self, model: Any, robot: Robot, path: Path) -> None:
        sorts = package()
        self.model, self.free = model, robot.model.base == "free"
        self._names = {model.joint(k).name: k for k in range(model.njnt)}
        for name in robot.joint_names:
            if name not in self._names:
                raise ExplainError(f"{path}: {unknown_name('joint', name, self._names)}")
        self._joints = np.array([self._names[name] for name in robot.joint_names], dtype=int)
        self._at = robot.joint_index
        self._size = robot.nq, robot.nv
        self._links = list(robot.model.frames)
        bodies = {model.body(k).name: k for k in range(model.nbody)}
        self._body = np.array([bodies.get(link, -1) for link in self._links])
        frees = np.flatnonzero(model.jnt_type == sorts.mjtJoint.mjJNT_FREE)
        self._base = -1
        if self.free:
            if not len(frees):
                raise ExplainError(f"{path}: the robot needs a free joint in MuJoCo, but has none")
            self._base = int(frees[0])

    def joints(self, names: tuple[str, ...]) -> np.ndarray:
        """Return the indices of joints in the MuJoCo model."""
        return np.array([self._names[name] for name in names], dtype=int)

    def place(self, data: Any, q: np.ndarray, v: np.ndarray) -> None:
        """Write a state in hrpsim's layout to MuJoCo's data."""
        model = self.model
        data.qpos[model.jnt_qposadr[self._joints]] = q[self._at.q]
        data.qvel[model.jnt_dofadr[self._joints]] = v[self._at.v]
        if self.free:
            at, dof = model.jnt_qposadr[self._base], model.jnt_dofadr[self._base]
            data.qpos[at : at + 7] = q[[0, 1, 2, 6, 3, 4, 5]]
            turned = np.zeros(9)
            package().mju_quat2Mat(turned, data.qpos[at + 3 : at + 7])
            data.qvel[dof : dof + 3] = turned.reshape(3, 3) @ v[:3]
            data.qvel[dof + 3 : dof + 6] = v[3:6]

    def state(self, data: Any) -> tuple[np.ndarray, np.ndarray]:
        """Read a state from MuJoCo's data, in hrpsim's layout."""
        model = self.model
        q, v = np.zeros(self._size[0]), np.zeros(self._size[1])
        q[self._at.q] = data.qpos[model.jnt_qposadr[self._joints]]
        v[self._at.v] = data.qvel[model.jnt_dofadr[self._joints]]
        if self.free:
            at, dof = model.jnt_qposadr[self._base], model.jnt_dofadr[self._base]
            q[:7] = data.qpos[at + np.array([0, 1, 2, 4, 5, 6, 3])]
            turned = np.zeros(9)
            package().mju_quat2Mat(turned, data.qpos[at + 3 : at + 7])
            v[:3] = turned.reshape(3, 3).T @ data.qvel[dof : dof + 3]
            v[3:6] = data.qvel[dof + 3 : dof + 6]
        return q, v

    def upward_forces(self, data: Any) -> np.ndarray:
        """Return the upward contact force on each link of hrpsim's robot [N]."""
        sorts, forces = package(), np.zeros(self.model.nbody)
        wrench = np.zeros(6)
        for k in range(data.ncon):
            contact = data.contact[k]
            sorts.mj_contactForce(self.model, data, k, wrench)
            upward = contact.frame.reshape(3, 3).T[2] @ wrench[:3]
            a, b = self.model.geom_bodyid[contact.geom]
            forces[a] -= upward
            forces[b] += upward
        return np.where(self._body >= 0, forces[self._body], 0.0)


class _Motors:
    """Applies a policy's commands to MuJoCo's joints, within the limits of the file.

    The file's own servos on these joints are disabled, because the policy computes the torques.
    """

    def __init__(self, model: Any, joints: np.ndarray, robot: Robot, host: ControllerHost) -> None:
        self._dofs = model.jnt_dofadr[joints]
        order = robot.joint_index.indices(list(host.joint_names))
        self._q, self._v = robot.joint_index.q[order], robot.joint_index.v[order]
        self._kp, self._kd = (gain[order] for gain in robot.gains)
        limits = np.abs(model.jnt_actfrcrange[joints]).max(axis=1)
        self._limit = np.where(model.jnt_actfrclimited[joints], limits, np.inf)
        self._motor, self._factor = np.full(len(joints), -1), np.ones(len(joints))
        for k in range(model.nu):
            self._take(model, k, joints)
        self._has = self._motor >= 0

    def _take(self, model: Any, actuator: int, joints: np.ndarray) -> None:
        at = np.flatnonzero(joints == model.actuator_trnid[actuator, 0])
        if model.actuator_trntype[actuator] != package().mjtTrn.mjTRN_JOINT or not len(at):
            return
        factor = _factor_of_motor(model, actuator)
        if factor:
            self._motor[at[0]], self._factor[at[0]] = actuator, factor
            return
        if model.actuator_forcelimited[actuator]:
            gear = model.actuator_gear[actuator, 0]
            limit = np.abs(model.actuator_forcerange[actuator] * gear).max()
            self._limit[at[0]] = min(self._limit[at[0]], limit)
        model.actuator_gainprm[actuator] = model.actuator_biasprm[actuator] = 0.0

    def give(self, data: Any, command: Command, q: np.ndarray, v: np.ndarray) -> None:
        """Write a command of the policy to MuJoCo's data."""
        positions, efforts = np.nan_to_num(command.positions), np.nan_to_num(command.efforts)
        servo = self._kp * (positions - q[self._q]) - self._kd * v[self._v]
        requested = np.where(command.modes == EFFORT, efforts, servo + efforts)
        data.ctrl[self._motor[self._has]] = (requested / self._factor)[self._has]
        bounded = np.clip(requested, -self._limit, self._limit)
        data.qfrc_applied[self._dofs[~self._has]] = bounded[~self._has]


def _factor_of_motor(model: Any, actuator: int) -> float:
    """Return the torque of a motor for a control of 1. Return 0 if the actuator is not a motor."""
    sorts = package()
    if model.actuator_biastype[actuator] != sorts.mjtBias.mjBIAS_NONE:
        return 0.0
    if model.actuator_dyntype[actuator] != sorts.mjtDyn.mjDYN_NONE:
        return 0.0
    return float(model.actuator_gainprm[actuator, 0] * model.actuator_gear[actuator, 0])
