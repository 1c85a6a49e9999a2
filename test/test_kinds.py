# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Kinds of arguments: what machine code depends on, told without numba."""

import os
import subprocess
import sys
from typing import NamedTuple

import numpy as np
import pytest

from hrpsim.engine.compile.compiled import kernel, prepared
from hrpsim.engine.compile.kinds import kind_of, text_of
from hrpsim.engine.compile.reference import TupleReference

POINT = [("x", "f8"), ("axis", "f8", (3,)), ("count", "i4")]


class Pair(NamedTuple):
    first: np.ndarray
    second: np.ndarray


class Other(NamedTuple):
    first: np.ndarray
    second: np.ndarray


def frozen(array: np.ndarray) -> np.ndarray:
    array.flags.writeable = False
    return array


ALIKE = [
    (np.zeros(3), np.ones(7)),
    (np.zeros((2, 3)), np.zeros((1, 3))),  # contiguous either way, or one way only
    (np.zeros(2, dtype=POINT), np.zeros(5, dtype=list(POINT))),
    (Pair(np.zeros(1), np.zeros(2)), Pair(np.ones(3), np.ones(4))),
    (np.zeros(2, dtype=POINT)[0], np.zeros(1, dtype=POINT)[0]),
    (1, np.int64(2)),
    (1.0, np.float64(2.0)),
    (True, np.bool_(False)),
]
DIFFERENT = [
    (np.zeros(3), np.zeros(3, dtype=np.float32)),
    (np.zeros(3), np.zeros((3, 1))),
    (np.zeros(6), np.zeros(6)[::2]),
    (np.zeros((2, 3)), np.zeros((3, 2)).T),
    (np.zeros(3), frozen(np.zeros(3))),
    (np.zeros(2, dtype=POINT), np.zeros(2, dtype=np.dtype(POINT, align=True))),
    (np.zeros(2, dtype=POINT), np.zeros(2, dtype=[("y", "f8"), *POINT[1:]])),
    (Pair(np.zeros(1), np.zeros(2)), Other(np.zeros(1), np.zeros(2))),
    (1, 1.0),
    (1, True),
]


@pytest.mark.parametrize("wrap", [lambda x: x, lambda x: TupleReference(Pair(x, x))])
@pytest.mark.parametrize("a, b", ALIKE[:3])
def test_arrays_that_numba_types_alike_are_of_one_kind(a, b, wrap):
    assert kind_of(wrap(a)) == kind_of(wrap(b))


@pytest.mark.parametrize("a, b", ALIKE)
def test_what_numba_types_alike_is_of_one_kind(a, b):
    assert kind_of(a) == kind_of(b) and text_of(kind_of(a)) == text_of(kind_of(b))


@pytest.mark.parametrize("a, b", DIFFERENT)
def test_what_numba_types_apart_is_not(a, b):
    assert kind_of(a) != kind_of(b) and text_of(kind_of(a)) != text_of(kind_of(b))


def test_texts_are_the_same_in_every_process():
    """Law: they name files, so they have no addresses in them nor an order that changes."""
    program = "from test_kinds import told; print(told())"
    path = os.pathsep.join([os.path.dirname(__file__), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": "7"}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == told().replace(__name__, "test_kinds")


def told() -> str:
    return " ".join(text_of(kind_of(value)) for pair in ALIKE + DIFFERENT for value in pair)


@pytest.mark.parametrize("value", [None, "text", [1.0], np.float32(1.0), 1j])
def test_other_arguments_are_refused(value):
    with pytest.raises(TypeError, match="kernels take arrays, records, tuples, int, float and boo"):
        weigh(value, 1)


@kernel
def weigh(x, n, factor=2.0):
    return n, factor * x[0], n > 1


def test_a_kernel_is_called_as_its_function_is():
    x = np.array([3.0])
    assert weigh(x, 2) == weigh(x, n=2, factor=2) == weigh(x, 2, 2.0) == (2, 6.0, True)
    assert prepared(weigh)(x, 0, 0.5) == (0, 1.5, False)


def test_python_s_errors_pass_through():
    """Law: a number that is none, or too few of them, raise as they do elsewhere."""
    run = prepared(weigh)
    run(np.ones(1), 2, 1.0)
    with pytest.raises(TypeError):
        run(np.ones(1), "two", 1.0)
    with pytest.raises(TypeError):
        run(np.ones(1), 2)
    with pytest.raises(OverflowError):
        run(np.ones(1), 2**70, 1.0)
