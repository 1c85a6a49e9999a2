# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The suite's scenes in hrpsim."""

from __future__ import annotations

import numpy as np

from evidence.benchmarks.simbenchmark.robots import FRICTION, RobotScene
from evidence.benchmarks.simbenchmark.scenes import FLOOR, GRAVITY, Scene, State
from hrpsim import Box, Sphere, World


class Ours:
    """Makes scenes, with options of World. Sleeping is disabled, as in the suite."""

    def __init__(self, **options) -> None:
        self.options = {"sleeping": False, **options}

    def loose(self, scene: Scene, time_step: float) -> OurBodies:
        """Return the bodies of the scene in the initial state."""
        return OurBodies(scene, time_step, self.options)

    def robots(self, scene: RobotScene, time_step: float) -> OurRobots:
        """Return the robots of the scene in the initial state."""
        return OurRobots(scene, time_step, self.options)


def _settings(options) -> str:
    chosen = [f"{k}={v}" for k, v in options.items() if k != "sleeping"]
    return ", ".join(["hrpsim", *chosen])


class OurBodies:
    """The bodies of a Scene in this engine."""

    def __init__(self, scene: Scene, time_step: float, options) -> None:
        self.settings = _settings(options)
        # Half of the balls' speeds are below rk4's default threshold at the largest steps.
        options = {"restitution_threshold": 0.01} | dict(options)
        self.world = World(time_step, gravity=(0.0, 0.0, -GRAVITY), **options)
        kinds = sorted({FLOOR} | {body.kind for body in scene.bodies})
        for k, a in enumerate(kinds):
            for b in kinds[k:]:
                self.world.set_friction(a, b, scene.mu(a, b), restitution=scene.restitution)
        self.world.add_ground(material=FLOOR)
        for body in scene.bodies:
            shape = Sphere(body.size[0]) if body.is_ball else Box(body.size)
            self.world.add_body(shape, body.mass, position=body.position, material=body.kind)
        self.force = scene.force
        bodies = list(self.world.bodies.values())
        self._first = bodies[0]
        self._q = np.array([body.first_q for body in bodies])[:, None] + np.arange(3)
        self._v = np.array([body.first_v for body in bodies])[:, None] + np.arange(6)

    def step(self, count: int) -> None:
        """Make `count` steps."""
        if self.force is not None:
            self._first.apply_wrench(self.force)
        self.world.step(count)

    def state(self) -> State:
        """Return the state of the bodies. In the scene's arrays, angular velocities come first."""
        arrays = self.world.scene
        v = arrays.velocity[self._v]
        return State(arrays.q[self._q], v[:, 3:], v[:, :3])


class OurRobots:
    """The robots of a RobotScene, with PD control inside the compiled step."""

    def __init__(self, scene: RobotScene, time_step: float, options) -> None:
        self.settings = _settings(options)
        self.world = World(time_step, gravity=(0.0, 0.0, -scene.gravity), **options)
        self.world.set_friction("default", "default", static=FRICTION)
        if scene.floor:
            self.world.add_ground()
        for x, y in scene.places():
            q = scene.q.copy()
            q[:2] += x, y
            robot = self.world.add_robot(scene.model, q)
            for name, (kp, kd) in scene.gains.items():
                robot.set_gains([kp], [kd], [name])
        if scene.ball is not None:
            ball = scene.ball
            self.ball = self.world.add_body(
                Sphere(ball.radius), ball.mass, position=ball.position, velocity=ball.velocity
            )
        self.robot = next(iter(self.world.robots.values()))
        self.base = scene.model.base_link

    def step(self, count: int, lift: float = 0.0) -> None:
        """Make `count` steps."""
        if lift:
            self.robot.apply_wrench(self.base, force=(0.0, 0.0, lift))
        self.world.step(count)

    def state(self):
        """Return q and v of the first robot."""
        return self.robot.q.copy(), self.robot.v.copy()

    def ball_velocity(self) -> np.ndarray:
        """Return the velocity of the ball."""
        return self.ball.velocity.copy()
