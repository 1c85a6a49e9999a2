# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Bodies that nothing touches: Euler's equations and the parabola."""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation
from world.scenes import GRAVITY, INTEGRATORS, kinetic_energy, show, spin, weightless

from hrpsim import Box, World
from hrpsim.world.objects.body import rotation_matrix

INERTIA = np.diag([0.02, 0.05, 0.06])
TURNED = (0.1, 0.2, 0.3, 0.927361849549570)


def tumbling(integrator: str, time_step: float = 1e-3):
    """A free asymmetric body that spins at 5 rad/s about no principal axis of its own."""
    world = weightless(time_step, integrator)
    axis = np.array([1.0, 2.0, -1.0]) / math.sqrt(6.0)
    body = world.add_body(
        Box((0.3, 0.2, 0.1)),
        2.0,
        orientation=TURNED,
        velocity=(0.4, -0.3, 0.2),
        angular_velocity=5.0 * axis,
        inertia=INERTIA,
    )
    return world, body


def drift(integrator: str, time_step: float = 1e-3) -> tuple[float, float]:
    """Largest relative change of energy and of angular momentum in 10 s, seen every 0.1 s."""
    world, body = tumbling(integrator, time_step)
    energy, momentum = kinetic_energy(body), spin(body)
    worst_energy = worst_momentum = 0.0
    for _ in range(100):
        world.step(round(0.1 / time_step))
        worst_energy = max(worst_energy, abs(kinetic_energy(body) / energy - 1.0))
        change = np.linalg.norm(spin(body) - momentum) / np.linalg.norm(momentum)
        worst_momentum = max(worst_momentum, change)
    return worst_energy, worst_momentum


def test_rk4_keeps_energy_and_angular_momentum_of_a_tumbling_body():
    energy, momentum = drift("rk4")
    show("rk4 tumble 10 s: energy, angular momentum (relative)", energy, momentum)
    assert energy < 1e-9
    assert momentum < 1e-9


def test_the_semi_implicit_step_keeps_the_energy_of_a_tumbling_body():
    """Free rotation keeps w I w and I w in the world."""
    energy, momentum = drift("semi_implicit")
    show("semi_implicit tumble 10 s: energy, angular momentum (relative)", energy, momentum)
    _, fine_momentum = drift("semi_implicit", 1e-4)
    assert energy < 1e-12 and momentum < 0.05
    assert fine_momentum < 0.15 * momentum


@pytest.mark.parametrize("spin_rate", [10.0, 1e3, 1e5])
def test_a_body_that_spins_however_fast_keeps_its_energy(spin_rate):
    """At 1/50 s up to 320 turns a step: energy and the amount of angular momentum stay.

    To the rounding of turns by 1000 rad, two in each of 500 steps.
    """
    world = World(0.02, gravity=(0, 0, 0))
    body = world.add_body(
        Box((0.3, 0.2, 0.1)), 2.0, angular_velocity=(spin_rate, 0.3 * spin_rate, -0.1 * spin_rate)
    )
    energy, momentum = kinetic_energy(body), np.linalg.norm(spin(body))
    world.step(500)
    assert kinetic_energy(body) == pytest.approx(energy, rel=3e-11)
    assert np.linalg.norm(spin(body)) == pytest.approx(momentum, rel=3e-11)


SLENDER = {
    "rod of 0.5 m by 10 mm": ((2.1e-3, 2.1e-3, 1.25e-6), (10.0, 5.0, 200.0)),
    "wire": ((6e-3, 1.7e-8, 6e-3 - 1e-9), (1.0, 2.0, 3.0)),
    "strip": ((2.1e-3, 2.0e-3, 1.0e-4), (10.0, 5.0, 30.0)),
    "box at its middle axis": ((1e-2, 2e-2, 2.9e-2), (1.0, 10.0, 1.0)),
    "wheel": ((1e-3, 1e-3, 2e-3), (1.0, 1.0, 1e4)),
}


