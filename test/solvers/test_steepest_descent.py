# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Steepest descent with Armijo's rule on the penalty function of constrained springs."""

import numpy as np
import pytest
from world.scenes import show

from hrpsim import Box, World
from hrpsim.constraints.solver_table import DESCENT
from hrpsim.solvers.steepest_descent import PENALTY_WEIGHT, descend

WEIGHT = 20.0


def stretched(targets):
    """Four rows of one body that ask for velocities; return their scene and A = J M^-1 J^T."""
    world = World(1e-3, gravity=(0.0, 0.0, 0.0))
    box = world.add_body(Box((0.2, 0.3, 0.5)), 2.0, velocity=(0.3, 0.2, 0.9))
    world.add_spring_hinge(
        None,
        box,
        point=(0.0, 0.1, 0.25),
        axis=(1.0, 0.2, 0.0),
        half_width=0.2,
        radius=0.3,
        max_extension=0.05,
        friction=100.0,
        solver="steepest_descent",
    )
    world.step()
    scene = world.scene
    rows = scene.rows.rows[:4]
    J = rows["J_a"].copy()
    response = np.array(
        [scene.rows.response[row["response_at"] : row["response_at"] + 6] for row in rows]
    )
    rows["solver"], rows["lower"], rows["impulse"] = DESCENT, 0.0, 0.0
    rows["target"] = targets
    scene.sites.velocity[:] = 0.0
    return scene, J @ response.T


def run(scene, weight: float, limit: int):
    rows, velocity = scene.rows, scene.sites.velocity
    return descend(rows.rows, 0, 4, rows.response, weight, limit, velocity, *rows.descent[:2])


def value(scene, A, targets, weight: float) -> float:
    rows = scene.rows.rows[:4]
    short = np.maximum(0.0, targets - A @ rows["impulse"])
    a = rows["inverse_mass"]
    return float(0.5 * a @ rows["impulse"] ** 2 + 0.5 * weight * (short**2 / a).sum())


def test_the_minimum_of_a_quadratic_is_found():
    """With every row short by r, l = w diag(1/a) A diag(1/a) r: targets A l + r lead to it."""
    scene, A = stretched(np.zeros(4))
    np.testing.assert_allclose(A, A.T, atol=1e-12)
    a = scene.rows.rows["inverse_mass"][:4].copy()
    np.testing.assert_allclose(np.diag(A), a, rtol=1e-9)
    short = np.array([0.01, 0.02, 0.015, 0.005])
    expected = WEIGHT * (A / a / a[:, None]) @ short
    targets = A @ expected + short
    scene.rows.rows["target"][:4] = targets
    steps, furthest, flat = run(scene, WEIGHT, 5000)
    found = scene.rows.rows["impulse"][:4]
    show("steps", steps)
    assert flat
    np.testing.assert_allclose(found, expected, rtol=1e-3)
    least = 0.5 * a @ expected**2 + 0.5 * WEIGHT * (short**2 / a).sum()
    assert value(scene, A, targets, WEIGHT) == pytest.approx(least, rel=1e-6)
    assert furthest == pytest.approx((targets - A @ found).max(), rel=1e-9)
    np.testing.assert_allclose(
        scene.rows.rows["J_a"][:4] @ scene.sites.velocity[:6], A @ found, atol=1e-12
    )


def test_every_step_goes_down():
    targets = np.array([0.4, -0.5, 0.3, 0.6])
    values = []
    for limit in (0, 1, 2, 3, 5, 10, 30, 100):
        scene, A = stretched(targets)
        steps, _, _ = run(scene, PENALTY_WEIGHT, limit)
        assert steps <= limit
        values.append(value(scene, A, targets, PENALTY_WEIGHT))
    assert (np.diff(values[:6]) < 0.0).all() and (np.diff(values) <= 0.0).all()


def test_rows_that_are_not_short_get_nothing():
    scene, _ = stretched(np.array([-0.1, -0.2, 0.0, -1.0]))
    assert run(scene, PENALTY_WEIGHT, 100) == (0, 0.0, True)
    assert (scene.rows.rows["impulse"][:4] == 0.0).all()
