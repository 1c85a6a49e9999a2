# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The example that trains: one generation of it, and the sense of its feedback."""

import runpy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from learning.walker import LEG, ROBOT, WALKER

from hrpsim.learning import TaskBatch, VelocityRanges, velocity_task

FOLDER = Path(__file__).resolve().parents[2] / "examples/learning"
SCRIPT = FOLDER / "stand_under_pushes.py"


def test_feedback_without_gains_is_none_and_lateral_feedback_rolls_only():
    example = runpy.run_path(str(SCRIPT))
    observed = np.random.default_rng(0).normal(size=(5, 49))
    assert not example["actions"](np.zeros((5, 15)), observed).any()
    gains = np.zeros((5, 15))
    gains[:, 9:] = 1.0
    moved = example["actions"](gains, observed).any(axis=0)
    rolling = np.isin(np.arange(12), [1, 5, 7, 11])
    np.testing.assert_array_equal(moved, rolling)


@pytest.mark.long
@pytest.mark.timeout(1200)
def test_a_generation_is_run():
    pytest.importorskip("cma")
    example = runpy.run_path(str(SCRIPT))
    learn = example["learn"]
    learn.__globals__.update(
        CANDIDATES=4, PUSHES=1, TASK=replace(example["TASK"], episode_length_s=0.2)
    )
    gains = learn(minutes=1e-9)
    assert gains.shape == (15,) and np.isfinite(gains).all()


def test_standing_has_the_commanded_velocity_as_its_error():
    """Law: a robot that stands still is off by the command, and never falls."""
    example = runpy.run_path(str(FOLDER / "track_velocity.py"))
    ranges = VelocityRanges((0.3, 0.3), (0.4, 0.4), (-0.2, -0.2))
    one = velocity_task(ROBOT, ".*_foot", ranges=ranges)
    quiet = {name: event for name, event in one.events.items() if name != "push"}
    one = replace(one, events=quiet)
    tasks = TaskBatch(one, 4, threads=1)
    found = example["evaluate"](tasks, lambda observed: np.zeros((len(observed), 4)), 1.6)
    assert found["standing"] == 1.0
    np.testing.assert_allclose([found["velocity"], found["turning"]], [0.5, 0.2], rtol=0.02)
    tasks.close()


def test_a_policy_moves_alike_in_mujoco(tmp_path, monkeypatch):
    """Law: if all legs turn by d, the feet roll and the base moves by r d + L (sin(a + d) - sin a).

    Both simulators sample the same velocities, up to the softness of MuJoCo's contacts.
    """
    pytest.importorskip("mujoco")
    pytest.importorskip("onnxruntime")
    monkeypatch.syspath_prepend(str(FOLDER))
    example = runpy.run_path(str(FOLDER / "in_mujoco.py"))
    (tmp_path / "walker.urdf").write_text(WALKER)
    robot = replace(ROBOT, description=str(tmp_path / "walker.urdf"), position=(0, 0, 0.3))
    tasks = TaskBatch(example["quiet"](velocity_task(robot, ".*_foot")), 2, seed=1, threads=1)

    def policy(observed):
        return np.full(4, 0.05)

    ours = example["in_hrpsim"](tasks, policy, 60)
    theirs = example["InMujoco"](tasks)
    commands = tasks.state.commands["twist"]
    courses = np.array([theirs.course(policy, command, 60) for command in commands])
    start, end = tasks.state.default_joint_pos[0], tasks.state.joint_pos[0, 0]
    expected = 0.02 * (end - start) + LEG * (np.sin(end) - np.sin(start))
    assert expected > 0.003
    np.testing.assert_allclose(tasks.state.q[:, 0], expected, rtol=1e-3)
    moved = [seen[:, :, 0].sum(axis=1) * tasks.state.step_dt for seen in (ours, courses)]
    np.testing.assert_allclose(*moved, rtol=0.05)
    for seen in (ours, courses):
        assert seen.shape == (2, 60, 4) and (seen[..., 3] > 0.999).all()
        np.testing.assert_allclose(seen[:, -1, :3], 0.0, atol=1e-4)
    tasks.close()
