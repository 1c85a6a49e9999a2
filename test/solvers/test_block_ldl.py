# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The block-sparse factorisation and its solutions, against dense algebra."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from solvers.constraint_graphs import (
    assembled,
    eliminated,
    graphs,
    jacobian,
    nodes_of,
    run_factor_work,
    run_factorise,
    run_solve,
)
from solvers.graph_shapes import chain, grid, quick, ring

from hrpsim.engine.compile.fields import allocate
from hrpsim.engine.solvers.block_ldl import Factor


def new_factor(blocks, rows, nodes):
    return allocate(Factor, {"blocks": blocks, "rows": rows, "nodes": nodes})


class System:
    """A = J M^-1 J^T + Sigma of some nodes, as blocks and dense."""

    def __init__(self, nodes, seed=0, sigma=1e-2):
        rng = np.random.default_rng(seed)
        self.nodes = nodes
        self.J, inverse_mass = jacobian(nodes, rng)
        A = self.J @ inverse_mass @ self.J.T
        self.A = A + sigma * np.diag(np.diag(A)) + (sigma > 0.0) * 1e-3 * np.eye(len(A))
        self.elimination = eliminated(nodes)
        self.matrix = assembled(nodes, self.elimination, self.A)
        counts = self.elimination.counts[0]
        self.factor = new_factor(counts["block_space"], counts["row_end"], len(nodes))
        self.factor.blocks[:] = np.nan  # what an earlier step left there must not matter
        self.active = np.ones(len(A), dtype=np.int64)
        self.right_side = rng.normal(size=len(A))

    def factorise(self):
        kept = self.matrix.copy()
        status = run_factorise(self.elimination, self.active, self.matrix, self.factor)
        assert np.array_equal(self.matrix, kept, equal_nan=True)
        return status

    def solution(self):
        x = self.right_side.copy()
        run_solve(self.elimination, self.active, self.factor, x)
        return x

    def dense_solution(self):
        x = np.zeros(len(self.A))
        on = self.active != 0
        x[on] = np.linalg.solve(self.A[np.ix_(on, on)], self.right_side[on])
        return x


def close(x, y):
    return np.linalg.norm(x - y) <= 1e-9 * max(np.linalg.norm(y), 1e-300)


@pytest.mark.long
@quick
@given(graphs(), st.integers(0, 2**32 - 1))
def test_solution_is_the_dense_one(nodes, seed):
    system = System(nodes, seed)
    assert system.factorise() == -1
    assert close(system.solution(), system.dense_solution())


@pytest.mark.long
@quick
@given(graphs(), st.integers(0, 2**32 - 1), st.data())
def test_rows_that_are_not_active_are_left_out(nodes, seed, data):
    system = System(nodes, seed)
    for n, node in enumerate(nodes):
        rows = slice(node["first_row"], node["first_row"] + node["size"])
        chosen = data.draw(st.integers(0, 2 ** int(node["size"]) - 1) | st.just(0), label=f"{n}")
        system.active[rows] = [chosen >> r & 1 for r in range(node["size"])]
    assert system.factorise() == -1
    x = system.solution()
    assert close(x, system.dense_solution())
    assert (x[system.active == 0] == 0.0).all()


@pytest.mark.parametrize(("ends", "size"), [(chain(150), 6), (ring(100), 5), (grid(8, 8), 6)])
def test_large_systems_are_solved_to_rounding(ends, size):
    system = System(nodes_of(ends, size))
    assert system.factorise() == -1
    x = system.solution()
    residual = np.linalg.norm(system.A @ x - system.right_side)
    assert residual <= 1e-12 * np.linalg.norm(system.A) * np.linalg.norm(x)


def test_the_work_of_a_factor_is_that_of_its_live_columns():
    """A chain costs n (2 n)^2 / 2 a link; without a link, what lies beside it is the end of one."""
    size, count = 6, 20
    system = System(nodes_of(chain(count), size))

    def work():
        return run_factor_work(system.elimination, system.active, system.factor)

    link, end = size * (2 * size) ** 2 // 2, size**3 // 2
    assert work() == (count - 1) * link + end
    system.active[7 * size : 8 * size] = 0
    assert work() == (count - 3) * link + 2 * end
    system.active[:] = 0
    assert work() == 0


@pytest.mark.parametrize("count", [1, 5, 30])
def test_the_work_of_a_dense_factor_is_a_sixth_of_its_cube(count):
    """Nodes on one tree are a dense matrix: n^3 / 6 multiplications, as Cholesky's method."""
    system = System(nodes_of([(0, -1)] * count, 3))
    work = run_factor_work(system.elimination, system.active, system.factor)
    n = 3 * count
    assert n**3 / 6 <= work <= n**3 / 6 * (1.0 + 3.0 / count) ** 2


def test_factor_is_used_again_for_other_right_sides_and_other_active_rows():
    system = System(nodes_of(ring(12), 6))
    for active in (1, 0, 1):
        system.active[12:40] = active
        assert system.factorise() == -1
        for _ in range(2):
            system.right_side = system.right_side[::-1].copy()
            assert close(system.solution(), system.dense_solution())


@pytest.mark.parametrize("copies", [2, 3])
def test_redundant_rows_stay_finite_and_consistent(copies):
    """Copies of the same connection: any solution of J x = b moves the bodies the same way."""
    single = chain(20)
    system = System(nodes_of(single * copies, 6), sigma=0.0)
    J = np.tile(system.J[: 6 * len(single)], (copies, 1))
    rng = np.random.default_rng(5)
    system.A = J @ np.diag(rng.uniform(0.5, 2.0, J.shape[1])) @ J.T
    definite = system.A + 1e-10 * np.diag(np.diag(system.A))
    system.matrix[:] = assembled(system.nodes, system.elimination, definite)
    system.right_side = J @ rng.normal(size=J.shape[1])
    assert system.factorise() == -1
    x = system.solution()
    assert np.isfinite(x).all()
    assert np.linalg.norm(system.A @ x - system.right_side) <= 1e-5 * np.linalg.norm(
        system.right_side
    )


@pytest.mark.parametrize("bad", [-1.0, 0.0, np.nan, np.inf])
def test_pivot_that_is_not_positive_names_its_row(bad):
    system = System(nodes_of(grid(3, 3), 3))
    row = 17
    system.A[row, :] = system.A[:, row] = 0.0
    system.A[row, row] = bad
    system.matrix[:] = assembled_any(system)
    assert system.factorise() == row
    system.active[row] = 0
    assert system.factorise() == -1


def assembled_any(system):
    """Return the blocks of a matrix that may hold what is not finite."""
    finite = np.nan_to_num(system.A, nan=7e77, posinf=8e88)
    matrix = assembled(system.nodes, system.elimination, finite)
    matrix[matrix == 7e77] = np.nan
    matrix[matrix == 8e88] = np.inf
    return matrix


def test_rows_of_no_node_are_left_alone():
    system = System(nodes_of(chain(3), 2))
    moved = system.nodes.copy()
    moved["first_row"] += 4
    elimination = eliminated(moved)
    factor = new_factor(elimination.counts["block_space"][0], 12, 3)
    active = np.ones(12, dtype=np.int64)
    x = np.full(12, 7.0)
    x[4:10] = system.right_side
    assert run_factorise(elimination, active, system.matrix, factor) == -1
    run_solve(elimination, active, factor, x)
    assert close(x[4:10], system.dense_solution())
    assert (x[[0, 1, 2, 3, 10, 11]] == 7.0).all()
