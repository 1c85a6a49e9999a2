# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The vector of environments that stable-baselines3 takes: resets within the step, last looks."""

import runpy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("stable_baselines3")

from hrpsim.learning.humanoids import Humanoids

SCRIPT = Path(__file__).resolve().parents[2] / "examples/learning/ppo_under_pushes.py"


def test_an_episode_that_is_over_begins_anew_in_the_same_step():
    """The first look at the next episode comes with the last one at that which is over."""
    example = runpy.run_path(str(SCRIPT))
    task = replace(example["TASK"], duration=0.04, push_interval=0.04)
    envs = example["HumanoidVecEnv"](Humanoids(task, 2, threads=1))
    alone = Humanoids(task, 2, threads=1)
    envs.seed(3), alone.seed(3)
    np.testing.assert_array_equal(envs.reset(), alone.reset().astype(np.float32))
    actions = np.full((2, 12), 0.1)
    for over in (False, True):
        observed, rewards, done, infos = envs.step(actions)
        looked, rewarded, *_ = alone.step(actions)
        np.testing.assert_array_equal(rewards, rewarded.astype(np.float32))
        assert done.tolist() == [over] * 2
    for k, info in enumerate(infos):
        np.testing.assert_array_equal(info["terminal_observation"], looked[k].astype(np.float32))
        assert info["TimeLimit.truncated"]
    np.testing.assert_array_equal(observed, alone.reset().astype(np.float32))
    envs.close(), alone.close()


@pytest.mark.timeout(600)
@pytest.mark.filterwarnings("ignore:You have specified a mini-batch size:UserWarning")
def test_it_trains():
    """Some periods of PPO give a policy whose actions are allowed."""
    example = runpy.run_path(str(SCRIPT))
    learn = example["learn"]
    policy = learn(minutes=1e-9, worlds=2, verbose=0)
    actions = policy(np.zeros((3, 49)))
    assert actions.shape == (3, 12) and (np.abs(actions) <= 1.0).all()
