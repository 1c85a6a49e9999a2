# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Whether the solver came to its end, over the steps of a call and since the start."""

import numpy as np
import pytest
from world.scenes import GRAVITY, weightless
from world.scripted import bits

from evidence.experiments.scenes.standing import half_sitting
from hrpsim import Box, World, WorldError
from robots import humanoid

QUIET = (0, 0.0, "")


def summary(some):
    return some.unconverged, some.worst_residual, some.worst


def landing(**options):
    """A robot that lands on its feet: some steps do not converge by so few sweeps."""
    world = World(solver="iterative", sweep_limit=5, **options)
    world.add_ground()
    model = humanoid(False)
    world.add_robot(model, q=half_sitting(model))
    return world


@pytest.mark.parametrize("accuracy, residual", [("fast", 1e-5), (None, 1e-8), ("exact", 1e-10)])
def test_a_level_of_accuracy_bounds_the_residual(accuracy, residual):
    """Law: sweeps end once the residual is within the documented speed, and not far below it."""
    world = World(gravity=(0.0, 0.0, -9.80665), accuracy=accuracy, sleeping=False)
    world.add_ground()
    for k in range(5):
        world.add_body(Box((0.1, 0.1, 0.1)), 1.0, position=(0.02 * k, 0.0, 0.05 + 0.1 * k))
    residuals = []
    for _ in range(100):
        world.step()
        residuals.append(world.stats.residual)
    assert max(residuals) <= residual
    assert max(residuals) > 1e-4 * residual


def test_a_call_tells_about_all_its_steps():
    """The counts of a call are those of its steps one by one, which move alike, bit for bit."""
    world, one_by_one = landing(), landing()
    world.step(300)
    unmet, worst, name = 0, 0.0, ""
    for _ in range(300):
        one_by_one.step()
        stats = one_by_one.stats
        single = stats.last_call
        assert (single.steps, single.unconverged) == (1, int(not stats.converged))
        if not stats.converged:
            assert (single.worst_residual, single.worst) == (stats.residual, stats.worst)
            unmet += 1
            if stats.residual > worst:
                worst, name = stats.residual, stats.worst
    assert 0 < unmet < 300 and name.startswith("contact of ")
    call = world.stats.last_call
    assert (call.steps, *summary(call)) == (300, unmet, worst, name)
    assert world.stats.since_reset == call == one_by_one.stats.since_reset
    assert call.converged_share == pytest.approx(1 - unmet / 300)
    assert bits(world) == bits(one_by_one)
    world.settle()
    world.step(100)
    assert world.stats.last_call.steps == 100 and summary(world.stats.last_call) == QUIET
    assert world.stats.last_call.converged_share == 1.0
    assert (world.stats.since_reset.steps, world.stats.since_reset.unconverged) == (400, unmet)


def test_the_worst_constraint_is_named_after_things_moved_in_the_arrays():
    """Connections that contradict each other, beside a box that falls asleep meanwhile."""
    world = World()
    world.add_ground()
    world.add_body(Box((0.2, 0.2, 0.2)), 1.0, (0, 0, 0.1), name="rests")
    block = world.add_body(Box((0.2, 0.2, 0.2)), 1.0, (3, 0, 1.0), name="block")
    own = ((0, 0, 0), (0, 0, 0, 1))
    for name, x in (("here", 3.0), ("there", 3.2)):
        world.connect(None, block, frame_a=((x, 0, 1), (0, 0, 0, 1)), frame_b=own, name=name)
    world.step(800)
    assert world.asleep == ("rests",)
    call = world.stats.last_call
    assert call.unconverged > 700 and call.worst in ("connection 'here'", "connection 'there'")
    world.remove("block")
    world.step()
    assert world.stats.last_call.unconverged == 0
    assert world.stats.since_reset.worst == call.worst


def test_counts_follow_the_state():
    """Snapshots and copies have them, a reset empties them, settling and failing leave them."""
    world = landing()
    world.step(200)
    stats, snapshot, copied = world.stats, world.snapshot(), world.copy()
    world.step(3)

    def counts(some):
        return some.stats.last_call, some.stats.since_reset

    before = stats.last_call, stats.since_reset
    assert before[1].unconverged > 0
    assert counts(world) != before and counts(copied) == before
    world.restore(snapshot)
    assert counts(world) == before
    with pytest.raises(WorldError, match="did not come to rest"):
        world.settle(0.01)
    assert counts(world) == before
    world.reset()
    for some in (world.stats.last_call, world.stats.since_reset):
        assert (some.steps, *summary(some), some.converged_share) == (0, *QUIET, 1.0)
    world.settle()
    assert world.stats.since_reset.steps == 0


def test_time_that_passes_while_all_sleeps_counts_as_converged():
    world = World()
    world.add_ground()
    world.add_body(Box((0.2, 0.2, 0.2)), 1.0, (0, 0, 0.1))
    world.step(1000)
    assert world.asleep
    world.step(500)
    assert (world.stats.last_call.steps, world.stats.last_call.unconverged) == (500, 0)
    assert world.stats.since_reset.steps == 1500


def pushed(limit: int | None):
    """Boxes of 1, 10 and 100 kg that are put onto each other, the lightest below."""
    world = World(solver="iterative", sleeping=False, tolerance=1e-12, sweep_limit=limit)
    world.add_ground()
    for k, mass in enumerate((1.0, 10.0, 100.0)):
        world.add_body(Box((0.2, 0.2, 0.2)), mass, (0, 0, 0.1 + 0.2 * k))
    return world


def test_an_explicit_limit_of_sweeps_holds_for_new_contacts_too():
    """What is asked for is the most; the default takes up to 1200 where contacts begin."""
    world, usual = pushed(7), pushed(None)
    most, began = 0, 0
    for _ in range(30):
        world.step()
        began += int(world.scene.counts["new_count"][0]) > 0
        assert world.stats.iterations <= 7
    assert began > 0
    old = 0
    for _ in range(30):
        usual.step()
        if usual.scene.counts["new_count"][0] > 0:
            most = max(most, usual.stats.iterations)
        else:
            old = max(old, usual.stats.iterations)
    assert 120 < most <= 1200 and old <= 120


def test_the_limit_of_sweeps_is_checked():
    with pytest.raises(WorldError, match="sweep_limit must be at least 1, got 0"):
        World(sweep_limit=0)
    settings = [World(sweep_limit=limit).scene.settings[0] for limit in (None, 120)]
    assert [(s["sweep_limit"], s["cold_sweep_limit"]) for s in settings] == [
        (120, 1200),
        (120, 120),
    ]


def test_no_constraint_no_residual():
    world = weightless()
    world.add_body(Box((1, 1, 1)), 1.0)
    world.step(10)
    assert summary(world.stats.last_call) == QUIET and np.isclose(GRAVITY, 9.80665)
