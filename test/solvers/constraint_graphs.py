# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Constraint graphs and their dense matrices J M^-1 J^T, and the kernels' calls on them."""

import numpy as np
from hypothesis import strategies as st
from solvers.graph_shapes import binary_tree, chain, grid, ring, star

from hrpsim.engine.compile.compiled import kernel
from hrpsim.engine.solvers.block_ldl import factor_work, factorise, solve
from hrpsim.engine.solvers.contraction import NODE
from hrpsim.engine.solvers.elimination import eliminate, new_elimination, same_graph

# what other kernels call, for calls from Python
run_eliminate = kernel(eliminate.py_func)
run_same_graph = kernel(same_graph.py_func)
run_factorise = kernel(factorise.py_func)
run_factor_work = kernel(factor_work.py_func)
run_solve = kernel(solve.py_func)


def nodes_of(ends, sizes) -> np.ndarray:
    """Return NODE records of the pairs of trees in `ends`, rows one after the other."""
    sizes = np.broadcast_to(sizes, len(ends))
    nodes = np.zeros(len(ends), dtype=NODE)
    nodes["size"] = sizes
    nodes["first_row"] = np.cumsum(sizes) - sizes
    nodes["tree_a"], nodes["tree_b"] = np.array(ends).T
    return nodes


@st.composite
def graphs(draw):
    """Nodes of a random graph: regular ones, multigraphs, the world, both ends on one tree."""
    count = draw(st.integers(1, 14))
    end = st.integers(-1, draw(st.integers(0, 8)))
    ends = draw(
        st.sampled_from([chain(count), ring(count), star(count), binary_tree(count), grid(3, 4)])
        | st.lists(st.tuples(end, end), min_size=1, max_size=20)
    )
    ends = draw(st.permutations(ends))
    sizes = draw(
        st.lists(st.sampled_from([1, 3, 6, 6, 7, 12]), min_size=len(ends), max_size=len(ends))
    )
    return nodes_of(ends, sizes)


def jacobian(nodes, rng):
    """Return (J, M^-1) of random trees of 1 to 8 columns; rows differ in scale."""
    tree_count = max(nodes["tree_a"].max(), nodes["tree_b"].max(), 0) + 1
    widths = rng.integers(1, 9, tree_count)
    starts = np.cumsum(widths) - widths
    inverse_mass = np.zeros((widths.sum(), widths.sum()))
    for start, width in zip(starts, widths):
        root = rng.normal(size=(width, width))
        part = slice(start, start + width)
        inverse_mass[part, part] = root @ root.T + 0.1 * np.eye(width)
    J = np.zeros((nodes["size"].sum(), widths.sum()))
    for node in nodes:
        rows = slice(node["first_row"], node["first_row"] + node["size"])
        for tree in {node["tree_a"], node["tree_b"]} - {-1}:
            columns = slice(starts[tree], starts[tree] + widths[tree])
            J[rows, columns] = rng.normal(size=(node["size"], widths[tree]))
    return J * 10.0 ** rng.uniform(-1.0, 1.0, (len(J), 1)), inverse_mass


def eliminated(nodes):
    """Return an elimination with exactly the room that it needs."""
    elimination = new_elimination(
        len(nodes), max(nodes["tree_a"].max(), nodes["tree_b"].max()) + 1, 0
    )
    if not run_eliminate(nodes, len(nodes), elimination):
        needed = int(elimination.counts["entry_count"][0])
        elimination = new_elimination(len(elimination.nodes), len(elimination.root), needed)
        assert run_eliminate(nodes, len(nodes), elimination)
    return elimination


def rows_of(nodes, n):
    return slice(nodes["first_row"][n], nodes["first_row"][n] + nodes["size"][n])


def assembled(nodes, elimination, A):
    """Return the pool of blocks of the dense matrix A."""
    matrix = np.full(elimination.counts["block_space"][0], np.nan)
    for column in elimination.columns[: len(nodes)]:
        own = rows_of(nodes, column["node"])
        size = column["size"]
        matrix[column["block"] :][: size * size] = A[own, own].ravel()
        for e in range(column["start"], column["end"]):
            entry = elimination.entries[e]
            later, at = elimination.columns[entry["column"]]["node"], entry["block"]
            block = A[rows_of(nodes, later), own]
            matrix[at : at + block.size] = block.ravel()
    assert np.isfinite(matrix).all()
    return matrix


def row_order(nodes, elimination):
    """Return the row numbers in their order of elimination."""
    order = elimination.columns["node"][: len(nodes)]
    return np.concatenate([np.arange(*rows_of(nodes, n).indices(10**9)) for n in order])
