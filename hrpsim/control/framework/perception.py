# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""What a controller perceives of what is measured: noise, delays, an estimate of the base."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from copy import deepcopy
from typing import Any

from hrpsim.control.framework.controller import BaseReading, State
from hrpsim.control.framework.needs import BASE, CONTACTS, ESTIMATED, JOINTS, ZMP, Needs
from hrpsim.model.model import Model
from hrpsim.sensors.noise import SensorNoise


class Perception:
    """Puts noise on states, makes parts of them late, and estimates the base from the result.

    Noise is a function of its seed, the sensor and the number of the tick, so that a run repeats
    itself, in process and over ROS. Before a delay has passed, what was measured first holds.
    `time` is never late. Raises ModelError where the base cannot be estimated.
    """

    def __init__(self, model: Model, joint_names: Sequence[str], needs: Needs, period: float):
        self._needs = needs
        self._period = period
        self._noises: dict[str, SensorNoise] = {}
        if needs.noise is not None:
            self._noises = {s.name: SensorNoise(s.name, s.kind, needs.noise) for s in model.sensors}
        self._estimator = None
        if needs.base == ESTIMATED:
            from hrpsim.control.estimation.base_estimator import BaseEstimator

            self._estimator = BaseEstimator(model, joint_names, period, needs.feet)
        self.reset()

    def reset(self) -> None:
        """Begin anew with the next state."""
        self._past = {what: deque[Any](maxlen=n + 1) for what, n in self._needs.delays.items()}
        if self._estimator is not None:
            self._estimator.reset()

    def perceive(self, state: State) -> State:
        """Return what the controller sees at this tick."""
        if self._noises:
            self._add_noise(state)
        if self._past:
            state = self._make_late(state)
        if self._estimator is None:
            return state
        imu = state.imus[self._estimator.imu.name]
        base = self._estimator.update(
            state.joint_positions, state.joint_velocities, *imu, state.wrenches
        )
        return state._replace(base=BaseReading(*base))

    def _add_noise(self, state: State) -> None:
        tick = round(state.time / self._period)
        for name, wrench in state.wrenches.items():
            wrench += self._noises[name].at(tick)
        for name, imu in state.imus.items():
            error = self._noises[name].at(tick)
            imu.angular_velocity[:] += error[:3]
            imu.linear_acceleration[:] += error[3:]

    def _make_late(self, state: State) -> State:
        joints = state.joint_positions, state.joint_velocities, state.joint_efforts
        positions, velocities, efforts = self._late(JOINTS, joints)
        return State(
            state.time,
            positions,
            velocities,
            efforts,
            {name: self._late(name, wrench) for name, wrench in state.wrenches.items()},
            {name: self._late(name, imu) for name, imu in state.imus.items()},
            self._late(BASE, state.base),
            self._late(CONTACTS, state.contacts) if self._needs.contacts else state.contacts,
            self._late(ZMP, state.zmp),
        )

    def _late(self, what: str, present):
        """Return what was measured `delays[what]` ticks ago, or first."""
        past = self._past.get(what)
        if past is None:
            return present
        past.append(present)
        return past[0] if len(past) == past.maxlen else deepcopy(past[0])
