# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""`solve_contacts`: Coulomb's law at every contact of a problem given by its matrix."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from hrpsim import (
    Box,
    ContactProblem,
    ContactProblemError,
    Sphere,
    World,
    WorldError,
    contact_problem,
    dump_contact_problem,
    load_contact_problem,
    solve_contacts,
)
from hrpsim.engine.solvers.held_sets import held_sets_step

MASS, WEIGHT, FRICTION = 2.0, 0.0196, 0.5  # [kg], impulse of a step [Ns], [1]
PUBLIC = Path(__file__).parents[3] / "shared" / "data" / "fc3d"


def random_problem(seed: int, contacts: int = 6, freedoms: int = 24) -> ContactProblem:
    """Return a problem with a solution: W = J J^T of so many degrees of freedom."""
    rng = np.random.default_rng(seed)
    J = rng.normal(size=(3 * contacts, freedoms))
    return ContactProblem(
        J @ J.T, J @ rng.normal(size=freedoms), rng.uniform(0.0, 1.2, size=contacts)
    )


def assert_coulomb(problem: ContactProblem, forces: np.ndarray, tolerance: float) -> None:
    """Assert that forces (m, 3) obey Signorini's and Coulomb's laws to a tolerance."""
    r, mu = forces, problem.mu
    u = (problem.W @ r.ravel() + problem.b).reshape(-1, 3)
    slip, friction = np.hypot(u[:, 1], u[:, 2]), np.hypot(r[:, 1], r[:, 2])
    assert (r[:, 0] >= -tolerance).all() and (u[:, 0] >= -tolerance).all()
    assert np.abs(r[:, 0] * u[:, 0]).max() <= tolerance
    assert (friction <= mu * r[:, 0] + tolerance).all()
    power = (r[:, 1:] * u[:, 1:]).sum(axis=1)  # friction takes as much power as it can
    np.testing.assert_allclose(power, -mu * r[:, 0] * slip, atol=tolerance)


@given(st.integers(0, 2**32 - 1), st.sampled_from(["auto", "momentum", "plain"]))
@settings(max_examples=40, deadline=None)
def test_solutions_obey_coulombs_law(seed, solver):
    problem = random_problem(seed)
    solution = solve_contacts(*problem, accuracy=1e-10, solver=solver)
    assert solution.solved and solution.residual <= 1e-10
    assert_coulomb(problem, solution.forces, 1e-7)
    velocities = (problem.W @ solution.forces.ravel() + problem.b).reshape(-1, 3)
    np.testing.assert_array_equal(solution.velocities, velocities)


@pytest.mark.parametrize("seed", range(10))
def test_a_step_with_held_sets_squares_the_residual(seed):
    """Law of Newton's method, also with more directions than degrees of freedom (self-stress)."""
    problem = random_problem(seed, contacts=10, freedoms=24)
    near = solve_contacts(*problem, accuracy=1e-7, solver="plain")
    matrix = sparse.csr_matrix(problem.W)
    after = held_sets_step(matrix, problem.b, problem.mu, near.forces.ravel())
    again = solve_contacts(*problem, accuracy=1e-11, solver="plain", start=after)
    assert near.residual > 1e-9
    assert again.solved and again.sweeps["plain"] <= 2  # the first look at the residual


@pytest.mark.parametrize("push", [0.0, 0.3, 2.0])
def test_one_contact_is_that_of_the_closed_form(push):
    """Law: a mass that is pushed by v sticks while m v <= mu m g dt, and slides beyond."""
    b = np.array([-WEIGHT / MASS, push * FRICTION * WEIGHT / MASS, 0.0])
    solution = solve_contacts(np.eye(3) / MASS, b, FRICTION, accuracy=1e-13)
    friction = -min(push, 1.0) * FRICTION * WEIGHT
    np.testing.assert_allclose(solution.forces, [[WEIGHT, friction, 0.0]], atol=1e-12)
    slip = max(push - 1.0, 0.0) * FRICTION * WEIGHT / MASS
    np.testing.assert_allclose(solution.velocities, [[0.0, slip, 0.0]], atol=1e-12)


