# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Worlds with triangle meshes do what worlds of primitives do, and what only concave things do."""

import numpy as np
import pytest
import trimesh
from collision.solids import U_OUTLINE, ball_mesh, box_mesh, grid_mesh, prism_mesh
from world.scenes import GRAVITY, contact_force, show

from hrpsim import Box, Capsule, Cylinder, Mesh, Sphere, World

CUBE = (0.2, 0.2, 0.2)


def box_inertia(lengths, mass):
    x, y, z = lengths
    return np.diag([y * y + z * z, x * x + z * z, x * x + y * y]) * (mass / 12.0)


@pytest.mark.parametrize("table", [None, Box((1, 1, 1)), box_mesh((1, 1, 1))])
@pytest.mark.parametrize("shape", [Box(CUBE), box_mesh(CUBE)])
def test_a_cube_rests_as_the_box_does_whatever_is_a_mesh(table, shape):
    """The contact forces sum to m g, and do not chatter."""
    world = World(1e-3)
    if table is None:
        world.add_ground()
    else:
        world.add_static(table, (0.0, 0.0, -0.5))
    cube = world.add_body(shape, 2.0, (0.1, 0.05, 0.11), inertia=box_inertia(CUBE, 2.0), name="c")
    world.step(1000)
    sums = []
    for _ in range(50):
        world.step(1)
        sums.append(contact_force(world, "c"))
        assert len(world.contacts) == 4
    assert np.array(sums) == pytest.approx(
        np.tile([0.0, 0.0, 2.0 * GRAVITY], (50, 1)), abs=1e-6 * 2.0 * GRAVITY
    )
    assert cube.position == pytest.approx([0.1, 0.05, 0.1], abs=1e-6)
    assert abs(cube.velocity).max() < 1e-9


@pytest.mark.parametrize("shape", [Sphere(0.1), Capsule(0.05, 0.1), Cylinder(0.1, 0.2)])
def test_primitives_rest_on_a_mesh(shape):
    world = World(1e-3)
    world.add_static(box_mesh((1.0, 1.0, 1.0)), (0.0, 0.0, -0.5))
    body = world.add_body(shape, 2.0, (0.1, 0.05, 0.101), name="body")
    world.step(1000)
    assert contact_force(world, "body") == pytest.approx([0.0, 0.0, 2.0 * GRAVITY], abs=2e-5)
    assert body.position == pytest.approx([0.1, 0.05, 0.1], abs=1e-6)


@pytest.mark.quick_cases("0.02")
@pytest.mark.parametrize("time_step", [1e-3, 0.02])
def test_a_box_slides_over_ten_thousand_triangles_as_over_one_plane(time_step):
    """It stops at the same place, within 0.1 %, and internal edges give it no bump."""
    size = (0.4, 0.4, 0.1)
    ends, bumps = [], []
    for shape, floor in (
        (Box(size), None),
        (Box(size), grid_mesh(71, 4.0)),
        (box_mesh(size), grid_mesh(71, 4.0)),
    ):
        world = World(time_step)
        if floor is None:
            world.add_ground()
        else:
            world.add_static(floor)
        world.set_friction("default", "default", static=0.5, kinetic=0.5)
        yaw = 0.15
        box = world.add_body(
            shape, 1.0, (-1.013, 0.007, 0.05), (0, 0, np.sin(yaw), np.cos(yaw)), (2, 0, 0),
            inertia=box_inertia(size, 1.0),
        )  # fmt: skip
        bump = 0.0
        for _ in range(round(0.6 / time_step)):
            world.step(1)
            bump = max(bump, abs(box.velocity[2]))
        ends.append(box.position[0] + 1.013)
        bumps.append(bump)
    show("stopping distance on the plane [m], on triangles, of a mesh", *ends)
    show("highest vertical speed [m/s]", *bumps)
    assert ends[1:] == pytest.approx([ends[0]] * 2, rel=1e-3)
    assert max(bumps) < 1e-6


def test_a_ball_rolls_over_triangles_without_a_kink():
    world = World(1e-3)
    world.add_static(grid_mesh(71, 4.0))
    velocity = np.array([1.0, 0.3, 0.0])
    ball = world.add_body(
        Sphere(0.1), 1.0, (-1.0, 0.01, 0.1), (0, 0, 0, 1), velocity, (-3.0, 10.0, 0.0)
    )
    for _ in range(1000):
        world.step(1)
        assert ball.velocity == pytest.approx(velocity, abs=1e-9)
        assert ball.position[2] == pytest.approx(0.1, abs=1e-9)


