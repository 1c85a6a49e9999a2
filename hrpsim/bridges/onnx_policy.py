# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A learned policy in an ONNX or TorchScript file as a controller, described by YAML.

docs/howto/policies.md shows such a file. The torques of the policy's joints are

    kp (p - q) + kd (v - q') + u

For position control, p is default + scale * action, and v and u are zero. For velocity control, p
is q and v is scale * action. For effort control, the torque is u = scale * action. The entry
`actuators` of the description changes the torques. Other joints hold their initial posture by their
own servos, or are passive if they have no servos.

onnxruntime runs the network in one thread, so runs are reproducible. The memory of a recurrent
network in ONNX consists of the inputs that the description does not name. The memory is zero for
the first evaluation. Afterwards the memory is the network's remaining outputs, in order.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from hrpsim.bridges.network_files import open_network
from hrpsim.bridges.policy_actuators import PolicyActuators
from hrpsim.bridges.policy_description import PolicyDescription, read_policy
from hrpsim.bridges.policy_network import Answer, PolicyNetwork, Question
from hrpsim.bridges.policy_terms import ObservingNetwork, PolicyReadings
from hrpsim.common.errors import ModelWarning, require_name, require_names
from hrpsim.common.resources import user_path
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

_AXES = ("x", "y", "yaw")


class OnnxPolicy(Controller):
    """Run the policy that a YAML file describes.

    Parameters: `description` is the path of the YAML file. `commands` is a list of [time, x, y,
    yaw]. Each entry sets the target velocities of the robot [m/s, rad/s] from `time` [s] on. Times
    are measured from the first tick. Before the first entry, the target velocities are
    `velocity_x`, `velocity_y` and `velocity_yaw`, zero by default. A Python program may instead set
    the attribute `velocity` (3,) at any time.
    """

    velocity: np.ndarray  # commanded velocity, x, y [m/s] and yaw [rad/s] (3,)
    action: np.ndarray  # last output of the network, within its bounds (n,)
    parameter_kinds = {
        "description": name,
        "commands": null_or(listing(listing(numeric(), 4, 4, "time, x, y, yaw"))),
        "duration": numeric(),
        **{f"velocity_{axis}": numeric() for axis in _AXES},
    }

    def configure(self, model: Model, parameters: Mapping[str, Any]) -> None:
        """Read the description and the network. Raises ControllerError if either does not fit."""
        self.description = policy = self.described(parameters)
        self._commands = sorted(parameters.get("commands") or [])
        self._duration = float(parameters.get("duration", np.inf))
        self.period = policy.period
        self._find_joints(policy, model)
        self._find_readings(policy, model)
        self._commanded = np.array([float(parameters.get(f"velocity_{k}", 0.0)) for k in _AXES])
        self.velocity = self._commanded
        self._actuators = PolicyActuators(policy.actuators)
        self._encoder, self._rest = None, PolicyReadings.at_rest(len(policy.joints))
        source, opened = policy.source, self.open_network
        if policy.encoder is not None:
            self._encoder = ObservingNetwork(source, policy.encoder, self._rest, opened=opened)
            self._encoder.start(self._rest)
            self._rest = self._encoded(self._rest)
        self._actor = ObservingNetwork(
            source, policy.observation, self._rest, policy.inputs, opened
        )

    def _find_joints(self, policy: PolicyDescription, model: Model) -> None:
        """Find the policy's joints and all modes. Warn if the default posture exceeds a limit."""
        names = controlled_joints(model)
        require_names("joint", policy.joints, names, ControllerError, where=policy.source)
        limits = JointLimits(model.system, model.joints)
        if beyond := listed(limits.beyond(policy.joints, {"positions": policy.default})):
            warnings.warn(f"{policy.source}: default {beyond}", ModelWarning, stacklevel=3)
        self._at = np.array([names.index(joint) for joint in policy.joints])
        self._modes = np.full(len(names), EFFORT)
        others = [k for k, joint in enumerate(names) if joint in model.gains]
        self._modes[np.setdiff1d(others, self._at).astype(int)] = POSITION

    def _find_readings(self, policy: PolicyDescription, model: Model) -> None:
        """Find the IMU. Require the base state if the IMU does not measure an observed term."""
        self._imu = _imu_of(model, policy)
        if policy.has("acceleration") and self._imu is None:
            raise ControllerError(
                f"{policy.source}: the term `acceleration` needs an IMU, but the robot has none"
            )
        of_imu = policy.has("angular_velocity", "gravity", "orientation", "euler")
        if policy.has("linear_velocity") or (of_imu and self._imu is None):
            self.needs = {"base": policy.base}

    @property
    def network(self) -> PolicyNetwork:
        """The network of the policy. `prepare` returns the inputs of the next evaluation."""
        return self._actor.network

    def open_network(
        self, path: Path, further: Collection[str] = (), outputs: Collection[str] = ()
    ) -> PolicyNetwork:
        """Open a network of the policy. A subclass may return a network shared by several policies.

        Args:
            path: path of the file.
            further: names of the inputs besides the observation that hrpsim computes.
            outputs: names of required outputs, in addition to the action.
        """
        return open_network(path, further, outputs)

    def described(self, parameters: Mapping[str, Any]) -> PolicyDescription:
        """Return the description of the policy. A subclass may return another description."""
        if "description" not in parameters:
            raise ControllerError("OnnxPolicy needs the parameter `description`, a YAML file")
        return read_policy(user_path(parameters["description"]))

    def stop(self) -> None:
        """End the threads that evaluate the networks."""
        for part in filter(None, (self._encoder, self._actor)):
            part.network.close()

    def initialize(self, state: State) -> None:
        """Start the policy. Fill the histories with the present measurements, or with zeros."""
        policy = self.description
        self._start = self._gait_start = state.time
        self._tick = 0
        self._is_answered = False
        self.finished = False
        self.action = np.zeros(len(policy.joints))
        self._filtered = np.zeros(len(policy.joints))
        self._actuators.reset()
        if self._commands:
            self.velocity = self._commanded
        self._posture = state.joint_positions.copy()
        readings = self._readings(state)
        for part in filter(None, (self._encoder, self._actor)):
            part.start(readings)

    def prepare(self, state: State) -> Question | None:
        """Return the inputs of the network at this tick, or None if no evaluation is due.

        `control` evaluates the network, unless `take` has received the outputs of this tick.
        """
        if self._commands:
            self._take_command(state.time - self._start)
        if self._tick % self.description.decimation:
            return None
        return self._actor.question(self._encoded(self._readings(state)))

    def take(self, answer: Answer) -> None:
        """Set the joint targets from the outputs of the network for the inputs of `prepare`."""
        self._is_answered = True
        policy = self.description
        action = self._actor.take(answer)
        if action.shape != self.action.shape or not np.isfinite(action).all():
            raise ControllerError(
                f"{policy.source}: the network must return {self.action.size} finite numbers, one "
                f"for each joint, got {action.size}, {np.isfinite(action).sum()} of them finite"
            )
        self.action = np.clip(action, policy.action_lower, policy.action_upper)
        smoothing = policy.action_filter
        self._filtered = smoothing * self._filtered + (1.0 - smoothing) * self.action

    def control(self, state: State) -> Command:
        """Evaluate the policy every `decimation` periods. Return the torques of this period."""
        if not self._is_answered:
            question = self.prepare(state)
            if question is not None:
                self.take(self._evaluate(question))
        self._is_answered = False
        self._tick += 1
        self.finished = state.time - self._start >= self._duration - 0.5 * self.period
        efforts = np.zeros(len(self._modes))
        efforts[self._at] = self._torques(state)
        return Command(positions=self._posture, efforts=efforts, modes=self._modes)

    def _torques(self, state: State) -> np.ndarray:
        """Return the torques of the policy's joints (n,) [Nm]."""
        policy = self.description
        q, rate = state.joint_positions[self._at], state.joint_velocities[self._at]
        targets = self._actuators.delayed(policy.action_scale * self._filtered)
        error = policy.default + targets - q
        of_posture = policy.kp * error - policy.kd * rate
        torques = np.where(policy.by_velocity, policy.kd * (targets - rate), of_posture)
        torques = np.where(policy.by_effort, targets, torques)
        return self._actuators.efforts(torques, error, rate)

    def _take_command(self, elapsed: float) -> None:
        for begin, *velocity in self._commands:
            if elapsed >= begin - 1e-9:
                self.velocity = np.array(velocity)

    def _evaluate(self, question: Question) -> Answer:
        """Evaluate the network once."""
        return self._actor.network.answer(question)

    def _encoded(self, readings: PolicyReadings) -> PolicyReadings:
        """Return the readings together with the output of the encoder, if there is an encoder."""
        if self._encoder is None:
            return readings
        return replace(readings, encoding=self._encoder.answer(readings))

    def _readings(self, state: State) -> PolicyReadings:
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
        return PolicyReadings(
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
