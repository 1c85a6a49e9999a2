# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The suite's scenes in Bullet, by PyBullet: the multi-body solver, 50 iterations.

Error reduction is off, as in the suite's better results, except in scenes in which bodies stand for
long. PD is Bullet's own (POSITION_CONTROL with both gains is a constraint, so torques are set
instead, step by step from Python, as the suite's program does in C++).
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from evidence.benchmarks.engines.bullet_scenes import silence
from evidence.benchmarks.engines.urdf import plain_urdf
from evidence.benchmarks.simbenchmark.robots import FRICTION, RobotScene
from evidence.benchmarks.simbenchmark.scenes import FLOOR, GRAVITY, Scene, State

# Bullet multiplies both coefficients.
_ROLLING = {FLOOR: 0.5, "ball": 1.0, "box": 0.8}


class Bullet:
    """Makes the scenes of the suite in this engine."""

    def __init__(self) -> None:
        import pybullet

        self.pb = pybullet

    def _connect(self, time_step: float, gravity: float, reduce_errors: bool) -> tuple[int, str]:
        pb = self.pb
        client = pb.connect(pb.DIRECT)
        pb.setGravity(0.0, 0.0, -gravity, physicsClientId=client)
        pb.setTimeStep(time_step, physicsClientId=client)
        options = {"restitutionVelocityThreshold": 0.0, "deterministicOverlappingPairs": 1}
        if not reduce_errors:
            options |= {"erp": 0.0, "contactERP": 0.0, "frictionERP": 0.0}
        pb.setPhysicsEngineParameter(**options, physicsClientId=client)
        settings = f"bullet (pybullet {pb.getAPIVersion()}), multi-body, 50 iterations"
        return client, settings + (", default erp" if reduce_errors else ", erp 0")

    def loose(self, scene: Scene, time_step: float) -> BulletBodies:
        """Return the bodies of the scene in the initial state."""
        client, settings = self._connect(time_step, GRAVITY, scene.name == "kapla")
        return BulletBodies(self.pb, client, settings, scene)

    def robots(self, scene: RobotScene, time_step: float) -> BulletRobots:
        """Return the robots of the scene in the initial state."""
        client, settings = self._connect(time_step, scene.gravity, scene.floor)
        return BulletRobots(self.pb, client, settings, scene)


def _add_floor(pb, client: int, friction: float, restitution: float) -> None:
    shape = pb.createCollisionShape(pb.GEOM_PLANE, physicsClientId=client)
    floor = pb.createMultiBody(0, shape, physicsClientId=client)
    _coat(pb, client, floor, -1, friction, restitution)


def _coat(pb, client: int, body: int, link: int, friction: float, restitution: float) -> None:
    pb.changeDynamics(
        body,
        link,
        lateralFriction=friction,
        restitution=restitution,
        linearDamping=0.0,
        angularDamping=0.0,
        jointDamping=0.0,
        physicsClientId=client,
    )


class _Client:
    """A server of Bullet's, of which there can be few."""

    pb = client = None

    def __del__(self) -> None:
        try:
            self.pb.disconnect(physicsClientId=self.client)
        except Exception:  # at the end of the process it may not exist
            return


class BulletBodies(_Client):
    """The bodies of a Scene in this engine."""

    def __init__(self, pb, client: int, settings: str, scene: Scene) -> None:
        self.pb, self.client, self.settings, self.scene = pb, client, settings, scene
        _add_floor(pb, client, self._mu(FLOOR), scene.restitution)
        self.bodies = []
        for body in scene.bodies:
            if body.is_ball:
                shape = pb.createCollisionShape(
                    pb.GEOM_SPHERE, radius=body.size[0], physicsClientId=client
                )
            else:
                half = [0.5 * length for length in body.size]
                shape = pb.createCollisionShape(
                    pb.GEOM_BOX, halfExtents=half, physicsClientId=client
                )
            number = pb.createMultiBody(
                body.mass, shape, basePosition=body.position, physicsClientId=client
            )
            _coat(pb, client, number, -1, self._mu(body.kind), scene.restitution)
            pb.changeDynamics(
                number,
                -1,
                activationState=pb.ACTIVATION_STATE_DISABLE_SLEEPING,
                physicsClientId=client,
            )
            self.bodies.append(number)

    def _mu(self, kind: str) -> float:
        if self.scene.name == "rolling":
            return _ROLLING[kind]
        return (
            self.scene.mu(FLOOR, "block" if kind == FLOOR and self.scene.fallen else "ball") ** 0.5
        )

    def step(self, count: int) -> None:
        """Make `count` steps, with one call for each step."""
        for _ in range(count):
            if self.scene.force is not None:
                place, _ = self.pb.getBasePositionAndOrientation(self.bodies[0], self.client)
                self.pb.applyExternalForce(
                    self.bodies[0], -1, self.scene.force, place, self.pb.WORLD_FRAME, self.client
                )
            self.pb.stepSimulation(self.client)

    def state(self) -> State:
        """Return positions and velocities of the bodies."""
        pb, client = self.pb, self.client
        places = [pb.getBasePositionAndOrientation(b, client)[0] for b in self.bodies]
        motion = np.array([pb.getBaseVelocity(b, client) for b in self.bodies])
        return State(np.array(places), motion[:, 0], motion[:, 1])


