# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The constraint problem of a step, put together again from outside, and the laws of its forces.

Mass matrix and Jacobians are dense sums over bodies (M = sum J_i^T I_i J_i), which have nothing in
common with the sweeps and blocks that the solvers read.
"""

from typing import NamedTuple

import numpy as np

from hrpsim.engine.compile.compiled import kernel
from hrpsim.engine.compile.reference import TupleReference
from hrpsim.engine.solvers.impulses import warm_start
from hrpsim.engine.step.rows.constrain import solve_rows
from hrpsim.engine.step.scene.records import WHOLE
from hrpsim.engine.step.scene.status import DONE
from hrpsim.model.shapes.placement import rotation_matrix
from hrpsim.model.system import FIXED, FREE
from hrpsim.world.arrays.change import grow


@kernel
def solve_prepared(scene, sweep_limit):
    """Solve the rows that `prepared` left, from no impulses; return how that ended."""
    for number in range(scene.counts[0].row_count):
        scene.rows.rows[number].impulse = 0.0
    scene.settings[0].sweep_limit = sweep_limit
    for k in range(scene.counts[0].island_count):
        scene.islands.ranges[k].new_count = 0  # which would allow more
    return solve_rows(scene, WHOLE)


@kernel
def solve_from_impulses(scene):
    """Solve the rows that `prepared` left, from the impulses that they have."""
    counts, rows = scene.counts[0], scene.rows
    count = counts.contact_count
    warm_start(rows.rows, count, counts.row_count, rows.response, scene.constrained.velocity)
    return solve_rows(scene, WHOLE)


class Problem(NamedTuple):
    """m rows on nv velocities (angular before linear, world axes, for a free body).

    The slip of a row of friction is its velocity less its target.
    """

    M: np.ndarray  # (nv, nv)
    J: np.ndarray  # (m, nv)
    free: np.ndarray  # (nv,) velocity at the end of the step without constraints
    rows: np.ndarray  # (m,) ROW, copies; three for each contact first
    contact_count: int

    @property
    def W(self) -> np.ndarray:
        """Delassus matrix J M^-1 J^T (m, m)."""
        return self.J @ np.linalg.solve(self.M, self.J.T)


def solved_velocity(scene, start) -> np.ndarray:
    """Return the velocity (nv,) that the last step's forces led to, from `start` at its beginning.

    What the world has differs in two ways. A floating tree is given the linear momentum that the
    step truncates: in the linear velocity of its root, by less than 1e-3 m/s. A body alone in its
    tree turns freely for half a step afterwards, with its angular momentum.
    """
    start = pushed_velocity(scene, start)
    solved = start + scene.settings["time_step"][0] * (scene.work.dv + scene.work.change)
    given = scene.velocity - solved
    for k, body in enumerate(scene.forest.bodies):
        if turns_freely(scene, body):
            at = body["v_index"]
            j = body["q_index"] + 3
            turned = rotation_matrix(scene.q[j : j + 4])
            R, before, after = (
                scene.kinematics["R"][k],
                solved[at : at + 3],
                scene.velocity[at : at + 3],
            )
            momentum = R @ body["inertia"] @ R.T @ before
            kept = turned @ body["inertia"] @ turned.T @ after
            # Position corrections turn the body, too.
            assert np.linalg.norm(kept - momentum) <= 1e-2 * np.linalg.norm(momentum)
            given[at : at + 3] = 0.0
        after = scene.forest.bodies[k + 1 : k + 2]["root"]
        if body["joint_type"] == FREE and body["root"] == k and (after == k).any():
            at = body["v_index"] + 3
            assert np.abs(given[at : at + 3]).max() < 1e-3
            given[at : at + 3] = 0.0
    assert np.abs(given).max(initial=0.0) <= 1e-12 * max(1.0, np.abs(solved).max())
    return solved


def turns_freely(scene, body) -> bool:
    """Return whether a body is alone in its tree."""
    free = body["joint_type"] == FREE
    return bool(free and scene.forest.dofs["turns_freely"][body["v_index"]])


def pushed_velocity(scene, start) -> np.ndarray:
    """Return the velocity (nv,) that the forces of a step change, from `start` at its beginning.

    Bodies that are alone in their trees have turned freely to the middle of the step.
    """
    assert not scene.spins["ahead"].any()  # whose velocity there contains a prediction
    velocity = start.copy()
    for body in scene.forest.bodies:
        if turns_freely(scene, body):
            at = body["v_index"]
            velocity[at : at + 3] = scene.work.velocity_middle[at : at + 3]
    return velocity


def solved(world, sweep_limit):
    """Return the scene of `prepared` with its rows solved, from no impulses."""
    free = world.scene.constrained.velocity.copy()
    while (status := solve_prepared(TupleReference(world.scene), sweep_limit)) != DONE:
        world._scenes.present = grow(world.scene, status)
        world.scene.constrained.velocity[:] = free
    return world.scene


def solved_from(world, impulses):
    """Return the scene of `prepared` with its rows solved, the last step's impulses being given."""
    free = world.scene.constrained.velocity.copy()
    while True:
        world.scene.constrained.velocity[:] = free
        world.scene.rows.rows["impulse"][: len(impulses)] = impulses
        status = solve_from_impulses(TupleReference(world.scene))
        if status == DONE:
            return world.scene
        world._scenes.present = grow(world.scene, status)


