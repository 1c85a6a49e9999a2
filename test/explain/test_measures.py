# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The measures behind an explanation, next to closed forms, SciPy and MuJoCo."""

import numpy as np
import pytest

mujoco = pytest.importorskip("mujoco")
pytest.importorskip("onnxruntime")

from scipy.spatial.transform import Rotation  # noqa: E402
from scipy.stats import fisher_exact  # noqa: E402

from hrpsim.explain.differences.difference import from_to  # noqa: E402
from hrpsim.explain.differences.soft_contacts import harden, soft_contact  # noqa: E402
from hrpsim.explain.gaps import Yardstick, chance_of_falls, parting  # noqa: E402
from hrpsim.explain.runs.trace import has_fallen, up_in_base  # noqa: E402

BALL = """<mujoco><option timestep="0.001"/><worldbody>
<geom type="plane" size="0 0 1" {soft}/><body name="ball" pos="0 0 0.1"><freejoint/>
<geom type="sphere" size="0.1" mass="{mass}" {soft}/></body></worldbody></mujoco>"""


@pytest.mark.parametrize(
    "soft",
    [
        'solref="0.02 1" solimp="0.9 0.9 0.001"',
        'solref="0.05 0.7" solimp="0.8 0.8 0.001"',
        'solref="-3000 -40" solimp="0.9 0.9 0.001"',
    ],
)
@pytest.mark.parametrize("mass", [1.0, 7.0])
def test_a_ball_at_rest_sinks_by_compliance_times_weight(soft, mass):
    """Law: MuJoCo's ball sinks by m g c, and the damper's time is b / k (damped motion)."""
    model = mujoco.MjModel.from_xml_string(BALL.format(soft=soft, mass=mass))
    data = mujoco.MjData(model)
    mujoco.mj_step(model, data, nstep=4000)
    found = soft_contact(model, ["ball"])
    assert 0.1 - data.qpos[2] == pytest.approx(mass * 9.81 * found.compliance, rel=1e-3)


def test_hard_contacts_sink_less():
    """Law: the ball of a hardened model sinks by less than a hundredth as much."""
    text = BALL.format(soft='solref="0.05 1" solimp="0.8 0.8 0.001"', mass=1.0)
    sunk = []
    for hard in (False, True):
        model = mujoco.MjModel.from_xml_string(text)
        if hard:
            harden(model)
        data = mujoco.MjData(model)
        mujoco.mj_step(model, data, nstep=4000)
        sunk.append(0.1 - data.qpos[2])
    assert 0.0 < sunk[1] < 0.01 * sunk[0]


@pytest.mark.parametrize(("falls", "others"), [(0, 0), (8, 0), (5, 1), (3, 4), (8, 8)])
def test_the_chance_of_unequal_falls_is_fisher_s(falls, others):
    expected = fisher_exact([[falls, 8 - falls], [others, 6 - min(others, 6)]]).pvalue
    assert chance_of_falls(falls, min(others, 6), 8, 6) == pytest.approx(expected)


def test_up_in_base_and_falls_are_those_of_rotations():
    turns = Rotation.random(50, random_state=0)
    expected = turns.inv().apply([0.0, 0.0, 1.0])
    np.testing.assert_allclose(up_in_base(turns.as_quat()), expected, atol=1e-12)
    for angle, falls in ((40.0, False), (50.0, True)):
        quaternion = Rotation.from_euler("x", angle, degrees=True).as_quat()
        assert has_fallen(np.array([0.0, 0.0, 1.0, *quaternion]), 1.0) is falls
    upright = np.array([0.0, 0.0, 0.49, 0.0, 0.0, 0.0, 1.0])
    assert has_fallen(upright, 1.0)
    assert has_fallen(np.full(7, np.nan), 1.0)


def motions(chance, offset=0.0, begin=0):
    """Return six motions of one joint that swings by 1, with an offset from a sample on."""
    times = 0.02 * np.arange(100)
    courses = np.sin(3.0 * times)[None] + chance.normal(0.0, 0.02, (6, 1))
    courses[:, begin:] += offset
    return times, courses[:, :, None]


def test_runs_part_when_an_offset_begins_and_not_before():
    """Law: an offset larger than the noise is seen at its begin, and a smaller one never."""
    chance = np.random.default_rng(0)
    times, there = motions(chance)
    yardstick = Yardstick.of(False, ["knee"], there)
    assert parting(yardstick, times, motions(chance)[1], there) is None
    assert parting(yardstick, times, motions(chance, 0.1, 40)[1], there) is None
    found = parting(yardstick, times, motions(chance, 0.8, 40)[1], there)
    assert found.time == pytest.approx(0.8)
    assert found.channel == "knee"
    assert found.here - found.there == pytest.approx(0.8, abs=0.05)


def test_simulators_that_differ_in_noise_alone_differ():
    """Law: runs that scatter in one simulator part. One recording has no noise to compare."""
    times, calm = motions(np.random.default_rng(3))
    yardstick, wide = Yardstick.of(False, ["knee"], calm), calm.copy()
    wide[:, 40:] += np.where(np.arange(6) % 2, 0.6, -0.6)[:, None, None]
    for here, there in ((wide, calm), (calm, wide)):
        found = parting(yardstick, times, here, there)
        assert found.time == pytest.approx(0.8) and found.channel == "spread of posture"
        assert max(found.here, found.there) == 1.0 and min(found.here, found.there) < 0.1
        assert parting(yardstick, times, here, there, is_recorded=True) is None
    wide[2:, 41:] = np.nan
    assert parting(yardstick, times, wide, wide) is None


def test_a_run_that_ends_in_a_fall_is_as_far_away_as_can_be():
    _, there = motions(np.random.default_rng(0))
    yardstick = Yardstick.of(False, ["knee"], there)
    fallen = there[0].copy()
    fallen[30:] = np.nan
    apart = yardstick.distances(fallen, there[0])[:, 0]
    assert (apart[:30] == 0.0).all() and (apart[30:] == 1.0).all()
    assert (yardstick.distances(fallen, fallen) == 0.0).all()


def test_texts_of_changes_are_short():
    assert from_to(["a", "b"], np.zeros(2), np.ones(2), "Nm") == "all 2: 0 -> 1 Nm"
    text = from_to(list("abcdef"), np.zeros(6), np.arange(6.0), "Nm")
    assert text == "b 0 -> 1, c 0 -> 2, d 0 -> 3 Nm, and 2 more"
