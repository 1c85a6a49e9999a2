# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""What slides without friction over a floor in pieces moves as over one piece.

The law is that of a body on a plane: no force acts along it, so its velocity stays, and the plane
bears its weight. Solvers are asked for the last digits, so that what they leave is no part of it.
"""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from meshes import box as box_mesh
from world.scenes import GRAVITY, INTEGRATORS

from hrpsim import Box, Capsule, Compound, Cylinder, Mesh, Sphere, World

TILE, THICKNESS = 0.25, 0.1
ALONG_X, ALONG_Y = (0, math.sqrt(0.5), 0, math.sqrt(0.5)), (math.sqrt(0.5), 0, 0, math.sqrt(0.5))
LEVEL = (0, 0, 0, 1)


def mesh(*lengths):
    return Mesh(*box_mesh(lengths))


# shape, height of its middle, way from there to the front, orientation
BODIES = {
    "box": (Box((0.2, 0.2, 0.2)), 0.1, 0.1, LEVEL),
    "sole": (Box((0.24, 0.14, 0.03)), 0.015, 0.12, LEVEL),
    "mesh": (mesh(0.2, 0.2, 0.2), 0.1, 0.1, LEVEL),
    "compound": (
        Compound([(Box((0.1, 0.2, 0.2)), (-0.05, 0, 0)), (Box((0.1, 0.2, 0.2)), (0.05, 0, 0))]),
        0.1,
        0.1,
        LEVEL,
    ),
    "upright cylinder": (Cylinder(0.1, 0.2), 0.1, 0.1, LEVEL),
    "lying cylinder": (Cylinder(0.05, 0.2), 0.05, 0.0, ALONG_Y),
    "lying capsule": (Capsule(0.05, 0.2), 0.05, 0.1, ALONG_X),
    "ball": (Sphere(0.1), 0.1, 0.0, LEVEL),
}


def tile_floor(world, make=Box, gap=0.0, rise=lambda k: 0.0, count=14):
    """Add tiles along x, the first about the origin; `rise` is how much higher tile k lies."""
    for k in range(count):
        at = ((TILE + gap) * k, 0.0, rise(k) - 0.5 * THICKNESS)
        world.add_static(make((TILE, 1.0, THICKNESS)), position=at)


def mesh_tile(lengths):
    return mesh(*lengths)


def slide(floor, body="box", speed=1.0, ahead=3.3, steps=0, friction=0.0, height=0.0, **options):
    """Return speed and heights over time of a body whose front is `ahead` steps from a seam."""
    world = World(**({"time_step": 1e-3, "tolerance": 1e-12} | options))
    world.set_friction("default", "default", friction)
    floor(world)
    shape, middle, front, orientation = BODIES[body]
    start = 1.5 * TILE - front - ahead * 1e-3 * speed
    moving = world.add_body(
        shape, 5.0, (start, 0.0, height + middle), orientation, velocity=(speed, 0.0, 0.0)
    )
    heights, forces = [], []
    for _ in range(steps or max(40, min(400, round(0.4 / (speed * 1e-3))))):
        world.step()
        heights.append(moving.position[2] - height - middle)
        forces.append(moving.contact_arrays().forces[:, 2].sum())
    return moving, np.array(heights), np.array(forces) / (5.0 * GRAVITY)


def assert_slides_on(found, speed, heights=1e-9):
    moving, rises, weights = found
    assert moving.velocity[0] == pytest.approx(speed, rel=1e-9)
    assert np.abs(rises).max() < heights
    assert weights == pytest.approx(np.ones(len(weights)), abs=1e-3)


@pytest.mark.quick_cases("*-0.3", "*mesh-1.0", "*sole-0.03")
@pytest.mark.parametrize("speed", [0.03, 0.3, 1.0, 10.0])
@pytest.mark.parametrize("body", BODIES)
def test_speed_and_height_stay_over_tiles(body, speed):
    for ahead in (0.4, 3.3):
        assert_slides_on(slide(tile_floor, body, speed, ahead), speed)


@pytest.mark.quick_cases("*-0.03")
@pytest.mark.parametrize("speed", [0.03, 1.0])
@pytest.mark.parametrize("body", ["box", "mesh", "lying capsule", "ball"])
def test_speed_and_height_stay_over_tiles_that_are_meshes(body, speed):
    assert_slides_on(slide(lambda world: tile_floor(world, mesh_tile), body, speed), speed)


@pytest.mark.quick_cases("None-Box-box", "None-mesh_tile-box")
@pytest.mark.parametrize("body", ["box", "sole", "mesh", "compound", "upright cylinder"])
@pytest.mark.parametrize("make", [Box, mesh_tile], ids=["Box", "mesh_tile"])
@pytest.mark.parametrize("stiffness", [None, 1e5])
def test_speed_stays_on_springs_that_let_it_sink(stiffness, make, body):
    """Law: what lies as deep in all tiles does not meet their sides. Unequal loads tilt it."""

    def floor(world):
        tile_floor(world, make)
        if stiffness is not None:
            world.set_penalty("default", "default", stiffness=stiffness)

    moving, _, _ = slide(floor, body, solver="penalty")
    assert moving.velocity[0] == pytest.approx(1.0, rel=1e-3)


@pytest.mark.parametrize("make", [Box, mesh_tile], ids=["Box", "mesh_tile"])
def test_a_step_higher_than_springs_sink_is_met_by_its_side(make):
    """Springs sink by some 0.05 mm here; a side of 1 mm pushes the box back."""

    def floor(world):
        tile_floor(world, make, rise=lambda k: 0.0 if k < 2 else 1e-3)

    moving, _, _ = slide(floor, "box", steps=30, solver="penalty")
    assert moving.velocity[0] < 0.9


@pytest.mark.parametrize("integrator", ("euler", *INTEGRATORS))
def test_speed_stays_with_every_integrator(integrator):
    assert_slides_on(slide(tile_floor, speed=0.3, integrator=integrator), 0.3)


@pytest.mark.parametrize("make", [Box, mesh_tile])
@pytest.mark.parametrize("drop", [1e-7, 9e-6, 1e-4])
def test_it_passes_over_what_lies_lower(make, drop):
    """A long box that lies on two tiles at least passes over the lower ones between them."""

    def floor(world):
        tile_floor(world, make, rise=lambda k: 0.0 if k < 2 else -drop)

    moving, _, _ = slide(floor, "box", steps=60)
    assert moving.velocity[0] == pytest.approx(1.0, rel=1e-9)


def test_it_passes_over_gaps():
    assert_slides_on(slide(lambda world: tile_floor(world, gap=1e-3)), 1.0)


@pytest.mark.parametrize("depth", [0.0, 1e-6, 1e-4])
def test_what_is_buried_beneath_the_ground_is_not_there(depth):
    def floor(world):
        world.add_ground()
        tile_floor(world, rise=lambda k: -depth)

    for body in ("box", "ball"):
        assert_slides_on(slide(floor, body), 1.0)


def test_loose_slabs_bear_it_as_one():
    """Slabs on level ground, that nothing pulls along."""

    def floor(world):
        world.add_ground()
        for k in range(6):
            world.add_body(Box((TILE, 1.0, THICKNESS)), 30.0, (TILE * k, 0.0, 0.5 * THICKNESS))

    assert_slides_on(slide(floor, height=THICKNESS), 1.0, heights=1e-8)


@pytest.mark.parametrize("speed", [0.3, 1.0])
@pytest.mark.parametrize(
    "make, body, half, height",
    [(Box, "box", 0.1, 0.1), (mesh_tile, "mesh", 0.1, 0.1), (Box, "sole", 0.12, 0.015)],
)
def test_a_step_of_a_millimetre_is_met_by_its_side(make, body, half, height, speed):
    """The angular momentum about the step's edge stays: m v d = I w, and w d is left of v."""
    rise = 1e-3

    def floor(world):
        tile_floor(world, make, rise=lambda k: rise if k > 1 else 0.0)

    above = height - rise
    inertia = half**2 + above**2 + (half**2 + height**2) / 3.0
    moving, _, _ = slide(floor, body, speed, ahead=1.3, steps=4)
    fall = 2e-3 * GRAVITY * half * above / inertia  # what the weight adds in the steps after it
    left = speed * above**2 / inertia
    assert moving.velocity[0] == pytest.approx(left, abs=0.02 * speed + 2.0 * fall)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_friction_stops_it_where_on_one_slab(integrator):
    def slab(world):
        world.add_static(Box((6.0, 1.0, THICKNESS)), position=(2.0, 0.0, -0.5 * THICKNESS))

    way = [
        slide(floor, steps=260, friction=0.5, integrator=integrator)[0].position[0]
        for floor in (tile_floor, slab)
    ]
    start = 1.5 * TILE - 0.1 - 3.3e-3
    assert way[0] - start == pytest.approx(way[1] - start, rel=1e-6)


