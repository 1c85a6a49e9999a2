# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The order of elimination and the structure of the factor, against dense Cholesky factors."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import cholesky
from scipy.sparse import csc_matrix
from scipy.sparse.linalg import splu
from solvers.constraint_graphs import (
    eliminated,
    graphs,
    jacobian,
    nodes_of,
    row_order,
    run_eliminate,
    run_same_graph,
)
from solvers.graph_shapes import binary_tree, chain, grid, quick, ring, star

from hrpsim.engine.solvers.elimination import new_elimination


def coupled(nodes):
    """Return (count, count) whether two nodes share a tree."""
    trees = [{node["tree_a"], node["tree_b"]} - {-1} for node in nodes]
    return np.array([[bool(x & y) for y in trees] for x in trees])


def fill(nodes, elimination):
    """Return how many blocks are stored that the matrix itself does not have."""
    blocks = np.count_nonzero(np.tril(coupled(nodes), -1))
    return int(elimination.counts["entry_count"][0]) - blocks


def structure(elimination, count):
    """Return (count, count) of the stored blocks below the diagonal, by column number."""
    stored = np.zeros((count, count), dtype=bool)
    for k, column in enumerate(elimination.columns[:count]):
        stored[elimination.entries["column"][column["start"] : column["end"]], k] = True
    return stored


@quick
@given(graphs())
def test_every_node_is_eliminated_once(nodes):
    elimination = eliminated(nodes)
    order = elimination.columns["node"]
    assert sorted(order) == list(range(len(nodes)))
    assert (elimination.columns["size"] == nodes["size"][order]).all()
    assert (elimination.columns["first_row"] == nodes["first_row"][order]).all()


@quick
@given(graphs())
def test_structure_is_that_of_symbolic_elimination(nodes):
    """Eliminating k couples all its later neighbours with one another, and nothing else."""
    elimination = eliminated(nodes)
    order = elimination.columns["node"]
    expected = coupled(nodes)[np.ix_(order, order)]
    for k in range(len(nodes)):
        later = np.flatnonzero(expected[k])
        later = later[later > k]
        expected[np.ix_(later, later)] = True
    assert (structure(elimination, len(nodes)) == np.tril(expected, -1)).all()


@quick
@given(graphs(), st.integers(0, 2**32 - 1))
def test_structure_holds_every_nonzero_of_the_cholesky_factor(nodes, seed):
    J, inverse_mass = jacobian(nodes, np.random.default_rng(seed))
    elimination = eliminated(nodes)
    rows = row_order(nodes, elimination)
    A = J @ inverse_mass @ J.T + np.eye(len(J))
    L = cholesky(A[np.ix_(rows, rows)], lower=True)
    column = np.repeat(np.arange(len(nodes)), elimination.columns["size"])
    stored = structure(elimination, len(nodes)) | np.eye(len(nodes), dtype=bool)
    assert (L[~stored[np.ix_(column, column)]] == 0.0).all()


@quick
@given(graphs())
def test_entries_ascend_and_blocks_do_not_overlap(nodes):
    elimination = eliminated(nodes)
    used = np.zeros(elimination.counts["block_space"][0], dtype=int)
    for column in elimination.columns:
        entries = elimination.entries[column["start"] : column["end"]]
        assert (np.diff(entries["column"]) > 0).all()
        used[column["block"] :][: column["size"] ** 2] += 1
        for entry in entries:
            height = elimination.columns["size"][entry["column"]]
            used[entry["block"] :][: height * column["size"]] += 1
    assert (used == 1).all()


@pytest.mark.parametrize("count", [1, 2, 39, 1600])
def test_chain_has_no_fill(count):
    nodes = nodes_of(chain(count), 6)
    assert fill(nodes, eliminated(nodes)) == 0


@pytest.mark.parametrize("ends", [star(30), binary_tree(60), [(i, -1) for i in range(9)]])
def test_trees_have_no_fill(ends):
    """The bodies' graph being a tree, the nodes' is chordal."""
    nodes = nodes_of(ends, 6)
    assert fill(nodes, eliminated(nodes)) == 0


@pytest.mark.parametrize("count", [4, 40, 400])
def test_fill_of_a_ring_is_one_block_for_each_node_but_three(count):
    nodes = nodes_of(ring(count), 6)
    assert fill(nodes, eliminated(nodes)) == count - 3


@pytest.mark.parametrize("side", [6, 10, 20, 30])
def test_grid_fills_no_more_than_with_multiple_minimum_degree(side):
    """Against the fill-reducing order of SuperLU (Liu's multiple minimum degree)."""
    nodes = nodes_of(grid(side, side), 1)
    pattern = csc_matrix(coupled(nodes) + 100.0 * np.eye(len(nodes)))
    options = {"SymmetricMode": True}
    peer = splu(pattern, "MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=options)
    assert eliminated(nodes).counts["entry_count"][0] + len(nodes) <= peer.L.nnz


@quick
@given(graphs(), st.randoms())
def test_rows_need_not_be_in_the_order_of_nodes(nodes, random):
    """Only sizes and trees decide the order; rows may lie anywhere."""
    before = eliminated(nodes)
    places = list(range(len(nodes)))
    random.shuffle(places)
    moved = nodes.copy()
    moved["first_row"][places] = np.cumsum(nodes["size"][places]) - nodes["size"][places]
    after = eliminated(moved)
    assert (after.columns["node"] == before.columns["node"]).all()
    assert (after.entries == before.entries).all()


def test_same_graph_notices_every_change():
    nodes = nodes_of(chain(5), 3)
    elimination = eliminated(nodes)
    assert run_same_graph(nodes, 5, elimination)
    assert not run_same_graph(nodes, 4, elimination)
    for field in nodes.dtype.names:
        other = nodes.copy()
        other[field][3] += 1
        assert not run_same_graph(other, 5, elimination), field


def test_no_graph_is_the_same_before_the_first_order():
    nodes = nodes_of(chain(5), 3)
    assert not run_same_graph(nodes, 0, new_elimination(5, 6, 4))


@quick
@given(graphs(), st.floats(0.0, 1.0))
def test_short_of_entries_says_how_many_and_writes_none_outside(nodes, share):
    full = eliminated(nodes)
    needed = int(full.counts["entry_count"][0])
    room = int(share * needed)
    short = new_elimination(len(nodes), len(full.root), needed)
    entries = short.entries
    guard = entries[room:].copy()
    short = short._replace(entries=entries[:room])
    assert run_eliminate(nodes, len(nodes), short) == (room == needed)
    assert short.counts == full.counts
    assert run_same_graph(nodes, len(nodes), short) == (room == needed)
    assert (entries[room:] == guard).all()


@pytest.mark.parametrize(("node_room", "tree_room"), [(4, 6), (5, 5), (0, 0)])
def test_short_of_nodes_or_trees_says_how_many_and_writes_nothing(node_room, tree_room):
    nodes = nodes_of(chain(5), 6)
    elimination = new_elimination(node_room, tree_room, 10)
    assert not run_eliminate(nodes, 5, elimination)
    counts = elimination.counts[0]
    assert (counts["node_count"], counts["tree_count"], counts["entry_count"]) == (5, 6, -1)
    assert not run_same_graph(nodes, 5, elimination)
    assert not any(elimination.columns.tobytes())


def test_same_nodes_same_order():
    nodes = nodes_of(grid(6, 7), 6)
    first, second = eliminated(nodes), eliminated(nodes)
    assert run_eliminate(nodes, len(nodes), second)
    for name in ("columns", "entries"):
        assert (getattr(first, name) == getattr(second, name)).all()
