# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""What a tick of the stabiliser found, by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

SIGNALS = np.dtype(
    [
        ("lean", "f8", (2,)),  # roll and pitch of the waist against the reference [rad]
        ("zmp_reference", "f8", (2,)),  # this and the next ones in the reference's world [m]
        ("zmp_desired", "f8", (2,)),
        ("zmp_measured", "f8", (2,)),
        ("com", "f8", (3,)),
        ("com_reference", "f8", (3,)),
        ("dcm_error", "f8", (2,)),
        ("share", "f8"),  # the left foot's part of the load that is wanted
        ("loads", "f8", (2,)),  # of left and right foot [N]
    ]
)


def _places() -> dict[str, int | slice]:
    """Return where each signal is among the numbers of a record."""
    places: dict[str, int | slice] = {}
    for name, (kind, offset, *_) in SIGNALS.fields.items():
        begin, count = offset // 8, kind.itemsize // 8
        places[name] = slice(begin, begin + count) if kind.shape else begin
    return places


_PLACES = _places()


class Signals(Mapping):
    """The signals of one tick: a mapping from names to numbers, or to tuples of them.

    It is read from the numbers of a record of SIGNALS when it is looked at, which most never are.
    """

    __slots__ = ("_numbers",)

    def __init__(self, numbers: np.ndarray):
        self._numbers = numbers

    def __getitem__(self, name: str) -> Any:
        """Return one signal."""
        place = _PLACES[name]
        if isinstance(place, int):
            return float(self._numbers[place])
        return tuple(self._numbers[place].tolist())

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names."""
        return iter(SIGNALS.names)

    def __len__(self) -> int:
        """Return how many there are."""
        return len(SIGNALS.names)


def kept(signals: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return signals that stay as they are, whatever a controller does to its own."""
    if isinstance(signals, Signals):
        return signals
    return {name: np.array(value) for name, value in signals.items()}
