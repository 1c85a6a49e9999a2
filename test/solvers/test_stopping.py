# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""When the sweeps stop: by the rule that was asked for, at its bound, or at the limit."""

import numpy as np
import pytest
from world.scenes import GRAVITY, show
from world.scripted import bits

from evidence.experiments.scenes.standing import half_sitting
from hrpsim import World, WorldError, load_world
from robots import humanoid

RULES = ("residual", "relative_change")
every_rule = pytest.mark.parametrize("stop", RULES)


def pushed_humanoid(stop="residual", bound=1e-6, sweep_limit=120):
    """A world whose robot stands and is about to feel a push; no contact is new.

    Whatever the rule, it was settled by the same one, so that all start from the same state.
    """
    world = World(solver="iterative")
    world.add_ground()
    robot = world.add_robot(humanoid(False), q=half_sitting(humanoid(False)))
    world.settle()
    world.step(5)
    robot.apply_wrench("BODY", force=(60.0, 30.0, 0.0))
    kept = World(stop=stop, tolerance=bound, sweep_limit=sweep_limit).scene.settings
    for name in ("tolerance", "relative_tolerance", "sweep_limit"):
        world.scene.settings[name] = kept[name]
    return world


def changes_of_sweeps(count: int):
    """Measures of both rules after every sweep, from runs of 1, 2, 3 ... sweeps.

    relative_change: |l - l_before| / |l|, Euclidean; residual: the largest |l - l_before| k_ii
    beside g dt, l being the rows' impulses, those of the last step before the first sweep.
    """
    relative, residual = {}, {}
    before = pushed_humanoid().scene.rows.rows["impulse"][:24].copy()
    for sweeps in range(1, count + 1):
        world = pushed_humanoid(bound=1e-300, sweep_limit=sweeps)
        world.step()
        assert (world.stats.iterations, world.stats.row_count) == (sweeps, 24)
        assert not world.stats.converged
        rows = world.scene.rows.rows[:24]
        change = rows["impulse"] - before
        relative[sweeps] = np.linalg.norm(change) / np.linalg.norm(rows["impulse"])
        residual[sweeps] = np.abs(change * rows["inverse_mass"]).max() / (GRAVITY * 1e-3)
        before = rows["impulse"].copy()
    return {"relative_change": relative, "residual": residual}


def test_both_rules_stop_at_the_first_sweep_that_keeps_their_bound():
    measures = changes_of_sweeps(20)
    for stop, measure in measures.items():
        for bound in (1e-1, 1e-2, 1e-3, 1e-4, 1e-5):
            world = pushed_humanoid(stop, bound)
            world.step()
            k = world.stats.iterations
            show(f"{stop} {bound:g}: sweeps, measure", k, measure[k])
            assert world.stats.converged
            assert measure[k] <= bound
            assert all(measure[j] > bound for j in range(1, k))
            if stop == "residual":
                assert world.stats.residual == pytest.approx(measure[k] * GRAVITY * 1e-3, rel=1e-6)


@every_rule
def test_the_limit_of_sweeps_is_kept_and_reported(stop):
    world = pushed_humanoid(stop, 1e-12, sweep_limit=7)
    world.step()
    assert world.stats.iterations == 7
    assert not world.stats.converged
    assert World().scene.settings["sweep_limit"][0] == 120


def test_tight_bounds_of_both_rules_give_the_same_forces():
    forces = []
    for stop, tolerance in (("residual", 1e-10), ("relative_change", 1e-13)):
        world = pushed_humanoid(stop, tolerance, sweep_limit=5000)
        world.step()
        assert world.stats.converged
        forces.append(np.array([contact.force for contact in world.contacts]))
    assert len(forces[0]) == 8
    np.testing.assert_allclose(forces[0], forces[1], atol=1e-6 * np.abs(forces[0]).max())


def test_the_papers_bound_of_1e_3_stands_and_stops_early():
    """At 1e-3 the robot still carries its weight within 1 %, after fewer sweeps."""
    world = World(stop="relative_change", tolerance=1e-3)
    world.add_ground()
    robot = world.add_robot(humanoid(False), q=half_sitting(humanoid(False)))
    world.settle()
    for _ in range(200):
        world.step()
        assert world.stats.converged
    carried = sum(contact.force[2] for contact in world.contacts)
    assert abs(carried) == pytest.approx(robot.model.mass * GRAVITY, rel=1e-2)
    assert world.stats.iterations <= 2


@every_rule
def test_nothing_pressing_is_converged(stop):
    """Without rows, and with rows whose impulses are all zero."""
    world = World(stop=stop)
    world.step()
    assert world.stats.converged
    world = World(stop=stop, gravity=(0, 0, 0))
    world.add_ground()
    robot = world.add_robot(humanoid(False), q=half_sitting(humanoid(False)))
    robot.v = np.concatenate([[0, 0, 1.0], np.zeros(robot.model.nv - 3)])  # it lifts off
    robot.command(positions=robot.joint_positions)
    world.step()
    assert world.stats.contact_count > 0
    assert world.stats.converged
    assert all(np.linalg.norm(c.force) < 1e-9 for c in world.contacts)


@every_rule
def test_a_rule_gives_the_same_bits_again(stop):
    first, second = (pushed_humanoid(stop, 1e-4) for _ in range(2))
    for world in (first, second):
        world.step()
    first.step(200)
    for _ in range(200):
        second.step()
    assert bits(first) == bits(second)


def test_a_rule_that_is_not_there_names_those_that_are(tmp_path):
    with pytest.raises(
        WorldError, match=r"stop 'residue' does not exist.*residual, relative_change"
    ):
        World(stop="residue")
    path = tmp_path / "world.yaml"
    path.write_text("world: {stop: never}")
    with pytest.raises(WorldError, match=r"world\.yaml:1:9: .*stop 'never' does not exist"):
        load_world(path)
    path.write_text("world: {stop: relative_change, tolerance: 1.0e-3}")
    settings = load_world(path).scene.settings[0]
    assert settings["relative_tolerance"] == 1e-3
    assert settings["tolerance"] == pytest.approx(1e-6 * GRAVITY * 1e-3)
