# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""States of a world that are kept by name. Needs no ROS."""

from __future__ import annotations

from typing import Any

from hrpsim.errors import WorldError, unknown_name

_LONGEST_NAME = 200  # [letters]


class SavedStates:
    """Snapshots by name, of one world after another; at most `limit` at once."""

    def __init__(self, limit: int = 20):
        self.limit = limit
        self._kept: dict[str, dict[str, Any]] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the states that are kept."""
        return tuple(self._kept)

    def save(self, name: str, world) -> None:
        """Keep the present state, in place of one of that name."""
        if not 0 < len(name) <= _LONGEST_NAME:
            raise WorldError(f"the name of a state has 1 to {_LONGEST_NAME} letters")
        if name not in self._kept and len(self._kept) >= self.limit:
            raise WorldError(
                f"there are {len(self._kept)} saved states: {', '.join(self._kept)}; "
                f"state_limit is {self.limit}"
            )
        self._kept[name] = world.snapshot()

    def restore(self, name: str, world) -> None:
        """Put the world into a state, bit for bit.

        Raises WorldError where there is none of that name, or something came or went since.
        """
        if name not in self._kept:
            raise WorldError(unknown_name("saved state", name, self._kept))
        world.restore(self._kept[name])

    def clear(self) -> None:
        """Drop all states: they are another world's."""
        self._kept = {}
