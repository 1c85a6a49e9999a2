# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Environments keep gymnasium's contract, and each world's episodes are its own."""

from contextlib import closing

import numpy as np
import pytest
from learning.walker import BENT, TURNED, task

gymnasium = pytest.importorskip("gymnasium")

from gymnasium.utils.env_checker import check_env  # noqa: E402
from gymnasium.vector import AutoresetMode, SyncVectorEnv  # noqa: E402
from gymnasium.wrappers.vector import RecordEpisodeStatistics  # noqa: E402

from hrpsim import StateError  # noqa: E402
from hrpsim.learning import (  # noqa: E402
    TASKS,
    ObservationGroupCfg,
    ObservationTermCfg,
    TaskBatch,
    TaskEnv,
    TaskVectorEnv,
)

MODES = [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP, AutoresetMode.DISABLED]
RANDOM = {"turned": TURNED, "bent": BENT}
GROUPS = {
    "policy": ObservationGroupCfg({"q": ObservationTermCfg("joint_pos")}),
    "critic": ObservationGroupCfg({"v": ObservationTermCfg("base_lin_vel")}),
}


@pytest.mark.filterwarnings("ignore:.*A Box observation space:UserWarning")
@pytest.mark.parametrize("name", TASKS)
def test_gymnasium_s_checker_passes(name):
    check_env(TaskEnv(name), skip_render_check=True)


@pytest.mark.filterwarnings("ignore:.*A Box observation space:UserWarning")
def test_gymnasium_s_checker_passes_for_groups_of_observations():
    check_env(TaskEnv(task(observations=GROUPS)), skip_render_check=True)


def test_the_names_are_registered():
    envs = gymnasium.make_vec("hrpsim/PushRecovery-v0", num_envs=2)
    assert envs.tasks.task.name == "push_recovery"
    envs.close()
    names = {
        f"hrpsim/{name}-v0" for name in ("Standing", "PushRecovery", "Walking", "RoughWalking")
    }
    assert names <= set(gymnasium.registry)


def same(one, other):
    """Assert that two observations, arrays or mappings, are equal bit for bit."""
    if isinstance(one, dict):
        assert set(one) == set(other)
        for group in one:
            np.testing.assert_array_equal(one[group], other[group])
    else:
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("groups", [None, GROUPS], ids=["one", "groups"])
@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.name)
def test_each_mode_is_that_of_gymnasium_s_own_vector(mode, groups):
    """Law: SyncVectorEnv of single environments gives the same, in each mode of autoreset.

    World 0 falls, and both worlds reach the end of an episode at different times.
    """
    settings = {"episode_length_s": 0.24} | ({"observations": groups} if groups else {})
    one = task(**settings)
    ours = TaskVectorEnv(2, one, threads=1, autoreset_mode=mode)
    theirs = SyncVectorEnv([lambda: TaskEnv(one)] * 2, autoreset_mode=mode)
    assert ours.single_observation_space == theirs.single_observation_space
    assert ours.observation_space == theirs.observation_space
    assert ours.action_space == theirs.action_space
    assert ours.metadata["autoreset_mode"] == theirs.metadata["autoreset_mode"]
    generator = np.random.default_rng(2)
    with closing(ours), closing(theirs):
        same(ours.reset(seed=3)[0], theirs.reset(seed=3)[0])
        ends = 0
        for step in range(40):
            actions = generator.uniform(-1, 1, (2, 4)).astype(np.float32)
            found, expected = ours.step(actions), theirs.step(actions)
            same(found[0], expected[0])
            for values, right in zip(found[1:4], expected[1:4]):
                np.testing.assert_array_equal(values, right)
            check_infos(found[4], expected[4])
            over = found[2] | found[3]
            ends += over.sum()
            mask = over.copy()
            if step == 5:
                mask[1] = True  # so that the worlds end at different times
            if mask.any() and (mode == AutoresetMode.DISABLED or step == 5):
                options = {"reset_mask": mask}
                same(ours.reset(options=dict(options))[0], theirs.reset(options=dict(options))[0])
        assert ends >= 4


def check_infos(found, expected):
    """Assert that the last observations of finished episodes are the same."""
    assert ("final_obs" in found) == ("final_obs" in expected)
    if "final_obs" in found:
        np.testing.assert_array_equal(found["_final_obs"], expected["_final_obs"])
        for k in np.flatnonzero(found["_final_obs"]):
            same(found["final_obs"][k], expected["final_obs"][k])


