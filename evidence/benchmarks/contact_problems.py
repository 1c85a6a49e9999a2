# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Contact problems of moving scenes as dense matrices, for hrpsim's solvers and other solvers.

The problem is to find impulses l that satisfy Coulomb's law with the velocities v = W l + b. The
error of l is the largest change of velocity in any row [m/s] if only this row were solved again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from hrpsim import World
from hrpsim.engine.collision.contacts import copy_memory
from hrpsim.engine.compile.compiled import entry_point, kernel
from hrpsim.engine.compile.reference import TupleReference
from hrpsim.engine.step.rows.constrain import solve_rows
from hrpsim.engine.step.rows.solver_memory import BY_SWEEPS
from hrpsim.engine.step.scene.records import WHOLE
from hrpsim.engine.step.scene.status import DONE
from hrpsim.world.arrays.change import grow
from hrpsim.world.contact_problem import write_contact_matrix
from hrpsim.world.prepared_step import prepared


class ContactProblem(NamedTuple):
    """A problem of m contacts with three rows each: normal, tangent x, tangent y."""

    W: np.ndarray  # (3m, 3m) Delassus matrix J M^-1 J^T
    b: np.ndarray  # (3m,) velocity without contacts, minus the target [m/s]
    friction: np.ndarray  # (m,)

    def error(self, impulses: np.ndarray) -> float:
        """Return the error of impulses (3m,) [Ns], as a velocity [m/s]."""
        inverse_mass = np.diag(self.W).reshape(-1, 3).copy()
        inverse_mass[:, 1:] = inverse_mass[:, 1:].max(
            axis=1, keepdims=True
        )  # friction is solved with one step
        l = impulses.reshape(-1, 3)
        projected = l - (self.W @ impulses + self.b).reshape(-1, 3) / inverse_mass
        normal = np.maximum(projected[:, 0], 0.0)
        size, limit = np.hypot(projected[:, 1], projected[:, 2]), self.friction * l[:, 0]
        part = np.where(size > limit, limit / np.maximum(size, 1e-300), 1.0)
        projected = np.column_stack([normal, part[:, None] * projected[:, 1:]])
        return float((np.abs(projected - l) * inverse_mass).max())

    def is_independent(self) -> bool:
        """Return whether the rows are linearly independent. The impulses are then unique."""
        values = np.linalg.eigvalsh(self.W)
        return bool(values[0] > 1e-9 * values[-1])


@kernel
def _solve(scene):
    """Solve the rows from zero impulses, without the warm start of the previous step."""
    for number in range(scene.counts[0].row_count):
        scene.rows.rows[number].impulse = 0.0
    for c in range(scene.counts[0].contact_count):
        copy_memory(BY_SWEEPS, scene.collision.contacts[c].memory)
    return solve_rows(scene, WHOLE)


class Prepared:
    """A copy of a world just before the solution of its next step.

    All constraints belong to one solver.
    """

    def __init__(self, world: World, solver: str) -> None:
        self._world = world.copy()
        self._world.add_solver_rule(solver, kind="contact")
        self._free = prepared(self._world).constrained.velocity.copy()

    def problem(self) -> ContactProblem | None:
        """Return the contact problem, or None without contacts or with other constraints."""
        scene = self._world.scene
        counts = scene.counts[0]
        count = int(counts["row_count"])
        if count == 0 or count != 3 * counts["contact_count"]:
            return None
        W, b = np.zeros((count, count)), np.zeros(count)
        scene.constrained.velocity[: len(self._free)] = self._free
        write_contact_matrix(TupleReference(scene), np.zeros_like(self._free), W, b)
        friction = scene.rows.rows["friction"][:count:3].copy()
        return ContactProblem(0.5 * (W + W.T), b, friction)

    def solve(self, tolerance: float, sweep_limit: int = 100_000) -> tuple[np.ndarray, float]:
        """Return the impulses (3m,) [Ns] and the processor time of the solution [s]."""
        while True:
            scene = self._world.scene
            scene.settings["tolerance"], scene.settings["sweep_limit"] = tolerance, sweep_limit
            scene.islands.ranges["new_count"] = 0  # otherwise more sweeps would be allowed
            scene.constrained.velocity[: len(self._free)] = self._free
            reference = TupleReference(scene)
            run = entry_point(_solve, reference)
            begin = time.process_time()
            status = run(reference)
            spent = time.process_time() - begin
            if status == DONE:
                count = scene.counts[0]["row_count"]
                return scene.rows.rows["impulse"][:count].copy(), spent
            self._world._scenes.present = grow(scene, status)


def problems(
    build: Callable[[], World], first: int, stride: int, count: int, most: int
) -> Iterator[tuple[World, ContactProblem]]:
    """Yield `count` prepared states, `stride` steps apart, each with its contact problem.

    States with more than `most` contacts are skipped.
    """
    world = build()
    world.step(first)
    yielded = looked = 0
    while yielded < count and looked < 20 * count:
        problem = Prepared(world, "auto").problem()
        if problem is not None and len(problem.friction) <= most:
            yielded += 1
            yield world, problem
        looked += 1
        world.step(stride)
