# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The scenes in Bullet: standing robot, pile of cubes. The default solver, 50 iterations."""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
import tempfile
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from evidence.benchmarks.engines.urdf import plain_urdf
from evidence.benchmarks.standing_engine import FRICTION, Touching

NAME = "bullet"
LARGEST = 64  # largest number of contact points: it cannot load a link of 16 boxes


@contextlib.contextmanager
def silence():
    """Suppress the lines that Bullet prints about every link."""
    sys.stdout.flush()
    kept, nowhere = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    try:
        yield
    finally:
        ctypes.CDLL(None).fflush(None)
        os.dup2(kept, 1)
        os.close(kept)
        os.close(nowhere)


def bullet_module():
    """Return the module pybullet, or None if not installed."""
    try:
        import pybullet
    except ImportError:
        return None
    return pybullet


def _connect(pb, friction: float) -> int:
    client = pb.connect(pb.DIRECT)
    pb.setGravity(0.0, 0.0, -9.80665, physicsClientId=client)
    pb.setTimeStep(1e-3, physicsClientId=client)
    size = [20.0, 20.0, 0.1]
    shape = pb.createCollisionShape(pb.GEOM_BOX, halfExtents=size, physicsClientId=client)
    floor = pb.createMultiBody(0, shape, basePosition=[0, 0, -0.1], physicsClientId=client)
    _rub(pb, client, floor, -1, friction)
    return client


def _rub(pb, client: int, body: int, link: int, friction: float) -> None:
    """Give a link the root of a friction coefficient: Bullet multiplies both coefficients."""
    pb.changeDynamics(body, link, lateralFriction=friction**0.5, physicsClientId=client)


class BulletStanding:
    """The standing robot in Bullet, on rigid feet, because Bullet has no joint springs.

    Servos are position motors (constraints).
    """

    def __init__(self, pybullet, model, q) -> None:
        self.name, self.model, self.pb = NAME, model, pybullet
        self.client = _connect(pybullet, FRICTION)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "robot.urdf"
            path.write_text(plain_urdf(model.urdf), encoding="utf-8")
            with silence():
                self.robot = pybullet.loadURDF(
                    str(path),
                    flags=pybullet.URDF_USE_INERTIA_FROM_FILE | pybullet.URDF_MERGE_FIXED_LINKS,
                    physicsClientId=self.client,
                )
        self._joints = []
        for k in range(-1, pybullet.getNumJoints(self.robot, physicsClientId=self.client)):
            _rub(pybullet, self.client, self.robot, k, FRICTION)
            self._call("changeDynamics", k, linearDamping=0, angularDamping=0, jointDamping=0)
            if k < 0:
                continue
            info = self._call("getJointInfo", k)
            if info[2] != pybullet.JOINT_FIXED:
                ours = model.joint(info[1].decode())
                self._joints.append((k, ours))
                self._call("resetJointState", k, q[ours.q_index])
        dynamics = self._call("getDynamicsInfo", -1)
        self._centre, self._axes = np.array(dynamics[3]), Rotation.from_quat(dynamics[4])
        turn = Rotation.from_quat(q[3:7])
        self._call(
            "resetBasePositionAndOrientation",
            q[:3] + turn.apply(self._centre),
            (turn * self._axes).as_quat(),
        )
        self.aim(q)

    def _call(self, function: str, *arguments, **options):
        return getattr(self.pb, function)(
            self.robot, *arguments, physicsClientId=self.client, **options
        )

    def step(self, count: int) -> None:
        """Make `count` steps, with one call for each step."""
        for _ in range(count):
            self.pb.stepSimulation(physicsClientId=self.client)

    def aim(self, q) -> None:
        """Set the targets of the servos to the configuration q."""
        self._call(
            "setJointMotorControlArray",
            [k for k, _ in self._joints],
            self.pb.POSITION_CONTROL,
            targetPositions=[q[ours.q_index] for _, ours in self._joints],
            forces=[1000.0] * len(self._joints),
        )

    def state(self):
        """Return q and v. Bullet's base is the centre of mass."""
        q, v = np.zeros(self.model.nq), np.zeros(self.model.nv)
        place, quaternion = self._call("getBasePositionAndOrientation")
        linear, angular = map(np.array, self._call("getBaseVelocity"))
        turn = Rotation.from_quat(quaternion) * self._axes.inv()
        arm = turn.apply(self._centre)
        q[:3], q[3:7] = place - arm, turn.as_quat()
        v[:3] = turn.inv().apply(linear - np.cross(angular, arm))
        v[3:6] = turn.inv().apply(angular)
        for k, ours in self._joints:
            q[ours.q_index], v[ours.v_index] = self._call("getJointState", k)[:2]
        return q, v

    def touching(self) -> Touching:
        """Return the contacts of the last step."""
        contacts = self._call("getContactPoints")
        forces = [
            c[9] * np.array(c[7]) + c[10] * np.array(c[11]) + c[12] * np.array(c[13])
            for c in contacts
        ]
        return Touching(
            np.array([c[5] for c in contacts]).reshape(-1, 3),
            np.array([-c[8] for c in contacts]),
            np.array(forces).reshape(-1, 3),
        )

    def close(self) -> None:
        """Disconnect from the physics server. Bullet allows only a few servers."""
        self.pb.disconnect(physicsClientId=self.client)


def bullet_cubes(pb, edge: float, mass: float, positions, quaternions, friction: float):
    """Return (step(n), deepest(), places()) of cubes on the floor, in maximal coordinates.

    deepest() is the deepest penetration of any contact [m], places() the centres (n, 3) [m].
    """
    client = _connect(pb, friction)
    pb.setPhysicsEngineParameter(deterministicOverlappingPairs=1, physicsClientId=client)
    shape = pb.createCollisionShape(pb.GEOM_BOX, halfExtents=[edge / 2] * 3, physicsClientId=client)
    bodies = []
    for p, o in zip(positions, quaternions):
        body = pb.createMultiBody(
            mass, shape, -1, list(p), list(o), useMaximalCoordinates=1, physicsClientId=client
        )
        _rub(pb, client, body, -1, friction)
        bodies.append(body)

    def step(count) -> None:
        for _ in range(count):
            pb.stepSimulation(physicsClientId=client)

    def deepest():
        contacts = pb.getContactPoints(physicsClientId=client)
        return max((-c[8] for c in contacts), default=0.0)

    def places():
        found = [pb.getBasePositionAndOrientation(b, physicsClientId=client)[0] for b in bodies]
        return np.array(found)

    return step, deepest, places
