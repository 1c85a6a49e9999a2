# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Friction, restitution and law of impact of every pair of materials."""

from __future__ import annotations

import numpy as np

from hrpsim.constraints.contact_rows import MATERIAL_PAIR
from hrpsim.constraints.impact_rows import SEQUENTIAL, SIMULTANEOUS
from hrpsim.errors import WorldError, shown_value, unknown_name
from hrpsim.values import RANGES, number

IMPACT_LAWS = {"simultaneous": SIMULTANEOUS, "sequential": SEQUENTIAL}


def impact_law_code(name) -> int:
    """Return the code of a law of impact; WorldError for an unknown name."""
    if not isinstance(name, str) or name not in IMPACT_LAWS:
        raise WorldError(unknown_name("impact_law", str(name), IMPACT_LAWS))
    return IMPACT_LAWS[name]


def check_names(*names) -> None:
    """Raise for an invalid name of a material or a shape."""
    for name in names:
        if not isinstance(name, str):
            raise WorldError(f"a name must be a text, got {shown_value(name)}")


class MaterialTable:
    """Materials by name; a pair that was not set has the default properties.

    `impact_law` is that of pairs without a law of their own.
    """

    def __init__(self, impact_law: str):
        law = impact_law_code(impact_law)
        self.default = (0.8, 0.8, 0.0, law, 0.0, -1.0, np.inf, 0.0, 0.2, -1.0)
        self.index: dict[str, int] = {"default": 0}
        self._pairs: dict[frozenset[str], dict[str, float]] = {}

    def add(self, name: str) -> None:
        """Register `name`."""
        self.index.setdefault(name, len(self.index))

    def set_pair(
        self,
        a: str,
        b: str,
        static: float,
        kinetic: float,
        restitution: float,
        impact_law: str | None = None,
    ) -> None:
        """Set the coefficients between two materials; WorldError if they are not physical.

        impact_law None is that of the table.
        """
        pair = f"of {a!r} on {b!r}"
        static = number(f"static friction {pair}", static, RANGES["friction"])
        kinetic = number(f"kinetic friction {pair}", kinetic, RANGES["friction"])
        if kinetic > static:
            raise WorldError(
                f"kinetic friction of {a!r} on {b!r} ({kinetic}) must not exceed static ({static})"
            )
        restitution = number(f"restitution {pair}", restitution, RANGES["restitution"])
        law = self.default[3] if impact_law is None else impact_law_code(impact_law)
        self.change(a, b, static=static, kinetic=kinetic, restitution=restitution, sequential=law)

    def change(self, a: str, b: str, **values: float) -> None:
        """Set fields of the MATERIAL_PAIR of two materials; the caller has checked them."""
        check_names(a, b)
        self.add(a)
        self.add(b)
        self._pairs.setdefault(frozenset((a, b)), {}).update(values)

    def table(self) -> np.ndarray:
        """Return the (k, k) MATERIAL_PAIR records for the kernels."""
        k = len(self.index)
        table = np.empty((k, k), dtype=MATERIAL_PAIR)
        table[:] = self.default
        for pair, values in self._pairs.items():
            names = tuple(pair)
            i, j = self.index[names[0]], self.index[names[-1]]
            for name, value in values.items():
                table[name][i, j] = table[name][j, i] = value
        return table
