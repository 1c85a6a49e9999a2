"""What happens when a parameter is set while the simulation runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hrpsim.ros.base import parameters
from hrpsim.ros.base.entities import SpawnLimits
from hrpsim.ros.robot.sensor_noise import NoiseLevels
from hrpsim.ros.simulation.solver_settings import SolverSettings

if TYPE_CHECKING:
    from hrpsim.ros.simulation.simulation_node import SimulationNode

_RATES = ("publish_rate", "tf_rate", "marker_rate")
_SOLVER = {"solver_sweep_limit": "sweep_limit", "solver_tolerance": "tolerance"}
_WRENCH = {"wrench_duration": "duration", "wrench_ramp": "ramp"}
_LIMITS = {
    "entity_limit": "entities",
    "spawn_size_limit": "text",
    "spawn_link_limit": "links",
    "spawn_xacro": "xacro",
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
    """Hands parameters on to what they are about: at the start, and whenever they change."""

    def __init__(
        self,
        simulation: SimulationNode,
        noise: NoiseLevels,
        solver: SolverSettings,
        limits: SpawnLimits,
    ):
        self._simulation = simulation
        self._limits = limits
        self._noise = noise
        self._solver = solver
        for name in (*_NOISE, *_SOLVER, *_LIMITS):
            self._react(name, parameters.value_of(simulation.node, name))
        parameters.on_change(simulation.node, self._problem, self._react)

    def apply_after_reset(self) -> None:
        """Set again what a reset of the world has taken back."""
        self._solver.apply()

    def _problem(self, name: str, value: Any) -> str:
        for robot in self._simulation.robots:
            if robot.gains.knows(name):
                return robot.gains.problem(name, value)
        return ""

    def _react(self, name: str, value: Any) -> None:
        simulation = self._simulation
        if name == "real_time_factor":
            simulation.pacer.real_time_factor = value
        elif name in _RATES:
            simulation.set_periods()
        elif name in _NOISE:
            self._noise.change(**{_NOISE[name]: value})
        elif name in _SOLVER:
            setattr(self._solver, _SOLVER[name], value)
            self._solver.apply()
        elif name in _LIMITS:
            setattr(self._limits, _LIMITS[name], value)
        elif name in _WRENCH:
            for robot in simulation.robots:
                setattr(robot.wrenches, _WRENCH[name], value)
        else:
            for robot in simulation.robots:
                if robot.gains.knows(name):
                    robot.gains.change(name, value)
