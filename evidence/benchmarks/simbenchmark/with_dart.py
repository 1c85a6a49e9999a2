# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The suite's scenes in DART: default contact solver, Bullet's collision detector, no sleeping.

PD control uses DART's joint springs and dampers, which DART integrates implicitly.
"""

from __future__ import annotations

import numpy as np

from evidence.benchmarks.engines.dart_scenes import (
    add_floor,
    add_free,
    load_robot,
    new_world,
    place_robot,
    set_friction,
    state_of,
)
from evidence.benchmarks.simbenchmark.robots import FRICTION, RobotScene
from evidence.benchmarks.simbenchmark.scenes import FLOOR, GRAVITY, Scene, State

# DART takes the smaller coefficient of both.
_EDGE = 200.0  # of the floor [m]
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


class DartBodies:
    """The bodies of a Scene in this engine."""

    def __init__(self, maker: Dart, scene: Scene, time_step: float) -> None:
        dart, self.settings, self.scene = maker.dart, maker.settings, scene
        self.world = new_world(dart, time_step, (0.0, 0.0, -GRAVITY))
        rolls = scene.name == "rolling"
        kind = scene.bodies[0].kind
        floor = _ROLLING[FLOOR] if rolls else scene.mu(FLOOR, kind)
        add_floor(dart, self.world, _EDGE, floor, scene.restitution)
        self.bodies = []
        for k, body in enumerate(scene.bodies):
            if body.is_ball:
                shape, moments = dart.dynamics.SphereShape(body.size[0]), [body.moment] * 3
            else:
                shape = dart.dynamics.BoxShape(list(body.size))
                squares = np.square(body.size)
                moments = body.mass / 12.0 * (squares.sum() - squares)
            mu = _ROLLING[body.kind] if rolls else floor
            name, place = f"{body.kind}{k}", body.position
            free = (name, shape, body.mass, moments, place, mu, scene.restitution)
            self.bodies.append(add_free(dart, self.world, *free))

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
            add_floor(dart, self.world, _EDGE, FRICTION)
        robots = [load_robot(dart, scene.model, f"robot{k}") for k in range(len(scene.places()))]
        self.robot, self._joints = robots[0]
        for (robot, joints), (x, y) in zip(robots, scene.places()):
            for joint, described in joints:
                kp, kd = scene.gains.get(described.name, (0.0, 0.0))
                joint.setSpringStiffness(0, kp)
                joint.setDampingCoefficient(0, kd)
                joint.setRestPosition(0, scene.q[described.q_index])
            place_robot(robot, joints, scene.q + [x, y, *np.zeros(len(scene.q) - 2)])
            set_friction(robot, FRICTION)
            self.world.addSkeleton(robot)
        if scene.ball is not None:
            ball = scene.ball
            shape, moment = dart.dynamics.SphereShape(ball.radius), 0.4 * ball.mass * ball.radius**2
            free = ("ball", shape, ball.mass, [moment] * 3, ball.position, FRICTION)
            self.ball = add_free(dart, self.world, *free)
            velocity = np.concatenate([np.zeros(3), ball.velocity])
            self.ball.getSkeleton().getJoint(0).setVelocities(velocity)

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
