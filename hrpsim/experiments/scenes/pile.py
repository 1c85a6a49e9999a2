# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The scene of E1: boxes of random sizes and attitudes dropped into a fenced tray on a slope.

The paper shows a picture and gives no measures. Here: a slope of 15 degrees, friction 0.5
everywhere (which holds up to 26.6 degrees), edges of 0.1 to 0.2 m, 500 kg/m^3, dropped in layers
of 16 from 0.4 m upwards, fences 0.3 m high on three sides. The random numbers are seeded.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from hrpsim import Box, World
from hrpsim.constants import STANDARD_GRAVITY as GRAVITY
from hrpsim.world.objects.body import rotation_matrix

ANGLE = math.radians(15.0)
FRICTION = 0.5
DENSITY = 500.0
TIME_STEP = 1e-3
NORMAL = np.array([math.sin(ANGLE), 0.0, math.cos(ANGLE)])
R_SLOPE = np.array(
    [
        [math.cos(ANGLE), 0.0, math.sin(ANGLE)],
        [0.0, 1.0, 0.0],
        [-math.sin(ANGLE), 0.0, math.cos(ANGLE)],
    ]
)
Q_SLOPE = np.array([0.0, math.sin(ANGLE / 2), 0.0, math.cos(ANGLE / 2)])  # x y z w
FENCES = (  # centre and edge lengths, x downhill, z off the slope [m]
    ((0.8, 0.0, 0.15), (0.1, 1.7, 0.3)),
    ((0.0, 0.8, 0.15), (1.7, 0.1, 0.3)),
    ((0.0, -0.8, 0.15), (1.7, 0.1, 0.3)),
)


class Boxes(NamedTuple):
    """The state of boxes at one time, or at first: everything in world axes, SI units."""

    lengths: np.ndarray  # (n, 3)
    positions: np.ndarray  # (n, 3)
    orientations: np.ndarray  # (n, 4) quaternions x y z w
    velocities: np.ndarray  # (n, 3)
    angular_velocities: np.ndarray  # (n, 3)

    @property
    def masses(self) -> np.ndarray:
        """Masses (n,) [kg]."""
        return DENSITY * self.lengths.prod(axis=1)


def dropped(count: int) -> Boxes:
    """Return `count` boxes at rest above the slope, clear of each other."""
    random = np.random.default_rng(1)
    lengths = random.uniform(0.1, 0.2, (count, 3))
    orientations = random.normal(size=(count, 4))
    orientations /= np.linalg.norm(orientations, axis=1, keepdims=True)
    k = np.arange(count)
    layered = np.column_stack([k % 4 - 1.5, k // 4 % 4 - 1.5, 1 + k // 16]) * 0.39
    local = layered + random.uniform(-0.02, 0.02, (count, 3))
    zero = np.zeros((count, 3))
    return Boxes(lengths, local @ R_SLOPE.T, orientations, zero, zero)


def our_world(boxes: Boxes, integrator: str, solver: str | None = None) -> World:
    """Return a world with slope, fences and boxes."""
    world = World(TIME_STEP, gravity=(0.0, 0.0, -GRAVITY), integrator=integrator, solver=solver)
    world.set_friction("slope", "box", static=FRICTION)
    world.set_friction("box", "box", static=FRICTION)
    world.add_ground(normal=NORMAL, material="slope")
    for centre, lengths in FENCES:
        world.add_static(Box(lengths), R_SLOPE @ centre, Q_SLOPE, material="slope")
    for lengths, mass, p, q in zip(
        boxes.lengths, boxes.masses, boxes.positions, boxes.orientations, strict=True
    ):
        world.add_body(Box(lengths), mass, position=p, orientation=q, material="box")
    return world


def our_boxes(world: World, start: Boxes) -> Boxes:
    """Return the present state of the boxes of `our_world(start, ...)`."""
    bodies = list(world.bodies.values())
    return Boxes(
        start.lengths,
        np.array([body.position for body in bodies]),
        np.array([body.orientation for body in bodies]),
        np.array([body.velocity for body in bodies]),
        np.array([body.angular_velocity for body in bodies]),
    )


def mujoco_pile(mujoco, boxes: Boxes):
    """Return (MjModel, MjData) of the same slope, fences and boxes; Newton, elliptic cone."""

    def numbers(values) -> str:
        return " ".join(f"{value:.17g}" for value in values)

    slope = f'quat="{numbers(Q_SLOPE[[3, 0, 1, 2]])}"'
    parts = [f'<geom type="plane" size="0 0 1" {slope}/>']
    for centre, lengths in FENCES:
        half = numbers(np.array(lengths) / 2)
        parts.append(f'<geom type="box" size="{half}" pos="{numbers(R_SLOPE @ centre)}" {slope}/>')
    for lengths, mass, p, q in zip(
        boxes.lengths, boxes.masses, boxes.positions, boxes.orientations, strict=True
    ):
        parts.append(
            f'<body pos="{numbers(p)}" quat="{numbers(q[[3, 0, 1, 2]])}"><freejoint/>'
            f'<geom type="box" size="{numbers(lengths / 2)}" mass="{mass:.17g}"/></body>'
        )
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><option timestep="{TIME_STEP}" gravity="0 0 -{GRAVITY}" cone="elliptic"/>'
        f'<default><geom friction="{FRICTION} 0 0" condim="3"/></default>'
        f"<worldbody>{''.join(parts)}</worldbody></mujoco>"
    )
    return model, mujoco.MjData(model)


def mujoco_boxes(data, start: Boxes) -> Boxes:
    """Return the present state of MuJoCo's boxes."""
    q, v = data.qpos.reshape(-1, 7), data.qvel.reshape(-1, 6)
    orientations = q[:, [4, 5, 6, 3]]
    spin = [rotation_matrix(o) @ w for o, w in zip(orientations, v[:, 3:], strict=True)]
    return Boxes(start.lengths, q[:, :3].copy(), orientations, v[:, :3].copy(), np.array(spin))


def kinetic_energy(boxes: Boxes) -> float:
    """Return the sum of the boxes' kinetic energies [J]."""
    masses, squares = boxes.masses, boxes.lengths**2
    total = 0.5 * masses @ (boxes.velocities**2).sum(axis=1)
    for k, q in enumerate(boxes.orientations):
        moments = masses[k] / 12.0 * (squares[k].sum() - squares[k])
        spin = rotation_matrix(q).T @ boxes.angular_velocities[k]
        total += 0.5 * moments @ spin**2
    return float(total)


def depth_below_slope(boxes: Boxes) -> float:
    """Return how far the lowest corner of any box is below the slope [m], negative above it."""
    lowest = [
        p @ NORMAL - np.abs(rotation_matrix(q).T @ NORMAL) @ lengths / 2
        for p, q, lengths in zip(boxes.positions, boxes.orientations, boxes.lengths, strict=True)
    ]
    return float(-min(lowest))


def overlap(mujoco, boxes: Boxes) -> float:
    """Return the deepest overlap of any two shapes [m] that MuJoCo's collision detector finds."""
    model, data = mujoco_pile(mujoco, boxes)
    mujoco.mj_forward(model, data)
    return float(max(-data.contact.dist.min(), 0.0)) if data.ncon else 0.0
