# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Noise of sensors: white, with a constant bias, reproducible by a seed.

All sensors draw from generators with the key (seed, world, robot, sensor, sample). World and sample
are numbers, robot and sensor are names. Sensors with different keys have independent noise. A
sensor has the same noise in a single world, in world 0 of a batch, and over ROS.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from hrpsim.common.typed_values import NotNegative, check_fields
from hrpsim.model.sensors.kinds import STEP_KINDS

_BLOCK = 256  # samples that are drawn at once


def noise_generator(
    seed: int, world: int, robot: str, sensor: str, sample: int
) -> np.random.Generator:
    """Return the random generator for one sample's noise.

    Args:
        seed: seed of the sensor's noise.
        world: number of the world in its batch, 0 for a single world.
        robot: name of the robot.
        sensor: name of the sensor.
        sample: number of the sample.
    """
    key = repr((int(seed), int(world), robot, sensor, int(sample))).encode()
    digest = hashlib.blake2b(key, digest_size=16).digest()
    return np.random.Generator(np.random.Philox(key=int.from_bytes(digest, "little")))


@dataclass
class NoiseLevels:
    """Standard deviations of a sensor's noise. Each bias is drawn once for each axis."""

    seed: int = 0
    gyro: NotNegative = 0.0  # [rad/s]
    gyro_bias: NotNegative = 0.0  # [rad/s]
    accelerometer: NotNegative = 0.0  # [m/s^2]
    accelerometer_bias: NotNegative = 0.0  # [m/s^2]
    force: NotNegative = 0.0  # [N]
    torque: NotNegative = 0.0  # [Nm]
    version: int = field(default=0, compare=False)  # incremented by every change

    def __post_init__(self) -> None:
        check_fields(self)

    def change(self, **levels: float) -> None:
        """Set some of the levels, by name. An invalid value raises StateError."""
        changed = replace(self, **levels)
        vars(self).update(vars(changed), version=self.version + 1)


class SensorNoise:
    """The noise of a sensor's six values at a step. For an IMU, angular velocity comes first.

    The noise depends only on the key of `noise_generator`. A repeated run therefore has the same
    noise, in any order of the steps.

    Args:
        name: name of the sensor.
        kind: "imu" or "force_torque".
        levels: standard deviations that the user can change.
        own: noise of the sensor itself, independent of `levels`: standard deviations of the six
            values, then standard deviations and means of the biases. Each is (6,) or empty.
        robot: name of the robot.
        world: number of the world in its batch, 0 for a single world.
    """

    def __init__(
        self,
        name: str,
        kind: str,
        levels: NoiseLevels,
        own: tuple[Sequence[float], Sequence[float], Sequence[float]] = ((), (), ()),
        *,
        robot: str = "",
        world: int = 0,
    ) -> None:
        self._world, self._robot, self._name = world, robot, name
        self._kind = kind
        self._levels = levels
        self._own = [np.array(values) if len(values) else np.zeros(6) for values in own]
        self._version = -1
        self._refresh()

    @property
    def is_on(self) -> bool:
        """Whether there is any noise or bias."""
        self._refresh()
        return self._on

    @property
    def variances(self) -> np.ndarray:
        """Mean squares of noise plus bias of each value (6,), in squared units of the values."""
        self._refresh()
        return self._sigma**2 + self._bias_sigma**2 + self._own[2] ** 2

    def at(self, step: int) -> np.ndarray:
        """Return the noise of the six values at a step (6,)."""
        self._refresh()
        number, index = divmod(step, _BLOCK)
        if number != self._block_number:
            self._block = self._generator(number + 1).standard_normal((_BLOCK, 6))
            self._block_number = number
        return self._bias + self._sigma * self._block[index]

    def _generator(self, block: int) -> np.random.Generator:
        seed = self._levels.seed
        return noise_generator(seed, self._world, self._robot, self._name, block)

    def _refresh(self) -> None:
        levels = self._levels
        if self._version == levels.version:
            return
        self._version, self._block_number = levels.version, -1
        kind = STEP_KINDS[self._kind]
        sigma = [getattr(levels, name) for name in kind.noise_levels]
        bias = [getattr(levels, name) for name in kind.bias_levels] or [0.0, 0.0]
        self._sigma = np.hypot(np.repeat(sigma, 3), self._own[0])
        self._bias_sigma = np.hypot(np.repeat(bias, 3), self._own[1])
        self._bias = self._own[2]
        if self._bias_sigma.any():
            self._bias = self._bias + self._bias_sigma * self._generator(0).standard_normal(6)
        self._on = bool(self._sigma.any() or self._bias.any())
