# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Check arguments of a batch: values for one or all worlds, names, and numbers of worlds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hrpsim.common.errors import StateError, WorldError, require_name, shown_value
from hrpsim.common.values import as_numbers
from hrpsim.world.followed_entities import KINDS
from hrpsim.world.world import World


class BatchArguments:
    """The part of `Batch` that checks arguments."""

    worlds: tuple[World, ...]

    def __len__(self) -> int:
        return len(self.worlds)

    def numbers(self, worlds: Sequence[int] | np.ndarray | None) -> list[int]:
        """Return world numbers from None (all worlds), numbers, or a truth value for each world.

        Raises WorldError for any other argument, and for a world that does not exist.
        """
        if worlds is None:
            return list(range(len(self)))
        array = np.asarray(worlds)
        if array.dtype == bool and array.shape == (len(self),):
            return np.flatnonzero(array).tolist()
        if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
            raise WorldError(
                f"worlds must be indices, or {len(self)} truth values (one for each world of the "
                f"batch), got {shown_value(worlds)}"
            )
        for k in array.tolist():
            if not 0 <= k < len(self):
                raise WorldError(f"there is no world {k} in a batch of {len(self)}")
        return array.tolist()

    def _checked(self, what: str, array: np.ndarray, fits: bool, needed: str) -> np.ndarray:
        if not fits:
            raise StateError(f"{what} of {len(self)} worlds must {needed}, got {array.shape}")
        return array

    def _rows(self, what: str, given: ArrayLike) -> np.ndarray:
        array = as_numbers(what, given)
        fits = array.ndim == 2 and len(array) == len(self)
        return self._checked(what, array, fits, f"have shape ({len(self)}, joints)")

    def _numbers(self, what: str, given: ArrayLike | None) -> np.ndarray:
        """Return one number for each world, given one number or one for each world.

        None becomes NaN.
        """
        array = as_numbers(what, np.nan if given is None else given)
        fits = array.shape in ((), (len(self),))
        self._checked(what, array, fits, f"be one number or ({len(self)},)")
        return np.broadcast_to(array, (len(self),))

    def _vectors(self, what: str, given: ArrayLike) -> np.ndarray:
        """Return one vector for each world (count, 3), given one vector or one for each world."""
        array = as_numbers(what, given)
        fits = array.shape in ((3,), (len(self), 3))
        self._checked(what, array, fits, f"have shape (3,) or ({len(self)}, 3)")
        return np.broadcast_to(array, (len(self), 3))

    def _called(self, kind: str, name: str) -> list[Any]:
        """Return the robot, body or entity called `name` of each world."""
        result = []
        for world in self.worlds:
            there = getattr(world, kind)
            require_name(KINDS[kind], name, there)
            result.append(there[name])
        return result
