# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Noise is off by default, has the spread that was asked for, and repeats itself bit for bit."""

import numpy as np
import pytest

from hrpsim.sensors import NoiseLevels, SensorNoise

LEVELS = {"gyro": 0.02, "accelerometer": 0.3, "force": 5.0, "torque": 0.4}
STEPS = range(20_000)


def course(noise, steps=STEPS):
    return np.array([noise.at(step) for step in steps])


def test_off_by_default():
    for kind in ("imu", "force_torque"):
        noise = SensorNoise("sensor", kind, NoiseLevels())
        assert not noise.is_on
        assert not course(noise, range(10)).any()
        assert not noise.variances.any()


@pytest.mark.parametrize(("kind", "sigmas"), [("imu", (0.02, 0.3)), ("force_torque", (5.0, 0.4))])
def test_spread(kind, sigmas):
    noise = SensorNoise("sensor", kind, NoiseLevels(**LEVELS))
    samples = course(noise) / np.repeat(sigmas, 3)
    count = len(samples)
    # Five standard errors of mean, spread and correlation of independent normal samples.
    assert np.abs(samples.mean(axis=0)).max() < 5.0 / np.sqrt(count)
    assert samples.std(axis=0) == pytest.approx(np.ones(6), abs=5.0 / np.sqrt(2.0 * count))
    assert np.abs(np.corrcoef(samples.T) - np.eye(6)).max() < 5.0 / np.sqrt(count)
    assert np.abs((samples[1:] * samples[:-1]).mean(axis=0)).max() < 5.0 / np.sqrt(count)
    assert noise.variances == pytest.approx(np.repeat(sigmas, 3) ** 2)


def test_a_bias_is_constant_and_differs_from_sensor_to_sensor():
    levels = NoiseLevels(gyro_bias=0.1, accelerometer_bias=0.5)
    noise = SensorNoise("imu", "imu", levels)
    samples = course(noise, range(0, 1000, 7))
    assert (samples == samples[0]).all()
    assert samples[0].all()
    assert noise.variances == pytest.approx([0.01] * 3 + [0.25] * 3)
    others = [SensorNoise(f"imu{k}", "imu", levels).at(0) for k in range(400)]
    assert np.std(others, axis=0) == pytest.approx([0.1] * 3 + [0.5] * 3, rel=5.0 / np.sqrt(800.0))


@pytest.mark.parametrize(
    "other", [{"robot": "right"}, {"robot": "left", "world": 1}, {"robot": "leftimu"}]
)
def test_robots_and_worlds_have_independent_noise(other):
    """Law: the correlation of independent samples is within five standard errors of 0."""
    levels = NoiseLevels(seed=3, gyro_bias=0.1, **LEVELS)
    one = SensorNoise("imu", "imu", levels, robot="left")
    two = SensorNoise("imu", "imu", levels, **other)
    assert not np.isclose(one.at(0), two.at(0)).any()
    first, second = course(one, range(4000)), course(two, range(4000))
    for k in range(6):
        assert abs(np.corrcoef(first[:, k], second[:, k])[0, 1]) < 5.0 / np.sqrt(4000)


def test_a_bias_without_deviation_is_its_mean():
    """Law: a bias of mean m and deviation 0 is m, of either sign; with deviation s, m + s n."""
    mean = (0.1, -0.2, 0.0, 1.0, 2.0, -3.0)
    noise = SensorNoise("imu", "imu", NoiseLevels(), ((), (), mean))
    assert noise.is_on
    assert np.array_equal(noise.at(7), mean)
    own = ((), (0.5,) * 6, mean)
    drawn = [SensorNoise(f"imu{k}", "imu", NoiseLevels(), own).at(0) for k in range(400)]
    assert np.mean(drawn, axis=0) == pytest.approx(mean, abs=5.0 * 0.5 / np.sqrt(400))
    assert np.std(drawn, axis=0) == pytest.approx([0.5] * 6, rel=5.0 / np.sqrt(800.0))


def test_it_is_a_function_of_seed_name_and_step():
    levels = NoiseLevels(seed=3, **LEVELS)
    noise, twin = (SensorNoise("imu", "imu", levels) for _ in range(2))
    forward = course(noise, range(1000))
    backward = course(twin, range(999, -1, -1))
    assert np.array_equal(forward, backward[::-1])
    assert not np.array_equal(forward, course(SensorNoise("imu2", "imu", levels), range(1000)))

    levels.change(seed=4)
    assert not np.isclose(forward, course(noise, range(1000))).any()
    levels.change(seed=3, gyro=0.04)
    assert course(noise, range(1000))[:, :3] == pytest.approx(2.0 * forward[:, :3])
