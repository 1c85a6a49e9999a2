# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Clusters of what is off in an island, solved by themselves unless they are most of it."""

import numpy as np
import pytest
from interpreted import interpreted, with_attributes
from world.scenes import turned_tower

from hrpsim import Sphere, World
from hrpsim.engine.solvers.newton.clusters import JAMMED, solve_clusters
from hrpsim.engine.solvers.newton.constraint_lists import list_constraints
from hrpsim.engine.solvers.newton.multipliers import largest_error, push_by_multipliers

TOLERANCE = 1e-10

push = interpreted(push_by_multipliers)
error_of = interpreted(largest_error)
list_blocks = interpreted(list_constraints)
solve = interpreted(solve_clusters)


def run_push(system):
    push(system)
    return error_of(system)


def run_solve(system, part, least):
    list_blocks(system)
    return solve(least, TOLERANCE, system, part)


def problem_of(world):
    """Return (problem, room for a part of it) of a world that was stepped, solved."""
    system = with_attributes(world.scene.newton)
    assert run_push(system) < TOLERANCE
    return system, with_attributes(world.scene.newton_part)


def stack(count: int):
    """Return (problem, room for a part of it) of turned cubes that slide a little, solved."""
    world = turned_tower(count)
    world.step(3)
    return problem_of(world)


def velocities(system):
    return system.constraints["velocity"][: system.capacity[0]["constraints"]].copy()


@pytest.mark.parametrize("cube", [1, 5, 9])
def test_what_is_off_at_one_cube_is_put_right(cube):
    """Law: a cluster whose surroundings are solved ends in the solution of the whole."""
    system, part = stack(10)
    right = velocities(system)
    constraints = system.constraints[: system.capacity[0]["constraints"]]
    constraints["multiplier"][
        (constraints["node_a"] == cube) | (constraints["node_b"] == cube)
    ] *= 0.3
    assert run_push(system) > 1e-3
    assert run_solve(system, part, 1e-6) > 0
    assert run_push(system) < 10.0 * TOLERANCE
    np.testing.assert_allclose(velocities(system), right, atol=1e-8)


def test_a_cluster_of_most_trees_is_not_tried():
    """Law: where all is off nothing is changed, and that is said."""
    system, part = stack(10)
    constraints = system.constraints[: system.capacity[0]["constraints"]]
    constraints["multiplier"] *= np.linspace(0.2, 0.8, len(constraints))[:, None]
    run_push(system)
    before = constraints["multiplier"].copy()
    assert run_solve(system, part, 1e-6) == JAMMED
    np.testing.assert_array_equal(constraints["multiplier"], before)


def pressed_row(count: int):
    """Return (problem, room for a part of it) of balls in a row, pressed from both ends, solved."""
    world = World(gravity=(0.0, 0.0, 0.0), solver="newton", sleeping=False, tolerance=1e-12)
    balls = [world.add_body(Sphere(0.05), 1.0, (0.1 * k, 0.0, 0.0)) for k in range(count)]
    balls[0].apply_wrench(force=(100.0, 0.0, 0.0))
    balls[-1].apply_wrench(force=(-100.0, 0.0, 0.0))
    world.step()
    return problem_of(world)


@pytest.mark.parametrize(("off", "is_tried"), [(90, True), (110, False)])
def test_a_cluster_of_more_than_a_hundred_trees_is_not_tried(off, is_tried):
    """Law: in an island however large, a cluster of many trees is left to the whole."""
    system, part = pressed_row(300)
    constraints = system.constraints[: system.capacity[0]["constraints"]]
    constraints["multiplier"][100 : 100 + off - 1] *= 0.5 + 0.2 * (np.arange(off - 1) % 2)[:, None]
    run_push(system)
    tried = run_solve(system, part, 1e-6) != JAMMED
    assert tried == is_tried
