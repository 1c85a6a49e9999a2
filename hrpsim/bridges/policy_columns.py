# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Compare two tables column by column, and find which column is which, with sign and scale."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

_ALIKE = 0.9  # correlation of columns that are the same quantity
_STILL = 1e-6  # standard deviation of a column that is constant


def differing_columns(
    names: Sequence[str], here: np.ndarray, there: np.ndarray, tolerance: float = 0.2
) -> Iterator[str]:
    """Say of each column that differs which one here it is.

    Two columns differ where the root mean square of their difference is more than `tolerance` of
    the recorded one's, or of 0.1 where that is smaller. Columns are assigned to each other by
    their correlation (Hungarian method), equal ones to those of the same size.

    Args:
        names: of the columns (n,).
        here: (t, n).
        there: the recorded table (t, n).
        tolerance: relative.
    """
    from scipy.optimize import linear_sum_assignment

    size = np.maximum(np.sqrt(np.mean(there**2, axis=0)), 0.1)
    differs = np.flatnonzero(np.sqrt(np.mean((here - there) ** 2, axis=0)) > tolerance * size)
    correlation, slope = _related(here, there[:, differs])
    with np.errstate(divide="ignore"):
        odd = np.minimum(np.abs(np.log(np.abs(slope))), 1.0)
    rows, matches = linear_sum_assignment(1.0 - np.abs(correlation) + 0.01 * odd)
    for row, match in zip(rows, matches):
        own, name = differs[row], names[differs[row]]
        recorded, means = there[:, own], here.mean(axis=0)
        if np.std(recorded) < _STILL and np.std(here[:, own]) < _STILL:
            yield f"{name}: {means[own]:.4g} here, {recorded.mean():.4g} recorded"
        elif abs(correlation[row, match]) < _ALIKE:
            alike = correlation[row, own]
            yield f"{name}: like no column here (correlation with its own {alike:.2f})"
        else:
            factor = slope[row, match]
            offset = recorded.mean() - factor * means[match]
            more = f" {offset:+.2g}" if abs(offset) > tolerance * size[own] else ""
            yield f"{name}: the recorded one is {factor:.2g} * {names[match]}{more} here"


def _related(here: np.ndarray, there: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return correlation and slope there/here of each column there with each here (k, n)."""
    a, b = here - here.mean(axis=0), there - there.mean(axis=0)
    products = b.T @ a
    squares, lengths = np.sum(a**2, axis=0), np.sqrt(np.sum(b**2, axis=0))
    still = len(here) * _STILL**2
    moves = np.outer(lengths**2 > still, squares > still)
    with np.errstate(divide="ignore", invalid="ignore"):
        correlation = products / np.outer(lengths, np.sqrt(squares))
        slope = products / squares
    return np.where(moves, correlation, 0.0), np.where(moves, slope, 1.0)
