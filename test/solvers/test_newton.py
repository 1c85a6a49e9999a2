# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Newton's method on the problems of islands: laws, contradictions, ranks, room, and its choice."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from solvers.laws import law_errors, problem_of, solved, solved_velocity
from world.scenes import show

from hrpsim import Box, Sphere, World, load_model
from hrpsim.engine.compile.compiled import kernel
from hrpsim.engine.solvers.newton.tree_coordinates import NODE_TREE, factorise_response, padded
from hrpsim.world.prepared_step import prepared


@kernel
def run_factorise(block, width, trees, basis, work):
    return factorise_response(block, 0, width, trees[0], basis, work)


@settings(max_examples=100)
@given(st.integers(1, 14), st.integers(0, 14), st.integers(0, 2**32 - 1))
def test_basis_times_its_transpose_is_the_response(columns, rank, seed):
    """Law: B B^T = Lambda^-1 with as many columns as its rank, whatever the constraint blocks.

    Trees with more columns than a free body have whole registers of eight, the last one filled up.
    """
    rng = np.random.default_rng(seed)
    rank = min(rank, columns)
    root = rng.normal(size=(columns, rank)) * 10.0 ** rng.uniform(-4, 4, (columns, 1))
    width = columns + 3
    block = np.zeros((columns, width))
    block[:, :columns] = root @ root.T
    trees, stride = np.zeros(1, dtype=NODE_TREE), padded.py_func(columns)
    trees["columns"] = columns
    basis = np.full(2 * stride * stride, np.nan)
    found = run_factorise(block.ravel(), width, trees, basis, np.zeros(columns))
    transposed, B = basis.reshape(2, stride, stride)
    np.testing.assert_array_equal(transposed, B.T)
    assert found == (rank if columns <= 6 else -(-rank // 8) * 8)
    assert np.count_nonzero(B.any(axis=0)) == rank
    B = B[:columns]
    size = np.sqrt(np.diag(block[:, :columns]))
    np.testing.assert_allclose(
        (B @ B.T) / np.outer(size, size) if rank else 0.0,
        block[:, :columns] / np.outer(size, size) if rank else 0.0,
        atol=1e-9,
    )


def tower(masses, solver=None, **options):
    """Cubes of 0.1 m on each other, the lowest on the ground."""
    world = World(solver=solver, sleeping=False, **options)
    world.set_friction("default", "default", static=0.5)
    world.add_ground()
    for k, mass in enumerate(masses):
        world.add_body(Box((0.1,) * 3), mass, position=(0, 0, 0.05 + 0.1 * k))
    return world


def heap(count, solver=None):
    """Cubes that fall upon each other."""
    world, rng = World(solver=solver, sleeping=False), np.random.default_rng(1)
    world.set_friction("default", "default", static=0.5)
    world.add_ground()
    for k in range(count):
        world.add_body(
            Box((0.1,) * 3),
            1.0,
            position=(*rng.uniform(-0.1, 0.1, 2), 0.1 + 0.12 * k),
            orientation=rng.normal(size=4),
        )
    return world


@pytest.mark.parametrize(
    "masses, most",
    [([1] * 20, 0), ([1, 1, 1, 1, 1e3], 0), ([1, 1, 1, 1, 1e4], 0), ([1e4, 1, 1e-3, 1, 1e3], 10)],
)
def test_towers_stand_whatever_their_masses(masses, most):
    """Law: what stands stays: no body moves by 1 um in half a second, and steps converge.

    At ratios of 1e6 and more some miss the tolerance of 1e-8 m/s, by a factor of 10 at most.
    """
    world = tower(masses)
    start = np.array([body.position for body in world.bodies.values()])
    world.step(500)
    call = world.stats.last_call
    assert call.unconverged <= most and call.worst_residual < 1e-7
    moved = np.abs(np.array([body.position for body in world.bodies.values()]) - start).max()
    show("moved [m]", moved)
    assert moved < 1e-6 + 2.0 * world.scene.settings["slop"][0]


def test_a_falling_heap_converges():
    """Law: 15 cubes that fall on each other: every step of a second converges, to 1e-8 m/s."""
    world = heap(15)
    world.step(1000)
    assert world.stats.last_call.unconverged == 0
    assert world.stats.since_reset.newton_steps > 100


@pytest.mark.parametrize("solver", ["newton", "auto"])
def test_laws_hold_where_it_says_that_they_do(solver):
    """Law: Coulomb's law, put together from outside, within the tolerance, in a falling heap."""
    world, worst = heap(8, solver), 0.0
    world.step(250)
    for _ in range(60):
        problem = problem_of(prepared(world))
        start = world.scene.velocity.copy()
        world.step()
        scene, stats = world.scene, world.stats
        assert stats.converged
        impulses = scene.rows.rows["impulse"][: stats.row_count]
        errors = law_errors(problem, impulses, solved_velocity(scene, start))
        worst = max(worst, *(errors[law] for law in ("pull", "cone", "normal", "friction")))
    show("worst error", worst)
    assert worst < 1e-7


def test_from_nothing_it_finds_what_it_finds_from_the_last_step():
    """Law: velocities do not depend on where the search begins."""
    world = tower([1.0] * 6, "newton")
    world.step(20)
    prepared(world)
    cold = solved(world, 1000).constrained.velocity.copy()
    prepared(world)
    np.testing.assert_allclose(cold, solved(world, 1000).constrained.velocity, atol=1e-9)


def test_an_explicit_choice_wins():
    """Law: "iterative" keeps islands from Newton's method, "direct" in steps that it solves."""
    assert heap_steps(heap(6, "iterative")) == 0
    world = heap(6, "direct")
    assert 0 < heap_steps(world) < 20
    assert world.stats.since_reset.unconverged == 0
    world = heap(6)
    world.add_solver_rule("iterative", kind="contact")
    assert heap_steps(world) == 0
    world = tower([1.0], "newton")
    world.step(10)
    assert world.stats.since_reset.newton_steps == 10
    assert world.stats.iterations == 0


def heap_steps(world):
    world.step(400)
    return world.stats.since_reset.newton_steps


HELD = """<robot name="r"><link name="base"/><link name="arm"><inertial><origin xyz="0 0 0.5"/>
<mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="1" effort="100" velocity="100"/></joint></robot>"""


def test_rows_that_contradict_each_other_end_in_a_bounded_compromise():
    """Law: a ball wedged into a gap that is too small is not pushed out by more than it may be."""
    world = World(gravity=(0, 0, 0), sleeping=False, solver="newton")
    for side in (-1.0, 1.0):
        world.add_static(Box((1, 1, 1)), (0.59 * side, 0, 0))
    ball = world.add_body(Sphere(0.1), 1.0, velocity=(1.0, 0.0, 0.0))
    world.step(50)
    assert np.isfinite(ball.position).all()
    assert np.abs(ball.velocity).max() < 1e-6
    assert np.abs(ball.position).max() < 0.01


def test_joint_limits_and_friction_are_solved_too():
    """Law: an arm on its limit under its weight is held, by an impulse within its bounds."""
    world = World(solver="newton", sleeping=False)
    robot = world.add_robot(load_model(HELD, base="fixed"), q=[-1.0])
    world.step(100)
    assert world.stats.converged
    assert world.stats.since_reset.newton_steps > 0
    assert robot.q[0] == pytest.approx(-1.0, abs=1e-5)
    assert abs(robot.v[0]) < 1e-8
