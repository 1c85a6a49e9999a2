# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Contacts resist spin and rolling by moments in proportion to the normal force."""

import copy
import math
import pickle

import numpy as np
import pytest

import hrpsim
from hrpsim import StateError, WorldError

G, MASS, RADIUS = 9.81, 2.0, 0.1
INERTIA = 0.4 * MASS * RADIUS**2
SPIN, ROLLING = 0.02, 0.003  # coefficients [m]


def ball(torsional=SPIN, rolling=ROLLING, slope=0.0, **settings):
    """Return a world and a ball on its ground, with gravity as on a slope that falls along y."""
    gravity = (0.0, -G * math.sin(slope), -G * math.cos(slope))
    world = hrpsim.World(time_step=1e-3, gravity=gravity, **settings)
    world.add_ground()
    world.set_friction("default", "default", 0.8, torsional=torsional, rolling=rolling)
    return world, world.add_body(hrpsim.Sphere(RADIUS), mass=MASS, position=(0.0, 0.0, RADIUS))


@pytest.mark.parametrize("integrator", ["semi_implicit", "euler", "rk4"])
def test_a_spinning_ball_slows_at_a_constant_rate_and_stops(integrator):
    """Law: I w' = -c m g until the ball rests."""
    world, body = ball(integrator=integrator)
    body.angular_velocity = (0.0, 0.0, 5.0)
    rate = SPIN * MASS * G / INERTIA
    for n in (40, 40, 40):
        world.step(n)
        expected = max(5.0 - rate * world.time, 0.0)
        np.testing.assert_allclose(body.angular_velocity, [0.0, 0.0, expected], atol=1e-9)
        np.testing.assert_allclose(body.velocity, 0.0, atol=1e-9)


@pytest.mark.parametrize("solver", ["auto", "iterative", "newton"])
def test_a_rolling_ball_slows_at_a_constant_rate_and_stops(solver):
    """Law: (I + m r^2) w' = -c m g, along the direction in which the ball rolls."""
    world, body = ball(solver=solver)
    start = np.array([0.06, 0.03, 0.0])
    body.velocity, body.angular_velocity = start, np.array([-0.03, 0.06, 0.0]) / RADIUS
    rate = ROLLING * MASS * G * RADIUS / (INERTIA + MASS * RADIUS**2)
    for _ in range(4):
        world.step(100)
        left = max(1.0 - rate * world.time / np.linalg.norm(start), 0.0)
        np.testing.assert_allclose(body.velocity, left * start, atol=1e-6)
    assert left == 0.0


@pytest.mark.parametrize("share", [0.9, 1.5])
def test_a_ball_on_a_slope_rolls_if_the_slope_exceeds_the_friction(share):
    """Law: the ball rests up to tan(slope) = c / r. It then rolls at the remaining moment."""
    slope = math.atan(share * ROLLING / RADIUS)
    world, body = ball(slope=slope)
    world.step(300)
    push = G * math.sin(slope) - G * math.cos(slope) * ROLLING / RADIUS
    speed = max(push, 0.0) / (1.0 + INERTIA / (MASS * RADIUS**2)) * world.time
    np.testing.assert_allclose(body.velocity, [0.0, -speed, 0.0], atol=1e-7)


def test_rolling_friction_acts_against_the_rotation_alone():
    """Law: a ball that rolls across a slope is slowed along its way, and falls as without it."""
    slope = 0.5 * ROLLING / RADIUS
    world, body = ball(slope=slope)
    body.velocity, body.angular_velocity = (2.0, 0.0, 0.0), (0.0, 2.0 / RADIUS, 0.0)
    world.step(10)
    times = world.time / (1.0 + INERTIA / (MASS * RADIUS**2))
    slowed = times * G * math.cos(slope) * ROLLING / RADIUS
    np.testing.assert_allclose(
        body.velocity, [2.0 - slowed, -times * G * math.sin(slope), 0.0], atol=1e-5
    )


@pytest.mark.parametrize("share", [0.95, 1.2])
def test_a_moment_turns_a_body_if_it_exceeds_the_bound(share):
    """Law: I w' = moment - c N, and no motion up to c N."""
    world, body = ball()
    moment = share * SPIN * MASS * G
    for _ in range(50):
        body.apply_wrench((0.0, 0.0, 0.0), (0.0, 0.0, moment))
        world.step()
    expected = max(moment - SPIN * MASS * G, 0.0) / INERTIA * world.time
    assert body.angular_velocity[2] == pytest.approx(expected, abs=1e-9)


def test_two_bodies_lose_no_momentum_to_their_friction():
    """Law: the moment on one ball is opposite to the moment on the other ball."""
    world = hrpsim.World(time_step=1e-3, gravity=(0.0, 0.0, 0.0))
    world.set_friction("default", "default", 0.8, torsional=SPIN, rolling=ROLLING)
    low, high = (
        world.add_body(hrpsim.Sphere(RADIUS), mass=MASS, position=(0.0, 0.0, z * RADIUS))
        for z in (0.0, 2.0)
    )
    low.angular_velocity, high.angular_velocity = (0.0, 0.0, -1.0), (0.0, 0.0, 3.0)
    for _ in range(20):
        low.apply_wrench((0.0, 0.0, 10.0), (0.0, 0.0, 0.0))
        high.apply_wrench((0.0, 0.0, -10.0), (0.0, 0.0, 0.0))
        world.step()
    change = SPIN * 10.0 / INERTIA * world.time
    assert low.angular_velocity[2] == pytest.approx(-1.0 + change, abs=1e-9)
    assert high.angular_velocity[2] == pytest.approx(3.0 - change, abs=1e-9)


def test_what_is_not_a_length_or_not_differentiated_is_refused():
    world, _ = ball()
    with pytest.raises(WorldError, match=r"torsional friction of 'a' on 'b' must be"):
        world.set_friction("a", "b", 0.5, torsional=-0.1)
    world.step()
    with pytest.raises((WorldError, StateError, hrpsim.HrpsimError), match="torsional and rolling"):
        world.linearize()


def test_moments_outlast_a_snapshot_a_copy_and_sleep():
    """Law: the next step of a ball at rest starts from the last moments, and is solved at once."""
    world, body = ball(slope=0.5 * ROLLING / RADIUS, solver="iterative")
    world.step(300)
    start = world.snapshot()
    world.restore(start)
    others = [world, copy.deepcopy(world), pickle.loads(pickle.dumps(world))]
    world.step(1000)
    assert world.asleep == (body.name,)
    woken = pickle.loads(pickle.dumps(world))
    woken.wake()
    world.restore(start)
    for one in (*others, woken):
        one.step()
        assert one.stats.iterations == 1
