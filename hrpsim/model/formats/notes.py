# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Notes on elements of a description that are not simulated, or not as it says."""

from __future__ import annotations

_SHOWN = 4  # names listed at most


class Notes:
    """Notes by element, in the order in which they came up."""

    def __init__(self) -> None:
        self._names: dict[tuple[str, str], list[str]] = {}

    def add(self, element: str, why: str, name: str = "") -> None:
        """Note that an element (called `name`, or one more without a name) is not as described."""
        self._names.setdefault((element, why), []).append(name)

    def lines(self) -> list[str]:
        """Return "element (count: names): why" for each."""
        found = []
        for (element, why), names in self._names.items():
            named = [name for name in dict.fromkeys(names) if name]
            shown = ", ".join(named[:_SHOWN]) + (", ..." if len(named) > _SHOWN else "")
            count = str(len(names)) + (f": {shown}" if shown else "")
            found.append(f"{element} ({count}): {why}")
        return found
