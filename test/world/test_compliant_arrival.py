# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Landings on springs and dampers: contacts, joint limits and connections, against their ODEs."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from world.scenes import GRAVITY, one_joint, weightless

from hrpsim import Box, Sphere, World

STIFFNESS = 1e4  # of all that a body of 1 kg lands on [N/m]
STEPS = (1e-3, 1e-4)  # [s]
_LIMIT = 'lower="-0.5" upper="0.5" effort="1e9" velocity="1e9"'
INTEGRATORS = ("semi_implicit", "rk4", "euler")


def rebound(stiffness: float, damping_time: float) -> float:
    """Return the speed that a unit mass at unit speed has after max(0, k x + c dx/dt) let it go.

    x = exp(-z w t) sin(W t) / W until k x + c dx/dt = 0.
    """
    w = math.sqrt(stiffness)
    z = 0.5 * w * damping_time
    damped = w * math.sqrt(1.0 - z * z)
    t = (math.pi - math.atan2(damping_time * damped, 1.0 - 2.0 * z * z)) / damped
    return -math.exp(-z * w * t) * (math.cos(damped * t) - z * w / damped * math.sin(damped * t))


def soft_world(step, integrator, compliance, damping_time, friction=0.0, **more) -> World:
    """A world whose contacts have a spring and a damper each, with a floor."""
    world = World(step, integrator=integrator, sleeping=False, **more)
    world.set_friction("default", "default", friction)
    world.set_contact("default", "default", compliance=compliance, damping_time=damping_time)
    world.add_ground()
    return world


def land_ball(step, integrator, damping_time, gap, stiffness=STIFFNESS):
    world = soft_world(step, integrator, 1.0 / stiffness, damping_time, gravity=(0, 0, 0))
    body = world.add_body(Sphere(0.1), 1.0, (0, 0, 0.1 + gap), velocity=(0, 0, -1))
    return world, lambda: body.velocity[2]


def land_box(step, integrator, damping_time, gap):
    world = soft_world(step, integrator, 4.0 / STIFFNESS, damping_time, 0.5, gravity=(0, 0, 0))
    body = world.add_body(Box((0.2, 0.1, 0.1)), 1.0, (0, 0, 0.05 + gap), velocity=(0, 0, -1))
    return world, lambda: body.velocity[2]


def land_limit(step, integrator, damping_time, gap):
    world = weightless(step, integrator)
    robot = world.add_robot(one_joint(moment=1.0, limit=_LIMIT), q=[0.5 - gap], v=[1.0])
    robot.set_constraint("limit", compliance=1.0 / STIFFNESS, damping_time=damping_time)
    return world, lambda: -robot.v[0]


@pytest.mark.quick_cases("*-semi_implicit-0.01", "land_ball-rk4-0.0002", "land_limit-euler-0.0002")
@pytest.mark.parametrize("damping_time", [2e-4, 1e-2])
@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("land", [land_ball, land_box, land_limit])
def test_the_rebound_does_not_depend_on_where_in_a_step_it_lands(land, integrator, damping_time):
    """A body on a spring and damper leaves as their equation says: to second order in the step."""
    expected = rebound(STIFFNESS, damping_time)
    for step, bound in zip(STEPS, (3e-3, 3e-5), strict=True):
        for phase in np.linspace(0.0, 1.0, 10, endpoint=False):
            world, speed = land(step, integrator, damping_time, 5e-4 + phase * step)
            world.step(round(0.04 / step))
            assert speed() == pytest.approx(expected, rel=bound)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_the_peak_of_a_landing_is_that_of_spring_and_damper(integrator):
    """50 kg on four points of 2e5 N/m, fallen by 20 mm: max(0, k x + c dx/dt), integrated."""
    stiffness, damping_time, mass = 2e5, 2e-3, 50.0
    x, v, peak, dt = 0.0, -math.sqrt(2.0 * GRAVITY * 0.02), 0.0, 2e-6
    for _ in range(20000):
        force = max(0.0, -4.0 * stiffness * (x + damping_time * v))
        peak = max(peak, force)
        v += (force / mass - GRAVITY) * dt
        x += v * dt
    for phase in np.linspace(0.0, 1.0, 12, endpoint=False):
        world = soft_world(1e-3, integrator, 1.0 / stiffness, damping_time, 0.8)
        height = 0.07 + 0.63e-3 * phase
        body = world.add_body(Box((0.2, 0.1, 0.1)), mass, (0, 0, height))
        highest = before = 0.0
        for _ in range(150):
            world.step()
            highest = max(highest, mass * ((body.velocity[2] - before) / 1e-3 + GRAVITY))
            before = body.velocity[2]
        assert highest == pytest.approx(peak, rel=0.02)


def follow_box(duration, tilt, height, stiffness, damping_time):
    """Integrate a box of 1 kg, 0.2 x 0.1 x 0.1 m, about y on springs: (z, dz/dt, omega_y)."""
    corners = np.array([(x, z) for x in (-0.1, 0.1) for z in (-0.05, 0.05)])
    inertia = (0.2**2 + 0.1**2) / 12.0

    def rate(y):
        z, angle, speed, omega = y
        cosine, sine = math.cos(angle), math.sin(angle)
        arm = cosine * corners[:, 0] + sine * corners[:, 1]
        gap = z - sine * corners[:, 0] + cosine * corners[:, 1]
        push = np.maximum(-2.0 * stiffness * (gap + damping_time * (speed - omega * arm)), 0.0)
        push[gap > 0.0] = 0.0
        return np.array([speed, omega, push.sum() - GRAVITY, -(arm * push).sum() / inertia])

    y, steps = np.array([height, tilt, -1.0, 0.0]), 5000
    dt = duration / steps
    for _ in range(steps):
        a = rate(y)
        b = rate(y + 0.5 * dt * a)
        c = rate(y + 0.5 * dt * b)
        y = y + dt / 6.0 * (a + 2.0 * b + 2.0 * c + rate(y + dt * c))
    return y[[0, 2, 3]]