@pytest.mark.parametrize("body", ["ball", "lying cylinder"])
@pytest.mark.parametrize("speed", [0.1, 1.0, 3.0])
def test_what_rolls_goes_on_rolling(body, speed):
    """Without slip, no friction acts on what rolls on a level floor."""
    world = World(tolerance=1e-12)
    world.set_friction("default", "default", 0.5)
    tile_floor(world)
    shape, radius, _, orientation = BODIES[body]
    moving = world.add_body(
        shape, 5.0, (1.4 * TILE, 0.0, radius), orientation, (speed, 0, 0), (0, speed / radius, 0)
    )
    for _ in range(round(0.5 / speed / 1e-3)):
        world.step()
    assert moving.velocity[0] == pytest.approx(speed, rel=1e-9)
    assert moving.position[2] == pytest.approx(radius, abs=1e-9)


def test_a_push_is_not_held_by_a_seam_that_the_body_begins_at():
    """m a = f: a box exactly as long as its tile, pushed along, meets no side."""
    world = World(tolerance=1e-12)
    world.set_friction("default", "default", 0.0)
    tile_floor(world)
    moving = world.add_body(Box((TILE, 0.2, 0.2)), 5.0, (TILE, 0.0, 0.1))
    for _ in range(200):
        moving.apply_wrench((10.0, 0.0, 0.0))
        world.step()
    assert moving.velocity[0] == pytest.approx(10.0 / 5.0 * 0.2, rel=1e-6)


