# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""R3 and R4: both engines follow recordings alike, and fits find what made the data."""

from dataclasses import replace

import numpy as np
import pytest
from experiments.test_real_measurements import real

from evidence.experiments.framework.fitting import Parameter
from evidence.experiments.framework.windows import Fitted, Follower, fit, root_mean_square
from evidence.experiments.scenes.measured_chains import adjusted, blocks, window_numbers
from evidence.experiments.studies import r3_double_pendulum as pendulum
from evidence.experiments.studies import r4_go2_chirps as quadruped
from hrpsim.fitting import Recording

TIME = np.arange(0.0, 0.9, 0.004)


def swing(torque=0.3):
    """Return a recording of a pendulum that nobody measured, with torques."""
    q = np.column_stack([0.2 * np.sin(3.0 * TIME), 0.4 * np.sin(5.0 * TIME)])
    v = np.column_stack([0.6 * np.cos(3.0 * TIME), 2.0 * np.cos(5.0 * TIME)])
    efforts = np.column_stack([torque * np.sin(9.0 * TIME), torque * np.cos(7.0 * TIME)])
    return Recording(
        TIME, pendulum.JOINTS, q, v, command_time=TIME, command_efforts=efforts, name="00"
    )


VALUES = {
    f"{pendulum._J}shoulder.friction": 0.1,
    f"{pendulum._J}elbow.damping": 0.05,
    "zero.00.elbow": 0.08,
    "gain.shoulder": 1.2,
}


def test_both_engines_follow_a_pendulum_alike(tmp_path):
    """Law: the same equations, parameters, zeros and gains give the same motion.

    Without dry friction, which MuJoCo softens. Positions of MuJoCo's steps are wrong by half a
    step times the change of the velocity.
    """
    mujoco = pytest.importorskip("mujoco")
    ours, theirs = pendulum.followers(tmp_path, mujoco)
    smooth = {f"{pendulum._J}{joint}.friction": 0.0 for joint in pendulum.JOINTS}
    for values in (smooth, {**VALUES, **smooth}):
        one, other = (engine.errors(values, [swing()]) for engine in (ours, theirs))
        late = pendulum.STEP * np.abs(one[:, 2:]).max()
        assert np.abs(one - other)[:, :2].max() < late
        assert np.abs(one - other)[:, 2:].max() < 0.03
    changed = ours.errors({**VALUES, **smooth}, [swing()]) - ours.errors(smooth, [swing()])
    assert root_mean_square(changed / pendulum.SCALES) > 1.0


def test_a_fit_finds_zeros_and_gains_that_made_a_recording(tmp_path):
    """Law: without noise the least squares are at the truth, where the differences vanish."""
    (ours,) = pendulum.followers(tmp_path)
    given = adjusted(swing(), VALUES)
    truth = ours.errors(VALUES, [swing()])
    windows = window_numbers([given], pendulum.WINDOW)
    parameters = {name: Parameter(x - 0.1, x + 0.15) for name, x in VALUES.items()}

    def follow(many, recordings):
        return [found - truth for found in ours.follow(many, recordings)]

    exact = Follower("exact", follow, pendulum.SCALES)
    start = {name: x + 0.04 for name, x in VALUES.items()}
    found = fit(exact, [swing()], parameters, start, np.arange(2 * len(windows)).reshape(-1, 2))
    for name, value in VALUES.items():
        assert found.values[name] == pytest.approx(value, abs=2e-3), name


def test_a_fit_of_a_line_has_the_deviations_of_least_squares():
    """Law: the deviation of a mean of n values with spread s is s / sqrt(n)."""
    data = np.random.default_rng(0).normal(0.3, 0.1, 400)

    def follow(many, recordings):
        return [np.array([(v["mean"] - data)[:, None] for v in many])]

    line = Follower("line", follow, np.array([0.1]))
    found = fit(line, [], {"mean": Parameter(0.0, 1.0)}, {"mean": 0.5}, np.arange(400))
    assert found.values["mean"] == pytest.approx(data.mean(), abs=1e-4)
    assert found.deviations["mean"] == pytest.approx(0.1 / 20.0, rel=0.1)
    far = Fitted({"mean": data.mean() + 0.1}, found.deviations)
    near = Fitted({"mean": data.mean() + 0.004}, found.deviations)
    assert found.agrees_with(near) == {"mean": True} and found.agrees_with(far) == {"mean": False}


def test_blocks_have_every_sample_once():
    parts = blocks(swing(), (0.0, 1 / 3, 2 / 3, 1.0))
    np.testing.assert_array_equal(np.concatenate([one.time for one in parts]), TIME)


def test_values_of_a_type_are_those_of_its_four_joints():
    values = quadruped.by_path({"calf.damping": 0.2, "FL_hip_joint.friction": 0.1})
    calves = [f"{quadruped._J}{leg}_calf_joint.damping" for leg in ("FL", "FR", "RL", "RR")]
    assert values == {**dict.fromkeys(calves, 0.2), f"{quadruped._J}FL_hip_joint.friction": 0.1}
    assert len(quadruped.parameters_of(quadruped.CHOSEN)) == 12 + 3 * 3


def test_the_published_pendulum_predicts_the_real_one(tmp_path):
    """Law: a model that was identified predicts 0.3 s to a few hundredths of a radian."""
    (path,) = real("double_pendulum.npz")
    (ours,) = pendulum.followers(tmp_path)
    part = [one.part(end=2.0) for one in pendulum.read_recordings(path)]
    errors = ours.errors({}, part)
    assert 0.01 < root_mean_square(errors[:, :2]) < 0.06
    still = [replace(one, command_efforts=0.0 * one.command_efforts) for one in part]
    assert root_mean_square(ours.errors({}, still)[:, :2]) > 1.5 * root_mean_square(errors[:, :2])
