# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Declarations of the arrays that kernels work on: meaning, type, axes and lifetime of each array.

The fields of a named tuple of arrays are declared with `array`, `state`, `constant` and `part`.
Code that treats all arrays in the same way reads these declarations. Examples are allocation,
growth, snapshots, removal, sleep and documentation (hrpsim.world.arrays). A new array is therefore
added in one place. Working memory outside of a scene is declared with `work`.
"""

import math
from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Any, NamedTuple

import numpy as np

_CACHE_LINE = 64  # [bytes]


class Life(Enum):
    """The lifetime of an array."""

    CONSTANT = "constant"  # contents of the world; made with the scene
    STATE = "state"  # input of the next step: part of snapshots
    RESULT = "result"  # output of a step, read until the next one
    WORK = "work"  # written in every step before it is read; worlds may share it
    CACHE = "cache"  # follows from the state; a step need not write it again
    PROCESS = "process"  # addresses in this process


class Axis(Enum):
    """Kinds of objects that an array can have entries for."""

    __hash__ = object.__hash__  # members are compared by identity; that of Enum is slow

    BODY = "body"
    RK4_BODY = "body in a world with rk4"
    AUDITED_BODY = "body in a world whose energy is audited"
    POSITION = "position"
    DOF = "degree of freedom"
    SENSOR = "sensor"
    SHAPE = "shape"
    MOVING = "shape that moves"
    BODY_BOUNDS = "body with shapes"
    PAIR = "candidate pair"
    EXCLUDED = "excluded pair"
    MATERIAL = "material"
    SOLVER_CLASS = "solver class"
    CONTACT = "contact"
    CONNECTION = "connection"
    WRENCH = "applied wrench"
    ACTUATOR = "actuator with a model"
    COMMAND = "stored command"
    READING = "stored reading"
    TENDON = "driven tendon"
    CONSTRAINT_BODY = "constraint_body"
    COLUMN = "velocity entry"
    BLOCK = "block entry"
    ROW = "row"
    RESPONSE = "response entry"
    ISLAND = "island"


class Field(NamedTuple):
    """The declaration of an array in a scene."""

    meaning: str
    dtype: Any
    shape: tuple[Axis | int | str, ...]
    life: Life
    refers: Mapping[str, Axis]  # fields of its records that are indices along an axis, -1 for none
    live: str  # the count of valid entries in the scene's `counts`; "": all are
    carries: tuple[str, ...] | None  # fields preserved where entities come or go; None: all
    fill: int

    @property
    def axis(self) -> Axis | int | str:
        """The axis of the array's entries, or a fixed number of entries."""
        return self.shape[0]


class FieldGroup(NamedTuple):
    """The declaration of a named tuple of arrays inside another named tuple."""

    kind: type
    meaning: str = ""  # given where its arrays are declared in no table


def array(
    meaning: str,
    dtype,
    *shape: Axis | int | str,
    life: Life = Life.WORK,
    refers: Mapping[str, Axis] | None = None,
    live: str = "",
    carries: tuple[str, ...] | None = None,
    fill: int = 0,
) -> Any:
    """Declare an array, as the default value of a field in the class of a named tuple.

    Args:
        meaning: description for the documentation.
        dtype: numpy type of the entries.
        shape: number of entries along each axis. An Axis stands for the number of its objects.
        life: lifetime of the array.
        refers: fields of the records that are indices along an axis, -1 for none.
        live: name of the count of valid entries in the scene's `counts`. "": all are valid.
        carries: fields that are preserved when entities are added or removed. None: all.
        fill: initial value.
    """
    return Field(meaning, np.dtype(dtype), shape, life, refers or {}, live, carries, fill)


def constant(meaning: str, dtype, *shape: Axis | int, **more: Any) -> Any:
    """Declare an array with Life.CONSTANT. The arguments are the same as of `array`."""
    return array(meaning, dtype, *shape, life=Life.CONSTANT, **more)


def state(meaning: str, dtype, *shape: Axis | int, **more: Any) -> Any:
    """Declare an array with Life.STATE. The arguments are the same as of `array`."""
    return array(meaning, dtype, *shape, life=Life.STATE, **more)


def work(shape: str, meaning: str = "", dtype="f8", fill: int = 0) -> Any:
    """Declare working memory outside of scenes.

    shape: sizes by name, such as "3, 2 nv + p". The other arguments are explained at `array`.
    """
    return array(meaning, dtype, *shape.split(","), fill=fill)


def part(kind: type, meaning: str = "") -> Any:
    """Declare a named tuple of arrays inside another named tuple.

    If a `meaning` is given, `declared_fields` does not list the arrays of the inner tuple.
    """
    return FieldGroup(kind, meaning)


def declared_fields(kind: type, prefix: str = "") -> Iterator[tuple[str, Field]]:
    """Yield (path, field) of each array that a named tuple and its inner tuples declare."""
    for name, declared in kind._field_defaults.items():
        if isinstance(declared, Field):
            yield prefix + name, declared
        elif not declared.meaning:
            yield from declared_fields(declared.kind, f"{prefix}{name}.")


def allocate(kind: type, sizes: Mapping[Axis, int] | Mapping[str, int], **given):
    """Allocate a named tuple of arrays as declared. Arrays passed in `given` are used unchanged.

    Raises KeyError for an axis without a size.
    """
    made = dict(given)
    for name, declared in kind._field_defaults.items():
        if name in given:
            continue
        if isinstance(declared, FieldGroup):
            made[name] = allocate(declared.kind, sizes)
        else:
            shape = [_length(k, sizes) for k in declared.shape]
            made[name] = new_array(shape, declared.dtype, declared.fill)
    return kind(**made)


def _length(axis: Axis | int | str, sizes: Mapping) -> int:
    """Return the number of entries along an axis. A text is a sum of products: "2 nv + p"."""
    if not isinstance(axis, str):
        return sizes[axis] if isinstance(axis, Axis) else axis
    terms = [term.split() for term in axis.split("+")]
    return sum(math.prod(int(k) if k.isdigit() else sizes[k] for k in term) for term in terms)


def new_array(shape, dtype, fill: int = 0) -> np.ndarray:
    """Return an array that is aligned to a cache line of the processor.

    If a record's field of eight numbers is aligned, a kernel reads the field from one cache line.
    """
    dtype = np.dtype(dtype)
    size = math.prod(shape) * dtype.itemsize
    room = np.zeros(size + _CACHE_LINE, dtype=np.uint8)
    start = -room.ctypes.data % _CACHE_LINE
    array = np.ndarray(shape, dtype, room.data, start)
    if fill != 0:
        array[...] = fill
    return array


def rows_of(records: np.ndarray) -> np.ndarray:
    """Return records (n,) as rows of bytes (n, size), which numpy copies faster than fields."""
    return records.view(np.uint8).reshape(len(records), records.dtype.itemsize)


def at(whole: tuple, path: str) -> np.ndarray:
    """Return the array at a path in a named tuple, such as "islands.trees"."""
    for name in path.split("."):
        whole = getattr(whole, name)
    return whole


def replaced(whole: tuple, arrays: Mapping[str, np.ndarray]):
    """Return a copy of a named tuple with other arrays at the paths in `arrays`."""
    changes: dict[str, Any] = {}
    within: dict[str, dict[str, np.ndarray]] = {}
    for path, value in arrays.items():
        name, _, inner_path = path.partition(".")
        if inner_path:
            within.setdefault(name, {})[inner_path] = value
        else:
            changes[name] = value
    for name, inner in within.items():
        changes[name] = replaced(getattr(whole, name), inner)
    return whole._replace(**changes)