def free(moments_of_inertia, angular_velocity, time_step):
    """Return a weightless world of rk4 and its only body, whose axes are its principal ones."""
    world = weightless(time_step, "rk4")
    inertia = np.diag(moments_of_inertia)
    return world, world.add_body(
        Box((0.1, 0.1, 0.1)), 1.0, angular_velocity=angular_velocity, inertia=inertia
    )


@pytest.mark.parametrize("time_step", [1e-3, 7e-3, 5e-2])
@pytest.mark.parametrize("name", SLENDER)
def test_rk4_keeps_the_energy_of_slender_and_fast_bodies(name, time_step):
    """Energy and angular momentum of a free body stay, however small it is about one axis."""
    world, body = free(*SLENDER[name], time_step)
    energy, momentum = kinetic_energy(body), spin(body)
    for _ in range(20):
        world.step(round(0.05 / time_step))
        assert kinetic_energy(body) == pytest.approx(energy, rel=1e-9)
        np.testing.assert_allclose(spin(body), momentum, atol=1e-9 * np.linalg.norm(momentum))


def under_moment(moments_of_inertia, angular_velocity, moment, time_step):
    """Return the angular velocity in the body's axes after 0.5 s of a moment along the world's."""
    world, body = free(moments_of_inertia, angular_velocity, time_step)
    body.apply_wrench(torque=moment)
    world.step(round(0.5 / time_step))
    return rotation_matrix(body.orientation).T @ body.angular_velocity


@pytest.mark.quick_cases("wire", "box at its middle axis")
@pytest.mark.parametrize("name", ["rod of 0.5 m by 10 mm", "wire", "box at its middle axis"])
def test_rk4_is_of_fourth_order_for_slender_bodies_under_a_moment(name):
    """Euler's equations and the quaternion's, by an adaptive method of eighth order."""
    moments_of_inertia, angular_velocity = SLENDER[name]
    inertia, moment = np.array(moments_of_inertia), 20.0 * min(moments_of_inertia) * np.ones(3)

    def rates(_, y):
        turned, w = Rotation.from_quat(y[:4]), y[4:]
        x, v = y[:4], turned.apply(w)
        turning = 0.5 * np.array([*(x[3] * v + np.cross(v, x[:3])), -v @ x[:3]])
        return [*turning, *((turned.inv().apply(moment) - np.cross(w, inertia * w)) / inertia)]

    start = [0, 0, 0, 1, *angular_velocity]
    truth = solve_ivp(rates, (0.0, 0.5), start, "DOP853", rtol=1e-12, atol=1e-12).y[4:, -1]
    steps = (4e-3, 2e-3) if name != "rod of 0.5 m by 10 mm" else (1e-3, 5e-4)
    errors = [
        np.abs(under_moment(*SLENDER[name], moment, h) - truth).max() / np.linalg.norm(truth)
        for h in steps
    ]
    show(f"rk4, {name} under a moment: error of w at {steps} s (relative)", *errors)
    assert errors[1] < max(errors[0] / 12.0, 1e-9)
    assert errors[0] < 1e-3


def test_a_body_without_gravity_keeps_its_linear_momentum_exactly():
    for integrator in INTEGRATORS:
        world, body = tumbling(integrator)
        world.step(1000)
        np.testing.assert_allclose(body.velocity, (0.4, -0.3, 0.2), rtol=1e-12)
        np.testing.assert_allclose(body.position, (0.4, -0.3, 0.2), rtol=1e-11)


@pytest.mark.parametrize("inertia", [INERTIA, np.diag([0.1, 0.1, 0.1])])
def test_rk4_falls_along_the_parabola(inertia):
    world = World(1e-3, integrator="rk4")
    start, velocity = np.array([0.3, -0.2, 10.0]), np.array([1.0, 2.0, 3.0])
    body = world.add_body(
        Box((0.1, 0.1, 0.1)),
        2.0,
        position=start,
        velocity=velocity,
        angular_velocity=(1.0, -2.0, 3.0),
        inertia=inertia,
    )
    world.step(1000)
    expected = start + velocity + 0.5 * np.array([0.0, 0.0, -GRAVITY])
    error = np.abs(body.position - expected).max()
    show("rk4 free fall error after 1 s [m]", error)
    assert error < 1e-12


