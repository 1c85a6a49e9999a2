# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The measured zero-moment point is the centre of pressure of the contact forces."""

import numpy as np
import pytest

import hrpsim
from hrpsim.control.estimation.zero_moment_point import Support, zero_moment_point


def support(force=(0.0, 0.0, 0.0), torque=(0.0, 0.0, 0.0), origin=(0.0, 0.0, 0.0), sole_height=0.0):
    return Support(force, torque, origin, sole_height)


def test_it_is_where_single_forces_act():
    """Forces at points of one plane: the mean of the points, weighted by the vertical forces."""
    random = np.random.default_rng(1)
    points = random.normal(size=(2, 5, 3))
    points[:, :, 2] = 0.3
    forces = random.normal(size=(2, 5, 3)) + (0.0, 0.0, 4.0)
    origins = random.normal(size=(2, 3))  # of sensors anywhere
    supports = [
        support(f.sum(axis=0), np.cross(p - o, f).sum(axis=0), o, 0.3)
        for p, f, o in zip(points, forces, origins)
    ]
    weights = forces[:, :, 2, None]
    expected = (weights * points).sum(axis=(0, 1)) / weights.sum()
    assert zero_moment_point(supports, 1.0) == pytest.approx(expected)


def test_a_foot_in_the_air_does_not_count():
    standing = support((0.0, 0.0, 100.0), (0.0, 0.0, 0.0), (0.1, 0.2, 0.105), 0.0)
    lifted = support((0.0, 0.0, -0.1), (0.0, 0.0, 0.0), (0.1, 0.2, 0.3), 0.2)
    assert zero_moment_point([standing, lifted], 1.0) == pytest.approx((0.1, 0.2, 0.0), abs=1e-3)


def test_there_is_none_without_load():
    assert zero_moment_point([support(), support()], 5.0) is None
    assert zero_moment_point([support((0.0, 0.0, 4.0))], 5.0) is None
    assert zero_moment_point([support((0.0, 0.0, np.nan))], 5.0) is None


@pytest.mark.parametrize("bush", [True, False])
def test_at_rest_it_is_below_the_center_of_mass(bush):
    """The law of moments, against quantities that no sensor enters, with the arms out."""
    from pathlib import Path

    from hrpsim.control.estimation.base_estimator import sole_depth
    from hrpsim.world.objects.body import rotation_matrix

    root = Path(__file__).resolve().parents[2]
    world = hrpsim.load_world(root / "config" / "stand.yaml", xacro_arguments={"bush": bush})
    robot = world.robots["hrp2"]
    robot.command(positions=[-0.8, 0.5], names=["LARM_JOINT0", "LARM_JOINT1"], over=0.5)
    world.settle()
    world.step()
    sensors = [robot.sensors[name].description for name in ("lfsensor", "rfsensor")]
    supports = []
    for sensor in sensors:
        p, orientation = robot.frame_pose(sensor.body, sensor.R, sensor.p)
        R = rotation_matrix(orientation)
        reading = robot.sensors[sensor.name]
        sole = p[2] - sole_depth(robot.model, sensor) * R[2, 2]
        supports.append(support(R @ reading.force, R @ reading.torque, p, sole))
    x, y, z = zero_moment_point(supports, 5.0)
    center = hrpsim.center_of_mass(robot.model, robot.q)
    assert (x, y) == pytest.approx(center[:2], abs=1e-5)
    assert abs(y) > 5e-3  # the arms did something
    assert z == pytest.approx(0.0, abs=1e-4)
    pressed = [c for c in world.contacts if c.force[2] != 0.0]
    weights = np.array([c.force[2] for c in pressed])
    pressure = weights @ [c.point for c in pressed] / weights.sum()
    assert (x, y) == pytest.approx(pressure[:2], abs=1e-5)
