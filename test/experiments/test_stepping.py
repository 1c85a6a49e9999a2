# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""E3: what counts as chatter, what the sensors have to add up to, and a few steps in place."""

import numpy as np
import pytest

from evidence.experiments.framework.experiment import Options
from evidence.experiments.framework.reproduce import save_figure
from evidence.experiments.scenes.standing import half_sitting
from evidence.experiments.studies import e03_stepping as e03

DT = 1e-3
TIME = (np.arange(4000) + 0.5) * DT


def rms(values) -> float:
    return float(np.sqrt(np.mean(np.square(values))))


def test_the_filter_keeps_what_is_fast_and_drops_what_is_slow():
    middle = slice(200, -200)
    fast = 3.0 * np.sin(2.0 * np.pi * 230.0 * TIME)
    assert rms(e03.fast_part(fast, DT)[middle]) == pytest.approx(3.0 / np.sqrt(2.0), rel=0.01)
    slow = 300.0 * np.sin(2.0 * np.pi * 5.0 * TIME)
    assert rms(e03.fast_part(slow, DT)[middle]) < 1e-3
    cut = np.sin(2.0 * np.pi * e03.CUTOFF * TIME)  # both ways: half the amplitude
    assert rms(e03.fast_part(cut, DT)[middle]) == pytest.approx(0.5 / np.sqrt(2.0), rel=0.01)


def test_an_impact_does_not_reach_beyond_its_window():
    force = np.zeros(len(TIME))
    force[2000] = 1000.0
    away = e03.away_from(np.array([2.0]), TIME)
    assert away.sum() == len(TIME) - 100
    assert np.abs(e03.fast_part(force, DT)[away]).max() < 1e-3 * 1000.0


def test_chatter_is_judged_wherever_nothing_is_planned():
    """A foot that loses its load every other millisecond, long after it came down."""
    force = np.full(len(TIME), 284.0)
    force[2000:2100:2] = 0.0
    away = e03.away_from(np.array([1.5]), TIME)
    assert rms(e03.fast_part(force, DT)[away]) > e03.LARGEST_CHATTER * 568.0
    assert len(e03.seen_changes(force, TIME, 568.0)) == 100


def test_the_momentum_of_a_falling_robot_needs_no_force_and_of_a_lifted_one_more():
    """All links accelerated alike: the sensors carry the mass above the soles."""
    model = e03.robot_model("openhrp")
    motion = np.tile(half_sitting(model), (5, 1))
    soles = sum(model.system.mass[model.frame(sole).body] for sole in e03.SOLES)
    for acceleration in (-e03.GRAVITY, 2.0):
        motion[:, 2] = 0.7 + 0.5 * acceleration * (DT * np.arange(5)) ** 2
        expected = e03.weight_of(model) + (model.mass - soles) * acceleration
        found = e03.momentum_force(model, motion, DT)
        np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_the_momentum_of_moving_feet_is_left_out():
    """Feet that go up beneath a held body: only what is between body and sole is accelerated."""
    model = e03.robot_model("openhrp")
    motion = np.tile(half_sitting(model), (5, 1))
    for side in "LR":
        motion[:, model.joint(f"{side}LEG_BUSH_Z").q_index] = (DT * np.arange(5)) ** 2
    parts = [model.frame(f"{side}LEG_BUSH_Z_LINK").body for side in "LR"]
    parts += [model.frame(f"{side}LEG_BUSH_PITCH_LINK").body for side in "LR"]
    accelerated = 2.0 * sum(model.system.mass[body] for body in parts)
    found = e03.momentum_force(model, motion, DT) - e03.weight_of(model)
    np.testing.assert_allclose(np.abs(found), accelerated, rtol=1e-2)


@pytest.mark.long
def test_the_quick_run_meets_its_targets_and_draws(tmp_path):
    pytest.importorskip("matplotlib")
    result = e03.run(Options(quick=True))
    assert result.rows and result.met, [row for row in result.rows if row.met is False]
    assert save_figure(e03.EXPERIMENT, result, tmp_path).stat().st_size < 150_000
    (done,) = result.data["runs"].values()
    assert len(result.data["changes"]) == 2 * e03.QUICK_STEPS
    assert done.wrenches.shape == (len(done.time), 2, 6)
