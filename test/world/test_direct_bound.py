# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The direct solver's search for sides ends after a bounded number of multiplications in a step."""

import numpy as np
import pytest
from world.scripted import bits

from hrpsim import Box, World

# As docs/explanation/conventions.md has them.
WORK, MOST_WORK = 400_000_000, 2_000_000_000
OF_ROW = 1000


def thrown_together(count, seed):
    """Boxes in one place, of 1 g to 1 t: many contacts, whose sides no search finds."""
    rng = np.random.default_rng(seed)
    world = World(solver="direct", continuous=False)
    world.set_friction("default", "default", 1.0)
    world.add_ground()
    for _ in range(count):
        world.add_body(
            Box((0.3, 0.25, 0.2)),
            10.0 ** rng.uniform(-3, 3),
            rng.uniform(-0.15, 0.15, 3) + (0.0, 0.0, 0.1),
            rng.normal(size=4),
            velocity=3.0 * rng.normal(size=3),
            angular_velocity=3.0 * rng.normal(size=3),
        )
    return world


def work(world):
    return int(world.scene.step_stats[0]["direct_work"])


@pytest.mark.long
def test_a_search_that_does_not_end_is_cut_off():
    """Law: more than the bound is not begun; Newton's method takes over, and the answer says so."""
    world = thrown_together(14, seed=1)
    for _ in range(2):
        world.step()
        stats = world.stats
        assert 0.5 * WORK < work(world) <= MOST_WORK
        assert 0 < stats.factorisations < 120  # of the velocities' and the correction's search
        assert not stats.direct_finished and stats.newton_islands == 1
        assert stats.converged == (stats.handed_over == 1) == (stats.residual < 1e-8)
        assert stats.converged or stats.worst.startswith("contact of ")
        assert all(np.isfinite(body.v).all() for body in world.bodies.values())


@pytest.mark.long
def test_a_step_that_is_cut_off_is_the_same_in_a_copy():
    """Law: the bound counts work, not time, so that it falls alike, bit for bit."""
    world = thrown_together(12, seed=2)
    world.step()
    copied = world.copy()
    assert not world.stats.direct_finished
    for some in (world, copied):
        some.step(2)
    assert bits(world) == bits(copied)
    assert work(world) == work(copied)


@pytest.mark.parametrize("solver", ["direct", "split", "iterative"])
def test_the_work_of_a_step_is_that_of_its_own_choices(solver):
    """Law: each choice counts for its rows and its factor; a step counts from nothing."""
    world = World(solver=solver)
    world.add_ground()
    for k in range(3):
        world.add_body(Box((0.2, 0.2, 0.2)), 1.0, (0.0, 0.0, 0.1 + 0.2 * k))
    counts = []
    for _ in range(20):
        world.step()
        stats = world.stats
        assert stats.direct_finished
        least = stats.factorisations * OF_ROW * stats.row_count
        dense = stats.factorisations * stats.row_count**3
        assert least <= work(world) <= least + dense
        counts.append(work(world))
    assert counts[-1] == counts[-2] and (counts[-1] > 0) == (solver != "iterative")