def test_a_sparse_matrix_gives_the_bits_of_a_dense_one():
    problem = random_problem(3)
    dense = solve_contacts(*problem)
    for made in (sparse.csr_matrix, sparse.csc_matrix, sparse.coo_matrix):
        found = solve_contacts(made(problem.W), problem.b, problem.mu)
        np.testing.assert_array_equal(found.forces, dense.forces)


def test_a_start_at_the_solution_ends_at_once():
    problem = random_problem(4)
    first = solve_contacts(*problem, accuracy=1e-10)
    again = solve_contacts(*problem, accuracy=1e-8, start=first.forces.ravel())
    assert sum(again.sweeps.values()) <= 2
    np.testing.assert_allclose(again.forces, first.forces, atol=1e-8)


def test_what_has_no_solution_is_not_solved():
    """A contact that only friction could separate: W is 0 along the normal, and b presses."""
    solution = solve_contacts(np.diag([0.0, 1.0, 1.0]), np.array([-1.0, 0.0, 0.0]), 0.5)
    assert not solution.solved and np.isfinite(solution.forces).all()


def pushed_box() -> World:
    """Return a box on the ground that slides and turns."""
    world = World(1e-3, sleeping=False)
    world.set_friction("default", "default", FRICTION)
    world.add_ground()
    world.add_body(
        Box((0.2, 0.3, 0.1)), MASS, (0, 0, 0.05), velocity=(1, 0, 0), angular_velocity=(0, 0, 2)
    )
    return world


def test_the_problem_of_a_world_has_the_impulses_of_its_step():
    world = pushed_box()
    world.step(5)
    before = world.snapshot()
    problem = contact_problem(world)
    forces = solve_contacts(*problem, accuracy=1e-12).forces
    assert world.time == pytest.approx(5e-3)
    world.restore(before)
    world.step()
    stepped = sum(contact.force for contact in world.contacts) * world.time_step
    assert abs(stepped[2]) == pytest.approx(forces[:, 0].sum(), rel=1e-6)
    assert len(world.contacts) == len(problem.mu)
    assert_coulomb(problem, forces, 1e-9)


def test_what_is_no_contact_problem_is_refused_by_name():
    empty = World()
    empty.add_body(Sphere(0.1), 1.0)
    with pytest.raises(WorldError, match="no contacts"):
        contact_problem(empty)
    held = pushed_box()
    held.connect(None, next(iter(held.bodies.values())), "ball", point=(0, 0, 0.05))
    with pytest.raises(WorldError, match="3 rows of the next step are not contacts"):
        contact_problem(held)
    with pytest.raises(WorldError, match="semi_implicit"):
        contact_problem(World(integrator="rk4"))
    pyramid = World(friction_model="pyramid")
    pyramid.add_ground()
    pyramid.add_body(Box((0.2, 0.3, 0.1)), MASS, (0, 0, 0.05))
    with pytest.raises(WorldError, match="not a cone"):
        contact_problem(pyramid)
    springs = pushed_box()
    springs.add_solver_rule("penalty", kind="contact")
    with pytest.raises(WorldError, match=r"penalty|compliant"):
        contact_problem(springs)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"b": np.zeros(4)}, "b must have three entries .*got 4"),
        ({"b": [1, 2, np.nan, 4, 5, 6]}, r"b\[2\] is nan"),
        ({"W": np.eye(5)}, "must have shape .6, 6."),
        ({"W": np.diag([1, 1, 1, 1, np.inf, 1])}, "rows of contact 1"),
        ({"mu": [0.5, -0.1]}, r"mu\[1\] is -0.1"),
        ({"mu": [0.5]}, "mu has 1 entries. It should have 2"),
        ({"start": [1.0]}, "start has 1 entries"),
        ({"solver": "newton"}, "Choose one of auto, momentum, plain"),
        ({"accuracy": 0.0}, "should be a positive number"),
    ],
)
def test_what_cannot_be_a_problem_is_named(change, message):
    given_ = {"W": np.eye(6), "b": np.ones(6), "mu": [0.5, 0.5]} | change
    with pytest.raises(ContactProblemError, match=message):
        solve_contacts(**given_)


def test_files_of_fclib_hold_the_problem(tmp_path):
    pytest.importorskip("h5py")
    world = pushed_box()
    problem = dump_contact_problem(world, tmp_path / "box.hdf5")
    read = load_contact_problem(tmp_path / "box.hdf5")
    np.testing.assert_array_equal(read.W.toarray(), problem.W)
    np.testing.assert_array_equal(read.b, problem.b)
    np.testing.assert_array_equal(read.mu, problem.mu)


