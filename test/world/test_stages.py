# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Rigid connections in rk4: the classical method's order is that of the constrained motion too."""

import itertools

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

from hrpsim import Box, World

GRAVITY, ARM, MASS, SIZE, START = 9.80665, 0.5, 1.0, (0.04, 0.04, 1.0), 1.0


def turned(angle):
    """Return position and orientation of a rod that hangs from the origin at an angle."""
    half = -angle / 2
    position = ARM * np.array([np.sin(angle), 0.0, -np.cos(angle)])
    return position, (0.0, np.sin(half), 0.0, np.cos(half))


def pendulum(time_step, **options):
    world = World(time_step, gravity=(0, 0, -GRAVITY), integrator="rk4", **options)
    position, orientation = turned(START)
    rod = world.add_body(Box(SIZE), MASS, position, orientation)
    world.connect(rod, None, "hinge", point=(0, 0, 0), axis=(0, 1, 0))
    return world, rod


def angle_of(rod):
    x, _, z = rod.position
    return np.arctan2(x, -z)


def exact_angle(duration):
    moment = MASS * (SIZE[0] ** 2 + SIZE[2] ** 2) / 12 + MASS * ARM**2
    pull = MASS * GRAVITY * ARM / moment
    motion = solve_ivp(
        lambda _, y: (y[1], -pull * np.sin(y[0])),
        (0, duration),
        (START, 0.0),
        method="DOP853",
        rtol=1e-13,
        atol=1e-14,
    )
    return motion.y[0, -1]


@pytest.mark.parametrize("projection", [False, True])
def test_pendulum_of_a_free_body_is_of_fourth_order(projection):
    errors = []
    for time_step in (4e-3, 2e-3, 1e-3):
        world, rod = pendulum(time_step, position_projection=projection)
        world.step(round(2.0 / time_step))
        errors.append(abs(angle_of(rod) - exact_angle(2.0)))
    assert errors[-1] < 1e-10
    assert errors[0] / errors[1] > 13 and errors[1] / errors[2] > 13


def test_free_joints_gain_no_energy_and_no_momentum():
    """Two rods on a ball joint, thrown: nothing outside acts on them."""
    world = World(1e-3, gravity=(0, 0, 0), integrator="rk4")
    a = world.add_body(Box((0.2, 0.1, 0.1)), 1.0, (0, 0, 0), angular_velocity=(1.0, -2.0, 3.0))
    b = world.add_body(Box((0.3, 0.1, 0.2)), 2.0, (0.25, 0, 0))
    world.connect(a, b, "ball", point=(0.1, 0, 0))
    world.step(200)  # the joint takes hold of two bodies that did not move together

    def state():
        energy, momentum, spin = 0.0, np.zeros(3), np.zeros(3)
        for body, size in ((a, (0.2, 0.1, 0.1)), (b, (0.3, 0.1, 0.2))):
            x, y, z = np.square(size)
            R = Rotation.from_quat(body.orientation).as_matrix()
            inertia = R @ np.diag([y + z, x + z, x + y]) @ R.T * body.mass / 12
            v, w = body.velocity, body.angular_velocity
            energy += 0.5 * body.mass * v @ v + 0.5 * w @ inertia @ w
            momentum += body.mass * v
            spin += body.mass * np.cross(body.position, v) + inertia @ w
        return energy, momentum, spin

    energy, momentum, spin = state()
    world.step(3000)
    after = state()
    assert after[0] == pytest.approx(energy, rel=1e-8)
    assert after[1] == pytest.approx(momentum, abs=1e-12)
    assert after[2] == pytest.approx(spin, abs=1e-8)


def test_reaction_of_a_hanging_body_is_its_weight():
    world = World(1e-3, gravity=(0, 0, -GRAVITY), integrator="rk4")
    body = world.add_body(Box((0.1, 0.1, 0.1)), 2.0, (0, 0, 1))
    hold = world.connect(body, None, "fixed")
    world.step(50)
    assert np.abs(hold.force) == pytest.approx((0, 0, 2.0 * GRAVITY), abs=1e-9)
    assert body.position == pytest.approx((0, 0, 1), abs=1e-15)


def test_connected_bodies_on_the_ground_rest():
    """Contacts keep the force of the step, connections find theirs at each stage."""
    world = World(1e-3, integrator="rk4")
    world.add_ground()
    boxes = [world.add_body(Box((0.2, 0.2, 0.2)), 1.0, (0.25 * k, 0, 0.1)) for k in range(3)]
    for a, b in itertools.pairwise(boxes):
        world.connect(a, b, "hinge", point=(a.position + b.position) / 2, axis=(0, 1, 0))
    world.step(1000)
    for k, box in enumerate(boxes):
        assert box.position == pytest.approx((0.25 * k, 0, 0.1), abs=1e-8)
        assert np.abs(box.velocity).max() < 1e-8


def test_iterative_connection_beside_a_direct_one_is_still_taken_back():
    """Stages are for direct rows alone: an iterative one keeps what it asked the step for."""
    world = World(1e-3, gravity=(0, 0, 0), integrator="rk4")
    own = ((0, 0, 0), (0, 0, 0, 1))
    for solver, y in (("direct", 0.0), ("iterative", 1.0)):
        body = world.add_body(Box((0.1, 0.1, 0.1)), 1.0, (0.01, y, 0))
        target = ((0, y, 0), (0, 0, 0, 1))
        world.connect(None, body, "ball", frame_a=target, frame_b=own, solver=solver, name=solver)
    world.step(500)
    for connection in world.connections.values():
        assert np.abs(connection.error).max() < 1e-6
