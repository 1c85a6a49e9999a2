# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The rigid beam of E12: a row of cubes, each locked to the next, in our world and in MuJoCo.

The source gives 39 boxes of 1.25 kg, 0.1 m apart, and prints neither the load nor the shape of a
box: here cubes of 0.1 m, in three loads. The rotation of "spinning" is that of a rigid body about
the middle of the beam.
"""

from __future__ import annotations

import numpy as np

from hrpsim import Box, World
from hrpsim.constants import STANDARD_GRAVITY as GRAVITY

COUNT = 39
EDGE = 0.1  # of a cube, and from centre to centre [m]
MASS = 1.25  # [kg]
TIME_STEP = 1.0 / 60.0
STEPS = 120
SPIN = 1.0  # [rad/s] about z
LOADS = ("at rest", "spinning", "cantilever")
SOURCE_SPRING = {"compliance": 1e-9, "damping_time": 2.0}  # of every axis of every joint

# The stiffest of MuJoCo's equality constraints that stay finite under all three loads, found by
# trying (stiffness, damping) of its direct form; its default gives 2 mm when spinning.
MUJOCO_STIFFEST = 'solref="-7000 -60" solimp="0.9999 0.9999 1e-6"'


def centres(count: int = COUNT) -> np.ndarray:
    """Return the centres (count, 3) [m] at the start: along x, their middle at the origin."""
    positions = np.zeros((count, 3))
    positions[:, 0] = EDGE * (np.arange(count) - 0.5 * (count - 1))
    return positions


def motion(load: str, positions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return gravity (3,), velocities (n, 3) and angular velocities (n, 3) at the start."""
    gravity = np.array([0.0, 0.0, -GRAVITY if load == "cantilever" else 0.0])
    omega = np.array([0.0, 0.0, SPIN if load == "spinning" else 0.0])
    return gravity, np.cross(omega, positions), np.tile(omega, (len(positions), 1))


def our_beam(load: str, count: int = COUNT, *, solver=None, spring=None, **options) -> World:
    """Return a world with the beam; `spring` are compliance and damping time of its joints.

    Joints are rigid by default. The joint of two cubes is in the middle between them, that of the
    cantilever with the world at the outer face of the first. `options` are those of World.
    """
    positions = centres(count)
    gravity, velocities, spins = motion(load, positions)
    world = World(TIME_STEP, gravity, **options)
    cubes = [
        world.add_body(Box((EDGE,) * 3), MASS, p, velocity=v, angular_velocity=w)
        for p, v, w in zip(positions, velocities, spins, strict=True)
    ]
    joints = {"kind": "fixed", "axis": (0, 0, 1), "x_axis": (1, 0, 0), "solver": solver}
    joints |= spring or {}
    half = np.array([0.5 * EDGE, 0.0, 0.0])
    if load == "cantilever":
        world.connect(None, cubes[0], point=positions[0] - half, **joints)
    for a, b, p in zip(cubes, cubes[1:], positions):
        world.connect(a, b, point=p + half, **joints)
    return world


def our_positions(world: World) -> np.ndarray:
    """Return the centres (n, 3) [m] now."""
    return np.array([body.position for body in world.bodies.values()])


def mujoco_beam(mujoco, load: str, solver: str, iterations: int):
    """Return (MjModel, MjData) of the same beam with MUJOCO_STIFFEST welds."""
    positions = centres()
    gravity, velocities, spins = motion(load, positions)
    bodies = [
        f'<body name="b{k}" pos="{p[0]:.17g} 0 0"><freejoint/><geom type="box" mass="{MASS}" '
        f'size="{EDGE / 2} {EDGE / 2} {EDGE / 2}" contype="0" conaffinity="0"/></body>'
        for k, p in enumerate(positions)
    ]
    welds = [f'<weld body1="b{k}" body2="b{k + 1}"/>' for k in range(COUNT - 1)]
    if load == "cantilever":
        welds.append('<weld body1="b0"/>')
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><option timestep="{TIME_STEP:.17g}" gravity="0 0 {gravity[2]}" jacobian="sparse"'
        f' solver="{solver}" iterations="{iterations}" tolerance="1e-10"/>'
        f"<default><equality {MUJOCO_STIFFEST}/></default>"
        f"<worldbody>{''.join(bodies)}</worldbody><equality>{''.join(welds)}</equality></mujoco>"
    )
    data = mujoco.MjData(model)
    data.qvel[:] = np.hstack([velocities, spins]).ravel()
    return model, data


def distance_error(positions: np.ndarray) -> float:
    """Return the source's error, the sum of |d_i - 0.1| over neighbours [m]."""
    apart = np.linalg.norm(np.diff(positions, axis=0), axis=1)
    return float(np.abs(apart - EDGE).sum())


def bend(load: str, positions: np.ndarray) -> float:
    """Return how far the beam is bent [m]: the tip's sag of the cantilever, signed.

    Else the largest distance of any centre from the straight line through both ends.
    """
    if load == "cantilever":
        return float(0.0 - positions[-1, 2])
    line = positions[-1] - positions[0]
    line /= np.linalg.norm(line)
    apart = positions - positions[0]
    return float(np.linalg.norm(apart - np.outer(apart @ line, line), axis=1).max())