@pytest.mark.parametrize("time_step", [1e-3, 1e-2, 0.1])
def test_the_semi_implicit_fall_is_the_parabola(time_step):
    """x = v0 t + g t^2 / 2, exactly, whatever the step."""
    world = World(time_step)
    body = world.add_body(Box((0.1, 0.1, 0.1)), 2.0, velocity=(1.0, 0.0, 3.0))
    world.step(round(1.0 / time_step))
    assert np.abs(body.position - (1.0, 0.0, 3.0 - GRAVITY / 2.0)).max() < 1e-12


def test_euler_falls_short_by_its_own_closed_form():
    """x = v0 t + g t (t - dt) / 2 for the explicit method."""
    dt = 1e-3
    world = World(dt, integrator="euler")
    body = world.add_body(Box((0.1, 0.1, 0.1)), 2.0, velocity=(0.0, 0.0, 3.0))
    world.step(1000)
    assert abs(body.position[2] - (3.0 - GRAVITY * (1.0 - dt) / 2.0)) < 1e-12


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_wrench_lasts_for_one_call_of_step(integrator):
    """F dt n = m dv over the call, and nothing after it."""
    world = weightless(1e-3, integrator)
    body = world.add_body(Box((0.1, 0.1, 0.1)), 2.0)
    body.apply_wrench(force=(4.0, 0.0, 0.0))
    body.apply_wrench(force=(0.0, 6.0, 0.0))
    world.step(500)
    np.testing.assert_allclose(body.velocity, (1.0, 1.5, 0.0), rtol=1e-12)
    world.step(500)
    np.testing.assert_allclose(body.velocity, (1.0, 1.5, 0.0), rtol=1e-12)


def test_a_force_off_centre_turns_the_body():
    """I dw/dt = r x F: a force along y at x = 0.2 m from the centre."""
    world = weightless(1e-3, "rk4")
    body = world.add_body(Box((0.6, 0.4, 0.2)), 3.0, position=(1.0, 2.0, 3.0))
    body.apply_wrench(force=(0.0, 5.0, 0.0), point=(1.2, 2.0, 3.0))
    world.step()
    izz = 3.0 * (0.6**2 + 0.4**2) / 12.0
    np.testing.assert_allclose(body.angular_velocity, (0.0, 0.0, 1e-3 * 0.2 * 5.0 / izz), atol=1e-9)
    np.testing.assert_allclose(body.velocity, (0.0, 1e-3 * 5.0 / 3.0, 0.0), atol=1e-12)


def turned_on_its_tip(time_step: float, integrator: str) -> np.ndarray:
    """Return how a body is turned by half a second as a top on its tip."""
    world = World(time_step, gravity=(0, 0, -GRAVITY), integrator=integrator)
    tilted = np.array([0.6, 0.0, 0.8])
    body = world.add_body(
        Box((0.3, 0.2, 0.1)),
        2.0,
        position=0.1 * tilted,
        orientation=(0.0, math.sqrt(0.1), 0.0, math.sqrt(0.9)),
        velocity=np.cross(30.0 * tilted, 0.1 * tilted),
        angular_velocity=30.0 * tilted,
        inertia=INERTIA,
    )
    world.connect(None, body, kind="ball", point=(0, 0, 0))
    world.step(round(0.5 / time_step))
    return rotation_matrix(body.orientation)


def test_a_loose_body_that_hangs_on_the_world_is_of_second_order():
    """The gyroscopic torque is that in the middle of a step, where the connection has turned it."""
    truth = turned_on_its_tip(1e-4, "rk4")
    steps = (1e-3, 5e-4, 2.5e-4)
    errors = [np.abs(turned_on_its_tip(h, "semi_implicit") - truth).max() for h in steps]
    show("a top at 1, 0.5 and 0.25 ms", *errors)
    assert errors[0] < 2e-4
    assert 3.8 < errors[0] / errors[1] < 4.2
    assert 3.8 < errors[1] / errors[2] < 4.3
