# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Bodies that land, bounce, are pushed out of the ground, and rest on each other."""

import math

import numpy as np
import pytest
from world.scenes import GRAVITY, INTEGRATORS, contact_force, kinetic_energy, show

from hrpsim import Box, Capsule, Cylinder, Sphere, World

integrators = pytest.mark.parametrize("integrator", INTEGRATORS)


def bounce_heights(restitution: float, integrator: str, time_step=1e-3, count=3, height=1.0):
    """Highest points [m] of a ball's underside after each bounce, by v^2 / 2 g where it rises."""
    world = World(time_step, integrator=integrator)
    world.set_friction("floor", "ball", static=0.5, restitution=restitution)
    world.add_ground(material="floor")
    ball = world.add_body(Sphere(0.1), 1.0, position=(0, 0, 0.1 + height), material="ball")
    heights, top = [], 0.0
    falling = True
    while len(heights) < count and world.time < 20:
        world.step()
        if falling and ball.velocity[2] > 0:
            falling, top = False, 0.0
        if not falling:
            top = max(top, ball.position[2] - 0.1)
            if ball.velocity[2] < 0:
                falling = True
                heights.append(top)
    return np.array(heights)


@integrators
@pytest.mark.parametrize("e", [0.3, 0.7, 0.9])
def test_a_ball_bounces_to_e_squared_of_its_height(e, integrator):
    """h_n = e^(2 n) h, within the distance that the ball falls in a step at impact."""
    heights = bounce_heights(e, integrator)
    expected = e ** (2.0 * np.arange(1, 4))
    step_error = 1e-3 * math.sqrt(2 * GRAVITY)
    show(f"bounces, e {e}, {integrator}: heights - e^2n h [m]", *(heights - expected))
    assert np.abs(heights - expected).max() < step_error


@integrators
def test_the_error_of_a_bounce_vanishes_with_the_step(integrator):
    errors = [abs(bounce_heights(0.7, integrator, dt, 1)[0] - 0.49) for dt in (2e-3, 1e-4)]
    assert errors[1] < 3e-4


@integrators
def test_a_lossless_bounce_keeps_its_energy(integrator):
    """e = 1: after ten bounces the ball returns to its height within 1 %."""
    heights = bounce_heights(1.0, integrator, count=10)
    show(f"e = 1, {integrator}: heights of 10 bounces", *heights)
    assert np.abs(heights - 1.0).max() < 0.01


@integrators
def test_nothing_bounces_without_restitution(integrator):
    world = World(integrator=integrator)
    world.add_ground()
    ball = world.add_body(Sphere(0.1), 1.0, position=(0, 0, 0.6))
    landed = math.sqrt(2 * 0.5 / GRAVITY)
    world.step(round(landed / 1e-3) + 2)
    for _ in range(200):
        world.step()
        assert abs(ball.velocity[2]) < 1e-9
    assert abs(ball.position[2] - 0.1) < 2e-6


@pytest.mark.parametrize("restitution", [0.0, 1e-9])
def test_an_inelastic_landing_does_not_halt_above_the_ground(restitution):
    """The step that meets the ground ends on it, not where it began."""
    world = World(1 / 100)
    world.set_friction("default", "default", static=0.5, restitution=restitution)
    world.add_ground()
    ball = world.add_body(Sphere(0.1), 1.0, position=(0, 0, 0.109), velocity=(0, 0, -1.0))
    world.step(2 if restitution == 0.0 else 5)
    assert abs(ball.position[2] - 0.1) < 1e-9


@integrators
def test_slow_contacts_do_not_bounce(integrator):
    """Below the threshold of 0.01 m/s the restitution counts as zero."""
    for speed, bounces in ((0.009, False), (0.1, True)):
        world = World(gravity=(0, 0, 0), integrator=integrator)
        world.set_friction("floor", "ball", static=0.5, restitution=0.8)
        world.add_ground(material="floor")
        ball = world.add_body(
            Sphere(0.1), 1.0, position=(0, 0, 0.1002), velocity=(0, 0, -speed), material="ball"
        )
        world.step(100)
        assert ball.velocity[2] == pytest.approx(0.8 * speed if bounces else 0.0, abs=1e-9)


