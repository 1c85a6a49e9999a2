# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Gather the readings of a sensor of the robots of one name, in all worlds of a batch."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hrpsim.common.errors import require_name
from hrpsim.engine.compile.compiled import kernel, prepared
from hrpsim.engine.compile.kernel_types import Indices, Matrix
from hrpsim.engine.compile.numba_code import NumbaCode
from hrpsim.engine.compile.reference import TupleReference
from hrpsim.engine.sensors.noise import SensorNoise
from hrpsim.world.followed_entities import FollowedEntities, array_for
from hrpsim.world.objects.robot import Robot
from hrpsim.world.world import World

reference_at = NumbaCode("hrpsim.engine.compile.intrinsics", "reference_at")

_WIDTH = 6  # largest size of a reading


class Reading(NamedTuple):
    """The reading of one sensor, as an array for kernels."""

    sensor: np.ndarray  # (1,) SENSOR


@kernel
def gather_readings(example: Reading, addresses: Indices, worlds: Indices, out: Matrix) -> None:
    """Write the readings (count, 6) of a sensor in some worlds.

    example: the Reading of any world, used for the type. addresses (count,): addresses of the
    Readings of all worlds. worlds (m,): numbers of worlds.
    """
    for number in range(worlds.shape[0]):
        k = worlds[number]
        reading = reference_at(example, addresses[k]).sensor[0].reading
        for j in range(reading.shape[0]):
            out[k, j] = reading[j]


_gather_readings = prepared(gather_readings)


class BatchSensors(FollowedEntities):
    """One sensor of the robots of one name, one robot in each world.

    Args:
        worlds: the worlds of the batch.
        name: name of the robots.
        sensor: name of the sensor.

    Raises:
        WorldError: a world has no such robot, or a robot has no such sensor.
    """

    def __init__(self, worlds: tuple[World, ...], name: str, sensor: str) -> None:
        self._sensor = sensor
        self._noise: dict[int, SensorNoise] = {}
        super().__init__(worlds, "robots", name)

    def set_noise(self, noise: dict[int, SensorNoise]) -> None:
        """Set the noise of the readings, by number of the world."""
        self._noise = noise

    def readings(self, out: np.ndarray | None, worlds: list[int] | None) -> np.ndarray:
        """Return the readings (count, 6) with noise, written to `out` if given."""
        self.follow()
        out = array_for(out, (len(self.entities), _WIDTH), worlds)
        chosen = self.chosen(worlds)
        _gather_readings(self.example, self.addresses, chosen, out)
        for k, noise in self._noise.items():
            if noise.is_on and (worlds is None or k in worlds):
                world = self._worlds[k]
                out[k] += noise.at(round(world.time / world.time_step))
        return out

    def _reference_to(self, entity: Robot) -> TupleReference:
        known = [sensor.name for sensor in entity.model.sensors]
        require_name("sensor", self._sensor, known, where=f"{self._name!r}")
        at = entity.world.first_sensor(entity) + known.index(self._sensor)
        return TupleReference(Reading(entity.world.scene.sensors[at : at + 1]))