class BulletRobots(_Client):
    """The robots of a RobotScene in this engine."""

    def __init__(self, pb, client: int, settings: str, scene: RobotScene) -> None:
        self.pb, self.client, self.settings, self.scene = pb, client, settings, scene
        if scene.floor:
            _add_floor(pb, client, FRICTION**0.5, 0.0)
        model = scene.model
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "robot.urdf"
            path.write_text(plain_urdf(model.urdf), encoding="utf-8")
            flags = pb.URDF_USE_INERTIA_FROM_FILE | pb.URDF_MERGE_FIXED_LINKS
            with silence():
                self.robots = [
                    pb.loadURDF(str(path), flags=flags, physicsClientId=client)
                    for _ in scene.places()
                ]
        dynamics = pb.getDynamicsInfo(self.robots[0], -1, client)
        self._centre, self._axes = np.array(dynamics[3]), Rotation.from_quat(dynamics[4])
        self._joints, self._ours = [], []
        for k in range(pb.getNumJoints(self.robots[0], client)):
            info = pb.getJointInfo(self.robots[0], k, client)
            if info[2] != pb.JOINT_FIXED:
                self._joints.append(k)
                self._ours.append(model.joint(info[1].decode()))
        self._aims = np.array([scene.q[j.q_index] for j in self._ours])
        gains = [scene.gains.get(j.name, (0.0, 0.0)) for j in self._ours]
        self._kp, self._kd = np.array(gains).T
        for robot, (x, y) in zip(self.robots, scene.places()):
            self._start(robot, x, y)
        if scene.ball is not None:
            self._add_ball()

    def _start(self, robot: int, x: float, y: float) -> None:
        pb, client, q = self.pb, self.client, self.scene.q
        turn = Rotation.from_quat(q[3:7])
        place = q[:3] + turn.apply(self._centre) + [x, y, 0.0]
        pb.resetBasePositionAndOrientation(robot, place, (turn * self._axes).as_quat(), client)
        for link in range(-1, pb.getNumJoints(robot, client)):
            _coat(pb, client, robot, link, FRICTION**0.5, 0.0)
        for k, aim in zip(self._joints, self._aims):
            pb.resetJointState(robot, k, aim, 0.0, client)
        count = len(self._joints)
        pb.setJointMotorControlArray(
            robot, self._joints, pb.VELOCITY_CONTROL, forces=[0.0] * count, physicsClientId=client
        )

    def _add_ball(self) -> None:
        pb, client, ball = self.pb, self.client, self.scene.ball
        shape = pb.createCollisionShape(pb.GEOM_SPHERE, radius=ball.radius, physicsClientId=client)
        self.ball = pb.createMultiBody(
            ball.mass, shape, basePosition=ball.position, physicsClientId=client
        )
        _coat(pb, client, self.ball, -1, FRICTION**0.5, 0.0)
        pb.resetBaseVelocity(self.ball, ball.velocity, physicsClientId=client)

    def step(self, count: int, lift: float = 0.0) -> None:
        """Make `count` steps, one call each. Before each step a call sets the torques of PD."""
        pb, client = self.pb, self.client
        for _ in range(count):
            if self.scene.gains:
                for robot in self.robots:
                    states = pb.getJointStates(robot, self._joints, client)
                    angles = np.array([state[0] for state in states])
                    rates = np.array([state[1] for state in states])
                    pb.setJointMotorControlArray(
                        robot,
                        self._joints,
                        pb.TORQUE_CONTROL,
                        forces=self._kp * (self._aims - angles) - self._kd * rates,
                        physicsClientId=client,
                    )
            if lift:
                place = self.state()[0][:3]
                pb.applyExternalForce(
                    self.robots[0], -1, [0.0, 0.0, lift], place, pb.WORLD_FRAME, client
                )
            pb.stepSimulation(client)

    def state(self):
        """Return q and v of the first robot. Bullet's base is the centre of mass."""
        pb, client, model = self.pb, self.client, self.scene.model
        q, v = np.zeros(model.nq), np.zeros(model.nv)
        place, quaternion = pb.getBasePositionAndOrientation(self.robots[0], client)
        linear, angular = map(np.array, pb.getBaseVelocity(self.robots[0], client))
        turn = Rotation.from_quat(quaternion) * self._axes.inv()
        arm = turn.apply(self._centre)
        q[:3], q[3:7] = place - arm, turn.as_quat()
        v[:3] = turn.inv().apply(linear - np.cross(angular, arm))
        v[3:6] = turn.inv().apply(angular)
        states = pb.getJointStates(self.robots[0], self._joints, client)
        for joint, state in zip(self._ours, states):
            q[joint.q_index], v[joint.v_index] = state[:2]
        return q, v

    def ball_velocity(self) -> np.ndarray:
        """Return the velocity of the ball."""
        return np.array(self.pb.getBaseVelocity(self.ball, self.client)[0])
