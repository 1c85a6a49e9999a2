# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Random numbers of worlds are those of SplitMix64, and belong to seed, world and episode."""

import numpy as np

from hrpsim.learning.terms.random_draws import EpisodeRandom, split_mix


def test_the_generator_is_splitmix64():
    """Law: the first outputs for the seed 1234567, as published with the reference code."""
    step = np.uint64(0x9E3779B97F4A7C15)
    states = np.uint64(1234567) + step * np.arange(1, 6, dtype=np.uint64)
    np.testing.assert_array_equal(
        split_mix(states),
        np.array(
            [
                6457827717110365317,
                3203168211198807973,
                9817491932198370423,
                4593380528125082431,
                16408922859458223821,
            ],
            dtype=np.uint64,
        ),
    )


def test_draws_belong_to_the_world_whatever_other_worlds_draw():
    together, apart = EpisodeRandom(5, 3), EpisodeRandom(5, 3)
    for one in (together, apart):
        one.begin(np.arange(5))
    rows = together.uniform(np.arange(5), 0.0, 1.0, 4)
    for k in (3, 0, 4):
        found = [apart.uniform(np.array([k]), 0.0, 1.0, 2) for _ in range(2)]
        np.testing.assert_array_equal(np.hstack(found)[0], rows[k])


def test_episodes_worlds_and_seeds_differ_and_are_repeated():
    draws = EpisodeRandom(4, 3, episodes_of=2)
    seen = []
    for _ in range(2):
        draws.begin(np.arange(4))
        seen.append(draws.uniform(np.arange(4), 0.0, 1.0)[:, 0])
    np.testing.assert_array_equal(seen[0][:2], seen[0][2:])
    assert len({*seen[0].tolist(), *seen[1].tolist()}) == 4
    draws.seed(3)
    draws.begin(np.arange(4))
    np.testing.assert_array_equal(draws.uniform(np.arange(4), 0.0, 1.0)[:, 0], seen[0])


def test_moments_are_those_of_the_distributions():
    """Law: mean and variance of 100 000 numbers, within five standard errors."""
    draws, worlds = EpisodeRandom(1000, 7), np.arange(1000)
    uniform = draws.uniform(worlds, -1.0, 3.0, 100)
    assert uniform.min() >= -1.0 and uniform.max() < 3.0
    error = 5.0 / np.sqrt(uniform.size)
    assert abs(uniform.mean() - 1.0) < error * np.sqrt(16 / 12)
    assert abs(uniform.var() - 16 / 12) < error * 16 * np.sqrt(1 / 180)
    normal = draws.normal(worlds, 100)
    assert abs(normal.mean()) < error and abs(normal.var() - 1.0) < error * np.sqrt(2.0)
    columns = np.corrcoef(uniform[:, :10].T) - np.eye(10)
    assert np.abs(columns).max() < 5.0 / np.sqrt(1000)
