# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""An ankle that two motors drive through rods: geometry, statics and energy of its loops."""

import numpy as np
import pytest
from world.rods import cranks, gradient
from world.scenes import show

from hrpsim import World, energy, link_jacobian, load_model, share_path

MODEL = load_model(share_path("urdf/rod_ankle.urdf.xacro"), base="fixed")


def closed(pitch: float, roll: float) -> np.ndarray:
    return np.array([pitch, roll, *cranks(pitch, roll)])


def ankle(q, **options):
    """Return a world and the robot, its shank held."""
    world = World(position_projection=True, tolerance=1e-12, **options)
    robot = world.add_robot(MODEL, q=q)
    robot.command(efforts=np.zeros(4))
    return world, robot


def test_the_cranks_turn_as_the_geometry_of_rods_of_constant_length():
    """Law: the closed form of a circle that meets a sphere, wherever the ankle is."""
    world, robot = ankle(closed(0.0, 0.0))
    off, reached = 0.0, np.zeros(2)
    for k in range(3000):
        speeds = [1.5 * np.cos(2e-3 * np.pi * k), 1.2 * np.cos(3e-3 * np.pi * k)]
        robot.drive(["L_CRANK", "R_CRANK"], speeds, np.inf)
        world.step()
        q = robot.joint_positions
        off = max(off, np.abs(cranks(*q[:2]) - q[2:]).max())
        reached = np.maximum(reached, np.abs(q[:2]))
    show("rods: cranks off the geometry [rad], pitch and roll reached", off, *reached)
    assert off < 1e-9 and reached.min() > 0.1


@pytest.mark.parametrize("angles", [(0.0, 0.0), (0.25, -0.1), (-0.3, 0.2)])
def test_the_motors_hold_a_loaded_foot_by_the_transposed_jacobian(angles):
    """Law of virtual work: torques of pitch and roll are J^T times those of the motors."""
    q, wrench = closed(*angles), np.array([30.0, -20.0, 300.0, 5.0, -8.0, 3.0])
    world, robot = ankle(q, gravity=(0, 0, 0))
    robot.lock(["L_CRANK", "R_CRANK"])
    robot.apply_wrench("FOOT", wrench[:3], wrench[3:])
    world.step()
    motors = robot.constraint_efforts("lock")[2:]
    load = link_jacobian(MODEL, q, "FOOT").T @ wrench
    assert np.abs(load[:2]).min() > 3.0
    assert gradient(*angles).T @ motors == pytest.approx(-load[:2], rel=1e-9)


def test_the_work_of_the_motors_is_the_energy_of_the_ankle():
    """Law: E(t) - E(0) = torques . turned angles, to second order of the step."""
    errors = []
    for time_step in (1e-3, 5e-4):
        world, robot = ankle(closed(0.1, 0.05), time_step=time_step)
        torques = np.array([0.4, -0.3])
        robot.command(efforts=torques, names=["L_CRANK", "R_CRANK"])
        start, before, worst = robot.joint_positions, sum(energy(MODEL, robot.q, robot.v)), 0.0
        for _ in range(round(0.2 / time_step)):
            world.step()
            work = torques @ (robot.joint_positions - start)[2:]
            change = sum(energy(MODEL, robot.q, robot.v)) - before
            worst = max(worst, abs(change - work))
        errors.append(worst)
    show("rods: work and energy differ by [J], at 1 and 0.5 ms", *errors, work)
    assert errors[0] < 2e-3 * abs(work) and errors[1] < 0.3 * errors[0]
