# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Saved states of a world, by name. Needs no ROS."""

from __future__ import annotations

from typing import Any

from hrpsim.errors import WorldError, unknown_name

_LONGEST_NAME = 200  # [letters]


class SavedStates:
    """Snapshots of the present world by name; at most `limit` at once."""

    def __init__(self, limit: int = 20):
        self.limit = limit
        self._states: dict[str, dict[str, Any]] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the saved states."""
        return tuple(self._states)

    def save(self, name: str, world) -> None:
        """Save the present state, in place of one of that name."""
        if not 0 < len(name) <= _LONGEST_NAME:
            raise WorldError(f"the name of a state has 1 to {_LONGEST_NAME} letters")
        if name not in self._states and len(self._states) >= self.limit:
            raise WorldError(
                f"there are {len(self._states)} saved states: {', '.join(self._states)}; "
                f"state_limit is {self.limit}"
            )
        self._states[name] = world.snapshot()

    def restore(self, name: str, world) -> None:
        """Restore a state bit for bit; WorldError for an unknown name, or one of other entities."""
        if name not in self._states:
            raise WorldError(unknown_name("saved state", name, self._states))
        world.restore(self._states[name])

    def clear(self) -> None:
        """Drop all states: they belong to another world."""
        self._states = {}
