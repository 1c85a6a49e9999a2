# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Factorise and solve A = J M^-1 J^T of connected bodies: hrpsim, sparse and dense libraries."""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_factor, cho_solve, cho_solve_banded, cholesky_banded
from scipy.sparse import csc_matrix, kron, triu
from scipy.sparse.linalg import splu

from evidence.benchmarks.results import Case, CaseResult, Claim, fit
from evidence.benchmarks.timing import Effort, Subject
from hrpsim.engine.compile.compiled import kernel
from hrpsim.engine.compile.fields import allocate
from hrpsim.engine.compile.kernel_types import Indices, Vector
from hrpsim.engine.solvers.block_ldl import Factor, factorise, solve
from hrpsim.engine.solvers.contraction import NODE
from hrpsim.engine.solvers.elimination import Elimination, eliminate, new_elimination, same_graph

OURS = "hrpsim"
SIZE = 6
LARGEST_DENSE = 1500


@kernel
def order(nodes, elimination: Elimination, n):
    fits = True
    for _ in range(n):
        fits = eliminate(nodes, len(nodes), elimination)
    return fits


@kernel
def compare(nodes, elimination: Elimination, n):
    same = 0
    for _ in range(n):
        same += same_graph(nodes, len(nodes), elimination)
    return same


@kernel
def write_blocks(A, elimination: Elimination, matrix_out: Vector) -> None:
    """Write a dense matrix A in the block layout of an elimination."""
    for k in range(elimination.counts[0].node_count):
        column = elimination.columns[k]
        own = column.first_row
        for r in range(SIZE):
            for s in range(SIZE):
                matrix_out[column.block + r * SIZE + s] = A[own + r, own + s]
        for e in range(column.start, column.end):
            entry = elimination.entries[e]
            first = elimination.columns[entry.column].first_row
            for r in range(SIZE):
                for s in range(SIZE):
                    matrix_out[entry.block + r * SIZE + s] = A[first + r, own + s]


@kernel
def repeat_factorise(elimination: Elimination, active: Indices, matrix, factor, n):
    status = -1
    for _ in range(n):
        status = factorise(elimination, active, matrix, factor)
    return status


@kernel
def repeat_solve(elimination: Elimination, active: Indices, factor, x, n) -> None:
    for _ in range(n):
        solve(elimination, active, factor, x)


def chain(count):
    return [(i, i + 1) for i in range(count)]


def ring(count):
    return [(i, (i + 1) % count) for i in range(count)]


def grid(side):
    across = [(r * side + c, r * side + c + 1) for r in range(side) for c in range(side - 1)]
    down = [(r * side + c, (r + 1) * side + c) for r in range(side - 1) for c in range(side)]
    return across + down


GRAPHS = {
    "chain 39": chain(39),
    "chain 100": chain(100),
    "chain 400": chain(400),
    "chain 1600": chain(1600),
    "ring 100": ring(100),
    "grid 10x10": grid(10),
}


def matrix_of(ends) -> csc_matrix:
    """Return A for connections at the bodies' surfaces, with masses 1 to 3 and compliance 1e-3."""
    rng = np.random.default_rng(1)
    bodies = np.max(ends) + 1
    J = np.zeros((len(ends), SIZE, bodies, SIZE))
    for n, (a, b) in enumerate(ends):
        for body, sign in ((a, 1.0), (b, -1.0)):
            arm = sign * rng.uniform(0.1, 0.3, 3)
            J[n, :, body] = sign * np.eye(SIZE)
            J[n, 3:, body, :3] = -sign * np.cross(np.eye(3), arm)
    J = csc_matrix(J.reshape(SIZE * len(ends), SIZE * bodies))
    weights = np.tile([40.0, 40.0, 40.0, 1.0, 1.0, 1.0], (bodies, 1)) / rng.uniform(
        1, 3, (bodies, 1)
    )
    A = J @ J.multiply(weights.ravel()).T
    shared = csc_matrix(abs(kron(A, [[1.0]])) > 0)  # kron does not store numerical zeros of A
    return csc_matrix(A.multiply(shared) + 1e-3 * csc_matrix(np.eye(A.shape[0])))