@pytest.mark.parametrize("height", [1e-6, 1e-4])
def test_a_box_that_falls_beside_another_meets_its_side(height):
    """It is above the other's top now, and below when it comes to the side.

    There its lower edge stops: an impulse of 0.4 m v, for 1 / m + a^2 / I is 2.5 / m of a cube.
    """
    world = World()
    world.set_friction("default", "default", 0.0)
    world.add_static(Box((0.2, 1.0, 0.2)), position=(0.3, 0.0, 0.0))
    falling = world.add_body(
        Box((0.2, 0.2, 0.2)), 1.0, (0.0995, 0.0, 0.2 + height), velocity=(1.0, 0.0, -2.0)
    )
    world.step()
    assert falling.velocity[0] == pytest.approx(0.6, abs=0.02)
    assert falling.velocity[2] == pytest.approx(-2.0 - 1e-3 * GRAVITY, abs=1e-6)


@settings(max_examples=15, deadline=None)
@given(
    heading=st.floats(-3.1, 3.1),
    yaw=st.floats(-3.1, 3.1),
    x=st.floats(-0.1, 0.1),
    y=st.floats(-0.1, 0.1),
    speed=st.floats(0.05, 3.0),
)
def test_velocity_stays_in_every_direction_over_a_grid(heading, yaw, x, y, speed):
    world = World(tolerance=1e-12)
    world.set_friction("default", "default", 0.0)
    for i in range(-3, 4):
        for j in range(-3, 4):
            world.add_static(Box((0.2, 0.2, 0.1)), position=(0.2 * i, 0.2 * j, -0.05))
    going = (speed * math.cos(heading), speed * math.sin(heading), 0.0)
    turned = (0.0, 0.0, math.sin(0.5 * yaw), math.cos(0.5 * yaw))
    moving = world.add_body(Box((0.3, 0.1, 0.1)), 2.0, (x, y, 0.05), turned, going)
    world.step(min(200, round(0.35 / (speed * 1e-3))))
    assert moving.velocity[:3] == pytest.approx(np.array(going), abs=1e-9)


@pytest.mark.parametrize("make", [Box, mesh_tile])
@pytest.mark.parametrize("speed, held", [(0.0, True), (1.0, True), (10.0, False), (-1.0, True)])
def test_boxes_apart_have_a_contact_of_their_distance_unless_it_would_stop_what_passes(
    make, speed, held
):
    """Apart by a across one face and b across another, their edges are at sqrt(a^2 + b^2).

    Contacts are those of the middle of the step. At 10 m/s the box passes over the other within it,
    which is no reason to brake it.
    """
    world = World(1e-3, gravity=(0, 0, 0), contact_margin=1e-2)
    world.set_friction("default", "default", 0.0)
    world.add_static(make((0.2, 0.2, 0.2)))
    moving = world.add_body(
        make((0.2, 0.2, 0.2)), 1.0, (-0.206, 0.0, 0.202), velocity=(speed, 0, 0)
    )
    world.step()
    gaps = moving.contact_arrays().gaps
    assert (len(gaps) > 0) == held
    apart = math.hypot(6e-3 - 0.5e-3 * speed, 2e-3)
    assert gaps == pytest.approx(np.full(len(gaps), apart), abs=1e-9)
    assert moving.velocity == pytest.approx([speed, 0, 0], abs=1e-12)
