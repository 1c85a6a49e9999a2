# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A kind of sensor is one class: with an entry in the table it works in descriptions and worlds."""

from dataclasses import dataclass

import numpy as np
import pytest
from world.sensing_robot import free_box

import hrpsim
from hrpsim import ModelError
from hrpsim.model.sensors.kinds import SAMPLED_KINDS, SENSOR_KINDS
from hrpsim.model.sensors.sensor_kind import SampledSensorKind

SPEED = 2.0  # of the robot, upwards [m/s]


@dataclass(frozen=True)
class Altimeter(SampledSensorKind):
    """The height of the sensor's frame over a level."""

    kind = "altimeter"
    common = ("rate", "latency", "enabled", "noise", "seed")
    level: float = 0.0  # [m]

    def measure(self, robot, sensor):
        return robot.frame_pose(sensor.body, sensor.R, sensor.p)[0][2] - self.level

    def disturbed(self, values, noise):
        return values + noise.deviation * noise.random.standard_normal()


@pytest.fixture(autouse=True)
def altimeter(monkeypatch):
    for table in (SAMPLED_KINDS, SENSOR_KINDS):
        monkeypatch.setitem(table, Altimeter.kind, Altimeter)


def rising(settings: str):
    """Return a world without gravity, and a robot that rises at SPEED with an altimeter."""
    model = free_box(f'<sensor name="z" type="altimeter" {settings}><origin xyz="0 0 3"/></sensor>')
    world = hrpsim.World(gravity=(0, 0, 0))
    return world, world.add_robot(model, v=np.array([0, 0, SPEED, 0, 0, 0]))


def test_it_measures_at_its_rate():
    """Law: a sample is of the last multiple of the period; `measure` is of now."""
    world, robot = rising('rate="100" level="1"')
    for _ in range(7):
        world.step(8)
        sensor = robot.sensors["z"]
        taken = np.floor(100.0 * world.time + 1e-9) / 100.0
        assert sensor.stamp == pytest.approx(taken)
        assert sensor.values == pytest.approx(2.0 + SPEED * taken)
        assert sensor.measure() == pytest.approx(2.0 + SPEED * world.time)


def test_its_noise_is_its_own():
    """Law: noise has the given deviation, and none is in `measure`."""
    world, robot = rising('noise="0.5" seed="3"')
    sensor, errors = robot.sensors["z"], []
    for _ in range(400):
        world.step()
        errors.append(sensor.values - 3.0 - SPEED * world.time)
        assert sensor.measure() == pytest.approx(3.0 + SPEED * world.time)
    assert np.std(errors) == pytest.approx(0.5, rel=0.15)


def test_settings_of_other_kinds_are_refused():
    with pytest.raises(ModelError, match=r"attribute 'columns' does not exist. Available: .*level"):
        rising('columns="3"')
