"""What the sensors of a robot say, noise included, and where they are: found once for a state."""

from __future__ import annotations

import numpy as np

from hrpsim.ros.base.stamps import SimulationClock
from hrpsim.ros.robot.frame_poses import FramePoses
from hrpsim.ros.robot.sensor_noise import NoiseLevels, SensorNoise


class SensorReadings:
    """Readings of all sensors of a robot, in the order of its model.

    They carry the noise of `levels`, of the step on the clock, and are kept until `forget`.
    """

    def __init__(self, robot, clock: SimulationClock, levels: NoiseLevels):
        sensors = robot.model.sensors
        self.poses = FramePoses(robot, sensors)
        self.noises = [SensorNoise(sensor.name, sensor.kind, levels) for sensor in sensors]
        self._robot = robot
        self._clock = clock
        self._order = [sensor.name for sensor in sensors]
        self._values: np.ndarray | None = None

    def forget(self) -> None:
        """Let everything be found anew: the robot has moved."""
        self._values = None
        self.poses.forget()

    def place_of(self, name: str) -> int:
        """Return the row of a sensor."""
        return self._order.index(name)

    @property
    def values(self) -> np.ndarray:
        """Force [N] and torque [Nm], or angular velocity [rad/s] and specific force [m/s^2] (k, 6).

        Each in and about the sensor's frame.
        """
        if self._values is None:
            world, step = self._robot.world, self._clock.steps
            first = world.first_sensor(self._robot)
            readings = world.scene.sensors["reading"]
            self._values = readings[first : first + len(self._order)].copy()
            for row, noise in zip(self._values, self.noises):
                if noise.is_on:
                    row += noise.at(step)
        return self._values
