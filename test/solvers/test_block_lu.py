# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The block-sparse L U factorisation and its solutions, against dense algebra."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from solvers.graph_shapes import binary_tree, chain, grid, quick, ring, star

from hrpsim.engine.compile.compiled import kernel
from hrpsim.engine.solvers.elimination import COLUMN, COUNTS, ENTRY
from hrpsim.engine.solvers.newton.block_lu import factorise_lu, solve_lu
from hrpsim.engine.solvers.newton.newton_problem import Columns
from hrpsim.engine.spatial.simd import LANES

run_factorise = kernel(factorise_lu.py_func)  # what other kernels call, for calls from Python
run_solve = kernel(solve_lu.py_func)


class Matrix:
    """A dense matrix with the structure of a graph eliminated in the order of its nodes."""

    def __init__(self, edges, sizes, seed):
        rng, count = np.random.default_rng(seed), len(sizes)
        first = np.cumsum(sizes) - sizes
        later = [set() for _ in range(count)]
        for a, b in edges:
            later[min(a, b)].add(max(a, b))
        self.A = np.zeros((sum(sizes),) * 2)
        ranges = [slice(f, f + n) for f, n in zip(first, sizes)]
        for k in range(count):
            for i in later[k]:
                self.A[ranges[k], ranges[i]] = rng.normal(size=(sizes[k], sizes[i]))
                self.A[ranges[i], ranges[k]] = rng.normal(size=(sizes[i], sizes[k]))
            self.A[ranges[k], ranges[k]] = rng.normal(size=(sizes[k], sizes[k]))
        self.A += np.diag(1.0 + np.abs(self.A).sum(axis=1))
        columns, entries, upper, lower = np.zeros(count, dtype=COLUMN), [], [], []
        space = 0
        for k in range(count):
            for i in later[k]:
                later[min(later[k])] |= {i} - {min(later[k])}
            columns[k]["first_row"], columns[k]["size"] = first[k], sizes[k]
            columns[k]["block"], columns[k]["start"] = space, len(entries)
            for i in [k, *sorted(later[k])]:
                if i > k:
                    entries.append((i, space))
                upper.append(self.A[ranges[k], ranges[i]].ravel())
                lower.append(self.A[ranges[i], ranges[k]].T.ravel() * (i > k))
                space += sizes[k] * sizes[i]
            columns[k]["end"] = len(entries)
        counts = np.zeros(1, dtype=COUNTS)
        counts["node_count"] = count
        self.structure = Columns(counts, columns, np.array(entries, dtype=ENTRY))
        spare = [np.full(LANES, np.nan)]
        self.upper, self.lower = np.concatenate(upper + spare), np.concatenate(lower + spare)

    def solution(self, b):
        x = np.concatenate([b, np.full(LANES, np.nan)])
        assert run_factorise(self.structure, self.upper, self.lower)
        run_solve(self.structure, self.upper, self.lower, x)
        return x[: len(b)]


@quick
@given(
    st.sampled_from([chain(11), ring(12), star(11), binary_tree(11), grid(3, 4), []]),
    st.lists(st.sampled_from([1, 2, 5, 6, 6, 6, 7, 8, 12, 16]), min_size=12, max_size=12),
    st.integers(0, 2**32 - 1),
)
def test_solution_is_the_dense_one(edges, sizes, seed):
    matrix = Matrix(edges, sizes, seed)
    b = np.random.default_rng(seed + 1).normal(size=len(matrix.A))
    np.testing.assert_allclose(matrix.solution(b), np.linalg.solve(matrix.A, b), atol=1e-12)


def test_a_pivot_that_is_zero_or_no_number_is_told():
    for bad in (0.0, np.nan, np.inf):
        matrix = Matrix(chain(1), [1, 1], 0)
        matrix.upper[0] = bad
        assert not run_factorise(matrix.structure, matrix.upper, matrix.lower)
