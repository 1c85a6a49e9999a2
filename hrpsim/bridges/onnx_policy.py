# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A learned policy in an ONNX file as a controller. YAML describes its observation and action.

docs/howto/policies.md shows such a file. The torques of the policy's joints are

    kp (default + scale * action - q) - kd q'

Other joints hold their initial posture by their own servos, or are limp without servos. onnxruntime
runs the network in one thread, so runs are reproducible. The memory of a recurrent network consists
of its further inputs. The memory is zero at first, and then the further outputs in order.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from hrpsim.bridges.policy_terms import ObservingNetwork, PolicyDescription, Readings, read_policy
from hrpsim.common.errors import ModelWarning, require_name, require_names
from hrpsim.common.schema import listing, name, null_or, numeric
from hrpsim.control.framework.controller import (
    EFFORT,
    POSITION,
    Command,
    Controller,
    ControllerError,
    ImuReading,
    State,
    controlled_joints,
)
from hrpsim.model.model import Model
from hrpsim.world.objects.plausibility import JointLimits, listed


class OnnxPolicy(Controller):
    """Run the policy that a YAML file describes.

    Parameters: `description`, the path of the YAML file, and `commands`, a list of [time, x, y,
    yaw]. Each entry sets the target velocities of the robot [m/s, rad/s] from its time [s] on.
    Times count from the first tick. The target velocities are zero before the first entry. In
    process, `velocity` (3,) may be set at any time instead.
    """

    parameter_kinds = {
        "description": name,
        "commands": null_or(listing(listing(numeric(), 4, 4, "time, x, y, yaw"))),
        "duration": numeric(),
    }

    def configure(self, model: Model, parameters: Mapping[str, Any]) -> None:
        """Read the description and the network. Raises ControllerError if either does not fit."""
        self.description = policy = self.described(parameters)
        self._commands = sorted(parameters.get("commands") or [])
        self._duration = float(parameters.get("duration", np.inf))
        self.period = policy.period
        names = controlled_joints(model)
        require_names("joint", policy.joints, names, ControllerError, where=policy.source)
        limits = JointLimits(model.system, model.joints)
        if beyond := listed(limits.beyond(policy.joints, {"positions": policy.default})):
            warnings.warn(f"{policy.source}: default {beyond}", ModelWarning, stacklevel=2)
        self._at = np.array([names.index(joint) for joint in policy.joints])
        self._modes = np.full(len(names), EFFORT)
        others = [k for k, joint in enumerate(names) if joint in model.gains]
        self._modes[np.setdiff1d(others, self._at).astype(int)] = POSITION
        self._imu = _imu_of(model, policy)
        if policy.has("acceleration") and self._imu is None:
            raise ControllerError(f"{policy.source}: acceleration needs an IMU, the robot has none")
        of_imu = policy.has("angular_velocity", "gravity", "orientation", "euler")
        if policy.has("linear_velocity") or (of_imu and self._imu is None):
            self.needs = {"base": policy.base}
        self.velocity = np.zeros(3)
        self._encoder, self._rest = None, Readings.at_rest(len(policy.joints))
        if policy.encoder is not None:
            self._encoder = ObservingNetwork(policy.source, policy.encoder, self._rest)
            self._encoder.start(self._rest)
            self._rest = self._encoded(self._rest)
        self._actor = ObservingNetwork(policy.source, policy.observation, self._rest)

    def described(self, parameters: Mapping[str, Any]) -> PolicyDescription:
        """Return the description of the policy. A subclass may return another one."""
        if "description" not in parameters:
            raise ControllerError("OnnxPolicy needs the parameter description, a YAML file")
        return read_policy(Path(parameters["description"]).expanduser())

    def stop(self) -> None:
        """End the threads that evaluate the networks."""
        for one in filter(None, (self._encoder, self._actor)):
            one.network.close()

    def initialize(self, state: State) -> None:
        """Start, with a history of the present measurements, or of zeros."""
        policy = self.description
        self._start = self._gait_start = state.time
        self._tick = 0
        self.finished = False
        self.action = np.zeros(len(policy.joints))
        self._posture = state.joint_positions.copy()
        self._target = policy.default.copy()
        readings = self._readings(state)
        for one in filter(None, (self._encoder, self._actor)):
            one.start(readings)

    def control(self, state: State) -> Command:
        """Evaluate the policy every `decimation` periods. Return the torques of this period."""
        policy = self.description
        if self._commands:
            self._take_command(state.time - self._start)
        if self._tick % policy.decimation == 0:
            self._ask(state)
        self._tick += 1
        self.finished = state.time - self._start >= self._duration - 0.5 * self.period
        q, rate = state.joint_positions[self._at], state.joint_velocities[self._at]
        efforts = np.zeros(len(self._modes))
        efforts[self._at] = policy.kp * (self._target - q) - policy.kd * rate
        return Command(positions=self._posture, efforts=efforts, modes=self._modes)

    def _take_command(self, elapsed: float) -> None:
        for begin, *velocity in self._commands:
            if elapsed >= begin - 1e-9:
                self.velocity = np.array(velocity)

    def _ask(self, state: State) -> None:
        """Evaluate the policy at the present observation, and set the joints' targets."""
        policy = self.description
        action = self._evaluate(self._readings(state))
        if action.shape != self.action.shape or not np.isfinite(action).all():
            raise ControllerError(
                f"{policy.source}: the network answers {action.size} numbers for "
                f"{self.action.size} joints, or some that are not finite"
            )
        self.action = np.clip(action, -policy.action_clip, policy.action_clip)
        self._target = policy.default + policy.action_scale * self.action

    def _evaluate(self, readings: Readings) -> np.ndarray:
        """Return the output of the network."""
        return self._actor.answer(self._encoded(readings))

    def _encoded(self, readings: Readings) -> Readings:
        """Return the readings with the encoder's output, if there is one."""
        if self._encoder is None:
            return readings
        return replace(readings, encoding=self._encoder.answer(readings))

    def _readings(self, state: State) -> Readings:
        policy, base = self.description, state.base or self._rest.base
        if self._imu is None:
            imu = ImuReading(base.orientation, base.angular_velocity, np.zeros(3))
        else:
            imu = state.imus[self._imu]
        if np.linalg.norm(self.velocity) < policy.standing_below:
            self._gait_start, phases = state.time, np.full(2, np.pi)
        else:
            turned = 2.0 * np.pi * policy.frequency * (state.time - self._gait_start)
            phases = turned + np.array([0.0, np.pi])
        return Readings(
            joint_positions=state.joint_positions[self._at] - policy.default,
            joint_velocities=state.joint_velocities[self._at],
            action=self.action,
            command=self.velocity,
            phases=phases,
            imu=imu,
            base=base,
            encoding=self._rest.encoding,
        )


def _imu_of(model: Model, policy: PolicyDescription) -> str | None:
    imus = [sensor.name for sensor in model.sensors if sensor.kind == "imu"]
    if policy.imu:
        require_name("imu", policy.imu, imus, ControllerError, where=policy.source)
    return policy.imu or (imus[0] if imus else None)
