# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The bin in Bullet: maximal coordinates, the default solver with 50 iterations."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from evidence.benchmarks.bin_scene import FRICTION, GRAVITY, TIME_STEP, BinScene, Solid, walls
from evidence.benchmarks.engines.bullet_scenes import connect, rub, silence
from hrpsim import Box


class BulletBin:
    """The bin in Bullet.

    Bullet uses the convex hull of a moving mesh, or with `parts` convex parts.
    """

    def __init__(self, pybullet, scene: BinScene, parts: bool) -> None:
        self.name = "bullet, convex parts" if parts else "bullet"
        self._pb = pb = connect(pybullet, TIME_STEP, GRAVITY)
        pb.setPhysicsEngineParameter(deterministicOverlappingPairs=1)
        for box, center in walls():
            shape = pb.createCollisionShape(pb.GEOM_BOX, halfExtents=box.size)
            self._rub(pb.createMultiBody(0.0, shape, basePosition=list(center)))
        self._bodies, shapes = [], {}
        with tempfile.TemporaryDirectory() as folder:
            for solid, p, o in zip(scene.solids, scene.positions, scene.quaternions):
                if id(solid) not in shapes:
                    path = Path(folder) / f"shape{len(shapes)}.obj"  # Bullet reads a name only once
                    shapes[id(solid)] = self._shape(solid, parts, path)
                shape = shapes[id(solid)]
                body = pb.createMultiBody(
                    solid.mass, shape, -1, list(p), list(o), useMaximalCoordinates=1
                )
                self._rub(body, mass=solid.mass, localInertiaDiagonal=list(solid.moments))
                self._bodies.append(body)

    def _shape(self, solid: Solid, parts: bool, path: Path) -> int:
        """Return a collision shape: a file of several objects becomes as many hulls."""
        if isinstance(solid.shape, Box):
            size = list(solid.shape.size)
            return self._pb.createCollisionShape(self._pb.GEOM_BOX, halfExtents=size)
        count, lines = 0, []
        for k, corners in enumerate(solid.parts if parts else [solid.shape.vertices]):
            lines.append(f"o part{k}")
            lines += [f"v {x:.9g} {y:.9g} {z:.9g}" for x, y, z in corners]
            fan = range(2, len(corners))  # only the corners have an effect
            lines += [f"f {count + 1} {count + j} {count + j + 1}" for j in fan]
            count += len(corners)
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        with silence():
            return self._pb.createCollisionShape(self._pb.GEOM_MESH, fileName=str(path))

    def _rub(self, body: int, **options) -> None:
        rub(self._pb, body, -1, FRICTION, linearDamping=0, angularDamping=0, **options)

    def step(self, count: int) -> None:
        """Make `count` steps, with one call for each step."""
        step = self._pb.stepSimulation
        for _ in range(count):
            step()

    def motion(self):
        """Return positions, quaternions, velocities and spins (n, 3 or 4) in world axes."""
        places = [self._pb.getBasePositionAndOrientation(body) for body in self._bodies]
        speeds = [self._pb.getBaseVelocity(body) for body in self._bodies]
        positions, quaternions = (np.array(values) for values in zip(*places))
        velocities, spins = (np.array(values) for values in zip(*speeds))
        return positions, quaternions, velocities, spins

    def close(self) -> None:
        """Disconnect from the physics server. Bullet allows only a few servers."""
        self._pb.disconnect()
