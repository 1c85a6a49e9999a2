# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Direct solver and Newton's method beside others' solvers, on contact problems of real worlds.

Random bodies are put against random static ones, their contacts get random coefficients of friction
and random velocities, and the rows go to the kernels as a step would send them. The oracles see the
dense matrix W = J M^-1 J^T of laws.py and b = J v_free - target only. Without friction the problem
is the quadratic program min 1/2 f^T W f + f^T b, f >= 0, whose J^T f is unique (f itself is not
where contacts are redundant): SciPy's nnls finds it from a factor of W. With Coulomb's cone it is
not a program and may have several solutions, as a box has that two sides squeeze: Pinocchio's
solver is compared where rows are independent, and the laws are looked at everywhere.
"""

import numpy as np
import pinocchio as pin
import pytest
from scipy.optimize import nnls
from solvers.laws import law_errors, problem_of, solved
from world.scenes import show

from hrpsim import Box, Capsule, Sphere, World
from hrpsim.world.prepared_step import prepared

SHAPES = (Box((0.2, 0.15, 0.1)), Sphere(0.08), Capsule(0.06, 0.12), Box((0.3, 0.05, 0.2)))
ROUNDS = 20_000
both = pytest.mark.parametrize("solver", ["direct", "newton"])
counts = pytest.mark.parametrize(
    "count", [30, *(pytest.param(n, marks=pytest.mark.long) for n in (100, 300))]
)


def random_world(rng, bodies: int, friction: bool, solver: str) -> World:
    """A few bodies that touch fixed shapes and each other somehow."""
    world = World(solver=solver, tolerance=1e-10, gravity=rng.normal(size=3) * 5.0)
    low, high = (0.1, 1.0) if friction else (0.0, 0.0)
    world.set_friction("default", "default", static=float(rng.uniform(low, high)))
    world.set_friction("default", "other", static=float(rng.uniform(low, high)))
    world.set_friction("other", "other", static=float(rng.uniform(low, high)))
    world.add_ground(normal=(*rng.uniform(-0.3, 0.3, 2), 1.0), material="other")
    for _ in range(2):
        turn = rng.normal(size=4)
        world.add_static(Box((0.3, 0.3, 0.3)), rng.uniform(-0.25, 0.25, 3), turn, "default")
    for _ in range(bodies):
        turn = rng.normal(size=4) if rng.uniform() < 0.5 else (0, 0, 0, 1)
        world.add_body(
            SHAPES[rng.integers(4)],
            float(10.0 ** rng.uniform(-1.0, 1.0)),
            position=(*rng.uniform(-0.25, 0.25, 2), rng.uniform(0.0, 0.25)),
            orientation=turn,
            velocity=rng.normal(size=3),
            angular_velocity=rng.normal(size=3),
            material=str(rng.choice(["default", "other"])),
        )
    return world


def problems(seed: int, count: int, friction: bool, solver: str, most: int = 12):
    """Yield (world, problem) of random worlds with 1 to `most` contacts that move towards them."""
    rng = np.random.default_rng(seed)
    found = 0
    while found < count:
        world = random_world(rng, int(rng.integers(1, 4)), friction, solver)
        scene = prepared(world)
        if 1 <= scene.counts[0]["contact_count"] <= most:
            found += 1
            yield world, problem_of(scene)


def our_solution(world, problem):
    """Return the impulses of our solver (m,), and whether it came to its end."""
    scene = solved(world, ROUNDS)
    rows, stats = scene.rows.rows[: len(problem.rows)], scene.step_stats[0]
    finished = stats["converged"] if scene.counts[0]["newton_rows"] else not stats["fell_back"]
    return rows["impulse"].copy(), bool(finished)


def velocity_of(problem, impulses):
    return problem.free + np.linalg.solve(problem.M, problem.J.T @ impulses)


def coulomb(problem, tolerance=1e-13):
    """Return Pinocchio's solution of the cone problem and whether it converged."""
    count = problem.contact_count
    normals = np.arange(3 * count).reshape(count, 3)
    order = normals[:, [1, 2, 0]].ravel()  # Pinocchio's contacts have their normal last
    W = problem.W[np.ix_(order, order)]
    b = (problem.J @ problem.free - problem.rows["target"])[order]
    model = pin.Model()
    joint = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "free")
    models, datas = pin.StdVec_ConstraintModel(), pin.StdVec_ConstraintData()
    for c in range(count):
        contact = pin.PointContactConstraintModel(model, joint)
        contact.setFriction(float(problem.rows["friction"][3 * c]))
        models.append(pin.ConstraintModel(contact))
        datas.append(models[c].createData())
    settings, result = pin.PGSSolverSettings(), pin.PGSSolverResult()
    settings.absolute_feasibility_tol = settings.absolute_complementarity_tol = tolerance
    settings.relative_feasibility_tol = settings.relative_complementarity_tol = 0.0
    settings.max_iterations, settings.solve_ncp = 200_000, True
    converged = pin.PGSConstraintSolver(3 * count).solve(
        pin.DelassusOperatorDense(W), b, models, datas, settings, result
    )
    impulses = np.empty(3 * count)
    impulses[order] = result.retrieveConstraintImpulses()
    return impulses, converged


