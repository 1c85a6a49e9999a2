# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Each solver with each friction law: a point obeys the law, or the world refuses the pair by name.

One point of contact has friction f against the slip and along the tangents of its law: mu N in all
directions (cone), mu N along each of two axes (pyramid; slip_direction while it sticks), mu N
against the slip (slip_direction while it slides).
"""

import math

import numpy as np
import pytest
from solvers.test_friction_models import MU, drawn_axes, sliding_point
from world.scenes import GRAVITY, contact_force

from hrpsim import World, WorldError
from hrpsim.engine.constraints.friction_laws import LAWS
from hrpsim.engine.constraints.solver_table import SOLVERS

HEADINGS = np.radians([1.0, 16.0, 37.0, 46.0, 200.0])
WEIGHT = 2.0 * GRAVITY  # of the point's body [N]

every_pair = pytest.mark.parametrize("model", LAWS)
every_solver = pytest.mark.parametrize("solver", SOLVERS)


def accepts(solver, model):
    return LAWS[model] in SOLVERS[solver].laws


def settled_point(model, solver, heading, speed):
    """Return the world of a ball that cannot turn, at rest on a floor, then sliding."""
    world, ball = sliding_point(model, heading, speed=0.0, solver=solver, sleeping=False)
    world.step(300)
    ball.velocity = speed * math.cos(heading), speed * math.sin(heading), 0.0
    world.step(3)
    return world, ball


@every_pair
@every_solver
def test_a_pair_is_refused_by_name_unless_the_table_accepts_it(solver, model):
    """Law: all ways of choosing a solver refuse it alike, and name solvers of that law."""
    if accepts(solver, model):
        World(friction_model=model, solver=solver)
        return
    named = f"{solver}.*{model}.*iterative"
    with pytest.raises(WorldError, match=named):
        World(friction_model=model, solver=solver)
    with pytest.raises(WorldError, match=named):
        World(friction_model=model, solver=[{"solver": solver, "kind": "contact"}])
    world = World(friction_model=model)
    with pytest.raises(WorldError, match=named):
        world.add_solver_rule(solver, kind="contact")


@every_pair
@every_solver
def test_a_sliding_point_feels_the_friction_of_its_law(solver, model):
    if not accepts(solver, model):
        pytest.skip("refused by name")
    for heading in HEADINGS:
        world, ball = settled_point(model, solver, heading, 1.0)
        slip = np.array([*ball.velocity[:2], 0.0]) / math.hypot(*ball.velocity[:2])
        force = contact_force(world, ball.name)
        rub = force[:2] / (MU * force[2])
        expected = -slip
        if model == "pyramid":
            axes = drawn_axes(world)
            expected = -np.sign(axes @ slip) @ axes
        np.testing.assert_allclose(rub, expected[:2], atol=1e-5)


@every_pair
@every_solver
def test_a_point_sticks_below_the_bound_of_its_law_and_slides_above(solver, model):
    if not accepts(solver, model):
        pytest.skip("refused by name")
    for heading in HEADINGS[::2]:
        pushed = np.array([math.cos(heading), math.sin(heading), 0.0])
        for share, holds in ((0.97, True), (1.03, False)):
            world, ball = settled_point(model, solver, heading, 0.0)
            reach = 1.0 if model == "cone" else 1.0 / np.abs(drawn_axes(world) @ pushed).max()
            for k in range(250):  # slowly, for springs that would overshoot
                push = share * MU * WEIGHT * reach * min(1.0, k / 200.0)
                ball.apply_wrench(push * pushed)
                world.step()
            speed = np.linalg.norm(ball.velocity[:2])
            assert speed < 1e-4 if holds else speed > 1e-3, (heading, share, speed)
