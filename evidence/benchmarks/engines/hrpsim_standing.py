# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The standing robot in hrpsim."""

from __future__ import annotations

import numpy as np

from evidence.benchmarks.standing_engine import Touching
from evidence.experiments.scenes.standing import our_standing

CONVERGED, FORCED = "hrpsim, converged", "hrpsim, 120 sweeps"
SWEEPS = 120


class HrpsimStanding:
    """The standing robot in hrpsim, at rest in the half-sitting posture, with options of World.

    sweeps: number of sweeps in every step, converged or not.
    """

    def __init__(self, model, name: str = CONVERGED, sweeps: int | None = None, **options) -> None:
        self.name, self.model = name, model
        self.world, self.robot = our_standing(model, **options)
        if sweeps is not None:  # in the kernel's settings, because World refuses this
            self.world.scene.settings["sweep_limit"] = sweeps
            self.world.scene.settings["tolerance"] = -1.0
        self.gained = [name for name in model.joint_names if model.gains.get(name, (0.0,))[0] > 0]
        self._at = [model.joint(name).q_index for name in self.gained]

    def step(self, count: int) -> None:
        """Make `count` steps."""
        self.world.step(count)

    def aim(self, q) -> None:
        """Set the targets of the servos to the configuration q."""
        self.robot.command(positions=q[self._at], names=self.gained)

    def state(self):
        """Return q (nq,) and v (nv,)."""
        return self.robot.q.copy(), self.robot.v.copy()

    def touching(self) -> Touching:
        """Return the contacts of the last step, with the forces on the robot."""
        contacts = self.world.contacts
        sides = [1.0 if c.a[0] == self.robot.name else -1.0 for c in contacts]
        return Touching(
            np.array([c.point for c in contacts]).reshape(-1, 3),
            np.array([-c.gap for c in contacts]),
            np.array([side * c.force for side, c in zip(sides, contacts)]).reshape(-1, 3),
        )
