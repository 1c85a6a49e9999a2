# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Records that the kernels of the analysis read and write.

A *support* is a link that may be fixed to the world; a *phase* is a time during which the same
supports are fixed. Wrenches and poses of supports are those of the link's frame.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hrpsim.dynamics.articulated import new_articulated
from hrpsim.kinematics.forest import Forest
from hrpsim.kinematics.forward import new_kinematics

SUPPORT = np.dtype(
    [
        ("body", "i8"),
        ("R", "f8", (3, 3)),  # R_body_link
        ("p", "f8", (3,)),  # of the link in the body [m]
        ("height", "f8"),  # of the outline in the link's frame [m]
        ("vertex_begin", "i8"),
        ("vertex_end", "i8"),
    ]
)

PHASE = np.dtype(
    [
        ("reference", "i8"),  # the support from which the base's motion is recovered
        ("R", "f8", (3, 3)),  # where it is fixed: R_world_link
        ("p", "f8", (3,)),  # [m]
        ("ground", "f8"),  # height of its outline [m]
    ]
)

SETTINGS = np.dtype(
    [
        ("mass", "f8"),
        ("split", "i8"),  # MINIMUM_NORM or CENTER_OF_PRESSURE
        ("length", "f8"),  # l of the norm |f|^2 + |n|^2 / l^2 of a wrench [m]
    ]
)

MINIMUM_NORM, CENTER_OF_PRESSURE = range(2)

# Vectors along the world's axes. NaN where a quantity does not exist.
SAMPLE = np.dtype(
    [
        ("com", "f8", (3,)),  # centre of mass [m]
        ("com_velocity", "f8", (3,)),
        ("com_acceleration", "f8", (3,)),
        ("linear_momentum", "f8", (3,)),  # [kg m/s]
        ("angular_momentum", "f8", (3,)),  # about the centre of mass [kg m^2/s]
        ("angular_momentum_rate", "f8", (3,)),  # [Nm]
        ("force", "f8", (3,)),  # of the surroundings on the robot [N]
        ("zmp", "f8", (3,)),  # zero-moment point, on the ground of the reference [m]
        ("capture_point", "f8", (3,)),  # on the ground [m]
        ("margin", "f8"),  # of the ZMP in the support polygon, negative outside [m]
        ("capture_margin", "f8"),  # of the capture point, likewise [m]
        ("kinetic_energy", "f8"),  # rotors included [J]
        ("potential_energy", "f8"),  # of gravity and joint springs [J]
    ]
)

SUPPORT_SAMPLE = np.dtype(
    [
        ("force", "f8", (3,)),  # on the robot, along the link's axes [N]; 0 where it is not fixed
        ("torque", "f8", (3,)),  # about the link's origin, along its axes [Nm]
        ("cop", "f8", (3,)),  # centre of pressure, on the outline's plane, in the world [m]
        ("cop_margin", "f8"),  # of it in the outline, negative outside [m]
        ("friction", "f8"),  # tangential force / normal force
        ("position", "f8", (3,)),  # of the link's origin in the world [m]
        ("R", "f8", (3, 3)),  # R_world_link
        ("velocity", "f8", (3,)),  # of the link's origin [m/s]
        ("angular_velocity", "f8", (3,)),  # [rad/s]
        ("height", "f8"),  # of the lowest vertex above the ground of the reference [m]
    ]
)


class Subject(NamedTuple):
    """The subject of the analysis: a robot on a free base and the links that may be fixed."""

    forest: Forest
    supports: np.ndarray  # (s,) SUPPORT
    vertices: np.ndarray  # (., 2) outlines in the supports' frames, counter-clockwise from +z [m]
    gravity: np.ndarray  # (3,) [m/s^2]
    settings: np.ndarray  # (1,) SETTINGS


class Results(NamedTuple):
    """One row a sample; q, v, dv hold the given joints and the recovered base."""

    q: np.ndarray  # (T, nq)
    v: np.ndarray  # (T, nv)
    dv: np.ndarray  # (T, nv)
    tau: np.ndarray  # (T, nv)
    samples: np.ndarray  # (T,) SAMPLE
    supports: np.ndarray  # (T, s) SUPPORT_SAMPLE


class Workspace(NamedTuple):
    """Memory of one thread."""

    kinematics: np.ndarray
    articulated: np.ndarray
    velocity: np.ndarray  # (nv,) the kernels' velocity
    acceleration: np.ndarray  # (nv,)
    effort: np.ndarray  # (nv,)
    turn: np.ndarray  # (3, 3)
    total: np.ndarray  # (6,) wrench of the surroundings about the base's origin, moment first
    momentum: np.ndarray  # (6,) of one body
    shares: np.ndarray  # (s, 6) each support's part of it
    arms: np.ndarray  # (s, 3) the supports' origins from the base's origin [m]
    points: np.ndarray  # (vertices, 2) of the fixed supports, in the world [m]
    norm: np.ndarray  # (6, 6) of `wrench_split`
    norm_inverse: np.ndarray  # (6, 6)
    edges: np.ndarray  # (e, 4, 6) of `wrench_split`
    owners: np.ndarray  # (e,) support of each edge
    coupling: np.ndarray  # (e, e)
    factor: np.ndarray  # (e, e)
    multipliers: np.ndarray  # (4, e)
    active: np.ndarray  # (e,)


def new_workspace(subject: Subject) -> Workspace:
    """Return memory for one thread's analysis of `subject`."""
    n, nv = len(subject.forest.bodies), len(subject.forest.dofs)
    s, e = len(subject.supports), len(subject.vertices)
    return Workspace(
        kinematics=new_kinematics(n),
        articulated=new_articulated(n),
        velocity=np.zeros(nv),
        acceleration=np.zeros(nv),
        effort=np.zeros(nv),
        turn=np.zeros((3, 3)),
        total=np.zeros(6),
        momentum=np.zeros(6),
        shares=np.zeros((s, 6)),
        arms=np.zeros((s, 3)),
        points=np.zeros((e, 2)),
        norm=np.zeros((6, 6)),
        norm_inverse=np.zeros((6, 6)),
        edges=np.zeros((e, 4, 6)),
        owners=np.zeros(e, dtype=np.int64),
        coupling=np.zeros((e, e)),
        factor=np.zeros((e, e)),
        multipliers=np.zeros((4, e)),
        active=np.zeros(e, dtype=np.int64),
    )


def new_results(nq: int, nv: int, support_count: int, count: int) -> Results:
    """Return zeroed results of `count` samples."""
    return Results(
        q=np.zeros((count, nq)),
        v=np.zeros((count, nv)),
        dv=np.zeros((count, nv)),
        tau=np.zeros((count, nv)),
        samples=np.zeros(count, dtype=SAMPLE),
        supports=np.zeros((count, support_count), dtype=SUPPORT_SAMPLE),
    )
