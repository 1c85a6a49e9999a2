# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Read tables of numbers from lines of text."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from hrpsim.common.errors import HrpsimError

_LONGEST = 5_000_000  # characters of a line


def number_table(
    lines: Sequence[str],
    label: str | Path,
    error: type[HrpsimError],
    delimiter: str | None = ",",
    comments: str | None = "#",
) -> np.ndarray:
    """Return the numbers in a table of text, as an array (rows, columns).

    Args:
        lines: lines of text, one for each row. Empty lines are skipped.
        label: name of the file in errors.
        error: class of the error.
        delimiter: text between two numbers. None: white space.
        comments: text that begins a comment, which reaches to the end of the line. None: no
            comments.

    Raises:
        error: a word is not a number, or rows differ in length.
    """
    if max(map(len, lines), default=0) > _LONGEST:
        raise error(f"{label}: a line has more than {_LONGEST} characters. Split the line")
    if not any(line.partition(comments or "\n")[0].strip() for line in lines):
        return np.empty((0, 0))
    try:
        return np.loadtxt(lines, delimiter=delimiter, comments=comments, ndmin=2)
    except ValueError as cause:
        raise error(f"{label}: cannot be read as a table of numbers: {cause}") from cause
