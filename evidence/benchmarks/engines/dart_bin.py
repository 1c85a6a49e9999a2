# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The bin in dart, each solid a skeleton, by the matrix-free contact solver or Dantzig's."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from evidence.benchmarks.bin_scene import FRICTION, GRAVITY, TIME_STEP, BinScene, Solid, walls
from evidence.benchmarks.engines.dart_scenes import coat, isometry, new_world, set_friction
from hrpsim import Box

_CONTACTS = 20_000  # largest number of contacts instead of 1000


class DartBin:
    """The bin in dart. Meshes collide by their triangles (Bullet's GImpact)."""

    def __init__(self, dart, scene: BinScene, dantzig: bool) -> None:
        self.name = "dart, Dantzig" if dantzig else "dart"
        self._dart = dart
        self._world = new_world(dart, TIME_STEP, (0.0, 0.0, -GRAVITY))
        solver = self._world.getConstraintSolver()
        solver.getCollisionOption().maxNumContacts = _CONTACTS
        if not dantzig:
            options = solver.getMatrixFreeContactSolverOptions()
            options.mEnabled = True
            solver.setMatrixFreeContactSolverOptions(options)
        self._add_walls()
        with tempfile.TemporaryDirectory() as folder:
            self._bodies = [
                self._add(solid, p, o, f"solid{k}", Path(folder))
                for k, (solid, p, o) in enumerate(
                    zip(scene.solids, scene.positions, scene.quaternions)
                )
            ]

    def _add_walls(self) -> None:
        skeleton = self._dart.dynamics.Skeleton("bin")
        _, body = skeleton.createWeldJointAndBodyNodePair()
        for box, center in walls():
            shape = body.createShapeNode(self._dart.dynamics.BoxShape(list(box.lengths)))
            shape.setRelativeTransform(isometry(self._dart, center))
            coat(shape, FRICTION)
        self._world.addSkeleton(skeleton)

    def _add(self, solid: Solid, position, quaternion, name: str, folder: Path):
        """Return the body of a solid. dart reads meshes from files only, with a URDF."""
        dart = self._dart
        if isinstance(solid.shape, Box):
            skeleton = dart.dynamics.Skeleton(name)
            skeleton.createFreeJointAndBodyNodePair()
            box = dart.dynamics.BoxShape(list(solid.shape.lengths))
            coat(skeleton.getBodyNode(0).createShapeNode(box), FRICTION)
        else:
            skeleton = dart.utils.DartLoader().parseSkeleton(_mesh_urdf(solid, folder / name))
            set_friction(skeleton, FRICTION)
        skeleton.setName(name)
        body = skeleton.getBodyNode(0)
        body.setInertia(dart.dynamics.Inertia(solid.mass, [0, 0, 0], np.diag(solid.moments)))
        turn = Rotation.from_quat(quaternion).as_rotvec()
        skeleton.getJoint(0).setPositions(np.concatenate([turn, position]))
        self._world.addSkeleton(skeleton)
        return body

    def step(self, count: int) -> None:
        """Make `count` steps, with one call for each step."""
        for _ in range(count):
            self._world.step()

    def motion(self):
        """Return positions, quaternions, velocities and spins (n, 3 or 4) in world axes."""
        poses = [body.getWorldTransform() for body in self._bodies]
        positions = np.array([pose.translation() for pose in poses])
        turns = Rotation.from_matrix([pose.rotation() for pose in poses]).as_quat()
        velocities = np.array([body.getLinearVelocity() for body in self._bodies])
        spins = np.array([body.getAngularVelocity() for body in self._bodies])
        return positions, turns, velocities, spins

    def close(self) -> None:
        """Do nothing, because no resource is open."""


def _mesh_urdf(solid: Solid, path: Path) -> str:
    """Write a solid's mesh and a URDF. Return the path of the URDF."""
    mesh = path.with_suffix(".obj")
    lines = [f"v {x:.9g} {y:.9g} {z:.9g}" for x, y, z in solid.shape.vertices]
    lines += [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in solid.shape.triangles]
    mesh.write_text("\n".join(lines) + "\n", encoding="utf-8")
    urdf = path.with_suffix(".urdf")
    urdf.write_text(
        f'<robot name="{path.name}"><link name="solid"><inertial><mass value="1"/><inertia '
        'ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial><collision><geometry>'
        f'<mesh filename="{mesh.name}"/></geometry></collision></link></robot>',
        encoding="utf-8",
    )
    return str(urdf)
