# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The experiments at small size: their laws hold, and their scenes are what they say."""

import math

import numpy as np
import pytest

from evidence.experiments.framework.experiment import Options
from evidence.experiments.framework.reproduce import save_figure
from evidence.experiments.scenes.standing import humanoid, our_standing
from evidence.experiments.studies import e01_boxes_on_a_slope as e01
from evidence.experiments.studies import e06_step_time as e06
from evidence.experiments.studies import e07_stopping as e07
from evidence.experiments.studies import e08_static_friction as e08
from evidence.experiments.studies import e09_double_pendulum as e09

QUICK = Options(quick=True)
MAX_FIGURE_BYTES = 100_000


@pytest.mark.long
@pytest.mark.parametrize("module", [e01, e07, e09])
def test_the_quick_run_meets_its_targets_and_draws(module, tmp_path):
    pytest.importorskip("matplotlib")
    result = module.run(QUICK)
    assert result.rows and result.met, [row for row in result.rows if row.met is False]
    assert save_figure(module.EXPERIMENT, result, tmp_path).stat().st_size < MAX_FIGURE_BYTES


def test_boxes_are_let_go_clear_of_each_other_and_of_the_slope():
    mujoco = pytest.importorskip("mujoco")
    start = e01.dropped(100)
    assert e01.deepest_overlap(mujoco, start) == 0.0 and e01.depth_below_slope(start) < -0.1


def test_depth_and_energy_of_one_box():
    """A cube of edge 0.2 m whose face is 1 mm inside the slope: m v^2 / 2 + (m a^2 / 6) w^2 / 2."""
    edge = 0.2
    box = e01.Boxes(
        np.full((1, 3), edge),
        (edge / 2 - 1e-3) * e01.NORMAL[None],
        e01.Q_SLOPE[None],
        np.array([[0.0, 2.0, 0.0]]),
        np.array([[3.0, 0.0, 0.0]]),
    )
    mass = e01.DENSITY * edge**3
    assert e01.depth_below_slope(box) == pytest.approx(1e-3, rel=1e-9)
    expected = mass * 2.0**2 / 2 + mass * edge**2 / 6 * 3.0**2 / 2
    assert e01.kinetic_energy(box) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("model", ["semi_implicit", "rk4"])
def test_the_threshold_is_mu_m_g_and_below_it_nothing_creeps(model):
    moved = e08.OurPush(50, model)
    assert e08.thresholds(moved, 1, 1e-3)[0] == pytest.approx(e08.THRESHOLD, rel=1e-3)
    assert moved([0.9 * e08.THRESHOLD])[0] < 1e-6


def test_the_threshold_is_the_same_along_and_across_the_tangents():
    moved = e08.OurPush(50, "semi_implicit", (0.0, math.radians(30.0), math.radians(45.0)))
    found = e08.thresholds(moved, 3, 1e-4)
    assert found.max() / found.min() - 1.0 < 1e-4


def test_the_held_force_moves_a_box_as_newton_says():
    """5.4 N held 13 s after a ramp of 2 s: the parabola of 0.5 N, and what the ramp's end adds."""
    force = e08.THRESHOLD + 0.5
    slip = 2.0 * e08.THRESHOLD / force  # when the ramp passes the threshold [s]
    speed = force / 2.0 * (2.0 - slip) ** 2 / 2.0
    start = force / 2.0 * (2.0 - slip) ** 3 / 6.0
    expected = start + speed * 13.0 + 0.5 * 0.5 * 13.0**2
    assert e08.OurPush(400, "rk4")([force])[0] == pytest.approx(expected, rel=2e-3)


@pytest.mark.parametrize("points", [8, 64])
def test_soles_of_more_boxes_touch_in_more_points_and_carry_the_same_weight(points):
    world, robot = our_standing(humanoid(points), solver="iterative")
    world.step()
    assert world.stats.contact_count == points
    weight = robot.model.mass * 9.80665
    assert sum(abs(c.force[2]) for c in world.contacts) == pytest.approx(weight, rel=1e-6)
    if points == 8:
        e06.force_sweeps(world, 120)
        world.step(10)
        assert world.stats.iterations == 120


@pytest.mark.long
def test_phase_costs_leave_the_world_as_it_was():
    world, _ = our_standing(humanoid(8))
    before = world.snapshot()
    costs = e06.phase_costs(world, repeats=2, rounds=1)
    assert list(costs) == [
        "kinematics", "collision", "ABA", "blocks", "rows", "solve", "sensors", "integrate",
    ]  # fmt: skip
    after = world.snapshot()
    assert world.time == 0.0
    q, velocity = 0, 1
    for k in (q, velocity):
        np.testing.assert_array_equal(before["arrays"][k], after["arrays"][k])