class Ours:
    """hrpsim's factorisation kernels, prepared for one matrix."""

    def __init__(self, ends, A) -> None:
        self.nodes = np.zeros(len(ends), dtype=NODE)
        self.nodes["size"] = SIZE
        self.nodes["first_row"] = SIZE * np.arange(len(ends))
        self.nodes["tree_a"], self.nodes["tree_b"] = np.array(ends).T
        self.elimination = new_elimination(len(ends), int(np.max(ends)) + 1, 20 * len(ends))
        if not order(self.nodes, self.elimination, 1):
            raise SystemExit(f"room for {self.elimination.counts['entry_count'][0]} entries needed")
        counts = self.elimination.counts[0]
        self.matrix = np.zeros(counts["block_space"])
        sizes = {"blocks": counts["block_space"], "rows": counts["row_end"], "nodes": len(ends)}
        self.factor = allocate(Factor, sizes)
        self.active = np.ones(counts["row_end"], dtype=np.int64)
        write_blocks(A.toarray(), self.elimination, self.matrix)
        self.x = np.zeros(counts["row_end"])

    def order(self, n) -> None:
        """Compute the elimination order n times."""
        order(self.nodes, self.elimination, n)

    def compare(self, n) -> None:
        """Compare the graph with the previous graph n times."""
        compare(self.nodes, self.elimination, n)

    def factorise(self, n) -> None:
        """Factorise n times."""
        repeat_factorise(self.elimination, self.active, self.matrix, self.factor, n)

    def solve(self, n) -> None:
        """Solve n times."""
        repeat_solve(self.elimination, self.active, self.factor, self.x, n)

    def residual(self, A):
        """Return the largest residual of a solution."""
        b = np.random.default_rng(2).normal(size=len(self.x))
        self.factorise(1)
        self.x[:] = b
        self.solve(1)
        error = np.abs(A @ self.x - b).max()
        self.x[:] = 0.0  # repeated solutions stay zero, and the time does not depend on the values
        return error


def repeated(function):
    """Return a function run(n) that calls `function` n times."""

    def run(n) -> None:
        for _ in range(n):
            function()

    return run


def libraries(name, A):
    """Yield (label, function to factorise n times, function to solve n times) for each library."""
    b = np.ones(A.shape[0])
    for ordering in ("MMD_AT_PLUS_A", "COLAMD", "NATURAL"):
        options = {"SymmetricMode": True}

        def make(ordering=ordering, options=options):
            return splu(A, ordering, diag_pivot_thresh=0.0, options=options)

        lu = make()
        yield f"splu {ordering}", repeated(make), repeated(lambda lu=lu: lu.solve(b))
    if A.shape[0] <= LARGEST_DENSE:
        dense = A.toarray()
        c = cho_factor(dense)
        yield (
            "cho_factor (dense)",
            repeated(lambda: cho_factor(dense)),
            repeated(lambda: cho_solve(c, b)),
        )
    if name.startswith("chain"):
        upper = np.zeros((2 * SIZE, A.shape[0]))
        for d in range(2 * SIZE):
            upper[2 * SIZE - 1 - d, d:] = A.diagonal(d)
        band = cholesky_banded(upper)
        yield (
            "cholesky_banded",
            repeated(lambda: cholesky_banded(upper)),
            repeated(lambda: cho_solve_banded((band, False), b)),
        )
    try:
        import qdldl
    except ImportError:
        return
    half = triu(A, format="csc")
    solver = qdldl.Solver(half, upper=True)
    update = repeated(lambda: solver.update(half, upper=True))
    yield "qdldl (update)", update, repeated(lambda: solver.solve(b))


def run(result: CaseResult, effort: Effort) -> None:
    """Time hrpsim and the libraries in turn on every graph.

    Fit the power law over chain lengths.
    """
    times = {}
    for name, ends in list(GRAPHS.items())[: 2 if effort.quick else None]:
        A = matrix_of(ends)
        solver = Ours(ends, A)
        exact = {OURS: {"residual": float(solver.residual(A))}}
        cases = [(OURS, solver.factorise, solver.solve), *libraries(name, A)]
        for k, task in ((1, "factorise"), (2, "solve")):
            subjects = [Subject(case[0], case[k], ours=case[0] == OURS) for case in cases]
            if k == 1:
                subjects.append(
                    Subject("hrpsim: order and structure anew", solver.order, ours=True)
                )
            new = result.measure(f"{name}, {task}", subjects, effort, exact)
            times[name, task] = new[OURS]
    chains = {name: len(ends) for name, ends in GRAPHS.items() if name.startswith("chain")}
    for task in ("factorise", "solve"):
        measured = [(size, times[n, task]) for n, size in chains.items() if (n, task) in times]
        result.fits.append(fit(f"{OURS}, {task}", "joints of a chain", *zip(*measured), ours=True))
        text = f"exponent of hrpsim, {task}, chains"
        result.claims.append(Claim(text, result.fits[-1].exponent, 1.0))
    result.notes += [
        "Each node is a connection of 6 rows between two free bodies, with 1e-3 on the diagonal",
        "Times of libraries include the call from Python. The times of LAPACK and SuperLU "
        "exclude building their matrices. SuperLU orders again in each call",
        "hrpsim stores whole blocks. qdldl, if installed, keeps the structure and gets the "
        "upper triangle",
    ]


CASE = Case("Sparse LDL^T", run)
