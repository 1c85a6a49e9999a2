# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The bin scene in each engine.

MuJoCo: CG, elliptic cone, default softness. Bullet: maximal coordinates, the default solver with 50
iterations. dart: one skeleton for each solid, by the matrix-free contact solver or Dantzig's.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from evidence.benchmarks.bin_scene import (
    FRICTION,
    GRAVITY,
    TIME_STEP,
    BinScene,
    Solid,
    rotations,
    walls,
)
from evidence.benchmarks.engines.bullet_scenes import connect, rub, silence
from evidence.benchmarks.engines.dart_scenes import coat, isometry, new_world, set_friction
from hrpsim import Box, World

_CONTACTS = 20_000  # largest number of contacts instead of 1000


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
        """Return positions, quaternions, velocities and angular velocities in world axes."""
        rows = [body.first_q // 7 for body in self._bodies]  # sleeping bodies move to the end
        q = self.world.scene.q.reshape(-1, 7)[rows]
        v = self.world.scene.velocity.reshape(-1, 6)[rows]  # in world axes, angular velocity first
        return q[:, :3], q[:, 3:], v[:, 3:], v[:, :3]

    def close(self) -> None:
        """Do nothing, because no resource is open."""


def _numbers(values) -> str:
    return " ".join(f"{value:.17g}" for value in np.ravel(values))


class MujocoBin:
    """The bin in MuJoCo, with the convex hull of each mesh, or its convex parts if `parts`."""

    def __init__(self, mujoco, scene: BinScene, parts: bool) -> None:
        self.name = "mujoco, convex parts" if parts else "mujoco"
        self._mujoco = mujoco
        assets: dict[str, str] = {}
        inner = [
            f'<geom type="box" size="{_numbers(box.size)}" pos="{_numbers(center)}"/>'
            for box, center in walls()
        ]
        for solid, p, o in zip(scene.solids, scene.positions, scene.quaternions):
            inner.append(
                f'<body pos="{_numbers(p)}" quat="{_numbers(np.roll(o, 1))}"><freejoint/>'
                f'<inertial pos="0 0 0" mass="{solid.mass:.17g}" '
                f'diaginertia="{_numbers(solid.moments)}"/>'
                f"{_geoms(solid, parts, assets)}</body>"
            )
        self._model = mujoco.MjModel.from_xml_string(
            f'<mujoco><option timestep="{TIME_STEP}" gravity="0 0 -{GRAVITY}" cone="elliptic" '
            f'solver="CG"/><default><geom friction="{FRICTION} 0 0" condim="3"/></default>'
            f'<size memory="2G"/><asset>{"".join(assets.values())}</asset>'
            f"<worldbody>{''.join(inner)}</worldbody></mujoco>"
        )
        self._data = mujoco.MjData(self._model)

    def step(self, count: int) -> None:
        """Make `count` steps, with one call for each step."""
        for _ in range(count):
            self._mujoco.mj_step(self._model, self._data)

    def motion(self):
        """Return positions, quaternions, velocities and angular velocities in world axes."""
        q, v = self._data.qpos.reshape(-1, 7), self._data.qvel.reshape(-1, 6)
        quaternions = np.roll(q[:, 3:], -1, axis=1)
        spins = np.einsum("nij,nj->ni", rotations(quaternions), v[:, 3:])
        return q[:, :3].copy(), quaternions, v[:, :3].copy(), spins

    def close(self) -> None:
        """Do nothing, because no resource is open."""


def _geoms(solid: Solid, parts: bool, assets: dict[str, str]) -> str:
    """Return the geoms of a solid, and add its meshes, or its parts' meshes, to `assets`."""
    if isinstance(solid.shape, Box):
        return f'<geom type="box" size="{_numbers(solid.shape.size)}"/>'
    text = ""
    for corners in solid.parts if parts else [solid.shape.vertices]:
        points = _numbers(corners)
        name = f"mesh{list(assets).index(points) if points in assets else len(assets)}"
        # MuJoCo moves a mesh to its centre and axes, and moves the geom back.
        assets.setdefault(points, f'<mesh name="{name}" vertex="{points}"/>')
        text += f'<geom type="mesh" mesh="{name}"/>'
    return text


class BulletBin:
    """The bin in Bullet, with the convex hull of each mesh, or its convex parts if `parts`."""

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
        """Return a collision shape. Each object of the mesh file becomes a convex hull."""
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
        """Return positions, quaternions, velocities and angular velocities in world axes."""
        places = [self._pb.getBasePositionAndOrientation(body) for body in self._bodies]
        speeds = [self._pb.getBaseVelocity(body) for body in self._bodies]
        positions, quaternions = (np.array(values) for values in zip(*places))
        velocities, spins = (np.array(values) for values in zip(*speeds))
        return positions, quaternions, velocities, spins

    def close(self) -> None:
        """Disconnect from the physics server, because Bullet allows only a few servers."""
        self._pb.disconnect()


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
        """Return the body of a solid. dart reads meshes only from files that a URDF names."""
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
        """Return positions, quaternions, velocities and angular velocities in world axes."""
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
