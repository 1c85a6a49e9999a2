# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The solver's stopping rule as parameters that can be changed while the world runs."""

from __future__ import annotations

from hrpsim.constants import STANDARD_GRAVITY


class SolverSettings:
    """Sets sweep limit and tolerance of a world; 0 means the world's own value."""

    def __init__(self, world):
        self._world = world
        settings = world.scene.settings[0]
        self._original = {
            name: settings[name].item()
            for name in ("sweep_limit", "cold_sweep_limit", "tolerance", "relative_tolerance")
        }
        self.sweep_limit = 0
        self.tolerance = 0.0

    def of(self, world) -> SolverSettings:
        """Return the same settings for another world, applied to it."""
        other = SolverSettings(world)
        other.sweep_limit, other.tolerance = self.sweep_limit, self.tolerance
        other.apply()
        return other

    def apply(self) -> None:
        """Write the settings to the world, after a change or a reset."""
        settings = self._world.scene.settings[0]
        for name in ("sweep_limit", "cold_sweep_limit"):
            settings[name] = self.sweep_limit or self._original[name]
        # World's rule: "relative_change" where that tolerance is set, "residual" otherwise.
        relative = self._original["relative_tolerance"] > 0.0
        name = "relative_tolerance" if relative else "tolerance"
        unit = 1.0 if relative else STANDARD_GRAVITY * self._world.time_step
        settings[name] = self.tolerance * unit or self._original[name]