@integrators
def test_what_lands_does_not_pass_the_surface(integrator):
    world = World(integrator=integrator)
    world.add_ground()
    world.add_body(Sphere(0.1), 1.0, position=(0, 0, 0.6))
    deepest = 0.0
    for _ in range(400):
        world.step()
        deepest = max(deepest, world.stats.max_penetration)
    show(f"deepest at a landing with 3.1 m/s, {integrator} [m]", deepest)
    assert deepest < 3e-4


@integrators
@pytest.mark.parametrize(
    "shape, rest", [(Box((0.3, 0.2, 0.1)), 0.05), (Sphere(0.1), 0.1), (Cylinder(0.1, 0.2), 0.1)]
)
def test_what_starts_inside_comes_out_slowly(shape, rest, integrator):
    """5 mm deep: it rises with no kinetic energy, 0.1 m/s at most, and stops at the surface."""
    world = World(integrator=integrator)
    world.add_ground()
    body = world.add_body(shape, 2.0, position=(0, 0, rest - 0.005))
    before = body.position[2]
    energy = speed = 0.0
    for _ in range(1000):
        world.step()
        energy = max(energy, kinetic_energy(body))
        speed = max(speed, (body.position[2] - before) / 1e-3)
        before = body.position[2]
    show(f"from 5 mm inside, {integrator}: energy [J], speed [m/s]", energy, speed)
    assert energy < 1e-12
    assert 0.0 < speed < 0.1 * (1 + 1e-6)
    assert abs(body.position[2] - rest) < 2e-6


LEVELS = {"box": Box((0.2, 0.2, 0.2)), "cylinder": Cylinder(0.1, 0.2)}


@pytest.mark.parametrize(
    "shape, integrator",
    [("box", "semi_implicit"), ("box", "rk4"), ("cylinder", "semi_implicit"), ("cylinder", "rk4")],
)
def test_a_stack_of_five_rests(shape, integrator):
    """Each level carries the weight above it within 1e-6; no sinking (300 um at most).

    No drift either: the solver's tolerance is 1e-8 m/s, and its jitter does not add up.
    """
    world = World(integrator=integrator)
    world.add_ground()
    stack = [
        world.add_body(LEVELS[shape], 1.0 + k, position=(0, 0, 0.1 + 0.2 * k), name=f"level{k}")
        for k in range(5)
    ]
    world.step(1000)
    start = np.array([b.position for b in stack])
    world.step(6000)
    drift = np.abs(np.array([b.position for b in stack]) - start).max()
    worst = 0.0
    for k in range(5):
        below = "world" if k == 0 else f"level{k - 1}"
        force = sum(
            c.force[2] * (1 if c.a[0] == f"level{k}" else -1)
            for c in world.contacts
            if {c.a[0], c.b[0]} == {below, f"level{k}"}
        )
        weight = GRAVITY * sum(1.0 + j for j in range(k, 5))
        worst = max(worst, abs(force / weight - 1.0))
    show(f"stack of 5, {integrator}: force error, drift [m]", worst, drift)
    show("  penetration [m]", world.stats.max_penetration)
    assert worst < 1e-6
    assert drift < 1e-8
    assert world.stats.max_penetration < 3e-4


def test_a_heavy_box_on_a_light_one_rests():
    """100 to 1: a mass ratio that Gauss-Seidel finds hard."""
    world = World()
    world.add_ground()
    world.add_body(Box((0.2, 0.2, 0.2)), 1.0, position=(0, 0, 0.1))
    world.add_body(Box((0.2, 0.2, 0.2)), 100.0, position=(0, 0, 0.3))
    world.step(3000)
    show("100 kg on 1 kg: penetration [m]", world.stats.max_penetration)
    assert world.stats.max_penetration < 3e-4
    assert contact_force(world, "world")[2] == pytest.approx(-101 * GRAVITY, rel=1e-6)