@pytest.mark.parametrize("made", ["columns", "triplets"])
def test_other_matrices_of_fclib_are_read(tmp_path, made):
    """fclib's `nz` is -1 for compressed columns, and the number of entries for triplets."""
    h5py = pytest.importorskip("h5py")
    problem = random_problem(5, contacts=2)
    dump_contact_problem(problem, tmp_path / "p.hdf5")
    matrix = sparse.csc_matrix(problem.W)
    with h5py.File(tmp_path / "p.hdf5", "a") as file:
        group = file["fclib_local/W"]
        for name in ("nz", "p", "i", "x"):
            del group[name]
        if made == "columns":
            group["nz"], group["p"], group["i"], group["x"] = (
                [-1], matrix.indptr, matrix.indices, matrix.data
            )  # fmt: skip
        else:
            triplets = matrix.tocoo()
            group["nz"], group["p"], group["i"], group["x"] = (
                [matrix.nnz], triplets.col, triplets.row, triplets.data
            )  # fmt: skip
    np.testing.assert_array_equal(load_contact_problem(tmp_path / "p.hdf5").W.toarray(), problem.W)


def test_files_of_another_form_are_refused_by_name(tmp_path):
    h5py = pytest.importorskip("h5py")
    path = tmp_path / "no.hdf5"
    with pytest.raises(ContactProblemError, match="does not exist, or is not a regular file"):
        load_contact_problem(path)
    path.write_text("text")
    with pytest.raises(ContactProblemError, match="not readable"):
        load_contact_problem(path)
    with h5py.File(path, "w") as file:
        file["other"] = [1]
    with pytest.raises(ContactProblemError, match="no group fclib_local"):
        load_contact_problem(path)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("W/i", np.full(36, wrong, np.int32)) for wrong in (-1, 6, 2**31 - 1)),
        ("W/p", np.array([0, 6, 12, 5, 24, 30, 36], np.int32)),
        ("W/p", np.array([0, 36], np.int32)),
        *(("W/nz", np.array([wrong], np.int32)) for wrong in (-3, 35, 37)),
        *(("W/m", np.array([wrong], np.int32)) for wrong in (-1, 5, 2**31 - 1)),
        ("W/x", np.array([b"text"])),
        ("W/x", np.full(36, np.nan)),
        ("vectors/q", np.zeros(5)),
        ("vectors/mu", np.array([b"text", b"text"])),
        ("spacedim", np.zeros(0, np.int32)),
    ],
)
def test_damaged_files_are_refused_by_name(tmp_path, name, value):
    """Law: whatever a file holds, no conversion reads beyond the arrays, and no result is wrong."""
    h5py = pytest.importorskip("h5py")
    path = tmp_path / "p.hdf5"
    dump_contact_problem(random_problem(5, contacts=2), path)
    with h5py.File(path, "a") as file:
        del file[f"fclib_local/{name}"]
        file[f"fclib_local/{name}"] = value
    with pytest.raises(ContactProblemError):
        solve_contacts(*load_contact_problem(path))


def read(path: Path) -> ContactProblem:
    """Return a public problem."""
    file = np.load(path)
    size, parts = len(file["b"]), (file["W_data"], file["W_indices"], file["W_indptr"])
    return ContactProblem(sparse.csr_matrix(parts, shape=(size, size)), file["b"], file["mu"])


@pytest.mark.parametrize("path", sorted(PUBLIC.glob("*.npz")), ids=lambda path: path.stem)
def test_public_problems_are_solved(path):
    """All but one of Siconos' problems here are solved to 1e-8, and that one to 5e-6."""
    solution = solve_contacts(*read(path))
    assert solution.residual <= (5e-6 if path.stem == "RockPile_tob1" else 1e-8)


@pytest.mark.long
def test_the_rock_pile_has_a_solution():
    """Sweeps creep there; a step with the sets that they have found ends at 1e-8."""
    (path,) = PUBLIC.glob("RockPile_tob1.npz")
    problem = read(path)
    solution = solve_contacts(*problem, solver="patient")
    assert solution.solved
    assert_coulomb(problem, solution.forces, 1e-3)
