# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Pairs in the second-order cone: their scaling, their product, how far a step stays inside."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from hrpsim.engine.compile.compiled import kernel
from hrpsim.engine.solvers.newton.second_order_cone import (
    FAR,
    PAIR,
    aim,
    by_scaling,
    longest_step,
    scale_pair,
    times_scaling,
    times_squared_scaling,
)

seeds = st.integers(0, 2**32 - 1)


@kernel
def run_scale(pairs):
    scale_pair(pairs[0])


@kernel
def run_times(pairs, v, out):
    out[0, 0], out[0, 1], out[0, 2] = times_scaling(pairs[0], v[0], v[1], v[2])
    out[1, 0], out[1, 1], out[1, 2] = by_scaling(pairs[0], v[0], v[1], v[2])
    out[2, 0], out[2, 1], out[2, 2] = times_squared_scaling(pairs[0], v[0], v[1], v[2])


@kernel
def run_aim(pairs, product, correct):
    aim(pairs[0], product, correct)


@kernel
def run_longest(x, dx):
    return longest_step(x, dx)


def inside(rng):
    """A point inside the cone, of any size, near the boundary or not."""
    tangent = rng.normal(size=2)
    gap = 10.0 ** rng.uniform(-4, 1)
    return 10.0 ** rng.uniform(-6, 3) * np.array([np.linalg.norm(tangent) + gap, *tangent])


def scaled_pair(rng):
    """A pair inside the cones with its scaling."""
    pairs = np.zeros(1, PAIR)
    pairs["x"], pairs["z"] = inside(rng), inside(rng)
    run_scale(pairs)
    return pairs


def times(pairs, v):
    """W v, W^-1 v and W^2 v."""
    out = np.zeros((3, 3))
    run_times(pairs, np.asarray(v, float), out)
    return out


def product(a, b):
    """Jordan's product of the cone."""
    return np.array([a @ b, *(a[0] * b[1:] + b[0] * a[1:])])


@settings(max_examples=200)
@given(seeds)
def test_the_scaling_takes_z_to_where_its_inverse_takes_x(seed):
    """Law: W z = W^-1 x, W W^-1 = 1, W^2 = W W, and W is symmetric (Nesterov and Todd)."""
    rng = np.random.default_rng(seed)
    pairs = scaled_pair(rng)
    x, z = pairs["x"][0], pairs["z"][0]
    W = np.array([times(pairs, e)[0] for e in np.eye(3)]).T
    np.testing.assert_allclose(W, W.T, rtol=0, atol=1e-12 * np.abs(W).max())
    size = np.linalg.norm(pairs["scaled"][0])
    np.testing.assert_allclose(times(pairs, x)[1], pairs["scaled"][0], rtol=0, atol=1e-8 * size)
    np.testing.assert_allclose(W @ z, pairs["scaled"][0], rtol=0, atol=1e-8 * size)
    v = rng.normal(size=3)
    once, back, twice = times(pairs, v)
    cond = np.linalg.cond(W)
    np.testing.assert_allclose(times(pairs, once)[1], v, rtol=0, atol=1e-13 * cond)
    np.testing.assert_allclose(W @ back, v, rtol=0, atol=1e-13 * cond)
    np.testing.assert_allclose(twice, W @ once, rtol=0, atol=1e-12 * np.abs(W).max() ** 2)


@settings(max_examples=200)
@given(seeds)
def test_the_goal_leads_to_the_product_that_is_aimed_at(seed):
    """Law: l o (W^-1 dx + W dz) = (product, 0, 0) - l o l - (W^-1 dx) o (W dz)."""
    rng = np.random.default_rng(seed)
    pairs = scaled_pair(rng)
    scaled = pairs["scaled"][0].copy()
    wanted = rng.uniform(0, 2) * scaled @ scaled
    for correct in (False, True):
        pairs["dx"], pairs["dz"] = inside(rng) - inside(rng), inside(rng) - inside(rng)
        second = product(times(pairs, pairs["dx"][0])[1], times(pairs, pairs["dz"][0])[0])
        run_aim(pairs, wanted, correct)
        right = np.array([wanted, 0, 0]) - product(scaled, scaled) - correct * second
        left = product(scaled, pairs["goal"][0])
        size = np.abs(product(np.abs(scaled), np.abs(pairs["goal"][0]))).max()
        np.testing.assert_allclose(left, right, rtol=0, atol=1e-10 * max(size, np.abs(right).max()))


@settings(max_examples=300)
@given(seeds)
def test_the_longest_step_ends_at_the_boundary(seed):
    """Law: before it every point is inside, after it none soon; FAR where the cone is not left."""
    rng = np.random.default_rng(seed)
    x = inside(rng)
    dx = rng.normal(size=3) * np.linalg.norm(x) * 10.0 ** rng.uniform(-2, 2)
    share = run_longest(x, dx)

    def gap(at):
        y = x + at * dx
        return y[0] - np.hypot(y[1], y[2])

    size = np.abs(x).max() + np.abs(dx).max() * min(share, 1e6)
    assert gap(0.999 * share) > -1e-9 * size
    if share == FAR:
        assert gap(1e6) > -1e-9 * np.abs(dx).max() * 1e6
    else:
        assert gap(1.001 * share) < 1e-9 * size
