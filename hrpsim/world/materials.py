"""Friction and restitution of every pair of materials."""

from __future__ import annotations

import numpy as np

from hrpsim.constraints.contact_rows import MATERIAL_PAIR
from hrpsim.errors import WorldError


class MaterialTable:
    """Materials by name; a pair that nobody set has the default properties."""

    def __init__(self, static: float = 0.8, kinetic: float = 0.8, restitution: float = 0.0):
        self.default = (static, kinetic, restitution, 0.0, -1.0, np.inf)
        self.index: dict[str, int] = {"default": 0}
        self._pairs: dict[frozenset[str], tuple[float, ...]] = {}

    def add(self, name: str) -> None:
        """Make `name` known."""
        self.index.setdefault(name, len(self.index))

    def set_pair(
        self,
        a: str,
        b: str,
        static: float,
        kinetic: float,
        restitution: float,
        compliance: float = 0.0,
        damping_time: float = -1.0,
        force_limit: float = np.inf,
    ) -> None:
        """Set the coefficients between two materials; WorldError if they are not physical."""
        for what, value in {"static": static, "kinetic": kinetic}.items():
            if not (np.isfinite(value) and value >= 0.0):
                raise WorldError(f"{what} friction of {a!r} on {b!r} must be >= 0, got {value!r}")
        if kinetic > static:
            raise WorldError(
                f"kinetic friction of {a!r} on {b!r} ({kinetic}) must not exceed static ({static})"
            )
        if not 0.0 <= restitution <= 1.0:
            raise WorldError(
                f"restitution of {a!r} on {b!r} must be in [0, 1], got {restitution!r}"
            )
        self.add(a)
        self.add(b)
        self._pairs[frozenset((a, b))] = (
            static,
            kinetic,
            restitution,
            compliance,
            damping_time,
            force_limit,
        )

    def table(self) -> np.ndarray:
        """Return the (k, k) MATERIAL_PAIR records for the kernels."""
        k = len(self.index)
        table = np.empty((k, k), dtype=MATERIAL_PAIR)
        table[:] = self.default
        for pair, values in self._pairs.items():
            names = tuple(pair)
            i, j = self.index[names[0]], self.index[names[-1]]
            table[i, j] = table[j, i] = values
        return table
