# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A scene of everything, stepped and pushed; run as a script it prints a hash of the states' bits.

python -m world.scripted, with test/ on the path: two processes must print the same.
"""

import hashlib

import numpy as np
from world.scenes import one_joint

from hrpsim import Box, Capsule, Cylinder, Sphere, World, load_model
from robots import HRP2_LIKE

SHAPES = (Box((0.2, 0.15, 0.1)), Sphere(0.08), Capsule(0.06, 0.12), Cylinder(0.08, 0.12))


def pile(
    world: World, count: int, seed: int = 3, height: float = 0.25, width: float = 0.15
) -> list:
    """Add `count` bodies of all shapes above each other, with random poses and velocities."""
    random = np.random.default_rng(seed)
    bodies = []
    for k in range(count):
        orientation = random.normal(size=4)
        bodies.append(
            world.add_body(
                SHAPES[k % 4],
                float(random.uniform(0.5, 3.0)),
                position=(*random.uniform(-width, width, 2), 0.2 + height * k),
                orientation=orientation / np.linalg.norm(orientation),
                velocity=random.uniform(-0.5, 0.5, 3),
                angular_velocity=random.uniform(-3, 3, 3),
                material="pile",
            )
        )
    return bodies


def everything(integrator: str, count: int = 12, world: World | None = None) -> World:
    """A humanoid with bushes, a limited joint, and a pile on a slope and a box."""
    world = World(integrator=integrator) if world is None else world
    world.set_friction("pile", "pile", static=0.5, kinetic=0.3, restitution=0.3)
    world.add_ground(normal=(0.05, 0.0, 1.0))
    world.add_static(Box((0.4, 0.4, 0.1)), position=(0.1, 0.0, 0.05), material="pile")
    pile(world, count)
    model = load_model(HRP2_LIKE, xacro_arguments={"bush": True})
    q = model.neutral()
    q[:3] = 3.0, 0.0, 0.56
    world.add_robot(model, q=q)
    limit = 'lower="-0.2" upper="0.3" effort="50" velocity="5"'
    world.add_robot(one_joint(limit=limit, dynamics='friction="0.01"', at="0.1 0 0"), v=[2.0])
    return world


def script(world: World) -> None:
    """Push and command things over 0.8 s."""
    robot, body = world.robots["hrp2_like"], next(iter(world.bodies.values()))
    world.step(200)
    body.apply_wrench(force=(3.0, 1.0, 0.0), torque=(0.0, 0.2, 0.0))
    world.step(100)
    robot.command(positions=robot.joint_positions + 0.01)
    robot.apply_wrench("BODY", force=(20.0, 0.0, 0.0))
    world.step(500)


def bits(world: World) -> bytes:
    """All that a user may look at, bit by bit."""
    parts = [e.q for e in (*world.bodies.values(), *world.robots.values())]
    parts += [e.v for e in (*world.bodies.values(), *world.robots.values())]
    parts += [c.force for c in world.contacts] + [c.point for c in world.contacts]
    for robot in world.robots.values():
        parts.append(robot.tau)
        parts += [sensor._reading() for sensor in robot.sensors.values()]
    return b"".join(np.ascontiguousarray(p).tobytes() for p in parts)


def digest(world: World) -> str:
    """Hash of `bits`."""
    return hashlib.sha256(bits(world)).hexdigest()


if __name__ == "__main__":
    for integrator in ("semi_implicit", "rk4"):
        world = everything(integrator)
        script(world)
        print(digest(world))