@pytest.mark.parametrize("mode", MODES[:2], ids=lambda mode: mode.name)
def test_gymnasium_s_statistics_count_episodes(mode):
    """Law: with reward 1 in each period, an episode's return is its length."""
    one = task(episode_length_s=0.1, scale_rewards_by_dt=False)
    envs = RecordEpisodeStatistics(TaskVectorEnv(3, one, threads=1, autoreset_mode=mode))
    envs.reset(seed=0)
    for _ in range(20):
        envs.step(np.zeros((3, 4)))
    returns, lengths = list(envs.return_queue), list(envs.length_queue)
    assert len(returns) >= 9 and set(returns) == {5.0} == set(lengths)
    envs.close()


def test_masks_and_seeds_that_make_no_sense_are_refused():
    envs = TaskVectorEnv(2, task(), threads=1)
    envs.reset(seed=1)
    for mask, error in (
        ([True, False], "must be a numpy array of bool"),
        (np.array([1, 0]), "got int64 of shape"),
        (np.array([True]), r"with the shape \(2,\)"),
        (np.array([False, False]), "chooses no world"),
    ):
        with pytest.raises(StateError, match=error):
            envs.reset(options={"reset_mask": mask})
    with pytest.raises(StateError, match="either a seed or a reset_mask"):
        envs.reset(seed=1, options={"reset_mask": np.array([True, False])})
    one = TaskEnv(task())
    for seed in ([1, 2], "7", -1, True):
        for environment in (envs, one):
            with pytest.raises(StateError, match="one whole number >= 0 for all worlds"):
                environment.reset(seed=seed)
    one.close()
    with pytest.raises(StateError, match="render_mode 'human' does not exist"):
        TaskVectorEnv(2, task(), render_mode="human")
    envs.close()


def test_without_autoreset_a_finished_world_must_be_reset():
    one = task(episode_length_s=0.04)
    envs = TaskVectorEnv(2, one, threads=1, autoreset_mode="Disabled")
    envs.reset(seed=1)
    envs.step(np.zeros((2, 4)))
    assert envs.step(np.zeros((2, 4)))[3].all()
    with pytest.raises(StateError, match="the episode of world 0 is finished"):
        envs.step(np.zeros((2, 4)))
    envs.close()


def episode(tasks, actions):
    """Return what is observed along actions, by world."""
    seen = [tasks.reset()["policy"]]
    for action in actions:
        seen.append(tasks.step(action)[0]["policy"])
    return np.array(seen).transpose(1, 0, 2)


@pytest.mark.parametrize("one", ["push_recovery", task(events=RANDOM)], ids=["hrp2", "walker"])
def test_worlds_of_a_vector_are_those_of_smaller_ones(one):
    """Bits of a world do not depend on how many others there are, nor on threads."""
    three, single = TaskBatch(one, 3, seed=4, threads=2), TaskBatch(one, 1, seed=4, threads=1)
    size = len(three.action_names)
    actions = np.random.default_rng(0).uniform(-0.2, 0.2, (5, 3, size))
    with closing(three), closing(single):
        found = episode(three, actions)
        np.testing.assert_array_equal(found[0], episode(single, actions[:, :1])[0])
        assert (found[0, 0] != found[1, 0]).any()


def test_an_episode_depends_on_its_number_alone():
    """The second episode is the same whatever happened in the first."""
    with closing(TaskBatch("push_recovery", 1, seed=4, threads=1)) as tasks:
        quiet, wild = np.zeros((4, 1, 12)), np.ones((40, 1, 12))
        episode(tasks, quiet)
        second = episode(tasks, quiet)
        tasks.seed(4)
        episode(tasks, wild)
        np.testing.assert_array_equal(episode(tasks, quiet), second)


def test_pictures_show_the_robot():
    """Law: a picture has the size of the mode, and the robot changes it where it moves."""
    from hrpsim import RendererError

    envs = TaskVectorEnv(2, task(), threads=1, render_mode="rgb_array")
    assert TaskVectorEnv.metadata["render_modes"] == ["rgb_array"]
    assert envs.metadata["render_fps"] == 50
    envs.reset(seed=1)
    try:
        frames = envs.render()
    except RendererError as error:
        pytest.skip(str(error))
    assert len(frames) == 2
    for frame in frames:
        assert frame.shape == (480, 640, 3) and frame.dtype == np.uint8 and frame.std() > 5
    np.testing.assert_array_equal(*frames)
    envs.step(np.array([[0.0] * 4, [4.0] * 4]))
    for _ in range(10):
        envs.step(np.array([[0.0] * 4, [2.0] * 4]))
    one, other = envs.render()
    assert (one != other).any()
    assert TaskEnv(task()).render() is None
    envs.close()
