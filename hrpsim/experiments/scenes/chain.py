# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The chain of E13: light links, each joined to the next, that carry a heavy ball.

The source shows a picture and gives no measures. Here: ten links of 1 kg, 0.1 m long, hung from the
world at the origin, and a ball of 0.3 m radius.
"""

from __future__ import annotations

import numpy as np

from hrpsim import Box, Sphere, World
from hrpsim.constants import STANDARD_GRAVITY as GRAVITY
from hrpsim.world.objects.body import rotation_matrix

LINKS = 10
LENGTH = 0.1  # of a link [m]
WIDTH = 0.03
MASS = 1.0  # of a link [kg]
RADIUS = 0.3  # of the ball [m]


def our_chain(
    angle: float, load: float, time_step: float, kind: str = "ball", *, joints=None, **options
) -> World:
    """Return a world with the straight chain at rest, at `angle` [rad] from hanging.

    load: mass of the ball [kg]. `joints` are further arguments of World.connect, `options` those
    of World.
    """
    world = World(time_step, (0.0, 0.0, -GRAVITY), **options)
    along = np.array([np.sin(angle), 0.0, -np.cos(angle)])
    turn = (0.0, -np.sin(angle / 2), 0.0, np.cos(angle / 2))
    parts = [
        world.add_body(Box((WIDTH, WIDTH, LENGTH)), MASS, along * LENGTH * (k + 0.5), turn)
        for k in range(LINKS)
    ]
    parts.append(world.add_body(Sphere(RADIUS), load, along * (LINKS * LENGTH + RADIUS), turn))
    for k, (a, b) in enumerate(zip([None, *parts], parts)):
        world.connect(a, b, kind, point=along * LENGTH * k, **(joints or {}))
    return world


def mujoco_chain(mujoco, angle: float, load: float, time_step: float, integrator: str):
    """Return (MjModel, MjData) of the same chain with ball joints, as a tree."""
    apart = 'contype="0" conaffinity="0"'
    bodies = "".join(
        f'<body pos="0 0 {-LENGTH if k else 0}"><joint type="ball"/><geom type="box" mass="{MASS}" '
        f'size="{WIDTH / 2} {WIDTH / 2} {LENGTH / 2}" pos="0 0 {-LENGTH / 2}" {apart}/>'
        for k in range(LINKS)
    )
    ball = (
        f'<body pos="0 0 {-LENGTH}"><joint type="ball"/><geom type="sphere" size="{RADIUS}" '
        f'pos="0 0 {-RADIUS}" mass="{load}" {apart}/></body>'
    )
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><option timestep="{time_step:.17g}" gravity="0 0 -{GRAVITY}" '
        f'integrator="{integrator}"><flag energy="enable"/></option>'
        f"<worldbody>{bodies}{ball}{'</body>' * LINKS}</worldbody></mujoco>"
    )
    data = mujoco.MjData(model)
    data.qpos[:4] = np.cos(angle / 2), 0.0, -np.sin(angle / 2), 0.0
    return model, data


def largest_gap(world: World) -> float:
    """Return the largest distance between the two points of any joint now [m]."""
    return max(float(np.linalg.norm(c.error[:3])) for c in world.connections.values())


def energy(world: World) -> float:
    """Return kinetic and potential energy [J], the latter 0 at the height of the origin."""
    total = 0.0
    for body in world.bodies.values():
        spin = rotation_matrix(body.orientation).T @ body.angular_velocity
        total += 0.5 * body.mass * body.velocity @ body.velocity
        total += 0.5 * spin @ body.system.inertia[0] @ spin
        total += body.mass * GRAVITY * body.position[2]
    return float(total)


def our_line(world: World) -> np.ndarray:
    """Return x and z of the centres (n, 2) [m], the ball last."""
    return np.array([body.position[[0, 2]] for body in world.bodies.values()])
