# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Simulate robots with a fixed base in windows of recordings, for R3 and R4.

Values of parameters are given by hrpsim's paths, such as robots.NAME.joints.JOINT.friction. Two
more kinds of values change the recording. zero.RECORDING.JOINT [rad] is added to measured angles,
because an encoder's zero is set by hand. gain.JOINT multiplies measured torques.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from evidence.experiments.framework.fitting import Values
from evidence.experiments.framework.windows import runs_of
from hrpsim.fitting import Recording
from hrpsim.fitting.predict import Predictor, windows_of
from hrpsim.fitting.recordings.measured_motion import BoundRecording
from hrpsim.sweeps.worlds.world_scenario import WorldScenario

_OF_RECORDINGS = ("zero.", "gain.")


def adjusted(one: Recording, values: Values) -> Recording:
    """Apply encoder zeros and torque gains to a recording."""
    assert one.positions is not None
    zeros = [values.get(f"zero.{one.name}.{joint}", 0.0) for joint in one.joints]
    changes: dict[str, Any] = {"positions": one.positions + np.array(zeros)}
    if one.command_efforts is not None:
        gains = [values.get(f"gain.{joint}", 1.0) for joint in one.command_joints or ()]
        changes["command_efforts"] = one.command_efforts * np.array(gains)
    if one.command_positions is not None:
        changes["command_positions"] = one.command_positions + np.array(zeros)
    return replace(one, **changes)


def window_numbers(recordings: Sequence[Recording], length: float) -> np.ndarray:
    """Return the window index of each compared sample, numbered through all recordings."""
    numbers, before = [], 0
    for recording in recordings:
        windows = windows_of(recording.time, length, False)
        numbers += [before + k for k, w in enumerate(windows) for _ in range(w.first, w.last + 1)]
        before += len(windows)
    return np.array(numbers)


class HrpsimChain:
    """Simulates the robot of a world file. window: length of the windows [s]."""

    def __init__(self, world: Path, robot: str, window: float) -> None:
        self._scenario = WorldScenario(world, duration=1.0)
        self._world = self._scenario.world_of({}, seed=0)[0]
        self._robot, self._window = robot, window

    def follow(self, many: Sequence[Values], recordings: Sequence[Recording]) -> list[np.ndarray]:
        """Return predicted minus measured (values, samples, columns) of each recording."""
        parts = []
        for common, others in runs_of(many, _OF_RECORDINGS):
            bound = [
                BoundRecording(adjusted(recording, common), self._world, self._robot)
                for recording in recordings
            ]
            predictions = Predictor(self._scenario, bound, self._window, False).predict(others)
            parts.append([states.differences for states, *_ in predictions])
        return [np.concatenate(own) for own in zip(*parts)]


class MujocoChain:
    """Simulates MuJoCo's model of a robot.

    Each joint has one actuator, in the order of the joints.
    """

    def __init__(self, mujoco, xml: str, robot: str, window: float) -> None:
        self._model = mujoco.MjModel.from_xml_string(xml)
        self._data = mujoco.MjData(self._model)
        self._robot, self._window = robot, window
        self._defaults = {name: getattr(self._model, name).copy() for name in _FIELDS}
        self.joints = [self._model.joint(k).name for k in range(self._model.njnt)]

    def follow(self, many: Sequence[Values], recordings: Sequence[Recording]) -> list[np.ndarray]:
        """Return predicted minus measured (values, samples, columns) of each recording."""
        differences: list[list[np.ndarray]] = [[] for _ in recordings]
        for values in many:
            self._set(values)
            for own, recording in zip(differences, recordings):
                own.append(self._follow(adjusted(recording, values)))
        return [np.array(own) for own in differences]

    def _set(self, values: Values) -> None:
        for name, array in self._defaults.items():
            getattr(self._model, name)[:] = array
        for path, value in values.items():
            if path.startswith(_OF_RECORDINGS):
                continue
            joint, _, field = path.removeprefix(f"robots.{self._robot}.joints.").rpartition(".")
            k = self.joints.index(joint)
            if field == "kp":
                self._model.actuator_gainprm[k, 0] = value
                self._model.actuator_biasprm[k, 1] = -value
            else:
                getattr(self._model, _OF_JOINTS[field])[k] = value

    def _follow(self, one: Recording) -> np.ndarray:
        from mujoco import rollout

        windows = windows_of(one.time, self._window, False)
        order = [one.joints.index(joint) for joint in self.joints]
        assert one.positions is not None and one.command_time is not None
        q = one.positions[:, order]
        v = np.gradient(q, one.time, axis=0) if one.velocities is None else one.velocities[:, order]
        step = self._model.opt.timestep
        longest = max(one.time[w.last] - one.time[w.start] for w in windows)
        count = int(np.ceil(longest / step)) + 1
        begins = np.array([w.start for w in windows])
        states = np.column_stack([one.time[begins], q[begins], v[begins]])
        middles = one.time[begins][:, None] + step * (np.arange(count) + 0.5)
        commands = one.command_positions if one.command_efforts is None else one.command_efforts
        assert commands is not None
        at = np.searchsorted(one.command_time, middles, side="right").clip(1) - 1
        paths, _ = rollout.rollout(
            self._model, self._data, initial_state=states, control=commands[:, order][at]
        )
        paths = np.concatenate([states[:, None], paths], axis=1)
        measured = [q] if one.velocities is None else [q, v]
        parts, back = [], np.argsort(order)
        for window, path in zip(windows, paths):
            samples = slice(window.first, window.last + 1)
            there = [np.interp(one.time[samples], path[:, 0], x) for x in path[:, 1:].T]
            both = zip(np.split(np.transpose(there), 2, axis=1), measured)
            parts.append(
                np.hstack([(predicted - real[samples])[:, back] for predicted, real in both])
            )
        return np.concatenate(parts)


_OF_JOINTS = {"friction": "dof_frictionloss", "damping": "dof_damping"}
_OF_JOINTS["rotor_inertia"] = "dof_armature"
_FIELDS = (*_OF_JOINTS.values(), "actuator_gainprm", "actuator_biasprm")


def blocks(one: Recording, edges: Sequence[float]) -> list[Recording]:
    """Divide a recording at edges, which are fractions of its length."""
    begin, end = float(one.time[0]), float(one.time[-1])
    cuts = begin + (end - begin) * np.array(edges)
    cuts[-1] = np.inf
    return [one.part(a, np.nextafter(b, a)) for a, b in pairwise(cuts)]
