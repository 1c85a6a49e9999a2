# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The suite's scenes in Bullet, by PyBullet: the multi-body solver, 50 iterations.

Error reduction is off, as in the suite's better results, except in scenes in which bodies stand for
a long time. In Bullet, POSITION_CONTROL with both gains is a constraint. PD control is therefore
implemented by torques, set before each step from Python, as in the suite's C++ program.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from evidence.benchmarks.engines.bullet_scenes import connect, load_robots
from evidence.benchmarks.simbenchmark.robots import FRICTION, RobotScene
from evidence.benchmarks.simbenchmark.scenes import FLOOR, GRAVITY, Scene, State

# Bullet multiplies both coefficients.
_ROLLING = {FLOOR: 0.5, "ball": 1.0, "box": 0.8}


class Bullet:
    """Makes the scenes of the suite in this engine."""

    def __init__(self) -> None:
        import pybullet

        self.pb = pybullet

    def _connect(self, time_step: float, gravity: float, reduce_errors: bool) -> tuple[Any, str]:
        pb = connect(self.pb, time_step, gravity)
        options = {"restitutionVelocityThreshold": 0.0, "deterministicOverlappingPairs": 1}
        if not reduce_errors:
            options |= {"erp": 0.0, "contactERP": 0.0, "frictionERP": 0.0}
        pb.setPhysicsEngineParameter(**options)
        settings = f"bullet (pybullet {pb.getAPIVersion()}), multi-body, 50 iterations"
        return pb, settings + (", default erp" if reduce_errors else ", erp 0")

    def loose(self, scene: Scene, time_step: float) -> BulletBodies:
        """Return the bodies of the scene in the initial state."""
        return BulletBodies(*self._connect(time_step, GRAVITY, scene.name == "kapla"), scene)

    def robots(self, scene: RobotScene, time_step: float) -> BulletRobots:
        """Return the robots of the scene in the initial state."""
        return BulletRobots(*self._connect(time_step, scene.gravity, scene.floor), scene)


def _add_floor(pb, friction: float, restitution: float) -> None:
    shape = pb.createCollisionShape(pb.GEOM_PLANE)
    floor = pb.createMultiBody(0, shape)
    _coat(pb, floor, -1, friction, restitution)


def _coat(pb, body: int, link: int, friction: float, restitution: float) -> None:
    pb.changeDynamics(
        body,
        link,
        lateralFriction=friction,
        restitution=restitution,
        linearDamping=0.0,
        angularDamping=0.0,
        jointDamping=0.0,
    )


class BulletBodies:
    """The bodies of a Scene in this engine."""

    def __init__(self, pb, settings: str, scene: Scene) -> None:
        self.pb, self.settings, self.scene = pb, settings, scene
        _add_floor(pb, self._mu(FLOOR), scene.restitution)
        self.bodies = []
        for body in scene.bodies:
            if body.is_ball:
                shape = pb.createCollisionShape(pb.GEOM_SPHERE, radius=body.size[0])
            else:
                half = [0.5 * length for length in body.size]
                shape = pb.createCollisionShape(pb.GEOM_BOX, halfExtents=half)
            number = pb.createMultiBody(body.mass, shape, basePosition=body.position)
            _coat(pb, number, -1, self._mu(body.kind), scene.restitution)
            pb.changeDynamics(number, -1, activationState=pb.ACTIVATION_STATE_DISABLE_SLEEPING)
            self.bodies.append(number)

    def _mu(self, kind: str) -> float:
        if self.scene.name == "rolling":
            return _ROLLING[kind]
        return (
            self.scene.mu(FLOOR, "block" if kind == FLOOR and self.scene.fallen else "ball") ** 0.5
        )

    def step(self, count: int) -> None:
        """Make `count` steps, with one call for each step."""
        pb, force = self.pb, self.scene.force
        step = pb.stepSimulation
        for _ in range(count):
            if force is not None:
                place, _ = pb.getBasePositionAndOrientation(self.bodies[0])
                pb.applyExternalForce(self.bodies[0], -1, force, place, pb.WORLD_FRAME)
            step()

    def state(self) -> State:
        """Return positions and velocities of the bodies."""
        pb = self.pb
        places = [pb.getBasePositionAndOrientation(b)[0] for b in self.bodies]
        motion = np.array([pb.getBaseVelocity(b) for b in self.bodies])
        return State(np.array(places), motion[:, 0], motion[:, 1])


class BulletRobots:
    """The robots of a RobotScene in this engine."""

    def __init__(self, pb, settings: str, scene: RobotScene) -> None:
        self.pb, self.settings, self.scene = pb, settings, scene
        if scene.floor:
            _add_floor(pb, FRICTION**0.5, 0.0)
        self.robots = load_robots(pb, scene.model, len(scene.places()))
        joints = [joint for _, joint in self.robots[0].joints]
        self._aims = scene.q[[joint.q_index for joint in joints]]
        gains = [scene.gains.get(joint.name, (0.0, 0.0)) for joint in joints]
        self._kp, self._kd = np.array(gains).T
        for robot, place in zip(self.robots, scene.places()):
            robot.start(scene.q + [*place, *np.zeros(len(scene.q) - 2)])
            for link in range(-1, pb.getNumJoints(robot.number)):
                _coat(pb, robot.number, link, FRICTION**0.5, 0.0)
            idle = [0.0] * len(robot.numbers)
            pb.setJointMotorControlArray(
                robot.number, robot.numbers, pb.VELOCITY_CONTROL, forces=idle
            )
        if scene.ball is not None:
            self._add_ball()

    def _add_ball(self) -> None:
        pb, ball = self.pb, self.scene.ball
        shape = pb.createCollisionShape(pb.GEOM_SPHERE, radius=ball.radius)
        self.ball = pb.createMultiBody(ball.mass, shape, basePosition=ball.position)
        _coat(pb, self.ball, -1, FRICTION**0.5, 0.0)
        pb.resetBaseVelocity(self.ball, ball.velocity)

    def step(self, count: int, lift: float = 0.0) -> None:
        """Make `count` steps, with one call for each step.

        A further call sets the torques before each step.
        """
        pb, base = self.pb, self.robots[0].number
        step, read, command = pb.stepSimulation, pb.getJointStates, pb.setJointMotorControlArray
        for _ in range(count):
            if self.scene.gains:
                for robot in self.robots:
                    states = read(robot.number, robot.numbers)
                    angles = np.array([state[0] for state in states])
                    rates = np.array([state[1] for state in states])
                    torques = self._kp * (self._aims - angles) - self._kd * rates
                    command(robot.number, robot.numbers, pb.TORQUE_CONTROL, forces=torques)
            if lift:
                place = self.state()[0][:3]
                pb.applyExternalForce(base, -1, [0.0, 0.0, lift], place, pb.WORLD_FRAME)
            step()

    def state(self):
        """Return q and v of the first robot."""
        return self.robots[0].state()

    def ball_velocity(self) -> np.ndarray:
        """Return the velocity of the ball."""
        return np.array(self.pb.getBaseVelocity(self.ball)[0])
