# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A contact problem with three exact solutions: the last step's impulses choose among them.

The tip of a rod slides on the ground with so much friction that it may jam (Painleve). With the
Delassus matrix W of its contact and the velocity b that it would have without impulses, two
solutions of Coulomb's law are that the tip lifts off, l = 0, v = b, and that it sticks, v = 0,
l = -W^-1 b; between them it slides. All are exact, and the law prefers none.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from solvers.laws import law_errors, problem_of, solved_from

from hrpsim import Capsule, World
from hrpsim.world.prepared_step import prepared

LENGTH, RADIUS, ANGLE = 0.5, 0.02, np.arctan(2.0)  # half the rod; from the ground
SOLVERS = ("auto", "newton", "direct", "split")


def rod(solver, velocity=(-3.0, 0.0, 0.01), rods=1):
    """Rods of 1 kg whose tips touch the ground and slide where they lean to."""
    world = World(1e-3, solver=solver, gravity=(0, 0, 0), continuous=False)
    world.set_friction("default", "default", 2.5)
    world.add_ground()
    tilt = 0.25 * np.pi - 0.5 * ANGLE
    for k in range(rods):
        world.add_body(
            Capsule(RADIUS, 2.0 * LENGTH),
            1.0,
            position=(LENGTH * np.cos(ANGLE), k, RADIUS + LENGTH * np.sin(ANGLE)),
            orientation=(0, np.sin(tilt), 0, np.cos(tilt)),
            velocity=velocity,
        )
    return world


def solutions(problem):
    """Return the impulses (2, 3) with which the tip lifts off and sticks."""
    b = problem.J @ problem.free - problem.rows["target"]
    return np.zeros(3), -np.linalg.solve(problem.W, b)


def solved_near(solver, start, **options):
    world = rod(solver, **options)
    prepared(world)
    scene = solved_from(world, start)
    assert scene.step_stats[0]["converged"]
    return scene.rows.rows["impulse"][: len(start)].copy()


def test_lifting_off_and_sticking_are_exact():
    """Law: both obey Coulomb's law, by the dense problem alone."""
    problem = problem_of(prepared(rod("auto")))
    for impulses in solutions(problem):
        velocity = problem.free + np.linalg.solve(problem.M, problem.J.T @ impulses)
        assert max(law_errors(problem, impulses, velocity).values()) < 1e-12
    assert impulses[0] > 0.5


@pytest.mark.parametrize("solver", SOLVERS)
def test_the_solution_is_that_of_the_last_step(solver):
    """Law: impulses of the last step that solve this one are kept, of many rods each its own."""
    both = solutions(problem_of(prepared(rod(solver))))
    for impulses in both:
        np.testing.assert_allclose(solved_near(solver, impulses), impulses, atol=1e-8)
    mixed = np.concatenate([both[k] for k in (0, 1, 1, 0)])
    np.testing.assert_allclose(solved_near(solver, mixed, rods=4), mixed, atol=1e-8)


@pytest.mark.quick_cases("auto", "newton")
@pytest.mark.parametrize("solver", SOLVERS)
@settings(max_examples=20)
@given(
    off=st.lists(st.floats(-1e-7, 1e-7), min_size=3, max_size=3),
    shares=st.lists(st.floats(-0.1, 0.1), min_size=3, max_size=3),
)
def test_states_that_are_near_stay_near(solver, off, shares):
    """Law: 1e-7 m/s more or less, or another load by a tenth, leave the choice as it is.

    The impulses change by |W^-1| times what the state does, |W^-1| < 1 kg.
    """
    velocity = np.array([-3.0, 0.0, 0.01]) + off
    open_tip, stuck = solutions(problem_of(prepared(rod(solver))))
    lifted = solved_near(solver, open_tip, velocity=velocity)
    np.testing.assert_array_equal(lifted, open_tip)
    load = stuck * (1.0 + np.array(shares))
    np.testing.assert_allclose(solved_near(solver, load, velocity=velocity), stuck, atol=5e-7)
