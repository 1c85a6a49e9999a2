# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The derivatives of steps with closed loops do not depend on the axes of the loops."""

import numpy as np
import pytest
from grouped import one_compiles
from scipy.spatial.transform import Rotation
from world.differences import differences, error
from world.linkages import LINKAGES, bennett_corners

from hrpsim import World, load_model
from hrpsim.model.readers.urdf_writer import exact_text, rpy_of

pytestmark = [one_compiles("linearization"), pytest.mark.usefixtures("derivatives_in_python")]

GRAVITY = 9.80665 * np.array([0.3, -0.9, 0.3])
AXES = {"x": (1, 0, 0), "y": (0, 1, 0), "z": (0, 0, 1), "skew": (0.48, 0.6, 0.64)}


def frame_about(axis):
    """Return a rotation that turns z to an axis."""
    z = np.asarray(axis, dtype=float) / np.linalg.norm(axis)
    x = np.cross(np.eye(3)[np.argmin(np.abs(z))], z)
    x /= np.linalg.norm(x)
    return np.stack([x, np.cross(z, x), z], axis=1)


def loop_of(corners, axes, fixed, random):
    """Return a chain of links from corner to corner, closed by a hinge with its base.

    Axes of the links' frames are those of the world.
    """
    count, masses = len(corners), random.uniform(0.3, 2.0, len(corners))
    parts = ['<link name="base"/>'] if fixed else [_link("base", corners[0], masses[-1])]
    parent, start = "base", np.zeros(3)
    for k in range(count - 1):
        middle = (corners[k + 1] - corners[k]) / 2
        parts.append(_link(f"l{k}", middle, masses[k]))
        parts.append(
            f'<joint name="j{k}" type="continuous"><parent link="{parent}"/><child link="l{k}"/>'
            f'<origin xyz="{exact_text(corners[k] - start)}"/>'
            f'<axis xyz="{exact_text(axes[k])}"/></joint>'
        )
        parent, start = f"l{k}", corners[k]
    turn = exact_text(rpy_of(frame_about(axes[-1])))
    parts.append(
        f'<hrpsim reference="{parent}"><connection name="close" to="base" kind="hinge" '
        f'xyz="{exact_text(corners[-1] - start)}" to_xyz="{exact_text(corners[-1])}" '
        f'rpy="{turn}" to_rpy="{turn}"/></hrpsim>'
    )
    text = f'<robot name="loop">{"".join(parts)}</robot>'
    return load_model(text, base="fixed" if fixed else "free")


def _link(name, center, mass):
    return (
        f'<link name="{name}"><inertial><origin xyz="{exact_text(center)}"/><mass value="{mass}"/>'
        f'<inertia ixx="{0.004 * mass}" iyy="{0.005 * mass}" izz="{0.006 * mass}" ixy="0" ixz="0" '
        'iyz="0"/></inertial></link>'
    )


def moving(model, random, gravity=GRAVITY, steps=4, speed=0.5, **options):
    """Return a world with a robot that moves, after some steps."""
    world = World(gravity=gravity, sleeping=False, tolerance=1e-14, **options)
    robot = world.add_robot(model)
    robot.v = speed * random.normal(size=model.nv)
    world.step(steps)
    return world


def wrong(world):
    """Return the error of A, and what is on an edge; differences of two sizes, extrapolated."""
    found, size = world.linearize(()), 2 * len(world.scene.velocity)
    coarse, fine = (differences(world, np.full(size, step)) for step in (2e-6, 1e-6))
    return error(found.A, (4.0 * fine - coarse) / 3.0), found.on_edge


@pytest.mark.parametrize("fixed", [True, False], ids=["fixed", "free"])
@pytest.mark.parametrize("axis", AXES)
def test_a_parallelogram_about_any_axis(axis, fixed):
    """Law: A of a planar loop; rounding of its redundant rows is no rank about any axis."""
    random, R = np.random.default_rng(1), frame_about(AXES[axis])
    corners = np.array([(0, 0, 0), (0.1, 0.3, 0), (0.5, 0.3, 0), (0.4, 0, 0)]) @ R.T
    model = loop_of(corners, np.tile(R[:, 2], (4, 1)), fixed, random)
    found, edges = wrong(moving(model, random))
    assert found < 1e-6 and not edges


@pytest.mark.parametrize("solver", ["direct", "iterative"])
@pytest.mark.parametrize("seed", range(4))
def test_random_loops(seed, solver):
    """Law: A of planar loops of 4 to 7 links about skew axes, of fixed and free bases.

    Sweeps may cut the position correction short, which is named.
    """
    random, count = np.random.default_rng(seed), 4 + seed % 4
    angles = (np.arange(count) + random.uniform(-0.3, 0.3, count)) * 2 * np.pi / count
    flat = np.stack([np.cos(angles), np.sin(angles), 0 * angles], axis=1)
    R = Rotation.random(random_state=seed).as_matrix()
    corners = random.uniform(0.15, 0.4, (count, 1)) * flat @ R.T
    model = loop_of(corners, np.tile(R[:, 2], (count, 1)), seed % 3 > 0, random)
    found, edges = wrong(moving(model, random, solver=solver))
    assert found < 1e-6 or {edge.other for edge in edges} == {"cut short"}
    assert not edges or solver == "iterative"


@pytest.mark.parametrize("fixed", [True, False], ids=["fixed", "free"])
def test_a_loop_with_redundant_rows(fixed):
    """Law: A of Bennett's linkage, whose rows agree in the exact position of the loop alone."""
    random, (corners, axes, _) = np.random.default_rng(3), bennett_corners()
    order = [1, 2, 3, 0]
    model = loop_of(corners[order], axes[order], fixed, random)
    found, edges = wrong(moving(model, random, gravity=(0, 0, 0), steps=40, speed=0.05))
    assert found < 1e-6 and not edges


@pytest.mark.long
@pytest.mark.parametrize("name", LINKAGES)
def test_a_linkage_of_bodies(name):
    """Law: A of linkages with motors, whose hinges are redundant, is right to 1e-6 or named."""
    world = LINKAGES[name](tolerance=1e-14).world
    world.step(40)
    found, edges = wrong(world)
    assert found < 1e-6 or {edge.other for edge in edges} == {"contradicts others"}
    assert not edges or name == "Bennett"


@pytest.mark.parametrize("seed", [1, 2])
def test_a_loop_that_is_open_is_named(seed):
    """Law: rows that disagree in an open loop are right to 1e-6, or named."""
    random, (corners, axes, _) = np.random.default_rng(seed), bennett_corners()
    model = loop_of(corners[[1, 2, 3, 0]], axes[[1, 2, 3, 0]], True, random)
    found, edges = wrong(moving(model, random, steps=2))
    assert found < 1e-6 or {edge.other for edge in edges} == {"contradicts others"}
    assert found < 1e-2
