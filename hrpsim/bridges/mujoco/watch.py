# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Detect writes to a model, by comparing the model's memory with the last known values.

The known values are the values with which the present world was made. The watched fields are those
whose changes hrpsim applies.
"""

from __future__ import annotations

import ctypes
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

import hrpsim.bridges.mujoco.fields as fields
from hrpsim.bridges.mujoco.model import MjModel
from hrpsim.bridges.mujoco.native import package, refuse_change
from hrpsim.common.errors import ModelWarning
from hrpsim.engine.compile.compiled import entry_point, inlined_kernel, kernel
from hrpsim.engine.compile.kernel_types import Indices
from hrpsim.engine.compile.reference import TupleReference

_WORD = 8  # bytes. MuJoCo's arrays begin at multiples of 64 bytes.
_SCALARS = fields.OPTION[fields.Use.FOLLOWED].split()
_ROUNDING = 1e-6
_NOTHING = np.empty(0, dtype=np.int64)
_PLACES = {"body": ("ipos", "iquat"), "geom": ("pos", "quat"), "site": ("pos", "quat")}


class Blocks(NamedTuple):
    """Views of a model's memory as words of 8 bytes, each with a copy of the known values."""

    now_0: np.ndarray
    now_1: np.ndarray
    now_2: np.ndarray
    now_3: np.ndarray
    now_4: np.ndarray
    now_5: np.ndarray
    known_0: np.ndarray
    known_1: np.ndarray
    known_2: np.ndarray
    known_3: np.ndarray
    known_4: np.ndarray
    known_5: np.ndarray


_COUNT = len(Blocks._fields) // 2


@kernel
def differs(s: Blocks) -> bool:
    """Return whether any word of memory differs from its known value."""
    return (
        _differing(s.now_0, s.known_0)
        | _differing(s.now_1, s.known_1)
        | _differing(s.now_2, s.known_2)
        | _differing(s.now_3, s.known_3)
        | _differing(s.now_4, s.known_4)
        | _differing(s.now_5, s.known_5)
    ) != 0


@inlined_kernel
def _differing(now: Indices, known: Indices) -> int:
    """Return the bitwise or of all differences between words. The loop has no early exit."""
    bits = 0
    for k in range(now.shape[0]):
        bits |= now[k] ^ known[k]
    return bits


class Watch:
    """Compares a model with its values at the time when a world was made."""

    def __init__(self, model: MjModel) -> None:
        self._model = model
        self._fields = _watched(model.native)
        self._known = {name: array.copy() for name, array in self._fields.items()}
        self._options = _options_of(model.native)
        self._changes = model.options.changes
        self._is_forgotten = False
        blocks = _blocks(self._fields)
        self._blocks = TupleReference(Blocks(*blocks, *(block.copy() for block in blocks)))
        self._differs = partial(entry_point(differs, self._blocks), self._blocks)

    def is_changed(self) -> bool:
        """Return whether any watched field may have changed, or an option was written."""
        return self._model.options.changes != self._changes or self._differs()

    @contextmanager
    def known_values(self) -> Iterator[None]:
        """Set the watched fields and options to their known values within the context."""
        if not self.is_changed():
            yield
            return
        native, known, options = self._model.native, self._known, _options_of(self._model.native)
        differ = {n: a.copy() for n, a in self._fields.items() if not _same(a, known[n])}
        changed = [n for n in options if n in _SCALARS and options[n] != self._options[n]]
        for name in differ:
            self._fields[name][...] = known[name]
        for name in changed:
            setattr(native.opt, name, self._options[name])
        try:
            yield
        finally:
            for name, values in differ.items():
                self._fields[name][...] = values
            for name in changed:
                setattr(native.opt, name, options[name])

    def forget(self) -> None:
        """Make the next comparison report all fields, because the changes were not applied."""
        self._is_forgotten, self._changes = True, -1

    def changed(self) -> list[str]:
        """Return the names of the watched fields and options that differ from the known values.

        The present values of all fields then become the known values.

        Raises:
            HrpsimError: hrpsim does not simulate a new value. The known values stay unchanged.
        """
        native = self._model.native
        result = [n for n, array in self._fields.items() if not _same(array, self._known[n])]
        self._refuse_free(result)
        if "geom_size" in result or "geom_rbound" in result:
            self._warn_of_bounds()
        self._free_frames(result)
        for name in result:
            self._known[name][...] = self._fields[name]
        options = _options_of(native)
        result += [f"opt.{name}" for name in options if options[name] != self._options[name]]
        if self._is_forgotten:
            result = [*self._fields, *(f"opt.{name}" for name in options)]
        self._is_forgotten = False
        self._options, self._changes = options, self._model.options.changes
        blocks = self._blocks.whole
        for present, known in zip(blocks[:_COUNT], blocks[_COUNT:], strict=True):
            known[:] = present
        return result

    def _warn_of_bounds(self) -> None:
        """Warn about geoms that extend beyond geom_rbound.

        MuJoCo may miss contacts of such geoms.
        """
        native = self._model.native
        reach = _reaches(native)
        beyond = (native.geom_rbound > 0.0) & (reach > native.geom_rbound * (1.0 + _ROUNDING))
        if beyond.any():
            names = [native.geom(at).name or f"geom {at}" for at in np.flatnonzero(beyond).tolist()]
            why = "have contacts here that MuJoCo may miss, beyond geom_rbound. Call mj_setConst"
            warnings.warn(f"{', '.join(names)} {why}", ModelWarning, stacklevel=6)

    def _refuse_free(self, found: list[str]) -> None:
        """Raise if armature or dry friction of a free body was changed. hrpsim supports neither."""
        native = self._model.native
        is_free = native.jnt_type[native.dof_jntid] == package().mjtJoint.mjJNT_FREE
        for name in ("dof_armature", "dof_frictionloss"):
            if name in found:
                changed = (self._fields[name] != self._known[name]) & is_free
                if changed.any():
                    refuse_change(f"MjModel.{name}, of a free joint,", 0.0, 1.0)

    def _free_frames(self, found: list[str]) -> None:
        """Make MuJoCo recompute the frames of bodies, geoms and sites whose placement has changed.

        If a placement was zero when the model was compiled, MuJoCo ignores changes of the
        placement.
        """
        native = self._model.native
        for name in found:
            kind, _, field = name.partition("_")
            if kind not in ("body", "geom", "site") or field not in _PLACES[kind]:
                continue
            flags = getattr(native, f"{kind}_sameframe")
            moved = (self._fields[name] != self._known[name]).any(axis=1) & (flags != 0)
            for at in np.flatnonzero(moved).tolist():
                label = getattr(native, kind)(at).name or at
                why = f"MjModel.{name} of {kind} {label!r} acts here, and has no effect in MuJoCo"
                warnings.warn(f"{why}: {kind}_sameframe is set", ModelWarning, stacklevel=6)
            flags[moved] = 0


