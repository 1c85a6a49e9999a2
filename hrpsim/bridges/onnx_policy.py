# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A learned policy in an ONNX file as a controller, its observation and action given by YAML.

docs/howto/bridges.md shows such a file. Torques are kp (default + scale * action - q) - kd q', for
the joints of the policy; others hold the posture that they begin in by their own servos, or are
limp. onnxruntime runs the network in one thread, so that runs are reproducible. A recurrent network
has further inputs, its memory: zero at first, then its further outputs, in order.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from hrpsim.bridges.onnx_network import Network
from hrpsim.bridges.policy_description import PolicyDescription, Term, read_policy
from hrpsim.control.framework.controller import (
    EFFORT,
    POSITION,
    Command,
    Controller,
    ControllerError,
    State,
    controlled_joints,
)
from hrpsim.errors import unknown_name
from hrpsim.model.model import Model
from hrpsim.model.shapes.placement import rotation_matrix
from hrpsim.schema import listing, name, null_or, numeric

_COMMAND = ("time", "x", "y", "yaw")


class OnnxPolicy(Controller):
    """Run the policy that a YAML file describes.

    Parameters: `description`, the path of that file, and `commands`, a list of [time, x, y, yaw]:
    from each time [s] on, counted from the first tick, the target velocities [m/s, rad/s] of the
    robot; zero before. In process `velocity` (3,) may be set at any time instead.
    """

    parameter_kinds = {
        "description": name,
        "commands": null_or(listing(listing(numeric(), 4, 4, "time, x, y, yaw"))),
        "duration": numeric(),
    }

    def configure(self, model: Model, parameters: Mapping[str, Any]) -> None:
        """Read the description and the network; ControllerError where they do not fit the robot."""
        if "description" not in parameters:
            raise ControllerError("OnnxPolicy needs the parameter description, a YAML file")
        self.description = policy = read_policy(Path(parameters["description"]).expanduser())
        self._commands = sorted(parameters.get("commands") or [])
        self._duration = float(parameters.get("duration", np.inf))
        self.period = policy.period
        names = controlled_joints(model)
        for joint in policy.joints:
            if joint not in names:
                raise ControllerError(f"{policy.source}: {unknown_name('joint', joint, names)}")
        self._at = np.array([names.index(joint) for joint in policy.joints])
        self._modes = np.full(len(names), EFFORT)
        others = [k for k, joint in enumerate(names) if joint in model.gains]
        self._modes[np.setdiff1d(others, self._at).astype(int)] = POSITION
        self._imu = _imu_of(model, policy)
        of_imu = policy.has("angular_velocity") or policy.has("gravity")
        if policy.has("linear_velocity") or (of_imu and self._imu is None):
            self.needs = {"base": policy.base}
        self.velocity = np.zeros(3)
        sizes = [self._size(term) for term in policy.observations]
        for term, size in zip(policy.observations, sizes):
            if term.scale.ndim and len(term.scale) != size:
                raise ControllerError(
                    f"{policy.source}: {term.term}: {len(term.scale)} scales for {size} numbers"
                )
        self._observe = [self._term(term.term) for term in policy.observations]
        total = sum(size * term.history for size, term in zip(sizes, policy.observations))
        if not policy.network.is_file():
            raise ControllerError(f"{policy.source}: policy {str(policy.network)!r} does not exist")
        self._network = Network(policy.network)
        first = self._network.inputs[0]
        if isinstance(first.shape[-1], int) and first.shape[-1] != total:
            raise ControllerError(
                f"{policy.source}: the observations are {total} numbers, and the network's input "
                f"{first.name!r} takes {first.shape[-1]}"
            )

    def stop(self) -> None:
        """End the thread that evaluates the network."""
        self._network.close()

    def initialize(self, state: State) -> None:
        """Start, with a history of the present measurements."""
        policy = self.description
        self._start, self._tick = state.time, 0
        self.finished = False
        self.action = np.zeros(len(policy.joints))
        self._memory = [np.zeros(one.shape, np.float32) for one in self._network.inputs[1:]]
        self._posture = state.joint_positions.copy()
        self._target = policy.default.copy()
        self._pasts = [
            deque([self._observed(k, state)] * term.history, term.history)
            for k, term in enumerate(policy.observations)
        ]

    def control(self, state: State) -> Command:
        """Evaluate the policy every `decimation` periods; return the torques of this one."""
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
        """Evaluate the policy at the present observation; set the joints' targets."""
        policy = self.description
        for k, past in enumerate(self._pasts):
            past.append(self._observed(k, state))
        observation = _stacked(self._pasts, policy.history_by_step)
        action, *self._memory = self._network.evaluate(observation, self._memory)
        if action.shape != self.action.shape or not np.isfinite(action).all():
            raise ControllerError(
                f"{policy.source}: the network answers {action.size} numbers for "
                f"{self.action.size} joints, or some that are not finite"
            )
        self.action = np.clip(action, -policy.action_clip, policy.action_clip)
        self._target = policy.default + policy.action_scale * self.action

    def _observed(self, k: int, state: State) -> np.ndarray:
        """Return the present observation of a term."""
        term = self.description.observations[k]
        scaled = self._observe[k](state) * term.scale
        return scaled if np.isinf(term.clip) else np.clip(scaled, -term.clip, term.clip)

    def _term(self, term: str) -> Callable[[State], np.ndarray]:
        """Return the function that gives an observation's values, before its scale."""
        policy = self.description
        return {
            "angular_velocity": self._angular_velocity,
            "linear_velocity": lambda s: s.base.linear_velocity,
            "gravity": self._gravity,
            "command": lambda s: self.velocity,
            "joint_positions": lambda s: s.joint_positions[self._at] - policy.default,
            "joint_velocities": lambda s: s.joint_velocities[self._at],
            "last_action": lambda s: self.action,
            "phase": self._phase,
            "clock": self._clock,
        }[term]

    def _angular_velocity(self, state: State) -> np.ndarray:
        if self._imu is None:
            return state.base.angular_velocity
        return state.imus[self._imu].angular_velocity

    def _gravity(self, state: State) -> np.ndarray:
        """Return the direction of gravity in the frame of IMU or base (3,)."""
        where = state.base if self._imu is None else state.imus[self._imu]
        return -rotation_matrix(where.orientation.tolist())[2]

    def _phase(self, state: State) -> np.ndarray:
        """Return cosines and sines of the gait's phases (4,)."""
        turned = 2.0 * np.pi * self.description.frequency * (state.time - self._start)
        angles = turned + np.array([0.0, np.pi])
        return np.concatenate([np.cos(angles), np.sin(angles)])

    def _clock(self, state: State) -> np.ndarray:
        """Return sine and cosine of the gait's phase (2,)."""
        turned = 2.0 * np.pi * self.description.frequency * (state.time - self._start)
        return np.array([np.sin(turned), np.cos(turned)])

    def _size(self, term: Term) -> int:
        """Return the size of an observation at one time."""
        if term.term in ("joint_positions", "joint_velocities", "last_action"):
            return len(self.description.joints)
        return {"phase": 4, "clock": 2}.get(term.term, 3)


def _stacked(pasts: list[deque], by_step: bool) -> np.ndarray:
    """Return the observation: each term's history, oldest first, or all terms step by step."""
    if not by_step:
        return np.concatenate([value for past in pasts for value in past])
    return np.concatenate([value for step in zip(*pasts, strict=True) for value in step])


def _imu_of(model: Model, policy: PolicyDescription) -> str | None:
    imus = [sensor.name for sensor in model.sensors if sensor.kind == "imu"]
    if policy.imu and policy.imu not in imus:
        raise ControllerError(f"{policy.source}: {unknown_name('imu', policy.imu, imus)}")
    return policy.imu or (imus[0] if imus else None)
