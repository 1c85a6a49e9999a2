# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Environments keep gymnasium's contract, and each world's episodes are its own."""

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium")

from gymnasium.utils.env_checker import check_env  # noqa: E402

from hrpsim import StateError  # noqa: E402
from hrpsim.learning import TASKS, HumanoidEnv, Humanoids, HumanoidVectorEnv, Task, Variation  # noqa: E402  # noqa: E402
from hrpsim.learning.humanoids import PERIOD  # noqa: E402


@pytest.mark.filterwarnings("ignore:.*A Box observation space:UserWarning")
@pytest.mark.parametrize("task", TASKS)
def test_gymnasium_s_checker_passes(task):
    check_env(HumanoidEnv(task), skip_render_check=True)


def test_the_names_are_registered():
    envs = gymnasium.make_vec("hrpsim/PushRecovery-v0", num_envs=2)
    assert envs.humanoids.task.name == "push_recovery"
    envs.close()
    names = {
        f"hrpsim/{name}-v0" for name in ("Standing", "PushRecovery", "Walking", "RoughWalking")
    }
    assert names <= set(gymnasium.registry)


def episode(humanoids, actions):
    """Return what is observed along actions, by world."""
    seen = [humanoids.reset()]
    for action in actions:
        seen.append(humanoids.step(action)[0])
    return np.array(seen).transpose(1, 0, 2)


def test_worlds_of_a_vector_are_those_of_smaller_ones():
    """Bits of a world do not depend on how many others there are, nor on threads."""
    actions = np.random.default_rng(0).uniform(-0.2, 0.2, (5, 3, 12))
    three = Humanoids("push_recovery", 3, seed=4, threads=2)
    one = Humanoids("push_recovery", 1, seed=4, threads=1)
    np.testing.assert_array_equal(episode(three, actions)[0], episode(one, actions[:, :1])[0])
    three.close(), one.close()


def test_heights_of_the_ground_are_observed():
    """Law: each is the hill's height at its point of the grid; the floor's is 0 before the base."""
    humanoids = Humanoids("rough_walking", 2, seed=1, threads=1)
    observed = humanoids.reset()
    assert observed.shape == (2, 49 + 17 * 11) == (2, humanoids.observation_size)
    heights = observed[:, 49:].reshape(2, 17, 11)
    for world, found in zip(humanoids.batch.worlds, heights):
        robot = world.robots["hrp2"]
        x, y = (np.arange(n) * 0.1 - 0.05 * (n - 1) for n in (17, 11))
        at = np.stack([*np.meshgrid(x, y, indexing="ij"), np.full((17, 11), 5.0)], axis=-1)
        at[..., :2] += robot.q[:2]
        down = world.cast_rays(at.reshape(-1, 3), (0, 0, -1), exclude="hrp2").distances
        np.testing.assert_allclose(found.ravel(), 5.0 - down, atol=1e-3)
        assert np.abs(found[:8]).max() < 1e-3 and 0.01 < found.max() < 0.051
    humanoids.close()


def test_an_episode_depends_on_its_number_alone():
    """The second episode is the same whatever happened in the first."""
    humanoids = Humanoids("push_recovery", 1, seed=4, threads=1)
    quiet, wild = np.zeros((4, 1, 12)), np.ones((40, 1, 12))
    episode(humanoids, quiet)
    second = episode(humanoids, quiet)
    humanoids.seed(4)
    episode(humanoids, wild)
    np.testing.assert_array_equal(episode(humanoids, quiet), second)
    humanoids.close()


def test_standing_stays_and_a_fall_ends_the_episode():
    humanoids = Humanoids(Task("still", variation=Variation()), 2, threads=1)
    first = humanoids.reset()
    actions = np.zeros((2, 12))
    actions[1, [4, 10]] = 1.0  # the ankles of the second one lean it over
    ended = None
    for k in range(100):
        observed, reward, fell, over = humanoids.step(actions)
        assert not fell[0] and not over.any()
        if fell[1]:
            ended = k * PERIOD
            assert reward[1] < -9.0
            break
    # A pendulum of 0.6 m falls over in about a second.
    assert ended is not None and 0.3 < ended < 2.0
    np.testing.assert_allclose(observed[0], first[0], atol=1e-5)
    humanoids.close()


def test_the_next_step_begins_the_next_episode():
    envs = HumanoidVectorEnv(2, Task("short", duration=3 * PERIOD))
    first, _ = envs.reset(seed=1)
    for _ in range(2):
        assert not any(x.any() for x in envs.step(np.zeros((2, 12)))[2:4])
    *_, terminated, truncated, _ = envs.step(np.zeros((2, 12)))
    assert truncated.all() and not terminated.any()
    observed, reward, terminated, truncated, _ = envs.step(np.ones((2, 12)))
    assert not reward.any() and not truncated.any()
    np.testing.assert_array_equal(observed, first)  # without variation all episodes are alike
    envs.close()


def test_pushes_have_the_impulse_that_was_asked_for():
    task = Task("one push", push_impulse=(10.0, 10.0), push_interval=10.0)
    humanoids = Humanoids(task, 3, seed=2, threads=1)
    humanoids.reset()
    for rows in humanoids._pushes:
        impulse = np.hypot(*rows[:, 2:].T) * (rows[:, 1] - rows[:, 0]) * PERIOD
        np.testing.assert_allclose(impulse, 10.0)
    humanoids.close()


def test_bad_actions_are_refused():
    humanoids = Humanoids("standing", 2, threads=1)
    humanoids.reset()
    for actions in (np.zeros((1, 12)), np.full((2, 12), np.nan)):
        with pytest.raises(StateError, match="actions must be finite and have shape"):
            humanoids.step(actions)
    with pytest.raises(StateError, match=r"task 'stand' does not exist. Did you mean 'standing'"):
        Humanoids("stand", 1)
    humanoids.close()
