# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""E7 and E8 of REFERENCE: a 1 kg box on a plane with mu = 0.5, g = 9.8."""

import math

import numpy as np
import pytest
from world.scenes import INTEGRATORS, contact_force, show

from hrpsim import Box, Cylinder, World

G, MU = 9.8, 0.5
CASES = [(9.8, 1 / 50), (19.6, 1 / 50), (29.4, 1 / 50), (19.6, 1 / 100), (19.6, 1 / 200)]


def table(integrator: str, time_step: float) -> World:
    world = World(time_step, gravity=(0, 0, -G), integrator=integrator)
    world.set_friction("table", "block", static=MU)
    world.add_ground(material="table")
    return world


def block(world, velocity=(0.0, 0.0, 0.0), position=(0.0, 0.0)):
    return world.add_body(
        Box((0.4, 0.4, 0.1)), 1.0, position=(*position, 0.05), velocity=velocity, material="block"
    )


def stop_distance(speed: float, time_step: float, integrator: str) -> float:
    world = table(integrator, time_step)
    body = block(world, (speed, 0, 0))
    world.step(round(1.2 * speed / (MU * G) / time_step))
    assert np.abs(body.velocity).max() < 1e-9
    return body.position[0]


@pytest.mark.parametrize("speed, time_step", CASES)
def test_rk4_stops_where_coulomb_says(speed, time_step):
    """x = v0^2 / (2 mu g) within 0.1 %."""
    expected = speed**2 / (2 * MU * G)
    found = stop_distance(speed, time_step, "rk4")
    show(f"rk4 stop distance / theory - 1, v0 {speed}, dt {time_step}", found / expected - 1)
    assert abs(found / expected - 1) < 1e-3


def steps_stop_at(speed: float, time_step: float) -> float:
    """Where steps stop that are exact while the speed left is at least mu g dt.

    The last one takes what is left, r, to zero over the whole step: it goes r dt / 2, where
    r^2 / (2 mu g) are left to go.
    """
    left = math.fmod(speed, MU * G * time_step)
    return (speed**2 - left**2) / (2 * MU * G) + 0.5 * left * time_step


@pytest.mark.parametrize("left", [0.0, 0.25, 0.5, 0.9])
@pytest.mark.parametrize("speed, time_step", CASES)
def test_the_semi_implicit_step_is_off_by_its_last_step_only(speed, time_step, left):
    """It stops at most mu g dt^2 / 8 too far, and where v0 / (mu g dt) is whole, exactly there."""
    speed += left * MU * G * time_step
    found = stop_distance(speed, time_step, "semi_implicit")
    error = found - speed**2 / (2 * MU * G)
    bound = MU * G * time_step**2 / 8
    show(f"semi_implicit stop error [m] of bound {bound:g}, {left:g} of a step left", error)
    assert found == pytest.approx(steps_stop_at(speed, time_step), abs=1e-8)
    assert -1e-8 <= error <= bound + 1e-8


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_the_path_follows_the_parabola_until_it_stops(integrator):
    """x(t) = v0 t - mu g t^2 / 2, of which both integrators' steps are exact."""
    dt, speed = 1 / 50, 19.6
    world = table(integrator, dt)
    body = block(world, (speed, 0, 0))
    for k in range(1, 190):
        world.step()
        t = k * dt
        assert abs(body.position[0] - (speed * t - MU * G * t * t / 2)) < 1e-5 * speed


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_no_heading_is_better_than_another(integrator):
    """36 headings: same distance within 0.1 %, along the heading, friction against the slip."""
    world = table(integrator, 1 / 100)
    angles = np.arange(36) * (2 * math.pi / 36) + 0.03
    heading = np.column_stack([np.cos(angles), np.sin(angles)])
    starts = [(3.0 * (k % 6), 3.0 * (k // 6)) for k in range(36)]
    bodies = [
        block(world, (2.0 * h[0], 2.0 * h[1], 0.0), start)
        for h, start in zip(heading, starts, strict=True)
    ]
    worst = 0.0
    for _ in range(5):
        world.step(5)
        for body, h in zip(bodies, heading, strict=True):
            f = contact_force(world, body.name)
            worst = max(worst, abs(f[0] * h[1] - f[1] * h[0]) / (MU * G))
            assert f[:2] @ h == pytest.approx(-MU * G, rel=1e-5)
    show(f"{integrator}: friction off the slip direction (share)", worst)
    assert worst < 1e-5
    world.step(60)
    moved = np.array([b.position[:2] for b in bodies]) - np.array(starts)
    distance = np.linalg.norm(moved, axis=1)
    spread = distance.max() / distance.min() - 1
    show(f"{integrator}: stop distance over headings, max/min - 1", spread)
    assert spread < 1e-3
    away = np.abs(moved[:, 0] * heading[:, 1] - moved[:, 1] * heading[:, 0])
    assert (away / distance).max() < 1e-3


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("time_step", [1 / 50, 1 / 400])
@pytest.mark.parametrize(
    "force, slides", [(2.45, False), (4.41, False), (4.89, False), (4.91, True)]
)
def test_a_ramped_push_moves_it_above_mu_m_g_only(force, slides, time_step, integrator):
    """Ramped from 0 over 2 s and held to 15 s: theory slides above 4.9 N (E8: dynamic, 0.1 m)."""
    world = table(integrator, time_step)
    body = block(world)
    n = round(2.0 / time_step)
    for k in range(n):
        body.apply_wrench(force=(force * (k + 1) / n, 0, 0))
        world.step()
    body.apply_wrench(force=(force, 0, 0))
    world.step(round(3.0 / time_step))
    reached = body.position[0]
    body.apply_wrench(force=(force, 0, 0))
    world.step(round(10.0 / time_step))
    moved = body.position[0]
    show(f"pushed with {force} N, dt {time_step}, {integrator}: moved [m]", moved)
    if slides:
        assert moved > 0.1
        assert moved == pytest.approx(0.5 * (force - MU * G) * 13.0**2, rel=0.02)
    else:
        assert abs(moved) < 1e-5  # E8 calls 0.1 m a slide
        assert abs(moved - reached) < 1e-9


@pytest.mark.parametrize(
    "integrator, rate, time_step",
    [
        ("semi_implicit", 2.0, 1e-3),
        ("semi_implicit", 2.0, 5e-4),
        ("semi_implicit", 3.5, 1e-3),
        ("rk4", 2.0, 1e-3),
        ("rk4", 2.0, 5e-4),
    ],
)
def test_what_rides_on_a_carousel_stays(integrator, rate, time_step):
    """A box that sticks keeps its distance from the axis."""
    world = World(time_step, integrator=integrator)
    world.set_friction("default", "default", static=0.8)
    disc = world.add_body(Cylinder(1.0, 0.1), 1e3, (0, 0, -0.05), angular_velocity=(0, 0, rate))
    hinge = world.connect(None, disc, "hinge", point=(0, 0, 0), axis=(0, 0, 1))
    hinge.drive("rz", rate, 1e9)
    radius, rides = 0.5, dict(velocity=(0, rate * 0.5, 0), angular_velocity=(0, 0, rate))
    box = world.add_body(Box((0.02, 0.02, 0.01)), 0.1, (radius, 0, 0.005), **rides)
    world.step(round(0.5 / time_step))
    creep = (math.hypot(*box.position[:2]) - radius) / 0.5
    show(f"creep on a carousel, {integrator}, {rate} rad/s, {time_step} s [m/s]", creep)
    assert abs(creep) < 2e-5
