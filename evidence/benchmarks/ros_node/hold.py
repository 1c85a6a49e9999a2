# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A minimal controller for `hrpsim_controller` with a period of 1 ms."""

from __future__ import annotations

from hrpsim.control import Command, Controller, State


class Hold(Controller):
    """A controller that holds the first received positions."""

    period = 0.001

    def initialize(self, state: State) -> None:
        """Store the positions."""
        self._positions = state.joint_positions

    def control(self, state: State) -> Command:
        """Return the stored positions."""
        return Command(positions=self._positions)
