# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The matrix I + G^T D G of Newton's method and products with G, against dense algebra."""

import numpy as np
import pytest
from interpreted import interpreted, with_attributes

from hrpsim import Box, World, load_model
from hrpsim.engine.solvers.newton.coulomb_law import OPEN, STICKS
from hrpsim.engine.solvers.newton.matrix import add_push, motion_along, write_matrix
from hrpsim.engine.spatial.simd import LANES
from robots import HRP2_LIKE

run_write_matrix, move, push = map(interpreted, (write_matrix, motion_along, add_push))


def run_motion(system, w):
    for constraint in system.constraints[: system.capacity[0].constraints]:
        move(constraint, system, w, constraint.step)


def run_push(system, w):
    for constraint in system.constraints[: system.capacity[0].constraints]:
        push(constraint, system, constraint.impulse, 0.5, w)


def pile(hinged: bool):
    """Return the problem of a heap that Newton's method has solved; two cubes may be hinged."""
    world, rng = World(solver="newton", sleeping=False), np.random.default_rng(3)
    world.set_friction("default", "default", static=0.5)
    world.add_ground()
    bodies = []
    for k in range(6):
        place = (*rng.uniform(-0.01, 0.01, 2), 0.0495 + 0.099 * k)
        bodies.append(world.add_body(Box((0.1,) * 3), 1.0, position=place))
    if hinged:
        place = (0.2, 0.0, 0.0495)
        arm = world.add_body(Box((0.1,) * 3), 1.0, position=place)
        world.connect(
            bodies[0], arm, "hinge", point=(0.1, 0, 0.05), axis=(0, 1, 0), solver="newton"
        )
    world.step(2)
    system = with_attributes(world.scene.newton)
    assert system.capacity[0]["constraints"] > 20
    return system


ARM = """<robot name="arm"><link name="base"/><link name="upper"><inertial><mass value="1"/>
<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="hand"><inertial><mass value="1"/><origin xyz="0.2 0 0"/>
<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><origin xyz="0.3 0 0"/><geometry><box size="0.08 0.08 0.1"/></geometry></collision>
</link><joint name="turn" type="continuous"><parent link="base"/><child link="upper"/>
<origin xyz="0 0 0.1497"/><axis xyz="0 0 1"/></joint>
<joint name="lift" type="continuous"><parent link="upper"/><child link="hand"/>
<axis xyz="0 1 0"/></joint></robot>"""


def held_by_an_arm():
    """Return the problem of a cube on the ground that a hand of two joints presses."""
    world = World(solver="newton", sleeping=False)
    world.add_ground()
    world.add_body(Box((0.1,) * 3), 1.0, position=(0.3, 0.0, 0.0499))
    world.add_robot(load_model(ARM, base="fixed"))
    world.step(2)
    system = with_attributes(world.scene.newton)
    constraints = system.constraints[: system.capacity[0]["constraints"]]
    ranks = set(constraints["rank_a"]) | set(constraints["rank_b"][constraints["node_b"] >= 0])
    assert ranks == {2, 6}, ranks
    return system


def standing_robot():
    """Return the problem of a robot that stands, a tree of whole registers."""
    world = World(solver="newton", sleeping=False)
    world.add_ground()
    robot = world.add_robot(load_model(HRP2_LIKE))
    robot.set_gains(kp=1000.0, kd=50.0)
    world.step(3)
    system = with_attributes(world.scene.newton)
    capacity = system.capacity[0]
    assert capacity["nodes"] == 1 and capacity["constraints"] > 3
    assert capacity["coordinates"] % LANES == 0
    return system


SCENES = [lambda: pile(False), lambda: pile(True), held_by_an_arm, standing_robot]


def arms_of(system):
    """Return G (rows, coordinates), and the first row of each constraint block."""
    capacity = system.capacity[0]
    constraints = system.constraints[: capacity["constraints"]]
    first = np.cumsum(constraints["size"]) - constraints["size"]
    G = np.zeros((constraints["size"].sum(), capacity["coordinates"]))
    for constraint, row in zip(constraints, first):
        for side in "ab"[: 1 + (constraint["node_b"] >= 0)]:
            arm, column, rank = (constraint[f"{name}_{side}"] for name in ("arm", "first", "rank"))
            for r in range(constraint["size"]):
                G[row + r, column : column + rank] = system.arms[arm + r * rank :][:rank]
    return G, first


def written(system):
    """Return the matrix that the blocks hold, in the order of the coordinates."""
    A = np.zeros((system.capacity[0]["coordinates"],) * 2)
    columns = system.structure.columns
    for column in columns[: system.capacity[0]["nodes"]]:
        own = slice(column["first_row"], column["first_row"] + column["size"])
        size = column["size"]
        A[own, own] = system.upper[column["block"] :][: size * size].reshape(size, size)
        for entry in system.structure.entries[column["start"] : column["end"]]:
            later = columns[entry["column"]]
            width = later["size"]
            there = slice(later["first_row"], later["first_row"] + width)
            block = slice(entry["block"], entry["block"] + size * width)
            A[own, there] = system.upper[block].reshape(size, width)
            A[there, own] = system.lower[block].reshape(size, width).T
    return A


@pytest.mark.parametrize("scene", SCENES)
def test_matrix_is_that_of_dense_algebra(scene):
    """Law: I + G^T D G with any D of blocks that are not open, whatever their coordinates."""
    system, rng = scene(), np.random.default_rng(1)
    G, first = arms_of(system)
    D = np.zeros((len(G),) * 2)
    constraints = system.constraints[: len(first)]
    for constraint, row in zip(constraints, first):
        constraint["state"] = rng.choice([OPEN, STICKS])
        constraint["stiffness"] = rng.normal(size=9)
        if constraint["state"] == STICKS:
            size = constraint["size"]
            D[row : row + size, row : row + size] = constraint["stiffness"].reshape(3, 3)[
                :size, :size
            ]
    run_write_matrix(system)
    np.testing.assert_allclose(written(system), np.eye(len(G.T)) + G.T @ D @ G, atol=1e-12)
    assert (constraints["factor_state"] == constraints["state"]).all()


@pytest.mark.parametrize("scene", SCENES)
def test_products_are_those_of_dense_algebra(scene):
    """Law: G w, and w + G^T l / 2."""
    system, rng = scene(), np.random.default_rng(2)
    G, first = arms_of(system)
    constraints = system.constraints[: len(first)]
    w = rng.normal(size=len(system.step))
    run_motion(system, w)
    moved = np.concatenate([constraint["step"][: constraint["size"]] for constraint in constraints])
    np.testing.assert_allclose(moved, G @ w[: len(G.T)], atol=1e-12)
    constraints["impulse"] = rng.normal(size=(len(constraints), 3))
    impulse = np.concatenate(
        [constraint["impulse"][: constraint["size"]] for constraint in constraints]
    )
    before = w[: len(G.T)].copy()
    run_push(system, w)
    np.testing.assert_allclose(w[: len(G.T)], before + 0.5 * G.T @ impulse, atol=1e-12)
