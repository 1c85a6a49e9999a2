# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Kernels that sweep over rows, against the matrices J, M^-1 and A of a random problem."""

import math

import numpy as np
import pytest
from interpreted import interpreted, records
from solvers.row_problem import RowProblem, find_masses

from hrpsim.engine.constraints import point_rows
from hrpsim.engine.constraints import rows as single_rows
from hrpsim.engine.constraints.friction_laws import PYRAMID
from hrpsim.engine.constraints.solver_table import DIRECT
from hrpsim.engine.solvers import cone_projection, impulses, projected_gauss_seidel

point_velocity = interpreted(point_rows.point_velocity)
row_velocity = interpreted(single_rows.row_velocity)
apply_impulse, apply_three, warm_start = map(
    interpreted, (impulses.apply_impulse, impulses.apply_three, impulses.warm_start)
)
begin_momentum = interpreted(projected_gauss_seidel.begin_momentum)
add_momentum = interpreted(projected_gauss_seidel.add_momentum)
has_free_cone = interpreted(cone_projection.has_free_cone)
solve_cones = interpreted(cone_projection.solve_cones)
solve_contact = interpreted(projected_gauss_seidel.solve_contact)
solve_bounded_row = interpreted(projected_gauss_seidel.solve_bounded_row)
solve_friction = interpreted(projected_gauss_seidel.solve_friction)
relative_change = interpreted(projected_gauss_seidel.relative_change)
solve_rows, solve_bounded = map(
    interpreted, (projected_gauss_seidel.solve, projected_gauss_seidel.solve_bounded)
)
SEEDS = range(5)
_CONTACT = np.dtype([("slides", "i8")])


