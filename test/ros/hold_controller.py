# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The controller of user_controller.py, for a world in process."""

from hrpsim.control import Command, Controller


class Hold(Controller):
    """Commands the posture of the first state."""

    period = 0.005

    def initialize(self, state):
        self.first = state.joint_positions.copy()

    def control(self, state):
        return Command(positions=self.first)
