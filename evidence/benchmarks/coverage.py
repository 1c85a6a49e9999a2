# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Coverage of fits to noisy recordings: how often confidence intervals contain the true value."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from scipy.signal import lfilter

from hrpsim.fitting import FitResult

SEEDS = 24  # number of fits, by default
COLOURS = (0.0, 0.9)  # autoregressive coefficients of the noise


def number_of_seeds() -> int:
    """Return the number of seeds: the program's first argument, or SEEDS."""
    return int(sys.argv[1]) if len(sys.argv) > 1 else SEEDS


def coloured(random: np.random.Generator, colour: float, *shape: int) -> np.ndarray:
    """Return first-order autoregressive noise of unit variance.

    Args:
        random: source of the noise.
        colour: correlation of successive samples, 0 for white noise.
        shape: shape of the result. The first axis is time.
    """
    white = random.normal(size=shape)
    white[1:] *= np.sqrt(1.0 - colour**2)
    return lfilter([1.0], [1.0, -colour], white, axis=0)


def coverage(fits: Iterable[FitResult], truth: Sequence[float]) -> tuple[np.ndarray, np.ndarray]:
    """Return the number of intervals that contain the truth (p,), and mean half widths (p,)."""
    low, high = np.array([(result.low, result.high) for result in fits]).swapaxes(0, 1)
    return ((low <= truth) & (truth <= high)).sum(axis=0), np.mean(0.5 * (high - low), axis=0)


def print_head(seeds: int) -> None:
    """Print the head of the table of unknowns, for white and coloured noise."""
    print(
        f"| unknown | truth | white, of {seeds} | half width | coloured, of {seeds} | half width |"
    )
    print("| --- | --- | --- | --- | --- | --- |")


def print_rows(truth: Mapping[str, float], white: tuple, autoregressive: tuple) -> None:
    """Print one row for each unknown.

    Args:
        truth: true values by name.
        white: result of `coverage` with white noise.
        autoregressive: result of `coverage` with coloured noise.
    """
    for path, true, *numbers in zip(truth, truth.values(), *white, *autoregressive):
        count, width, other, wider = numbers
        print(f"| `{path}` | {true:g} | {count} | {width:.2g} | {other} | {wider:.2g} |")