def problem_of(scene) -> Problem:
    """Return the problem that `prepared` left in the scene."""
    M, jacobians = mass_matrix(scene)
    counts = scene.counts[0]
    rows = scene.rows.rows[: counts["row_count"]].copy()
    J = np.array([row_jacobian(scene, row, jacobians) for row in rows])
    free = pushed_velocity(scene, scene.velocity)
    free += scene.settings["time_step"][0] * scene.work.dv
    return Problem(M, J.reshape(len(rows), len(free)), free, rows, int(counts["contact_count"]))


def mass_matrix(scene) -> tuple[np.ndarray, list[np.ndarray]]:
    """Return M (nv, nv), implicit gains and rotors included, and each body's Jacobian (6, nv).

    Twists are taken at the tree's origin, along the world's axes.
    """
    forest, nv = scene.forest, len(scene.velocity)
    M, jacobians = np.diag(scene.work.joint_inertia), []
    for body, here in zip(forest.bodies, scene.kinematics, strict=True):
        J = np.zeros((6, nv)) if body["parent"] < 0 else jacobians[body["parent"]].copy()
        k = body["v_index"]
        if body["joint_type"] == FREE:
            J[:, k : k + 6] = np.eye(6)
        elif body["joint_type"] != FIXED:
            J[:, k] = here["S"]
        jacobians.append(J)
        R = here["R"]
        c = cross_matrix(here["p"] + R @ body["com"])
        m = body["mass"]
        inertia = np.block(
            [[R @ body["inertia"] @ R.T - m * c @ c, m * c], [-m * c, m * np.eye(3)]]
        )
        M += J.T @ inertia @ J
    return M, jacobians


def row_jacobian(scene, row, jacobians) -> np.ndarray:
    """Return J (nv,) of one row."""
    total = np.zeros(len(scene.velocity))
    for side in "ab":
        number = row[f"constrained_{side}"]
        if number < 0:
            continue
        constraint_body = scene.constrained.bodies[number]
        if constraint_body["dof"] >= 0:
            total[constraint_body["dof"]] += row[f"J_{side}"][0]
        else:
            total += row[f"J_{side}"] @ jacobians[constraint_body["body"]]
    return total


def cross_matrix(x) -> np.ndarray:
    return np.array([[0.0, -x[2], x[1]], [x[2], 0.0, -x[0]], [-x[1], x[0], 0.0]])


def law_errors(problem: Problem, impulses, velocity) -> dict[str, float]:
    """Return how far impulses (m,) and velocity (nv,) are from every law; 0 where it holds.

    "pull", "cone", "bounds": by how much impulses exceed their bounds [Ns].
    "normal", "friction", "others": what the velocity of a row would change by if it alone were
    solved again [m/s]; for a normal with the bounds 0 and infinity that is |min(W f, v)|.
    "stick": slip inside the cone [m/s]. "slide": |f_t + mu f_n v_t / |v_t|| as a velocity [m/s],
    where a point slips faster than 1e-3 m/s. "rub": what friction adds to the energy [J].
    "momentum": |M (v' - v_free) - J^T f| beside the largest term, or beside 1e-6 Ns.
    """
    rows, c = problem.rows, 3 * problem.contact_count
    at_end = problem.J @ velocity
    W = np.einsum("ij,ji->i", problem.J, np.linalg.solve(problem.M, problem.J.T))
    W = np.maximum(W + rows["compliance"], 1e-300)
    lack = rows["target"] - at_end - rows["compliance"] * impulses
    again = np.clip(impulses + lack / W, rows["lower"], rows["upper"])
    short = np.abs(again - impulses) * W
    beyond = np.maximum(rows["lower"] - impulses, impulses - rows["upper"])
    loads = problem.J.T * impulses
    unbalanced = problem.M @ (velocity - problem.free) - loads.sum(axis=1)
    errors = {
        "pull": beyond[0:c:3].max(initial=0.0),
        "bounds": beyond[c:].max(initial=0.0),
        "normal": short[0:c:3].max(initial=0.0),
        "others": short[c:].max(initial=0.0),
        "momentum": np.abs(unbalanced).max(initial=0.0) / max(np.abs(loads).max(initial=0), 1e-6),
    }
    for law in ("cone", "friction", "stick", "slide", "rub"):
        errors[law] = 0.0
    for n in range(0, c, 3):
        limit = rows["friction"][n] * max(impulses[n], 0.0)
        both = slice(n + 1, n + 3)
        slip = at_end[both] - rows["target"][both]
        for law, error in _friction_errors(impulses[both], slip, limit, W[both]).items():
            errors[law] = max(errors[law], error)
    return {law: float(error) for law, error in errors.items()}


def _friction_errors(force, slip, limit, inverse_mass) -> dict[str, float]:
    """Return the errors of one contact's friction (2,) [Ns] at its slip (2,) [m/s]."""
    W, size, speed = inverse_mass.max(), np.linalg.norm(force), np.linalg.norm(slip)
    again = force - slip / W
    again *= min(1.0, limit / max(np.linalg.norm(again), 1e-300))
    against = np.linalg.norm(force + limit * slip / speed) if speed > 1e-3 else 0.0
    return {
        "cone": size - limit,
        "friction": np.linalg.norm(again - force) * W,
        "stick": min(speed, (limit - size) * W),
        "slide": against * W,
        "rub": force @ slip,
    }