def _same(a: np.ndarray, b: np.ndarray) -> bool:
    return a.tobytes() == b.tobytes()


def _reaches(m: Any) -> np.ndarray:
    """Return the bounding radii of primitive geoms about their centres (n,). Other geoms have 0."""
    sorts, sizes, kinds = package().mjtGeom, m.geom_size, m.geom_type
    reaches = {
        sorts.mjGEOM_SPHERE: sizes[:, 0],
        sorts.mjGEOM_CAPSULE: sizes[:, 0] + sizes[:, 1],
        sorts.mjGEOM_ELLIPSOID: sizes.max(axis=1, initial=0.0),
        sorts.mjGEOM_CYLINDER: np.hypot(sizes[:, 0], sizes[:, 1]),
        sorts.mjGEOM_BOX: np.linalg.norm(sizes, axis=1),
    }
    return np.select([kinds == int(kind) for kind in reaches], list(reaches.values()), 0.0)


def _watched(native: Any) -> dict[str, np.ndarray]:
    """Return the watched arrays of a mujoco.MjModel, including the vectors of its options."""
    arrays = {
        name: getattr(native, name, _NOTHING) for name in sorted(fields.FOLLOWED | fields.DERIVED)
    }
    arrays |= {f"opt.{name}": getattr(native.opt, name) for name in ("gravity", "wind", "magnetic")}
    return {name: array for name, array in arrays.items() if array.size}


def _options_of(native: Any) -> dict[str, float]:
    """Return the watched scalar options, and a flag that mj_setConst changes."""
    values = {name: getattr(native.opt, name) for name in _SCALARS}
    values["flg_gravcomp"] = getattr(native, "flg_gravcomp", 0)
    return {name: value for name, value in values.items() if not isinstance(value, np.ndarray)}


def _blocks(watched: dict[str, np.ndarray]) -> list[np.ndarray]:
    """Return `_COUNT` blocks of memory that together contain all watched arrays.

    The options are one block. All other arrays are within one memory buffer of the model.
    """
    spans: dict[bool, list[tuple[int, int]]] = {True: [], False: []}
    for name, array in watched.items():
        begin = array.ctypes.data
        spans[name.startswith("opt.")].append((begin, begin + array.nbytes))
    options, others = sorted(spans[True]), sorted(spans[False])
    gaps = [after[0] - before[1] for before, after in pairwise(others)]
    widest = sorted(range(len(gaps)), key=gaps.__getitem__, reverse=True)[: _COUNT - 2]
    cuts = [0, *sorted(k + 1 for k in widest), len(others)]
    result = [_words(others[a][0], others[b - 1][1]) for a, b in pairwise(cuts) if a < b]
    result.append(_words(options[0][0], options[-1][1]))
    return [*result, *[_NOTHING] * (_COUNT - len(result))]


def _words(begin: int, end: int) -> np.ndarray:
    """Return the memory from address `begin` to `end` as words.

    Arrays are padded to whole words.
    """
    count = -(-(end - begin) // _WORD)
    return np.ctypeslib.as_array((ctypes.c_int64 * count).from_address(begin))