@pytest.mark.parametrize("bar", [Box((0.04, 0.04, 1.0)), Cylinder(0.02, 1.0)])
def test_a_concave_solid_hangs_on_a_bar_by_its_inner_side(bar):
    """A U upside down: its bay, not its hull, is what the bar meets."""
    world = World(1e-3)
    lying = np.array([1.0, 0.0, 0.0, 1.0]) / np.sqrt(2.0)  # the bar's z along -y
    world.add_static(bar, orientation=lying)
    hook = prism_mesh([(x, -y) for x, y in U_OUTLINE[::-1]], 0.04)
    hook = Mesh(hook.vertices[:, [0, 2, 1]] * [1.0, -1.0, 1.0], hook.triangles)
    center = trimesh.Trimesh(hook.vertices, hook.triangles).center_mass  # the body's origin
    body = world.add_body(
        hook, 1.0, center + (0.0, 0.0, 0.021), inertia=np.diag([0.01, 0.01, 0.01]), name="hook"
    )
    world.step(1500)
    show("hook", *(body.position - center))
    assert body.position[2] - center[2] == pytest.approx(0.02, abs=5e-5)
    assert abs(body.position[0]) < 0.05
    assert contact_force(world, "hook") == pytest.approx([0, 0, GRAVITY], abs=0.05)


@pytest.mark.parametrize("shape", [Box(CUBE), box_mesh(CUBE)])
def test_the_corner_of_a_room_holds_a_box_that_is_pushed_in(shape):
    room = prism_mesh([(0, 1), (-0.1, 1), (-0.1, -0.1), (1, -0.1), (1, 0), (0, 0)], 0.5)
    world = World(1e-3, gravity=(0.0, 0.0, 0.0))
    world.set_friction("default", "default", static=0.0, kinetic=0.0)
    world.add_static(room)
    body = world.add_body(shape, 1.0, (0.15, 0.17, 0.1), inertia=box_inertia(CUBE, 1.0), name="box")
    for _ in range(1000):
        body.apply_wrench((-10.0, -10.0, 0.0))
        world.step(1)
    assert body.position == pytest.approx([0.1, 0.1, 0.1], abs=2e-6)
    assert contact_force(world, "box") == pytest.approx([10.0, 10.0, 0.0], abs=1e-5)


@pytest.mark.parametrize("time_step", [1e-3, 0.02])
@pytest.mark.parametrize("yaw", [0.0, 0.5])
def test_a_box_that_passes_over_a_step_is_not_stopped(time_step, yaw):
    world = World(time_step, gravity=(0.0, 0.0, 0.0))
    outline = [(-1, -0.1), (1, -0.1), (1, 0.1), (0, 0.1), (0, 0), (-1, 0)]
    world.add_static(prism_mesh(outline, 0.5))
    body = world.add_body(
        box_mesh((0.2, 0.1, 0.2)), 1.0, (-0.5, 0.154, 0.0),
        (0.0, np.sin(yaw), 0.0, np.cos(yaw)), (8.0, 0.0, 0.0),
        inertia=box_inertia((0.2, 0.1, 0.2), 1.0),
    )  # fmt: skip
    world.step(round(0.12 / time_step))
    assert body.velocity == pytest.approx([8.0, 0.0, 0.0], abs=1e-12)


def test_worlds_with_meshes_go_on_after_changes_and_snapshots():
    """Adding, removing and restoring leave the rest as it was, bit for bit."""
    world = World(1e-3)
    world.add_ground()
    ball = world.add_body(ball_mesh(0.1), 1.0, (0, 0, 0.1), inertia=np.eye(3) * 0.004)
    world.step(100)
    other = world.add_body(box_mesh(CUBE), 1.0, (1, 0, 0.1), inertia=box_inertia(CUBE, 1.0))
    world.step(100)
    kept = world.snapshot()
    world.step(100)
    first = ball.position.copy(), ball.velocity.copy(), other.position.copy()
    world.restore(kept)
    world.step(100)
    assert (first[0] == ball.position).all() and (first[1] == ball.velocity).all()
    assert (first[2] == other.position).all()
    world.remove(other)
    world.step(100)
    assert ball.position[2] == pytest.approx(world.entities[ball.name].position[2])
    assert contact_force(world, ball.name)[2] == pytest.approx(GRAVITY, abs=1e-4)


@pytest.mark.parametrize("tilt", [0.025, 0.03, 0.04])
def test_an_edge_that_turns_down_onto_a_rim_in_one_step_is_stopped_there(tilt):
    """One end touches inside the rim; at 50 rad/s the edge would be through it by 2 mm and more."""
    world = World(1e-3, gravity=(0.0, 0.0, 0.0), continuous=False)
    world.add_static(box_mesh(CUBE), (0.0, 0.0, -0.1))
    size = (0.4, 0.02, 0.02)
    about_x, about_y = np.sin(np.pi / 8), np.sin(-tilt / 2)
    cos_x, cos_y = np.cos(np.pi / 8), np.cos(tilt / 2)
    turned = (cos_y * about_x, about_y * cos_x, -about_y * about_x, cos_y * cos_x)
    half, low = 0.2, 0.01 * np.sqrt(2.0)  # of the bar, and how far its edge is below its axis
    middle = (half * np.cos(tilt) - low * np.sin(tilt), 0.0, half * np.sin(tilt) + low)
    spin = np.array([0.0, 50.0, 0.0])  # about the end that touches
    bar = world.add_body(
        box_mesh(size), 1.0, middle, turned, np.cross(spin, middle), spin,
        inertia=box_inertia(size, 1.0),
    )  # fmt: skip
    deepest = 0.0
    for _ in range(5):
        world.step(1)
        deepest = max(deepest, world.stats.max_penetration)
    show("deepest [m]", deepest, bar.position)
    assert deepest < 3e-4
