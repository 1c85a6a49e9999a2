# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Where an island has taken much work, a larger error suffices, and it is told."""

import numpy as np
import pytest
from interpreted import interpreted, with_attributes
from world.scenes import turned_tower

from hrpsim.engine.solvers.newton.multiplier_method import grow_multipliers
from hrpsim.engine.solvers.newton.multipliers import (
    go_to_best,
    largest_error,
    note_multipliers,
    push_by_multipliers,
    small_enough,
)

TOLERANCE, LIMIT = 1e-10, 400


push, note, error_of, grow, leave_best, what_suffices = map(
    interpreted,
    (
        *(push_by_multipliers, note_multipliers, largest_error, grow_multipliers),
        *(go_to_best, small_enough),
    ),
)


def run_search(system):
    """Return (factorisations, error told, error of the impulses that are left)."""
    push(system)
    note(system)
    count, best = grow(TOLERANCE, 1.0, LIMIT, error_of(system), system)
    leave_best(system)
    return count, best, error_of(system)


def sliding_stack():
    """Return the problem of ten turned cubes that slide a little, with other impulses."""
    world = turned_tower(10)
    world.step(3)
    system = with_attributes(world.scene.newton)
    constraints = system.constraints[: system.capacity[0]["constraints"]]
    constraints["multiplier"] *= np.linspace(0.2, 0.8, len(constraints))[:, None]
    return system


def with_patience(system, factorisations: int, iteration_limit: int):
    system.capacity["factorisations"], system.capacity["iteration_limit"] = (
        factorisations,
        iteration_limit,
    )
    return system


def test_what_suffices_grows_with_the_work():
    """Law: the tolerance as long as there is patience; then ever more, 1e4 tolerances at most."""
    system = sliding_stack()
    asked = [what_suffices(TOLERANCE, with_patience(system, count, 10)) for count in range(401)]
    assert asked[:11] == [TOLERANCE] * 11
    assert (np.diff(asked[10:]) >= 0.0).all()
    assert asked[20] == pytest.approx(8.0 * TOLERANCE)
    assert asked[-1] == pytest.approx(1e4 * TOLERANCE)


@pytest.mark.parametrize("iteration_limit", [1, 2])
def test_a_search_without_patience_ends_sooner_and_tells_its_error(iteration_limit):
    """Law: what is left is the error that is told, less than what then suffices."""
    right = run_search(with_patience(sliding_stack(), 0, LIMIT))
    system = with_patience(sliding_stack(), 0, iteration_limit)
    count, told, left = run_search(system)
    assert right[1] <= TOLERANCE
    assert left == pytest.approx(told, rel=1e-3, abs=1e-13)
    assert told <= what_suffices(TOLERANCE, system)
    assert count < right[0]
