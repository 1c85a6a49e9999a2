# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Read the rows of CSV texts."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from pathlib import Path

from hrpsim.common import limits
from hrpsim.common.errors import HrpsimError


def csv_rows(
    lines: Iterable[str], label: str | Path, error: type[HrpsimError], most: int, limit: str
) -> Iterator[tuple[list[str], int]]:
    """Yield the cells of each row, stripped of spaces, and the number of the row's last line.

    Args:
        lines: lines of the text, with line ends.
        label: name of the file in errors.
        error: class of the errors.
        most: largest number of cells.
        limit: name of this limit in errors.

    Raises:
        error: a row is not valid CSV, or there are too many cells.
    """
    reader = csv.reader(lines, skipinitialspace=True)
    try:
        for row in reader:
            most -= len(row)
            if most < 0:
                raise error(f"{label}:{reader.line_num}: {limits.excess(limit, 'values')}")
            yield [cell.strip() for cell in row], reader.line_num
    except csv.Error as cause:
        raise error(f"{label}:{reader.line_num}: not CSV: {cause}") from cause
