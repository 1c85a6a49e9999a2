# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Readings of a robot's sensors, and the schedule of sensors with a separate rate."""

from __future__ import annotations

import math
from typing import Any, NamedTuple, Protocol

import numpy as np

from hrpsim.common.closed import Closed
from hrpsim.common.errors import StateError, WorldError
from hrpsim.common.values import flag
from hrpsim.engine.sensors.noise import noise_generator
from hrpsim.model.model import Model, Sensor
from hrpsim.model.sensors.sampled_sensor import SampledSensor
from hrpsim.model.sensors.sensor_kind import SampleNoise, SensedRobot
from hrpsim.world.objects.entity import WorldState, _frozen, part_of
from hrpsim.world.objects.robot_access import RobotAccess

_NEAR = 1e-9  # rounding of times [steps]


class OtherKindError(WorldError, AttributeError):
    """Raised for a reading that a sensor of this kind does not have.

    The error is also an AttributeError, so `hasattr` is False for the reading.
    """


class SensorCarrier(Protocol):
    """The members of `Robot` that its sensors use, so that the sensors need not import `Robot`."""

    model: Model
    name: str

    @property
    def world(self) -> WorldState:
        """The world of the robot."""

    def link_pose(self, link: str) -> tuple[np.ndarray, np.ndarray]:
        """Return position (3,) [m] and quaternion x y z w (4,) of a link in the world."""

    def frame_pose(self, body: int, R: np.ndarray, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the pose in the world of a frame with rotation R and origin p in a body's frame.

        Returns:
            (position (3,) [m], quaternion x y z w (4,)).
        """


def _repr_of(sensor: SensorView | SampledView) -> str:
    """Return the text for `repr` of a sensor."""
    return f"<{sensor.description.kind} {sensor.description.name!r} of {sensor.robot.name!r}>"


class SensorView(Closed):
    """One sensor of a robot.

    Wrenches are means over the last step. An IMU reads the middle of the last step with the
    integrator "semi_implicit", and the start of the last step with "rk4" and "euler".
    """

    def __init__(self, robot: SensorCarrier, description: Sensor, index: int) -> None:
        self.robot = robot
        self.description = description
        self.index = index

    def __repr__(self) -> str:
        return _repr_of(self)

    def _reading(self) -> np.ndarray:
        world = self.robot.world
        return _frozen(
            world.scene.sensors["reading"][world.first_sensor(self.robot) + self.index].copy()
        )

    @property
    def reading(self) -> np.ndarray:
        """The whole reading (6,): the wrench, or angular velocity and specific force."""
        return self._reading()

    @property
    def wrench(self) -> np.ndarray:
        """Force [N], then torque [Nm] that the child side exerts on the parent side (6,).

        The wrench is in and about the sensor frame. Force z is positive for a standing robot. A
        tared sensor leaves out the weight of the child side.
        """
        return self._of_kind("force_torque")

    force = part_of("wrench", slice(3), "Force part of the wrench (3,) [N].")
    torque = part_of("wrench", slice(3, None), "Torque part of the wrench (3,) [Nm].")

    @property
    def angular_velocity(self) -> np.ndarray:
        """Angular velocity in the sensor frame (3,) [rad/s]."""
        return self._of_kind("imu")[:3]

    @property
    def linear_acceleration(self) -> np.ndarray:
        """Specific force in the sensor frame (3,): +9.8 upwards at rest [m/s^2]."""
        return self._of_kind("imu")[3:]

    @property
    def orientation(self) -> np.ndarray:
        """Orientation of the sensor frame in the world, quaternion x y z w (4,)."""
        at = self.description
        return _frozen(self.robot.frame_pose(at.body, at.R, at.p)[1])

    def _of_kind(self, kind: str) -> np.ndarray:
        if self.description.kind != kind:
            raise OtherKindError(
                f"sensor {self.description.name!r} is of kind {self.description.kind!r}, "
                f"not {kind!r}"
            )
        return self._reading()


class SamplingRobot(SensedRobot, Protocol):
    """The members of `Robot` that sampled sensors use, so that sensors need not import `Robot`."""

    first_body: int

    @property
    def world(self) -> WorldState:
        """The world of the robot."""

    @property
    def access(self) -> RobotAccess:
        """The robot's arrays, prepared for kernels."""


class Sample(NamedTuple):
    """A finished sample: number, first step, step of arrival, and values."""

    number: int  # number among all multiples of the sensor's period
    start: int  # step at the begin of the sample
    arrives: int  # step at which the sample becomes available
    values: Any  # values by kind of sensor, never changed


class SampledView(Closed):
    """A sensor that measures at multiples of 1 / rate during `World.step`.

    A sample that takes time is measured in several steps. A sample can be read `latency` after its
    end. `enabled` turns the sensor on and off. A sensor that is off costs nothing. A sensor that is
    declared for Gazebo is off until it is read for the first time.
    """

    def __init__(self, robot: SamplingRobot, description: SampledSensor) -> None:
        self.robot, self.description = robot, description
        time_step = robot.world.time_step
        if description.rate * time_step > 1.0 + 1e-9:
            raise StateError(
                f"sensor {description.name!r} of {robot.name!r}: the rate of {description.rate:g}"
                f" Hz is above the step rate of {1.0 / time_step:g} Hz. Lower the rate or the "
                "time step"
            )
        self._period = 1.0 / (description.rate * time_step) if description.rate > 0.0 else 1.0
        self._latency = math.ceil(description.latency / time_step - _NEAR)
        self._enabled = description.enabled
        self._waits = not description.enabled  # the first reading does not exist yet
        self.forget()

    def __repr__(self) -> str:
        return _repr_of(self)

    def _generator(self, number: int) -> np.random.Generator:
        """Return the random generator for the noise of a sample."""
        at, robot = self.description, self.robot
        return noise_generator(at.seed, robot.world.noise_world, robot.name, at.name, number)

    # -- for the world --------------------------------------------------------------------------

    def forget(self) -> None:
        """Drop all samples, as before the first step."""
        self._next = -1  # step of the next part, -1: unknown
        self._part, self._number, self._start = 0, 0, 0  # of the present incomplete sample
        self._samples: list[Sample] = []

    def state(self) -> tuple:
        """Return the sensor's data for a snapshot."""
        return (
            self._next,
            self._part,
            self._number,
            self._start,
            tuple(self._samples),
            self._unfinished(),
        )

    def restore(self, state: tuple) -> None:
        """Restore a saved `state`."""
        self._next, self._part, self._number, self._start, samples, unfinished = state
        self._samples = list(samples)
        self._resume(unfinished)

    def next_step(self, now: int) -> int:
        """Return the number of the next step, not before `now`, at which `update` measures."""
        if self._next < now:
            self._part, self._number = 0, math.ceil((now - _NEAR) / self._period)
            self._next = self._step_of(self._number)
        return self._next

    def update(self, now: int) -> None:
        """Measure if a measurement is due in the step `now`, which is about to be done."""
        while self._enabled and self.next_step(now) <= now:
            if self._part == 0:
                self._start = now
            offsets = self._offsets()
            self._measure(self._number, self._part)
            self._part += 1
            if self._part < len(offsets):
                self._next = self._start + offsets[self._part]
                continue
            self._part = 0
            self._drop_read(now)
            values, arrives = self._finish(self._number), now + self._latency
            self._samples.append(Sample(self._number, self._start, arrives, values))
            self._number += 1
            self._next = self._step_of(self._number)

    def _step_of(self, number: int) -> int:
        return math.ceil(number * self._period - _NEAR)

    def _drop_read(self, now: int) -> None:
        while len(self._samples) > 1 and self._samples[1].arrives <= now:
            del self._samples[0]

    # -- what a kind of sensor does -------------------------------------------------------------

    def _offsets(self) -> list[int]:
        """Return the step of each part of a sample, relative to the first part."""
        return [0]

    def _measure(self, number: int, part: int) -> None:
        """Measure a part of a sample."""

    def _finish(self, number: int) -> Any:
        """Return the values of a sample with all its parts."""

    def _disturbed(self, values: Any, number: int) -> Any:
        """Return the values of a sample with the noise and dropouts of the sensor."""
        at = self.description
        if at.noise == at.dropout == 0.0:
            return values
        noise = SampleNoise(at.noise, at.dropout, self._generator(number))
        return at.pattern.disturbed(values, noise)

    def _unfinished(self) -> Any:
        """Return the present parts of an unfinished sample."""

    def _resume(self, unfinished: Any) -> None:
        """Continue a sample from the parts of `_unfinished`."""

    # -- readings -------------------------------------------------------------------------------

    @property
    def enabled(self) -> bool:
        """Whether the sensor measures. Assign False for a sensor that nobody reads."""
        return self._enabled

    @enabled.setter
    def enabled(self, value: bool) -> None:
        enabled = flag("enabled", value)
        self._waits = False
        if self._enabled != enabled:
            self._enabled = enabled
            self._part, self._next = 0, -1

    def latest(self) -> Sample | None:
        """Return the newest sample that has arrived, or None before the first sample."""
        if self._waits:
            self.enabled = True
        world = self.robot.world
        step = round(world.time / world.time_step)
        if self._next < 0:
            self.update(step)
        self._drop_read(step)
        sample = self._samples[0] if self._samples else None
        return sample if sample is not None and sample.arrives <= step else None

    @property
    def stamp(self) -> float:
        """Time at which the latest sample began [s], or NaN before the first sample."""
        sample = self.latest()
        return math.nan if sample is None else sample.start * self.robot.world.time_step


class MeasuredView(SampledView):
    """A sensor whose kind measures all values of a sample at once."""

    def __init__(self, robot: SamplingRobot, description: SampledSensor) -> None:
        super().__init__(robot, description)
        self._measured: Any = None

    def _measure(self, number: int, part: int) -> None:
        self._measured = self._exact()

    def _finish(self, number: int) -> Any:
        return self._disturbed(self._measured, number)

    def _exact(self) -> Any:
        return self.description.pattern.measure(self.robot, self.description)

    def measure(self) -> Any:
        """Return the values in the present state, without noise or latency."""
        return self._exact()

    @property
    def values(self) -> Any:
        """The values of the latest sample that has arrived, or None before the first sample."""
        sample = self.latest()
        return None if sample is None else sample.values