@integrators
def test_a_capsule_rests_on_two_points_and_a_ball_on_one(integrator):
    world = World(integrator=integrator)
    world.add_ground()
    half = math.sqrt(0.5)
    world.add_body(Capsule(0.1, 0.3), 2.0, position=(0, 0, 0.1), orientation=(0, half, 0, half))
    world.add_body(Sphere(0.1), 3.0, position=(0, 1.0, 0.1))
    world.step(1000)
    assert contact_force(world, "capsule")[2] == pytest.approx(2 * GRAVITY, rel=1e-6)
    assert contact_force(world, "sphere")[2] == pytest.approx(3 * GRAVITY, rel=1e-6)
    assert world.stats.contact_count == 3


@integrators
def test_a_ball_thrown_flat_rolls_on_at_five_sevenths(integrator):
    """Sliding friction turns a solid ball until it rolls: v = 5/7 v0, w = v / r, whatever mu is."""
    world = World(integrator=integrator)
    world.set_friction("floor", "ball", static=0.3)
    world.add_ground(material="floor")
    ball = world.add_body(
        Sphere(0.1), 1.0, position=(0, 0, 0.1), velocity=(2.0, 0, 0), material="ball"
    )
    world.step(1000)
    expected = 2.0 * 5 / 7
    show(f"rolling ball, {integrator}: v / v0 - 5/7", ball.velocity[0] / 2.0 - 5 / 7)
    assert ball.velocity[0] == pytest.approx(expected, rel=1e-3)
    assert ball.angular_velocity[1] == pytest.approx(expected / 0.1, rel=1e-3)
    before = ball.velocity[0]
    world.step(5000)
    assert ball.velocity[0] == pytest.approx(before, rel=1e-6)


@integrators
@pytest.mark.parametrize("restitution", [0.0, 0.5])
def test_the_impulse_of_a_landing_is_the_change_of_momentum(restitution, integrator):
    """Sum of contact force times dt = m (v1 - v0) + m g t, the step of the impact included."""
    world = World(integrator=integrator)
    world.set_friction("floor", "crate", static=0.4, restitution=restitution)
    world.add_ground(material="floor")
    crate = world.add_body(
        Box((0.3, 0.2, 0.1)),
        2.0,
        position=(0, 0, 0.5),
        orientation=(0.2, 0.1, 0, math.sqrt(0.95)),
        velocity=(0.7, 0.3, 0),
        material="crate",
    )
    start, impulse = crate.velocity, np.zeros(3)
    for _ in range(800):
        world.step()
        impulse += contact_force(world, "box") * 1e-3
    gained = 2.0 * (crate.velocity - start) + (0, 0, 2.0 * GRAVITY * 0.8)
    assert impulse[2] > 5.0
    np.testing.assert_allclose(impulse, gained, atol=1e-9)


@integrators
def test_a_crate_that_tumbles_to_rest_keeps_losing_energy(integrator):
    """Dropped on an edge without restitution: energy rises by 2 mJ a step at most (of 10 J), the
    error of the integrators while it spins, and ends as that of the crate lying flat.
    """
    world = World(integrator=integrator)
    world.set_friction("default", "default", static=0.4)
    world.add_ground()
    crate = world.add_body(
        Box((0.3, 0.2, 0.1)), 2.0, position=(0, 0, 0.5), orientation=(0.3, 0.2, 0, math.sqrt(0.87))
    )
    energy = math.inf
    for _ in range(1500):
        world.step()
        now = kinetic_energy(crate) + 2.0 * GRAVITY * crate.position[2]
        assert now < energy + 2e-3
        energy = now
    assert kinetic_energy(crate) < 1e-9
    assert energy == pytest.approx(2.0 * GRAVITY * 0.05, rel=1e-3)
