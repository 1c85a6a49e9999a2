# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Published contact problems as matrices: time and residual of every solver of `solve_contacts`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy import sparse

from evidence.benchmarks.results import Case, CaseResult, Claim
from evidence.benchmarks.timing import Effort, Subject
from evidence.experiments.framework.measurements import measurements
from hrpsim import ContactProblem, solve_contacts

ACCURACY = 1e-8
ONE = "fc3d/KaplasTower-i1061-4.npz"  # a problem of the set
SOLVERS = ("auto", "momentum", "plain")
# The best published mean of KaplasTower, and the bound for the capsules [ms].
BOUNDS = {"KaplasTower": 130.0, "Capsules": 60.0}
OF_FASTEST = 1.2  # largest median ratio of auto's time to the fastest attempt's time


def read(path: Path) -> ContactProblem:
    """Read the problem of a file: W as CSR, b and mu."""
    file = np.load(path)
    size = len(file["b"])
    parts = file["W_data"], file["W_indices"], file["W_indptr"]
    return ContactProblem(sparse.csr_matrix(parts, shape=(size, size)), file["b"], file["mu"])


def solving(problem: ContactProblem, solver: str) -> Subject:
    """Return a subject that solves a problem n times."""

    def run(n: int) -> None:
        for _ in range(n):
            solve_contacts(*problem, accuracy=ACCURACY, solver=solver)

    return Subject(solver, run, ours=True)


def run(result: CaseResult, effort: Effort) -> None:
    """Solve every problem in the measurements' folder `fc3d` by every solver."""
    (readme,) = measurements(None, (ONE,), "README of that folder: 17 problems of Siconos")
    ratios, unsolved = [], []
    for path in sorted(readme.parent.glob("*.npz")):
        problem = read(path)
        solutions = {
            name: solve_contacts(*problem, accuracy=ACCURACY, solver=name) for name in SOLVERS
        }
        solving_it = [name for name in SOLVERS if solutions[name].solved]
        texts = [
            f"{name} {s.residual:.1e} in {sum(s.sweeps.values())} sweeps"
            for name, s in solutions.items()
        ]
        result.notes.append(f"{path.stem}, {len(problem.mu)} contacts: {', '.join(texts)}")
        if not solutions["auto"].solved:
            unsolved.append(path.stem)
        if not solving_it:
            continue
        times = result.measure(path.stem, [solving(problem, name) for name in solving_it], effort)
        best = {name: 1e3 * float(np.min(values)) for name, values in times.items()}
        auto = best.pop("auto")
        ratios.append(auto / min(best.values()))
        for name, bound in BOUNDS.items():
            if path.stem.startswith(name):
                result.claims.append(Claim(f"{path.stem}, auto [ms]", auto, bound))
    result.claims += [
        Claim("auto over its fastest attempt, median", float(np.median(ratios)), OF_FASTEST),
        Claim(f"problems that auto does not solve ({', '.join(unsolved)})", len(unsolved), 0),
    ]


CASE = Case("Public contact problems", run, unit="ms", scale=1e3)
