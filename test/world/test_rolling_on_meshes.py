# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Round bodies roll on floors made of triangles as on the plane z = 0."""

import itertools
import math

import numpy as np
import pytest
from collision.solids import box_mesh
from world.scenes import GRAVITY

from hrpsim import (
    Box,
    Capsule,
    Compound,
    ConvexHull,
    Cylinder,
    HeightField,
    Mesh,
    Sphere,
    World,
    load_model,
)

LYING = (-math.sqrt(0.5), 0.0, 0.0, math.sqrt(0.5))  # the axis of the shape along y
TILE = box_mesh((0.25, 1.0, 0.1))
CORNERS = np.array([(-1.0, -1.0, 0.0), (3.0, -1.0, 0.0), (3.0, 1.0, 0.0), (-1.0, 1.0, 0.0)])
SHAPES = {"cylinder": Cylinder(0.06, 0.2), "capsule": Capsule(0.06, 0.2), "ball": Sphere(0.06)}


def upright(angle):
    """Return the quaternion of a turn about y."""
    return np.array([0.0, math.sin(0.5 * angle), 0.0, math.cos(0.5 * angle)])


def with_floor(kind, slope=0.0, **settings):
    """Return a world with a floor that falls towards +x by an angle [rad]."""
    world = World(sleeping=False, **settings)
    world.set_friction("default", "default", 0.6)
    c, s = math.cos(slope), math.sin(slope)

    def put(shape, x=0.0, z=0.0):
        world.add_static(shape, (c * x + s * z, 0.0, c * z - s * x), upright(slope))

    if kind == "field":
        put(HeightField(np.zeros((81, 21)), spacing=0.05), x=1.0)
    elif kind == "mesh":
        put(Mesh(CORNERS, np.array([(0, 1, 2), (0, 2, 3)])))
    elif kind == "hull":
        put(ConvexHull(box_mesh((6.0, 2.0, 0.1)).vertices), z=-0.05)
    elif kind == "compound":
        parts = [(Box((3.0, 2.0, 0.1)), (-1.5, 0, 0)), (box_mesh((3.0, 2.0, 0.1)), (1.5, 0, 0))]
        put(Compound([(shape, place, (0, 0, 0, 1)) for shape, place in parts]), z=-0.05)
    else:
        for k in range(-2, 8):
            put(TILE, x=0.25 * k, z=-0.05)
    return world


def rolling(world, shape, speed, slope=0.0):
    """Return a body of 1 kg that rolls down along x from the origin of the floor."""
    c, s = math.cos(slope), math.sin(slope)
    x, y, z, w = upright(slope)
    lx, _, _, lw = LYING
    turn = (w * lx + x * lw, y * lw + z * lx, z * lw - y * lx, w * lw - x * lx)
    return world.add_body(
        shape, 1.0, (0.06 * s, 0.0, 0.06 * c), turn,
        velocity=(speed * c, 0.0, -speed * s), angular_velocity=(0.0, speed / 0.06, 0.0),
    )  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("floor", ["field", "mesh", "hull", "compound", "tiles"])
def test_a_round_body_keeps_its_speed_on_a_level_floor(floor, shape):
    """No work is done on a rolling body, so its speed stays."""
    world = with_floor(floor)
    body = rolling(world, SHAPES[shape], 1.0)
    world.step(1000)
    assert body.velocity[0] == pytest.approx(1.0, abs=1e-6)
    assert body.position[2] == pytest.approx(0.06, abs=1e-6)


@pytest.mark.parametrize("integrator", ["rk4", "euler"])
def test_the_integrator_makes_no_difference(integrator):
    world = with_floor("mesh", integrator=integrator)
    body = rolling(world, SHAPES["cylinder"], 1.0)
    world.step(500)
    assert body.velocity[0] == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("floor", ["field", "hull", "tiles"])
@pytest.mark.parametrize(("shape", "inertia"), [("cylinder", 0.5), ("ball", 0.4)])
def test_a_round_body_has_the_acceleration_of_rolling_on_a_slope(floor, shape, inertia):
    """g sin(slope) / (1 + I / (m r^2))."""
    slope = 0.15
    world = with_floor(floor, slope)
    body = rolling(world, SHAPES[shape], 0.3, slope)
    world.step(500)
    along = np.array([math.cos(slope), 0.0, -math.sin(slope)])
    exact = GRAVITY * math.sin(slope) / (1.0 + inertia)
    assert (body.velocity @ along - 0.3) / 0.5 == pytest.approx(exact, rel=1e-6)


@pytest.mark.parametrize("tile", [TILE, Box((0.25, 1.0, 0.1))], ids=["mesh", "box"])
@pytest.mark.parametrize("shape", SHAPES)
def test_a_fast_body_rolls_over_seams_at_an_angle(shape, tile):
    """Edges of the next tile come near in front of the body, and do not brake it."""
    world, yaw, speed = World(2e-3, sleeping=False), 0.2, 3.0
    world.set_friction("default", "default", 0.6)
    for row, column in itertools.product((-1, 0, 1), range(-2, 10)):
        world.add_static(tile, (0.25 * column, float(row), -0.05))
    way = np.array([math.cos(yaw), math.sin(yaw), 0.0])
    c, s, half = math.cos(0.5 * yaw), math.sin(0.5 * yaw), math.sqrt(0.5)
    body = world.add_body(
        SHAPES[shape], 1.0, (0.0, 0.0, 0.06), (-half * c, -half * s, half * s, half * c),
        velocity=speed * way, angular_velocity=speed / 0.06 * np.array([-way[1], way[0], 0.0]),
    )  # fmt: skip
    world.step(300)
    assert body.velocity @ way == pytest.approx(speed, rel=1e-6)


CART = """<robot name="cart"><link name="bed"><inertial><mass value="5"/>
  <inertia ixx="0.1" iyy="0.2" izz="0.2" ixy="0" ixz="0" iyz="0"/></inertial></link>
  {wheels}</robot>"""
WHEEL = """<link name="{n}"><inertial><mass value="1"/>
    <inertia ixx="0.003" iyy="0.003" izz="0.005" ixy="0" ixz="0" iyz="0"/></inertial>
  <collision><geometry><cylinder radius="0.1" length="0.04"/></geometry></collision></link>
  <joint name="{n}" type="continuous"><parent link="bed"/><child link="{n}"/>
  <origin xyz="{x} {y} 0" rpy="-1.5707963267948966 0 0"/><axis xyz="0 0 1"/></joint>"""


@pytest.mark.parametrize("floor", ["field", "tiles"])
def test_a_cart_on_four_free_wheels_keeps_its_speed(floor):
    """The wheels turn on hinges without friction, and nothing brakes the cart."""
    places = itertools.product((-0.3, 0.3), (-0.2, 0.2))
    wheels = "".join(WHEEL.format(n=f"w{k}", x=x, y=y) for k, (x, y) in enumerate(places))
    model = load_model(CART.format(wheels=wheels), base="free")
    world = with_floor(floor)
    start = [0.0, 0.0, 0.1, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0]
    cart = world.add_robot(model, q=start, v=[1.0, 0, 0, 0, 0, 0, *[10.0] * 4])
    world.step(1000)
    assert cart.v[0] == pytest.approx(1.0, abs=1e-6)
    assert cart.q[2] == pytest.approx(0.1, abs=1e-6)
