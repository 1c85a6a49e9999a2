# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Our bin."""

from __future__ import annotations

import numpy as np

from evidence.benchmarks.bin_scene import FRICTION, GRAVITY, TIME_STEP, BinScene, walls
from hrpsim import World


class HrpsimBin:
    """The bin in hrpsim. Meshes collide by their triangles."""

    def __init__(self, scene: BinScene, sleeping: bool) -> None:
        self.name = "hrpsim, sleeping" if sleeping else "hrpsim"
        self.world = World(TIME_STEP, gravity=(0.0, 0.0, -GRAVITY), sleeping=sleeping)
        self.world.set_friction("default", "default", static=FRICTION)
        for box, center in walls():
            self.world.add_static(box, center)
        self._bodies = [
            self.world.add_body(solid.shape, solid.mass, p, o, inertia=np.diag(solid.moments))
            for solid, p, o in zip(scene.solids, scene.positions, scene.quaternions)
        ]

    def step(self, count: int) -> None:
        """Make `count` steps, with one call for each step."""
        for _ in range(count):
            self.world.step()

    def motion(self):
        """Return positions, quaternions, velocities and spins (n, 3 or 4) in world axes."""
        rows = [body.first_q // 7 for body in self._bodies]  # sleeping bodies move to the end
        q = self.world.scene.q.reshape(-1, 7)[rows]
        v = self.world.scene.velocity.reshape(-1, 6)[rows]  # in world axes, angular velocity first
        return q[:, :3], q[:, 3:], v[:, 3:], v[:, :3]

    def close(self) -> None:
        """Do nothing, because no resource is open."""
