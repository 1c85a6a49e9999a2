# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Kernels read the fields of a tuple of arrays through a reference, and write to the arrays."""

from typing import NamedTuple

import numba
import numpy as np
import pytest

from hrpsim.engine.compile.compiled import inner_kernel, kernel
from hrpsim.engine.compile.reference import TupleReference

POINT = np.dtype([("x", "f8"), ("count", "i8"), ("axis", "f8", (3,))])


class Inner(NamedTuple):
    points: np.ndarray  # (n,) POINT
    table: np.ndarray  # (n, m)


class Outer(NamedTuple):
    first: np.ndarray  # (n,)
    inner: Inner
    last: np.ndarray  # (n,) integers


def outer(n: int) -> Outer:
    points = np.zeros(n, dtype=POINT)
    points["x"], points["count"] = np.arange(n), 10 + np.arange(n)
    points["axis"] = np.arange(3 * n).reshape(n, 3)
    table = np.arange(2.0 * n).reshape(n, 2)
    return Outer(np.linspace(0.0, 1.0, n), Inner(points, table), np.arange(n))


@kernel
def measure(s):
    """Return a sum over everything, by sizes read from the arrays; count all points up."""
    total = 0.0
    for k in range(s.first.shape[0]):
        total += s.first[k]
    for k in range(s.inner.points.shape[0]):
        point = s.inner.points[k]
        total += point.x + point.count + point.axis[0] + point.axis[1] + point.axis[2]
        point.count += 1
    inner = s.inner
    for k in range(inner.table.shape[0]):
        for j in range(inner.table.shape[1]):
            total += inner.table[k, j]
    for k in range(s.last.shape[0]):
        total += s.last[k]
    return total


@pytest.mark.parametrize("n", [0, 1, 7])
def test_a_kernel_reads_and_writes_through_it(n):
    whole = outer(n)
    parts = [whole.first, *(whole.inner.points[f] for f in POINT.names), whole.inner.table]
    expected = sum(float(np.sum(part)) for part in (*parts, whole.last))
    assert measure(TupleReference(whole)) == pytest.approx(expected, abs=1e-12)
    assert whole.inner.points["count"].tolist() == list(range(11, 11 + n))
    assert len(measure.codes) == 1


@kernel
def layout(s):
    """Return what kernels take for sizes and strides of the arrays of `Inner`, and of a part."""
    points, table = s.inner.points, s.inner.table
    row = table[1]
    return (
        points.size,
        points.itemsize,
        points.strides[0],
        table.size,
        table.itemsize,
        table.strides[0],
        table.strides[1],
        row.size,
        row.strides[0],
    )


@pytest.mark.parametrize("n", [2, 7])
def test_sizes_and_strides_are_those_of_numpy(n):
    """Those that follow from shape and kind are not read from memory."""
    points, table = outer(n).inner
    expected = [points.size, points.itemsize, *points.strides]
    expected += [table.size, table.itemsize, *table.strides, table[1].size, *table[1].strides]
    assert list(layout(TupleReference(outer(n)))) == expected


class Whole(NamedTuple):
    before: np.ndarray  # (n, m)
    outer: Outer
    after: np.ndarray  # (n,)


@inner_kernel
def last_of(inner):
    """Return the last entry of a part's table, and put 5 in its place."""
    last = inner.table[inner.table.shape[0] - 1, 1]
    inner.table[inner.table.shape[0] - 1, 1] = 5.0
    return last


@kernel
def take_parts(s, which):
    """Return numbers from parts of parts, handed to another kernel or chosen by `which`."""
    outer = s.outer
    last = last_of(outer.inner)
    chosen = s.before if which else outer.inner.table
    return last, last_of(s.outer.inner), chosen[1, 0], s.after[0], outer.last.size


def test_parts_of_parts_are_references_as_well():
    before, after = np.full((2, 2), 7.0), np.array([9.0])
    whole = Whole(before, outer(3), after)
    table = whole.outer.inner.table
    assert take_parts(TupleReference(whole), True) == (5.0, 5.0, 7.0, 9.0, 3)
    assert table[2, 1] == 5.0
    table[2, 1] = 11.0
    assert take_parts(TupleReference(whole), False) == (11.0, 5.0, 2.0, 9.0, 3)


def test_it_keeps_its_arrays_alive():
    reference = TupleReference(outer(1000))
    junk = [np.full(1000, 7.0) for _ in range(100)]
    assert measure(reference) == measure(TupleReference(outer(1000)))
    assert len(junk) == 100


def test_a_field_that_is_not_there_is_refused_when_a_kernel_is_compiled():
    @kernel
    def ask(s):
        return s.missing

    with pytest.raises(numba.core.errors.TypingError, match="missing"):
        ask(TupleReference(outer(2)))


def test_one_made_after_another_is_about_its_own_arrays():
    first = TupleReference(outer(5))
    shorter = first.whole._replace(first=np.ones(2), last=np.arange(3))
    second = TupleReference(shorter, first)
    assert second.kind_for_kernels is first.kind_for_kernels
    fresh = TupleReference(outer(5)._replace(first=np.ones(2), last=np.arange(3)))
    assert measure(second) == measure(fresh)
    strided = TupleReference(first.whole._replace(first=np.ones(4)[::2]), first)
    assert strided.kind_for_kernels is not first.kind_for_kernels
