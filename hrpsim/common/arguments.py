# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Parsers of option values for argparse, which refuses other values with exit status 2."""

import argparse
import math
from collections.abc import Callable

MOST_STEPS = 10**12  # largest number of steps of a run: 30 years at 1 ms


def real(low: float = -math.inf, high: float = math.inf, above: bool = False) -> Callable:
    """Return a parser of finite numbers from `low` to `high`. With `above`, `low` is excluded."""

    def parse(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{_cut(text)} is not a number") from None
        if not math.isfinite(value) or not low <= value <= high or (above and value == low):
            raise argparse.ArgumentTypeError(f"{_cut(text)} is not {_bounds(low, high, above)}")
        return value

    return parse


def whole(low: int, high: int) -> Callable:
    """Return a parser of whole numbers from `low` to `high`."""

    def parse(text: str) -> int:
        try:
            value = int(text) if len(text) < 30 else None
        except ValueError:
            value = None
        if value is None or not low <= value <= high:
            raise argparse.ArgumentTypeError(
                f"{_cut(text)} is not a whole number from {low} to {high}"
            )
        return value

    return parse


positive = real(0.0, 1e12, above=True)
not_negative = real(0.0, 1e12)
port = whole(0, 65535)


def _bounds(low: float, high: float, above: bool) -> str:
    if low == 0.0:
        return f"{'positive' if above else '0 or more'} and at most {high:g}"
    return f"a finite number from {low:g} to {high:g}"


def _cut(text: str) -> str:
    return repr(text[:60])
