# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The constraint blocks at a tree, and sweeps over the few of an island that are violated."""

import numpy as np
import pytest
from interpreted import interpreted, with_attributes
from world.scenes import turned_tower

from hrpsim.engine.solvers.newton.constraint_lists import list_constraints
from hrpsim.engine.solvers.newton.local_sweeps import sweep_all, sweep_what_is_off
from hrpsim.engine.solvers.newton.minimum_degree import highest_bit, lowest_bit
from hrpsim.engine.solvers.newton.multipliers import largest_error, push_by_multipliers

LEAST = 1e-6


list_blocks, run_push, error_of, sweep = map(
    interpreted, (list_constraints, push_by_multipliers, largest_error, sweep_what_is_off)
)


def run_sweeps(system, sweeps, least):
    list_blocks(system)
    run_push(system)
    before = error_of(system)
    sweep(sweeps, least, system)
    return before, error_of(system)


@pytest.fixture
def system():
    """Return the problem, solved, of a tower of turned cubes, with over 64 contacts."""
    world = turned_tower(12)
    world.step(3)
    assert world.scene.newton.capacity[0]["constraints"] > 64
    return with_attributes(world.scene.newton)


def units_of(system):
    return system.constraints[: system.capacity[0]["constraints"]]


def test_every_unit_is_listed_at_its_trees(system):
    """Law: the list of a tree has the blocks that push it, each once, in ascending order."""
    run_sweeps(system, 1, LEAST)
    constraints = units_of(system)
    for node in range(system.capacity[0]["nodes"]):
        tree = system.trees[node]
        expected = np.flatnonzero((constraints["node_a"] == node) | (constraints["node_b"] == node))
        listed = system.at_trees[tree["constraints_start"] : tree["constraints_end"]]
        np.testing.assert_array_equal(listed, expected)


def test_sweeps_over_all_blocks_approach_the_solution(system):
    """Law: projected Gauss-Seidel from no impulse, and pushes that are those of its impulses."""
    units_of(system)["multiplier"] = 0.0
    run_push(system)
    errors = [error_of(system)]
    for _ in range(3):
        interpreted(sweep_all)(20, system)
        errors.append(error_of(system))
    assert errors[3] < errors[2] < errors[1] < errors[0]
    swept = system.point.copy()
    run_push(system)
    np.testing.assert_allclose(system.point, swept, atol=1e-12)


def test_what_is_solved_stays_as_it_is(system):
    """Law: where nothing is off, sweeps change no impulse."""
    before = units_of(system)["multiplier"].copy()
    run_sweeps(system, 10, LEAST)
    np.testing.assert_array_equal(units_of(system)["multiplier"], before)


@pytest.mark.parametrize("place", [0.0, 0.5, 1.0])
def test_what_is_off_is_put_right_by_sweeps(system, place):
    """Law: enough sweeps, forth and back, bring all that a wrong block pushes within `least`."""
    constraints = units_of(system)
    constraints["multiplier"][round(place * (len(constraints) - 1))] *= 0.9
    before, after = run_sweeps(system, 20_000, LEAST)
    assert before > 100.0 * LEAST
    assert after <= 1.01 * LEAST
    velocities = constraints["velocity"].copy()
    run_push(system)
    np.testing.assert_allclose(constraints["velocity"], velocities, atol=1e-12)


def test_lowest_and_highest_bit():
    """Law: those of the binary number."""
    numbers = [1, 2, 3, 0x80, 0x8000_0000_0000_0000, 0xF0F0_0000, (1 << 64) - 1]
    lowest, highest = interpreted(lowest_bit), interpreted(highest_bit)
    for n in numbers:
        assert highest(np.uint64(n)) == n.bit_length() - 1
        assert lowest(np.uint64(n)) == (n & -n).bit_length() - 1
