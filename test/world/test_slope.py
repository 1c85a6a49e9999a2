# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Coulomb's law on a slope: friction holds up to atan(mu), and beyond it a = g (sin - mu cos)."""

import math

import numpy as np
import pytest
from world.scenes import GRAVITY, INTEGRATORS, contact_force, show, slope_world, tilted

from hrpsim import Box, Cylinder, load_model

THREE_FEET = """<robot name="block"><link name="block">
  <inertial><mass value="2"/><origin xyz="0 0 0.05"/>
    <inertia ixx="0.02" iyy="0.02" izz="0.03" ixy="0" ixz="0" iyz="0"/></inertial>
  {feet}
  </link><hrpsim reference="block"><material name="block"/></hrpsim></robot>"""
FOOT = """<collision><origin xyz="{x} {y} 0"/>
    <geometry><sphere radius="0.03"/></geometry></collision>"""


def three_feet():
    """A body on three balls of 0.03 m, at the corners of a triangle."""
    corners = [(0.15, 0.0), (-0.1, 0.12), (-0.1, -0.12)]
    feet = "".join(FOOT.format(x=x, y=y) for x, y in corners)
    return load_model(THREE_FEET.format(feet=feet))


def put(world, shape: str, degrees: float, speed: float = 0.0):
    """Put a body on the slope, touching it, with a speed downhill; return it."""
    normal, downhill, orientation = tilted(degrees)
    if shape == "feet":
        q = np.concatenate([0.03 * normal, orientation])
        robot = world.add_robot(three_feet(), q=q, v=[speed, 0, 0, 0, 0, 0])
        return robot
    geometry = Box((0.3, 0.2, 0.1)) if shape == "box" else Cylinder(0.15, 0.1)
    return world.add_body(
        geometry,
        2.0,
        position=0.05 * normal,
        orientation=orientation,
        velocity=speed * downhill,
        material="block",
        name="block",
    )


def travel(entity, degrees: float) -> np.ndarray:
    """Where the body stands along the slope: downhill and across [m]."""
    return np.array([entity.q[:3] @ tilted(degrees)[1], entity.q[1]])


SCENES = [("box", False), ("box", True), ("cylinder", False), ("cylinder", True), ("feet", False)]
scenes = pytest.mark.parametrize(
    "shape, on_box", SCENES, ids=[f"{s}-{'box' if b else 'plane'}" for s, b in SCENES]
)
integrators = pytest.mark.parametrize("integrator", INTEGRATORS)


LANDING = 0.1  # s


def creep(shape, on_box, integrator, landing: float, **options) -> float:
    """How far a body moves in 10 s at 26.5 degrees, `landing` [s] after it was put down [m]."""
    world = slope_world(26.5, 0.5, 0.5, on_box, integrator=integrator, **options)
    block = put(world, shape, 26.5)
    world.step(round(landing / world.time_step))
    start = travel(block, 26.5)
    world.step(10_000)
    np.testing.assert_allclose(contact_force(world, "block"), (0.0, 0.0, 2.0 * GRAVITY), atol=2e-5)
    return np.abs(travel(block, 26.5) - start).max()


@integrators
@scenes
def test_it_stays_below_the_angle_of_friction(shape, on_box, integrator):
    """mu 0.5 holds 26.5 degrees (atan 0.5 = 26.565): less than 1e-9 m in 10 s."""
    found = creep(shape, on_box, integrator, LANDING)
    show(f"creep in 10 s, {shape}, {integrator} [m]", found)
    assert found < 1e-9


@pytest.mark.parametrize(
    "shape, on_box",
    [("box", False), ("box", True), ("cylinder", False), ("cylinder", True), ("feet", False)],
)
def test_it_does_not_slip_while_it_is_put_down(shape, on_box):
    """The same bound from the first step on."""
    found = creep(shape, on_box, "semi_implicit", 0.0)
    show(f"slip from the first step on, {shape} [m]", found)
    assert found < 1e-9


@integrators
@scenes
def test_it_slides_above_the_angle_of_friction(shape, on_box, integrator):
    """At 26.6 degrees the acceleration is 6.7 mm/s^2: met within 0.1 %."""
    degrees = 26.6
    world = slope_world(degrees, 0.5, 0.5, on_box, integrator=integrator)
    block = put(world, shape, degrees)
    world.step(1000)
    before = travel(block, degrees)
    world.step(1000)
    middle = travel(block, degrees)
    world.step(1000)
    after = travel(block, degrees)
    measured = (after - 2 * middle + before)[0]  # second difference over 1 s: exact for a parabola
    a = math.radians(degrees)
    expected = GRAVITY * (math.sin(a) - 0.5 * math.cos(a))
    show(f"acceleration / theory - 1, {shape}, {integrator}", measured / expected - 1.0)
    assert abs(measured / expected - 1.0) < 1e-3
    assert abs(after[1] - before[1]) < 1e-3 * (after[0] - before[0])


@integrators
def test_static_friction_holds_until_its_own_bound(integrator):
    """Static 0.6, kinetic 0.4 at 28 degrees (tan 0.532): a body at rest stays."""
    world = slope_world(28.0, 0.6, 0.4, integrator=integrator)
    block = put(world, "box", 28.0)
    start = travel(block, 28.0)
    world.step(3000)
    assert np.abs(travel(block, 28.0) - start).max() < 1e-9


@integrators
@pytest.mark.parametrize("degrees, speed", [(28.0, 0.2), (32.0, 0.0)])
def test_what_slides_meets_kinetic_friction(degrees, speed, integrator):
    """a = g (sin - mu_k cos), pushed off below the static bound or let go above it."""
    world = slope_world(degrees, 0.6, 0.4, integrator=integrator)
    block = put(world, "box", degrees, speed)
    _, downhill, _ = tilted(degrees)
    world.step(200)
    before = block.velocity @ downhill
    world.step(1000)
    a = math.radians(degrees)
    expected = GRAVITY * (math.sin(a) - 0.4 * math.cos(a))
    assert abs((block.velocity @ downhill - before) / expected - 1.0) < 1e-3


@integrators
def test_a_slider_stops_and_then_sticks(integrator):
    """Kinetic friction brakes a body thrown uphill; static friction then holds it for good."""
    world = slope_world(20.0, 0.6, 0.5, integrator=integrator)
    block = put(world, "box", 20.0, -0.5)
    a = math.radians(20.0)
    stop = 0.5**2 / (2 * GRAVITY * (math.sin(a) + 0.5 * math.cos(a)))
    start = travel(block, 20.0)
    world.step(1000)
    reached = travel(block, 20.0)
    assert abs((start - reached)[0] - stop) < (1e-3 * stop if integrator == "rk4" else 0.5e-3 * 0.5)
    world.step(3000)
    assert np.abs(travel(block, 20.0) - reached).max() < 1e-9
