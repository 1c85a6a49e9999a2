# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The tasks of the package's own humanoid: standing, walking and rough ground."""

from contextlib import closing
from dataclasses import replace

import numpy as np

from hrpsim.learning import TASKS, TaskBatch


def test_heights_of_the_ground_are_observed():
    """Law: each is the hill's height at its point of the grid; the floor's is 0 before the base."""
    with closing(TaskBatch("rough_walking", 2, seed=1, threads=1)) as tasks:
        observed = tasks.reset()["policy"]
        assert tasks.observation_sizes == {"policy": 49 + 17 * 11}
        assert observed.shape == (2, 49 + 17 * 11)
        heights = observed[:, 49:].reshape(2, 17, 11)
        for world, found in zip(tasks.batch.worlds, heights):
            robot = world.robots["hrp2"]
            x, y = (np.arange(n) * 0.1 - 0.05 * (n - 1) for n in (17, 11))
            at = np.stack([*np.meshgrid(x, y, indexing="ij"), np.full((17, 11), 5.0)], axis=-1)
            at[..., :2] += robot.q[:2]
            down = world.cast_rays(at.reshape(-1, 3), (0, 0, -1), exclude="hrp2").distances
            np.testing.assert_allclose(found.ravel(), 5.0 - down, atol=1e-3)
            assert np.abs(found[:8]).max() < 1e-3 and 0.01 < found.max() < 0.051


def test_standing_stays_and_a_fall_ends_the_episode():
    still = replace(TASKS["standing"], events={})
    with closing(TaskBatch(still, 2, threads=1)) as tasks:
        first = tasks.reset()["policy"]
        actions = np.zeros((2, 12))
        actions[1, [4, 10]] = 1.0  # the ankles of the second one lean it over
        ended = None
        for k in range(100):
            observed, reward, fell, over = tasks.step(actions)
            assert not fell[0] and not over.any()
            if fell[1]:
                ended = k * tasks.state.step_dt
                assert reward[1] < -9.0
                break
        # A pendulum of 0.6 m falls over in about a second.
        assert ended is not None and 0.3 < ended < 2.0
        np.testing.assert_allclose(observed["policy"][0], first[0], atol=1e-5)


def test_pushes_have_the_impulse_that_was_asked_for():
    with closing(TaskBatch("push_recovery", 3, seed=2, threads=1)) as tasks:
        tasks.reset()
        impulses = np.zeros(3)
        for _ in range(190):
            state = tasks.state
            push = state.pushes.get("BODY")
            if push is not None:
                on = push.left > 0
                impulses += on * np.linalg.norm(push.forces, axis=1) * state.step_dt
                np.testing.assert_array_equal(push.forces[:, 2], 0.0)
            tasks.step(np.zeros((3, 12)))
        # The first push of each world comes within 3.5 s, of 5 to 30 Ns.
        done = impulses[impulses > 0.0]
        assert len(done) and (done >= 5.0 - 1e-9).all() and (done < 60.0).all()
