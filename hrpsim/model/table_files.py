# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Tables of numbers in .npy and .csv files, checked before memory is taken for them."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from hrpsim import limits
from hrpsim.errors import ModelError
from hrpsim.text_file import read_text


def read_table(path: Path) -> np.ndarray:
    """Return the numbers (n, m) in a .npy file, or in a text file with commas.

    ModelError where it cannot be read, is no table of finite numbers, or is larger than it says.
    """
    table = _read_npy(path) if path.suffix == ".npy" else _read_csv(path)
    if table.ndim != 2 or not table.size:
        raise ModelError(f"{path}: a table is needed, with rows and columns, not {table.shape}")
    bad = np.argwhere(~np.isfinite(table))
    if len(bad):
        i, j = bad[0]
        raise ModelError(f"{path}: row {i}, column {j} is {table[i, j]}: it must be finite")
    return table


def _read_npy(path: Path) -> np.ndarray:
    try:
        size = path.stat().st_size
        if size > limits.TABLE_SIZE:
            raise ModelError(f"{path}: over {limits.TABLE_SIZE} bytes (TABLE_SIZE)")
        with path.open("rb") as file:
            version = np.lib.format.read_magic(file)
            if version == (1, 0):
                shape, _, kind = np.lib.format.read_array_header_1_0(file)
            else:
                shape, _, kind = np.lib.format.read_array_header_2_0(file)
            if kind.hasobject or kind.kind not in "iuf":
                raise ValueError(f"its entries are {kind}, not numbers")
            if math.prod(shape) * kind.itemsize > size:
                raise ValueError(f"it says that its shape is {shape}, and has {size} bytes")
        return np.load(path, allow_pickle=False).astype(np.float64)
    except ModelError:
        raise
    except Exception as cause:  # the header is parsed as Python text, which may fail in many ways
        reason = str(cause).strip().partition("\n")[0] or type(cause).__name__
        raise ModelError(f"{path}: cannot be read as a table of numbers: {reason}") from cause


def _read_csv(path: Path) -> np.ndarray:
    text = read_text(path, ModelError, limits.TABLE_SIZE, "TABLE_SIZE")
    try:
        return np.loadtxt(text.splitlines(), delimiter=",", ndmin=2)
    except ValueError as cause:
        raise ModelError(f"{path}: cannot be read as a table of numbers: {cause}") from cause
