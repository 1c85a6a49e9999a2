# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Check the arguments of gymnasium's vector reset: the worlds to reset, and the seed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hrpsim.common.errors import StateError, require_names, shown_value


def reset_mask_of(options: dict[str, Any] | None, count: int) -> np.ndarray:
    """Return `options["reset_mask"]` as truth values (count,). The default is all worlds.

    Raises StateError for another option, for a mask of wrong type or shape, and for an empty
    selection.
    """
    require_names("option of reset", options or (), ("reset_mask",), StateError)
    if options is None or "reset_mask" not in options:
        return np.ones(count, dtype=bool)
    mask = options["reset_mask"]
    right = isinstance(mask, np.ndarray) and mask.shape == (count,) and mask.dtype == np.bool_
    if not right:
        shape = f"{mask.dtype} of shape {mask.shape}" if isinstance(mask, np.ndarray) else ""
        raise StateError(
            f"options['reset_mask'] must be a numpy array of bool with the shape ({count},), got"
            f" {shape or shown_value(mask)}"
        )
    if not mask.any():
        raise StateError("options['reset_mask'] chooses no world. Set at least one entry to True")
    return mask


def seed_of(seed: int | Sequence[int | None] | None, mask: np.ndarray) -> int | None:
    """Return the seed of a vector environment, or None.

    Raises StateError if the seed is a list instead of one number, or if a seed is combined with a
    mask that omits worlds.
    """
    if seed is None:
        return None
    if not isinstance(seed, (int, np.integer)) or isinstance(seed, bool) or seed < 0:
        raise StateError(
            f"seed must be one whole number >= 0 for all worlds, got {shown_value(seed)}. Each"
            " world draws its own episodes from the seed"
        )
    if not mask.all():
        raise StateError(
            "a seed restarts the episodes of all worlds. Give either a seed or a reset_mask"
        )
    return int(seed)
