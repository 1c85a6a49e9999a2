# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Compare two tables column by column, and find which column is which, with sign and scale."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

_ALIKE = 0.9  # correlation of columns that are the same quantity
_SAME = 1.5  # ratio up to which motions in two simulators depart from each other
_STILL = 0.02  # standard deviation, relative to the size, of a column that says nothing by it


def differing_columns(
    names: Sequence[str], here: np.ndarray, there: np.ndarray, tolerance: float = 0.2
) -> Iterator[str]:
    """Say of each column that differs which one here it is.

    Two columns differ where the root mean square of their difference is more than `tolerance` of
    the recorded one's, or of 0.1 where that is smaller. Such columns are assigned to those here
    (Hungarian method) by this difference, with either sign, or by their correlation, whichever is
    better; those that are no other column, and not their own at another scale, depart.

    Args:
        names: of the columns (n,), such as "gravity[2]".
        here: (t, n).
        there: the recorded table (t, n).
        tolerance: relative.
    """
    from scipy.optimize import linear_sum_assignment

    sizes = np.maximum(np.sqrt(np.mean(there**2, axis=0)), 0.1)
    differs = np.flatnonzero(np.sqrt(np.mean((here - there) ** 2, axis=0)) > tolerance * sizes)
    recorded, size = there[:, differs], sizes[differs, None]
    equal, sign = _residuals(here, recorded, size)
    correlation, slope = _related(here, recorded, size)
    scaled = 1.0 - np.abs(correlation) + 0.01 * np.minimum(np.abs(np.log(np.abs(slope))), 1.0)
    terms = np.array([name.partition("[")[0] for name in names])
    strange = 0.05 * (terms[differs, None] != terms)
    rows, matches = linear_sum_assignment(np.minimum(equal, scaled) + strange)
    departed = []
    for row, match in zip(rows, matches):
        own, mean = differs[row], recorded[:, row].mean()
        factor, offset = sign[row, match], 0.0
        if equal[row, match] > tolerance:
            factor = slope[row, match]
            offset = mean - factor * here[:, match].mean()
        alike = min(equal[row, match], 1.0 - abs(correlation[row, match])) < 1.0 - _ALIKE
        shifted = abs(offset) > tolerance * sizes[own]
        if max(np.std(recorded[:, row]), np.std(here[:, own])) < _STILL * sizes[own] and not alike:
            yield f"{names[own]}: {here[:, own].mean():.4g} here, {mean:.4g} recorded"
        elif not alike or (own == match and 1.0 / _SAME < factor < _SAME and not shifted):
            departed.append(names[own])
        else:
            more = f" {offset:+.2g}" if shifted else ""
            yield f"{names[own]}: the recorded one is {factor:.2g} * {names[match]}{more} here"
    if departed:
        yield f"depart from the recording, and are no other column here: {', '.join(departed)}"


def _residuals(here, there, size) -> tuple[np.ndarray, np.ndarray]:
    """Return the relative difference from each column here (k, n), and the sign that it is for."""
    squares = np.mean(there**2, axis=0)[:, None] + np.mean(here**2, axis=0)
    products = there.T @ here / len(here)
    left = np.sqrt(np.maximum(squares - 2.0 * np.abs(products), 0.0)) / size
    return np.minimum(left, 2.0), np.where(products < 0.0, -1.0, 1.0)


def _related(here, there, size) -> tuple[np.ndarray, np.ndarray]:
    """Return correlation and slope there/here of each column there with each here (k, n)."""
    a, b = here - here.mean(axis=0), there - there.mean(axis=0)
    products = b.T @ a / len(here)
    squares, lengths = np.mean(a**2, axis=0), np.sqrt(np.mean(b**2, axis=0))[:, None]
    moves = (lengths > _STILL * size) & (squares > 1e-12)
    with np.errstate(divide="ignore", invalid="ignore"):
        correlation = products / (lengths * np.sqrt(squares))
        slope = products / squares
    moves &= products != 0.0
    return np.where(moves, correlation, 0.0), np.where(moves, slope, 1.0)
