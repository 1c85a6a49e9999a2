# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Parameters that are set while the simulation runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rclpy.node import Node

from hrpsim.ros.base import parameters
from hrpsim.ros.base.entities import SpawnLimits
from hrpsim.ros.core.simulation import Simulation
from hrpsim.sensors.noise import NoiseLevels

_RATES = ("publish_rate", "tf_rate", "marker_rate", "contact_rate")
_SOLVER = {"solver_sweep_limit": "sweep_limit", "solver_tolerance": "tolerance"}
_WRENCH = {"wrench_duration": "duration", "wrench_ramp": "ramp"}
_LIMITS = {
    "entity_limit": "entities",
    "spawn_size_limit": "text",
    "spawn_link_limit": "links",
    "spawn_xacro": "xacro",
    "spawn_mjcf": "mjcf",
}
_NOISE = {
    "noise_seed": "seed",
    "imu_gyro_noise": "gyro",
    "imu_gyro_bias": "gyro_bias",
    "imu_accel_noise": "accelerometer",
    "imu_accel_bias": "accelerometer_bias",
    "wrench_force_noise": "force",
    "wrench_torque_noise": "torque",
}


class LiveParameters:
    """Applies parameters to the simulation: at the start, and after each change."""

    def __init__(
        self,
        node: Node,
        simulation: Simulation,
        set_rates: Callable[[], None],
        noise: NoiseLevels,
        limits: SpawnLimits,
    ):
        self._simulation = simulation
        self._set_rates = set_rates
        self._limits = limits
        self._noise = noise
        for name in (*_NOISE, *_SOLVER, *_LIMITS, "state_limit"):
            self._react(name, parameters.value_of(node, name))
        parameters.on_change(node, self._problem, self._react)

    def _problem(self, name: str, value: Any) -> str:
        for robot in self._simulation.robots:
            for held in (robot.gains, robot.modes, robot.rates):
                if held.knows(name):
                    return held.problem(name, value)
        return ""

    def _react(self, name: str, value: Any) -> None:
        simulation = self._simulation
        if name == "real_time_factor":
            simulation.pacer.real_time_factor = value
        elif name in _RATES:
            self._set_rates()
        elif name in _NOISE:
            self._noise.change(**{_NOISE[name]: value})
        elif name in _SOLVER:
            setattr(simulation.solver, _SOLVER[name], value)
            simulation.solver.apply()
        elif name in _LIMITS:
            setattr(self._limits, _LIMITS[name], value)
        elif name == "state_limit":
            simulation.states.limit = value
        elif name in _WRENCH:
            for robot in simulation.robots:
                setattr(robot.wrenches, _WRENCH[name], value)
        else:
            for robot in simulation.robots:
                for held in (robot.gains, robot.modes, robot.rates):
                    if held.knows(name):
                        held.change(name, value)
            simulation.contents.notify()