def test_a_tilted_box_lands_on_an_edge_as_its_equations_say():
    """Springs at corners that turn: to 1 % of the spin at 1 ms, a tenth of that at 0.25 ms."""
    tilt, stiffness, damping_time = 0.2, 5e3, 1e-3
    height = 0.1 * math.sin(tilt) + 0.05 * math.cos(tilt) + 0.0015
    expected = follow_box(0.03, tilt, height, stiffness, damping_time)
    for step, bound in ((1e-3, 1e-2), (2.5e-4, 1e-3)):
        world = soft_world(step, "semi_implicit", 1.0 / stiffness, damping_time)
        turn = (0, math.sin(0.5 * tilt), 0, math.cos(0.5 * tilt))
        box = world.add_body(Box((0.2, 0.1, 0.1)), 1.0, (0, 0, height), turn, velocity=(0, 0, -1))
        world.step(round(0.03 / step))
        found = np.array([box.position[2], box.velocity[2], box.angular_velocity[1]])
        assert np.abs(found - expected) == pytest.approx(0.0, abs=bound * abs(expected[2]))


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    integrator=st.sampled_from(INTEGRATORS),
    ratio=st.floats(-6.0, 12.0),
    damping=st.floats(0.0, 10.0),
    phase=st.floats(0.0, 1.0),
)
def test_no_landing_gives_energy(integrator, ratio, damping, phase):
    """A ball never moves faster than it came, at any k h^2 / m, damping time and phase."""
    step = 1e-3
    stiffness = 10.0**ratio / step**2
    world, speed = land_ball(step, integrator, damping * step, (0.5 + phase) * step, stiffness)
    for _ in range(60):
        world.step()
        assert abs(speed()) <= 1.0 + 1e-9


@pytest.mark.quick_cases("*semi_implicit*")
@pytest.mark.parametrize("ratio", [1e-3, 0.1, 1.0, 10.0, 1e4, 1e9])
@pytest.mark.parametrize("integrator", ["semi_implicit", "rk4"])
def test_a_ball_never_jumps_higher_than_it_fell_from(integrator, ratio):
    """Energy in the air does not grow from jump to jump, without any damping."""
    step = 4e-3
    for phase in np.linspace(0.0, 1.0, 5):
        world = soft_world(step, integrator, step**2 / ratio, 1e-9)
        height = 0.1 + 0.002 + 1e-3 * phase
        ball = world.add_body(Sphere(0.1), 1.0, (0, 0, height))
        for _ in range(400):
            world.step()
            if ball.position[2] > 0.1:
                energy = 0.5 * ball.velocity[2] ** 2 + GRAVITY * ball.position[2]
                assert energy <= GRAVITY * height + 1e-9


@pytest.mark.parametrize("damping_time", [0.0, 2e-4])
@pytest.mark.parametrize("integrator", ["rk4", "euler"])
def test_a_spring_does_not_gain_in_rk4_and_euler(integrator, damping_time):
    """A body on a compliant connection swings as cos(w t), or as it is damped."""
    world = weightless(1e-3, integrator)
    body = world.add_body(Sphere(0.1), 1.0, (0, 0, 1), velocity=(0, 0, 1))
    world.connect(None, body, axes="xyz", compliance=1e-4, damping_time=damping_time)
    w, z = 100.0, 50.0 * damping_time
    for k in range(1, 1001):
        world.step()
        expected = math.exp(-z * w * k * 1e-3) * math.sin(w * k * 1e-3) / w
        assert body.position[2] - 1.0 == pytest.approx(expected, abs=1e-3)


def test_what_lands_elsewhere_gives_springs_no_impulse():
    """In rk4 rigid bodies meet in no time: a spring that is stretched then does nothing."""
    ways = []
    for lands in (False, True):
        world = weightless(1e-3, "rk4")
        ball = world.add_body(Sphere(0.1), 1.0, (0, 0, 1), velocity=(0, 0, 1))
        world.connect(None, ball, axes="xyz", compliance=1e-4, damping_time=2e-4)
        if lands:
            world.add_body(Sphere(0.1), 1.0, (5, 0, 2.0), velocity=(0, 0, 1))
            world.add_body(Sphere(0.1), 1.0, (5, 0, 2.2137), velocity=(0, 0, -1))
        world.step(20)
        ways.append(ball.velocity[2])
    assert ways[0] == pytest.approx(ways[1], abs=1e-12)


@pytest.mark.parametrize("speed", [1.0, 30.0])
@pytest.mark.parametrize("turn", [0.5, 1.0, 3.0, 5.0])
@pytest.mark.parametrize("shape, half", [(Sphere(0.5), 0.5), (Box((1.0, 1.0, 1.0)), 0.5)])
def test_euler_gives_back_no_more_than_a_spring_took(shape, half, turn, speed):
    """A body of 1 kg on an undamped spring that turns by w h in a step, from touching up to three
    steps away: it never leaves faster than it came."""
    step = 1e-3
    points = 1 if isinstance(shape, Sphere) else 4
    for gap in np.linspace(0.0, 3.0, 21) * speed * step:
        world = soft_world(step, "euler", points * step**2 / turn**2, 0.0, gravity=(0, 0, 0))
        body = world.add_body(shape, 1.0, (0, 0, half + gap), velocity=(0, 0, -speed))
        world.step(20)
        assert 0.0 < body.velocity[2] < speed * (1 + 1e-9)