def cones(problem, limit=2000, tolerance=1e-10):
    velocity = problem.moved(problem.rows.impulse)
    contacts = records(len(problem.rows) // 3 + 1, _CONTACT)
    sweeps, _ = solve_cones(
        contacts, problem.rows, problem.order, problem.island, problem.response, tolerance, limit,
        1 << 40, velocity, problem.work,
    )  # fmt: skip
    np.testing.assert_allclose(velocity, problem.moved(problem.rows.impulse), atol=1e-9)
    return sweeps


def nearest_of_cone(mu, point):
    """Return the point of the cone |(x, y)| <= mu n that is nearest to a point (n, x, y)."""
    n, size = point[0], math.hypot(*point[1:])
    if size <= mu * n:
        return point
    along = max((n + mu * size) / (1.0 + mu * mu), 0.0)
    return np.array([along, *(mu * along / size * point[1:])])


@pytest.mark.parametrize("in_tree", [1, 2])
@pytest.mark.parametrize("seed", SEEDS)
def test_velocities_and_masses_of_rows(seed, in_tree):
    """Law: J v, and of a contact the entries of J M^-1 J^T for two rows each."""
    problem = RowProblem(seed, contacts=2, singles=2, bodies=4, in_tree=in_tree)
    along = problem.J @ problem.velocity
    for k in range(2):
        found = point_velocity(*problem.contact(k), problem.velocity)
        np.testing.assert_allclose(found, along[3 * k : 3 * k + 3], atol=1e-12)
    single = [row_velocity(row, problem.velocity) for row in problem.rows]
    np.testing.assert_allclose(single, along, atol=1e-12)
    K = problem.A - np.diag(problem.rows.compliance)
    for k in range(2):
        n, x, y = problem.contact(k)
        find_masses(n, x, y, problem.response)
        block = K[3 * k : 3 * k + 3, 3 * k : 3 * k + 3]
        found = [row.inverse_mass for row in (n, x, y)]
        np.testing.assert_allclose(found, np.diag(block), rtol=1e-10)
        found = [row.cross for row in (n, x, y)]
        np.testing.assert_allclose(found, [block[0, 1], block[1, 2], block[2, 0]], atol=1e-10)


@pytest.mark.parametrize("in_tree", [1, 2])
@pytest.mark.parametrize("seed", SEEDS)
def test_impulses_move_the_bodies(seed, in_tree):
    """Law: impulses l change the velocities by M^-1 J^T l; those of a warm start are saved."""
    problem = RowProblem(seed, contacts=2, singles=2, bodies=4, in_tree=in_tree)
    given = problem.rng.normal(size=8)
    velocity = problem.velocity.copy()
    apply_three(*problem.contact(0), *given[:3], problem.response, velocity)
    apply_three(*problem.contact(1), *given[3:6], problem.response, velocity)
    for row, impulse in zip(problem.rows[6:], given[6:]):
        apply_impulse(row, impulse, problem.response, velocity)
    np.testing.assert_allclose(velocity, problem.moved(given), atol=1e-12)
    problem.rows.impulse, velocity = given, problem.velocity.copy()
    warm_start(problem.rows, 2, 8, problem.response, velocity)
    np.testing.assert_allclose(velocity, problem.moved(given), atol=1e-12)
    np.testing.assert_array_equal(problem.rows.saved_impulse, given)


@pytest.mark.parametrize("seed", SEEDS)
def test_cones_hold_where_the_least_energy_is(seed):
    """Law: l = P(l - (A l - b)), P the nearest point of all cones and bounds: a convex problem."""
    problem = RowProblem(seed, contacts=3, singles=2)
    problem.rows.lower[9], problem.rows.upper[9] = -0.1, 0.1
    assert 2 < cones(problem) < 2000
    found = problem.rows.impulse
    wanted = found - (problem.A @ found - problem.b)
    for n in range(0, 9, 3):
        nearest = nearest_of_cone(problem.rows.friction[n], wanted[n : n + 3])
        np.testing.assert_allclose(found[n : n + 3], nearest, atol=1e-8)
    assert found[9] == pytest.approx(np.clip(wanted[9], -0.1, 0.1), abs=1e-8)
    assert found[10] == pytest.approx(wanted[10], abs=1e-8)


def test_normal_impulses_of_cones_have_an_upper_bound():
    """Law: of a contact pressed together, and friction is within mu times that."""
    problem = RowProblem(1, contacts=1)
    problem.rows.target[0], problem.rows.upper[0] = 100.0, 0.5
    cones(problem)
    n, x, y = problem.rows.impulse
    assert n == 0.5 and math.hypot(x, y) <= 0.5 * problem.rows.friction[0] + 1e-12


@pytest.mark.parametrize("limit, done", [(0, 0), (1, 0), (2, 2), (3, 2), (4, 4), (7, 6)])
def test_sweeps_come_in_pairs_within_their_limit(limit, done):
    """Law: one forth and one back, never more than allowed; none changes nothing."""
    problem = RowProblem(2, contacts=3)
    assert cones(problem, limit, 0.0) == done
    assert (done == 0) == (not problem.rows.impulse.any())
    for n in range(0, 9, 3):
        found = problem.rows.impulse[n : n + 3]
        nearest = nearest_of_cone(problem.rows.friction[n], found)
        np.testing.assert_allclose(found, nearest, atol=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_without_friction_the_normals_alone_are_complementary(seed):
    """Law: l >= 0, A l >= b, and one of them holds with equality; friction rows stay at 0."""
    problem = RowProblem(seed, contacts=3)
    problem.rows.friction[:] = 0.0
    cones(press(problem))
    found = problem.rows.impulse
    slack = (problem.A @ found - problem.b)[::3]
    np.testing.assert_allclose(np.minimum(found[::3], slack), np.zeros(3), atol=1e-8)
    assert not found[1::3].any() and not found[2::3].any()


def test_a_contact_alike_in_all_directions_is_solved_at_once():
    """Law: where A of a contact is a multiple of 1, the step is exact: the next pair is still."""
    problem = RowProblem(6, contacts=1)
    for number, row in enumerate(problem.rows):
        row.width_b, row.at_b = 0, -1
        at = slice(row.at_a, row.at_a + 6)
        root = np.linalg.cholesky(problem.W[at, at])
        problem.J[number] = 0.0
        problem.J[number, at] = problem.rows.J_a[number] = np.linalg.inv(root)[number]
        problem.response[row.response_at :][:6] = (problem.W @ problem.J[number])[at]
    problem.soften(0.1)
    problem.rows.target[0] += 50.0
    assert cones(problem) == 4


def test_momentum_saves_sweeps():
    """Law: it takes about the root of their number; without it, this problem takes 1230."""
    problem = RowProblem(9, contacts=8, bodies=4)
    problem.soften(1e-4)
    assert cones(problem, tolerance=1e-7) < 400


def test_a_pair_of_sweeps_is_enough_where_little_changes():
    problem = RowProblem(2, contacts=3)
    assert cones(problem, tolerance=1e3) == 2


def test_sweeps_whose_changes_grow_are_given_up():
    """Law: steps of single rows that are far too long diverge; they end long before the limit."""
    problem = RowProblem(3, contacts=1, singles=3)
    problem.rows.inverse_mass[3:] *= 0.05
    assert cones(problem, 1000, 0.0) < 20


def test_contacts_that_no_body_feels_keep_their_impulses():
    problem = RowProblem(4, contacts=1)
    problem.rows.inverse_mass = problem.rows.cross = 0.0
    problem.rows.impulse = 1.0, 0.1, 0.2
    assert cones(problem) == 2
    np.testing.assert_array_equal(problem.rows.impulse, [1.0, 0.1, 0.2])


def test_which_contacts_have_a_free_cone():
    """Law: iterative ones with an isotropic law whose normal impulse may vanish."""
    normal = RowProblem(0, contacts=1).rows[0]
    assert has_free_cone(normal)
    for field, value in (("solver", DIRECT), ("friction_model", PYRAMID), ("lower", 0.1)):
        before, normal[field] = normal[field], value
        assert not has_free_cone(normal)
        normal[field] = before


def test_a_contact_without_a_free_cone_keeps_its_law():
    """Law: a pyramid bounds each axis for itself, so friction may exceed the cone."""
    problem = RowProblem(5, contacts=1)
    problem.rows.friction_model[0] = PYRAMID
    problem.rows.target = 5.0, 50.0, -50.0
    cones(problem)
    n, x, y = problem.rows.impulse
    bound = problem.rows.friction[0] * n
    assert n > 0.0 and (x, y) == pytest.approx((bound, -bound))


@pytest.mark.parametrize("seed", SEEDS)
def test_momentum_is_nesterov_s(seed):
    """Law: after a pair l += (t - 1) / t' (l - l_before), t' = (1 + sqrt(1 + 4 t^2)) / 2.

    Where the pair turned against that change t is 1 again, and nothing is added.
    """
    problem = RowProblem(seed, contacts=2, singles=1)
    rows, rng = problem.rows, problem.rng
    velocity, age = problem.velocity.copy(), 1.0
    change = rng.normal(size=7)
    begin = rows.impulse[:] = -3.0 * change
    begin_momentum(rows, problem.order, problem.island, problem.work)
    for pair in range(3):
        before, rows.impulse[:] = rows.impulse.copy(), rows.impulse + change
        start = velocity.copy()
        following = (1.0 + math.sqrt(1.0 + 4.0 * age * age)) / 2.0
        expected = rows.impulse + (age - 1.0) / following * (rows.impulse - begin)
        begin, swept = rows.impulse.copy(), rows.impulse.copy()
        age = add_momentum(
            rows, problem.order, problem.island, problem.response, age, velocity, problem.work
        )
        assert age == pytest.approx(following)
        np.testing.assert_allclose(rows.impulse, expected, atol=1e-12)
        added = problem.W @ problem.J.T @ (expected - swept)
        np.testing.assert_allclose(velocity - start, added, atol=1e-12)
        assert pair == 0 or not np.allclose(rows.impulse, before + change)
    rows.impulse -= 0.5 * (expected - swept)
    turned, start = rows.impulse.copy(), velocity.copy()
    assert 1.0 == add_momentum(
        rows, problem.order, problem.island, problem.response, age, velocity, problem.work
    )
    np.testing.assert_array_equal(rows.impulse, turned)
    np.testing.assert_array_equal(velocity, start)


@pytest.mark.parametrize("seed", SEEDS)
def test_one_row_is_solved_within_its_bounds(seed):
    """Law: J v + compliance l = b, or l is at the bound before it; returns the change of J v."""
    problem = RowProblem(seed, contacts=0, singles=3)
    problem.rows.lower[1], problem.rows.upper[2] = 1e3, -1e3
    for number, row in enumerate(problem.rows):
        velocity = problem.velocity.copy()
        wanted = problem.b[number] / problem.A[number, number]
        expected = (wanted, 1e3, -1e3)[number]
        change = solve_bounded_row(row, problem.response, velocity)
        assert row.impulse == pytest.approx(expected)
        assert change == pytest.approx(abs(expected) * problem.A[number, number])
        alone = np.where(np.arange(3) == number, row.impulse, 0.0)
        np.testing.assert_allclose(velocity, problem.moved(alone), atol=1e-9)
        row.inverse_mass, row.target = 0.0, 7.0
        assert solve_bounded_row(row, problem.response, velocity) == 0.0


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("mu", [0.1, 1e3])
def test_one_contact_is_solved_row_after_row(seed, mu):
    """Law: the normal first, then friction under it, at most mu times it, along what it stops."""
    problem = RowProblem(seed, contacts=1)
    problem.rows.friction[0], problem.rows.target[0] = mu, 9.0
    problem.b = problem.rows.target - problem.J @ problem.velocity
    velocity = problem.velocity.copy()
    change = solve_contact(*problem.contact(), problem.response, velocity)
    A, b = problem.A, problem.b
    n = b[0] / A[0, 0]
    friction = (b[1:] - A[1:, 0] * n) / np.diag(A)[1:]
    friction *= min(1.0, mu * n / np.linalg.norm(friction))
    expected = np.array([n, *friction])
    np.testing.assert_allclose(problem.rows.impulse, expected, rtol=1e-9)
    np.testing.assert_allclose(velocity, problem.moved(expected), atol=1e-9)
    assert change == pytest.approx(np.abs(np.diag(A) * expected).max())
    problem.rows.impulse[1:] = 0.0
    velocity = problem.moved(problem.rows.impulse)
    change = solve_friction(*problem.contact(), problem.response, velocity)
    np.testing.assert_allclose(problem.rows.impulse, expected, rtol=1e-9)
    assert change == pytest.approx(np.abs(np.diag(A) * expected)[1:].max())


def test_the_relative_change_is_that_of_all_impulses():
    """Law: |l - l_before| / |l|, 0 where nothing changed, inf where all impulses end."""
    problem = RowProblem(0, contacts=1)
    rows = problem.rows
    rows.saved_impulse, rows.impulse = (1.0, 2.0, 3.0), (1.0, 2.0, 7.0)
    assert relative_change(rows, 3) == pytest.approx(4.0 / math.sqrt(54.0))
    assert relative_change(rows, 3) == 0.0
    rows.impulse = 0.0
    assert relative_change(rows, 3) == math.inf


def press(problem):
    """Let all contacts push."""
    problem.rows.target[: 3 * problem.contacts : 3] += 2.0
    problem.b = problem.rows.target - problem.J @ problem.velocity
    return problem


def swept(problem, tolerance=1e-10, relative=0.0, limit=3000):
    """Return what `solve` says: sweeps, the last change, and whether they converged."""
    velocity = problem.moved(problem.rows.impulse)
    answer = solve_rows(
        problem.rows, len(problem.rows), problem.order, problem.island, problem.response,
        tolerance, relative, 0, limit, velocity, problem.work,
    )  # fmt: skip
    np.testing.assert_allclose(velocity, problem.moved(problem.rows.impulse), atol=1e-8)
    return answer


@pytest.mark.parametrize("whole", [0, 1])
@pytest.mark.parametrize("contacts, softness", [(3, 0.1), (5, 1e-3)])
@pytest.mark.parametrize("seed", SEEDS)
def test_sweeps_end_in_coulomb_s_law(seed, contacts, softness, whole):
    """Law: no row wants another impulse within its bounds: 0 and up, and the disk mu l_n."""
    problem = RowProblem(seed, contacts, singles=2, bodies=4)
    problem.soften(softness)
    first = 3 * contacts
    problem.rows.lower[first], problem.rows.upper[first] = -0.1, 0.1
    press(problem)
    problem.island.whole = whole
    sweeps, change, done = swept(problem)
    assert done and 2 < sweeps < 3000 and change <= 1e-10
    found = problem.rows.impulse
    wanted = found - (problem.A @ found - problem.b) / np.diag(problem.A)
    for n in range(0, first, 3):
        assert found[n] == pytest.approx(max(wanted[n], 0.0), abs=1e-8)
        bound = problem.rows.friction[n] * found[n]
        friction = wanted[n + 1 : n + 3]
        size = max(np.linalg.norm(friction), 1e-300)
        np.testing.assert_allclose(
            found[n + 1 : n + 3], friction * min(1.0, bound / size), atol=1e-8
        )
    assert found[first] == pytest.approx(np.clip(wanted[first], -0.1, 0.1), abs=1e-8)
    assert found[first + 1] == pytest.approx(wanted[first + 1], abs=1e-8)


def test_sweeps_stop_at_their_limit_or_where_impulses_change_little():
    """Law: with a relative tolerance the change of all impulses decides, not that of velocities."""
    assert swept(press(RowProblem(0, contacts=3)), 0.0, limit=3)[::2] == (3, False)
    problem = press(RowProblem(0, contacts=3))
    sweeps, _, done = swept(problem, 0.0, 1e-3)
    assert done and sweeps < 200
    before = problem.rows.impulse.copy()
    assert swept(problem, 0.0, 1e-3)[0] == 1
    after = problem.rows.impulse
    assert 0.0 < np.linalg.norm(after - before) <= 1e-3 * np.linalg.norm(after)


@pytest.mark.parametrize("seed", SEEDS)
def test_rows_with_bounds_alone_are_solved_without_cones(seed):
    """Law: A l = b between the bounds, to 1e-3 of b; rows with equal bounds stay as they are."""
    problem = RowProblem(seed, contacts=2, singles=2)
    rows = problem.rows
    rows.lower[:], rows.upper[:] = -0.3, 0.3
    rows.lower[7] = rows.upper[7] = 0.0
    velocity = problem.velocity.copy()
    solve_bounded(rows, problem.order, problem.island, problem.response, 1e-10, 1000, velocity)
    found = rows.impulse
    wanted = found - (problem.A @ found - problem.b)
    np.testing.assert_allclose(found[:7], np.clip(wanted, -0.3, 0.3)[:7], atol=5e-3)
    assert found[7] == 0.0
    np.testing.assert_allclose(velocity, problem.moved(found), atol=1e-9)
