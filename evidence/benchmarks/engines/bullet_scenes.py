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
    """Suppress the lines that Bullet prints about clients and links."""
    sys.stdout.flush()
    stdout_copy, nowhere = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    try:
        yield
    finally:
        ctypes.CDLL(None).fflush(None)
        os.dup2(stdout_copy, 1)
        os.close(stdout_copy)
        os.close(nowhere)


def bullet_module():
    """Return the module pybullet, or None if it is not installed."""
    try:
        import pybullet
    except ImportError:
        return None
    return pybullet


def connect(pb, time_step: float = 1e-3, gravity: float = 9.80665):
    """Return a client of a new physics server. The methods of the client are functions of `pb`.

    The server ends with the client. Bullet allows only a few servers.
    """
    from pybullet_utils.bullet_client import BulletClient

    with silence():
        client = BulletClient(pb.DIRECT)
    client.setGravity(0.0, 0.0, -gravity)
    client.setTimeStep(time_step)
    return client


def _on_floor(pb, friction: float):
    client = connect(pb)
    shape = client.createCollisionShape(pb.GEOM_BOX, halfExtents=[20.0, 20.0, 0.1])
    rub(client, client.createMultiBody(0, shape, basePosition=[0, 0, -0.1]), -1, friction)
    return client


def rub(client, body: int, link: int, friction: float, **options) -> None:
    """Set a link's friction to the square root, because Bullet multiplies both coefficients."""
    client.changeDynamics(body, link, lateralFriction=friction**0.5, **options)


def load_robots(client, model, count: int = 1) -> list[BulletRobot]:
    """Return copies of a model's robot on rigid feet, because Bullet has no joint springs."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "robot.urdf"
        path.write_text(plain_urdf(model.urdf), encoding="utf-8")
        flags = client.URDF_USE_INERTIA_FROM_FILE | client.URDF_MERGE_FIXED_LINKS
        with silence():
            numbers = [client.loadURDF(str(path), flags=flags) for _ in range(count)]
    return [BulletRobot(client, number, model) for number in numbers]


class BulletRobot:
    """A robot in Bullet, with the base frame at the centre of mass.

    q and v have hrpsim's layout.
    """

    def __init__(self, client, number: int, model) -> None:
        self.client, self.number, self.model = client, number, model
        dynamics = client.getDynamicsInfo(number, -1)
        self._centre, self._axes = np.array(dynamics[3]), Rotation.from_quat(dynamics[4])
        infos = [client.getJointInfo(number, k) for k in range(client.getNumJoints(number))]
        moving = [info for info in infos if info[2] != client.JOINT_FIXED]
        self.joints = [(info[0], model.joint(info[1].decode())) for info in moving]
        self.numbers = [k for k, _ in self.joints]

    def start(self, q) -> None:
        """Place the robot at rest in the configuration q."""
        for k, joint in self.joints:
            self.client.resetJointState(self.number, k, q[joint.q_index])
        turn = Rotation.from_quat(q[3:7])
        pose = q[:3] + turn.apply(self._centre), (turn * self._axes).as_quat()
        self.client.resetBasePositionAndOrientation(self.number, *pose)

    def state(self):
        """Return q and v."""
        client, q, v = self.client, np.zeros(self.model.nq), np.zeros(self.model.nv)
        place, quaternion = client.getBasePositionAndOrientation(self.number)
        linear, angular = map(np.array, client.getBaseVelocity(self.number))
        turn = Rotation.from_quat(quaternion) * self._axes.inv()
        arm = turn.apply(self._centre)
        q[:3], q[3:7] = place - arm, turn.as_quat()
        v[:3] = turn.inv().apply(linear - np.cross(angular, arm))
        v[3:6] = turn.inv().apply(angular)
        for (_, joint), state in zip(self.joints, client.getJointStates(self.number, self.numbers)):
            q[joint.q_index], v[joint.v_index] = state[:2]
        return q, v


class BulletStanding(BulletRobot):
    """The standing robot in Bullet. Servos are position motors, which are constraints."""

    def __init__(self, pybullet, model, q) -> None:
        client = _on_floor(pybullet, FRICTION)
        super().__init__(client, load_robots(client, model)[0].number, model)
        self.name = NAME
        damping = dict.fromkeys(("linearDamping", "angularDamping", "jointDamping"), 0)
        for k in range(-1, client.getNumJoints(self.number)):
            rub(client, self.number, k, FRICTION, **damping)
        self.start(q)
        self.aim(q)

    def step(self, count: int) -> None:
        """Make `count` steps, with one call for each step."""
        step = self.client.stepSimulation
        for _ in range(count):
            step()

    def aim(self, q) -> None:
        """Set the targets of the servos to the configuration q."""
        self.client.setJointMotorControlArray(
            self.number,
            self.numbers,
            self.client.POSITION_CONTROL,
            targetPositions=[q[joint.q_index] for _, joint in self.joints],
            forces=[1000.0] * len(self.joints),
        )

    def touching(self) -> Touching:
        """Return the contacts of the last step."""
        contacts = self.client.getContactPoints(self.number)
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
        """Disconnect from the physics server, because Bullet allows only a few servers."""
        self.client.disconnect()


def bullet_cubes(pb, edge: float, mass: float, positions, quaternions, friction: float):
    """Return (step(n), deepest(), places()) of cubes on the floor, in maximal coordinates.

    deepest() returns the deepest penetration of all contacts [m]. places() returns the centres (n,
    3) [m].
    """
    client = _on_floor(pb, friction)
    client.setPhysicsEngineParameter(deterministicOverlappingPairs=1)
    shape = client.createCollisionShape(pb.GEOM_BOX, halfExtents=[edge / 2] * 3)
    bodies = [
        client.createMultiBody(mass, shape, -1, list(p), list(o), useMaximalCoordinates=1)
        for p, o in zip(positions, quaternions)
    ]
    for body in bodies:
        rub(client, body, -1, friction)
    one_step = client.stepSimulation

    def step(count) -> None:
        for _ in range(count):
            one_step()

    def deepest():
        return max((-c[8] for c in client.getContactPoints()), default=0.0)

    def places():
        return np.array([client.getBasePositionAndOrientation(b)[0] for b in bodies])

    return step, deepest, places