def nearest_velocity(problem):
    """Return the velocity nearest to the free one, in the metric M, with J v >= target.

    Lawson and Hanson's least distance programming: one non-negative least squares problem.
    """
    normals = np.arange(0, 3 * problem.contact_count, 3)
    J = problem.J[normals]
    h = problem.rows["target"][normals] - J @ problem.free
    L = np.linalg.cholesky(problem.M)
    G = np.linalg.solve(L, J.T).T
    size = np.linalg.norm(G, axis=1)
    G, h = G / size[:, None], h / size
    scale = max(np.abs(h).max(), 1e-12)
    E = np.vstack([G.T, h / scale])
    last = np.zeros(len(E))
    last[-1] = 1.0
    residual = E @ nnls(E, last, maxiter=2000)[0] - last
    x = -scale * residual[:-1] / residual[-1]
    return problem.free + np.linalg.solve(L.T, x)


@both
@counts
def test_contacts_without_friction_solve_the_quadratic_program(solver, count):
    """Law: the velocities are those of the program within 1e-8."""
    worst, redundant, pressed = 0.0, 0, 0
    for world, problem in problems(1, count, False, solver):
        ours, finished = our_solution(world, problem)
        assert finished
        assert (ours[0::3] >= 0.0).all()
        difference = velocity_of(problem, ours) - nearest_velocity(problem)
        worst = max(worst, np.abs(difference).max())
        redundant += np.linalg.matrix_rank(problem.J[0::3]) < problem.contact_count
        pressed += (ours > 0.0).any()
        assert np.abs(difference).max() < 1e-8
    show("largest difference of velocities; redundant, pressed", worst, redundant, int(pressed))
    assert redundant > count / 10
    assert pressed > count / 2


@both
@counts
def test_contacts_with_friction_solve_the_cone_problem(solver, count):
    """Problems beside Pinocchio's projected Gauss-Seidel solver of the same cones.

    The laws hold within 1e-8 in all. Velocities agree within 1e-8 where rows do not depend on each
    other; where they do, some problems have several solutions, and both sides' are solutions.
    """
    compared, independent, agreed, several, worst_law, worst = 0, 0, 0, 0, 0.0, 0.0
    for world, problem in problems(2, count, True, solver):
        ours, finished = our_solution(world, problem)
        assert finished
        velocity = velocity_of(problem, ours)
        rest = rest_of_laws(problem, ours, velocity)
        worst_law = max(worst_law, rest)
        assert rest < 1e-8
        impulses, converged = coulomb(problem)
        theirs = velocity_of(problem, impulses)
        if not converged or rest_of_laws(problem, impulses, theirs) > 1e-10:
            continue
        compared += 1
        difference = np.abs(velocity - theirs).max()
        agreed += difference < 1e-8
        several += difference >= 1e-8
        if np.linalg.matrix_rank(problem.J) == len(problem.J):
            independent += 1
            worst = max(worst, difference)
            assert difference < 1e-8
    show("compared, agreed, other solutions, without redundancy", compared, agreed, several)
    show("without redundancy; their largest difference; laws", independent, worst, worst_law)
    assert compared > count * 250 / 300
    assert independent > count * 40 / 300
    assert agreed > 0.85 * compared


def rest_of_laws(problem, impulses, velocity) -> float:
    """Return the largest error [m/s or Ns] of impulses and their velocity against the laws."""
    errors = law_errors(problem, impulses, velocity)
    return max(errors[law] for law in ("pull", "cone", "normal", "friction"))


@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_sphere_in_a_corner_has_the_forces_of_the_closed_form(count):
    """Contacts at right angles without friction: each takes its own part of the velocity."""
    world = World(solver="direct", gravity=(0, 0, 0))
    world.set_friction("default", "default", static=0.0)
    for normal in np.eye(3)[:count]:
        world.add_static(Box((2, 2, 2)), -normal * (1.0 + 0.1))
    velocity = np.array([-1.0, -2.0, -3.0])
    body = world.add_body(Sphere(0.1), 2.0, velocity=velocity)
    world.step()
    assert world.stats.contact_count == count
    expected = np.where(np.arange(3) < count, 0.0, velocity)
    np.testing.assert_allclose(body.velocity, expected, atol=1e-12)  # gaps of 1e-16 m in 1 ms
