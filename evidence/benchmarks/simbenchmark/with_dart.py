# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The suite's scenes in DART: the default solver for contacts, Bullet's detector, nothing sleeps.

PD is DART's joint springs and dampers, which DART integrates implicitly.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from evidence.benchmarks.engines.dart_scenes import isometry, new_world, state_of
from evidence.benchmarks.engines.urdf import plain_urdf
from evidence.benchmarks.simbenchmark.robots import FRICTION, RobotScene
from evidence.benchmarks.simbenchmark.scenes import FLOOR, GRAVITY, Scene, State

# DART takes the smaller coefficient of both.
_ROLLING = {FLOOR: 0.4, "ball": 0.8, "box": 0.8}


class Dart:
    """Makes the scenes of the suite in this engine."""

    def __init__(self) -> None:
        import dartpy

        self.dart = dartpy
        self.settings = f"dart {getattr(dartpy, '__version__', '')}, Bullet's detector"

    def loose(self, scene: Scene, time_step: float) -> DartBodies:
        """Return the bodies of the scene in the initial state."""
        return DartBodies(self, scene, time_step)

    def robots(self, scene: RobotScene, time_step: float) -> DartRobots:
        """Return the robots of the scene in the initial state."""
        return DartRobots(self, scene, time_step)


def _coat(shape, friction: float, restitution: float) -> None:
    shape.createCollisionAspect()
    shape.createDynamicsAspect()
    shape.getDynamicsAspect().setFrictionCoeff(friction)
    shape.getDynamicsAspect().setRestitutionCoeff(restitution)


def _add_floor(dart, world, friction: float, restitution: float) -> None:
    floor = dart.dynamics.Skeleton("floor")
    joint, body = floor.createWeldJointAndBodyNodePair()
    _coat(body.createShapeNode(dart.dynamics.BoxShape([200.0, 200.0, 0.2])), friction, restitution)
    joint.setTransformFromParentBodyNode(isometry(dart, (0.0, 0.0, -0.1)))
    world.addSkeleton(floor)


def _add_free(dart, world, name, shape, mass, moments, position, friction, restitution):
    skeleton = dart.dynamics.Skeleton(name)
    joint, body = skeleton.createFreeJointAndBodyNodePair()
    _coat(body.createShapeNode(shape), friction, restitution)
    body.setInertia(dart.dynamics.Inertia(mass, [0, 0, 0], np.diag(moments)))
    joint.setPositions(np.concatenate([np.zeros(3), position]))
    world.addSkeleton(skeleton)
    return body


class DartBodies:
    """The bodies of a Scene in this engine."""

    def __init__(self, maker: Dart, scene: Scene, time_step: float) -> None:
        dart, self.settings, self.scene = maker.dart, maker.settings, scene
        self.world = new_world(dart, time_step, (0.0, 0.0, -GRAVITY))
        rolls = scene.name == "rolling"
        kind = scene.bodies[0].kind
        floor = _ROLLING[FLOOR] if rolls else scene.mu(FLOOR, kind)
        _add_floor(dart, self.world, floor, scene.restitution)
        self.bodies = []
        for k, body in enumerate(scene.bodies):
            if body.is_ball:
                shape, moments = dart.dynamics.SphereShape(body.size[0]), [body.moment] * 3
            else:
                shape = dart.dynamics.BoxShape(list(body.size))
                squares = np.square(body.size)
                moments = body.mass / 12.0 * (squares.sum() - squares)
            mu = _ROLLING[body.kind] if rolls else floor
            self.bodies.append(
                _add_free(
                    dart,
                    self.world,
                    f"{body.kind}{k}",
                    shape,
                    body.mass,
                    moments,
                    body.position,
                    mu,
                    scene.restitution,
                )
            )

    def step(self, count: int) -> None:
        """Make `count` steps, with one call for each step."""
        for _ in range(count):
            if self.scene.force is not None:
                self.bodies[0].addExtForce(self.scene.force, [0.0, 0.0, 0.0], False, True)
            self.world.step()

    def state(self) -> State:
        """Return positions and velocities of the bodies."""
        places = [body.getWorldTransform().translation() for body in self.bodies]
        velocities = [body.getLinearVelocity() for body in self.bodies]
        spins = [body.getAngularVelocity() for body in self.bodies]
        return State(np.array(places), np.array(velocities), np.array(spins))


class DartRobots:
    """The robots of a RobotScene in this engine."""

    def __init__(self, maker: Dart, scene: RobotScene, time_step: float) -> None:
        dart, self.settings, self.scene = maker.dart, maker.settings, scene
        self.world = new_world(dart, time_step, (0.0, 0.0, -scene.gravity))
        if scene.floor:
            _add_floor(dart, self.world, FRICTION, 0.0)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "robot.urdf"
            path.write_text(plain_urdf(scene.model.urdf), encoding="utf-8")
            for k, (x, y) in enumerate(scene.places()):
                robot = dart.utils.DartLoader().parseSkeleton(str(path))
                robot.setName(f"robot{k}")
                self._start(robot, x, y)
                if k == 0:
                    self.robot = robot
                self.world.addSkeleton(robot)
        if scene.ball is not None:
            ball = scene.ball
            moments = [0.4 * ball.mass * ball.radius**2] * 3
            self.ball = _add_free(
                dart,
                self.world,
                "ball",
                dart.dynamics.SphereShape(ball.radius),
                ball.mass,
                moments,
                ball.position,
                FRICTION,
                0.0,
            )
            velocity = np.concatenate([np.zeros(3), ball.velocity])
            self.ball.getSkeleton().getJoint(0).setVelocities(velocity)

    def _start(self, robot, x: float, y: float) -> None:
        scene = self.scene
        joints = [robot.getJoint(k) for k in range(1, robot.getNumJoints())]
        joints = [(j, scene.model.joint(j.getName())) for j in joints if j.getNumDofs() == 1]
        for joint, ours in joints:
            kp, kd = scene.gains.get(ours.name, (0.0, 0.0))
            joint.setSpringStiffness(0, kp)
            joint.setDampingCoefficient(0, kd)
            joint.setRestPosition(0, scene.q[ours.q_index])
            joint.setPosition(0, scene.q[ours.q_index])
        turn = Rotation.from_quat(scene.q[3:7]).as_rotvec()
        place = scene.q[:3] + [x, y, 0.0]
        robot.getJoint(0).setPositions(np.concatenate([turn, place]))
        for k in range(robot.getNumBodyNodes()):
            for shape in robot.getBodyNode(k).getShapeNodes():
                if shape.getDynamicsAspect() is not None:
                    shape.getDynamicsAspect().setFrictionCoeff(FRICTION)
        if not hasattr(self, "_joints"):
            self._joints = joints

    def step(self, count: int, lift: float = 0.0) -> None:
        """Make `count` steps, with one call for each step."""
        for _ in range(count):
            if lift:
                base = self.robot.getBodyNode(0)
                base.addExtForce([0.0, 0.0, lift], [0.0, 0.0, 0.0], False, True)
            self.world.step()

    def state(self):
        """Return q and v of the first robot."""
        return state_of(self.robot, self._joints, self.scene.model)

    def ball_velocity(self) -> np.ndarray:
        """Return the velocity of the ball."""
        return np.array(self.ball.getLinearVelocity())
