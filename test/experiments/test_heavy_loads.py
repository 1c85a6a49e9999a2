# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""E12 and E13 at small size: what they measure is what they say, and their laws hold."""

import math

import numpy as np
import pytest

from evidence.experiments.framework.experiment import Options
from evidence.experiments.framework.reproduce import save_figure
from evidence.experiments.scenes import beam
from evidence.experiments.studies import e12_beam as e12
from evidence.experiments.studies import e13_mass_ratio as e13

MAX_FIGURE_BYTES = 100_000


@pytest.fixture(scope="module")
def quick_beam():
    return e12.run(Options(quick=True))


@pytest.mark.long
def test_the_quick_beam_meets_all_targets_but_those_of_time_and_draws(quick_beam, tmp_path):
    pytest.importorskip("matplotlib")
    judged = [row for row in quick_beam.rows if row.target and row.unit in ("m", "")]
    assert len(judged) > 10
    missed = [row for row in judged if not row.met and not row.what.startswith("exponent")]
    assert not missed
    assert save_figure(e12.EXPERIMENT, quick_beam, tmp_path).stat().st_size < MAX_FIGURE_BYTES


@pytest.mark.long
def test_every_load_shows_its_distance_error_and_its_bend(quick_beam):
    for load in beam.LOADS:
        named = [row.what for row in quick_beam.rows if row.what.startswith(f"{load}, direct")]
        assert any("sum of |d_i - 0.1|" in what for what in named)
        assert any(e12.bend_name(load) in what for what in named)


def test_distance_error_and_bend_of_shapes_known_by_hand():
    shape = beam.centres(3)
    assert beam.distance_error(shape) == pytest.approx(0.0, abs=1e-16)
    shape[1, 1] = 0.01
    assert beam.bend("at rest", shape) == pytest.approx(0.01)
    assert beam.distance_error(shape) == pytest.approx(2 * (math.hypot(0.1, 0.01) - 0.1))
    shape[2, 2] = -0.02
    assert beam.bend("cantilever", shape) == pytest.approx(0.02)


def test_both_engines_start_with_the_same_beam():
    mujoco = pytest.importorskip("mujoco")
    world = beam.our_beam("spinning")
    model, data = beam.mujoco_beam(mujoco, "spinning", "Newton", 100)
    mujoco.mj_forward(model, data)
    np.testing.assert_allclose(data.qpos.reshape(-1, 7)[:, :3], beam.our_positions(world))
    ours = [np.append(b.velocity, b.angular_velocity) for b in world.bodies.values()]
    np.testing.assert_allclose(data.qvel.reshape(-1, 6), ours, atol=1e-15)
    assert model.body_mass.sum() == pytest.approx(sum(b.mass for b in world.bodies.values()))


@pytest.mark.parametrize("case", [e13.HANGING, e13.BOOM, e13.HEAVIER])
def test_light_links_hold_a_heavy_load(case):
    motion = e13.our_motion(e13.Case(case.name, case.load, case.kind, case.angle, duration=1.0))
    assert motion.largest_gap < e13.LARGEST_GAP and motion.drift < 1e-9


def test_the_tension_of_a_hanging_chain_is_the_weight_below():
    world = e13.our_chain(0.0, 1e4, e13.COARSE)
    world.step(30)
    for k, connection in enumerate(world.connections.values()):
        below = 1e4 + (e13.LINKS - k) * e13.MASS
        assert connection.force[2] == pytest.approx(below * e13.GRAVITY, rel=1e-9)


def test_the_swinging_chain_falls_as_in_another_engine():
    """Where the step resolves the links' vibration, energy and path are those of MuJoCo's tree."""
    mujoco = pytest.importorskip("mujoco")
    case = e13.Case("", 1e5, "ball", e13.ANGLE, e13.FINE, duration=0.3)
    ours, other = e13.our_motion(case), e13.mujoco_motion(mujoco, case, "RK4")
    assert ours.largest_gap < e13.LARGEST_GAP and ours.drift < 1e-4
    assert ours.energy[0] == pytest.approx(other.energy[0], rel=1e-9)
    np.testing.assert_allclose(ours.line[:, -1], other.line[:, -1], atol=1e-6)


def test_a_motion_that_diverges_says_so():
    case = e13.Case("", 1e4, "fixed", math.pi / 2, duration=4.0)
    motion = e13.our_motion(case, "iterative")
    assert motion.diverged and motion.largest_gap == math.inf and motion.drop == "diverges"
    assert motion.end < 4.0
