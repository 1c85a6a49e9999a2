# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Records that the kernels of the analysis read and write.

A *support* is a link that may be fixed to the world. A *phase* is an interval of time with the same
fixed supports. Wrenches and poses of a support are in the link's frame.
"""

from typing import NamedTuple, NewType

import numpy as np

from hrpsim.engine.compile.fields import allocate, work
from hrpsim.engine.compile.kernel_types import Record
from hrpsim.engine.dynamics.articulated import ARTICULATED
from hrpsim.engine.kinematics.forest import Forest
from hrpsim.engine.kinematics.forward import KINEMATICS

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
Support = NewType("Support", Record)

PHASE = np.dtype(
    [
        ("reference", "i8"),  # the support that determines the base's motion
        ("R", "f8", (3, 3)),  # orientation of the fixed link: R_world_link
        ("p", "f8", (3,)),  # [m]
        ("ground", "f8"),  # height of its outline [m]
    ]
)
Phase = NewType("Phase", Record)

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
        ("margin", "f8"),  # of the ZMP from the support polygon's edge, negative outside [m]
        ("capture_margin", "f8"),  # the same for the capture point [m]
        ("kinetic_energy", "f8"),  # rotors included [J]
        ("potential_energy", "f8"),  # of gravity and joint springs [J]
    ]
)
Sample = NewType("Sample", Record)

SUPPORT_SAMPLE = np.dtype(
    [
        ("force", "f8", (3,)),  # on the robot, along the link's axes [N]; 0 where it is not fixed
        ("torque", "f8", (3,)),  # about the link's origin, along its axes [Nm]
        ("cop", "f8", (3,)),  # centre of pressure, on the outline's plane, in the world [m]
        ("cop_margin", "f8"),  # distance from the outline's edge, negative outside [m]
        ("friction", "f8"),  # tangential force / normal force
        ("position", "f8", (3,)),  # of the link's origin in the world [m]
        ("R", "f8", (3, 3)),  # R_world_link
        ("velocity", "f8", (3,)),  # of the link's origin [m/s]
        ("angular_velocity", "f8", (3,)),  # [rad/s]
        ("height", "f8"),  # of the lowest vertex above the ground of the reference [m]
    ]
)
SupportSample = NewType("SupportSample", Record)


class AnalysedRobot(NamedTuple):
    """The analysed robot with a free base, and the links that may be fixed."""

    forest: Forest
    supports: np.ndarray  # (s,) SUPPORT
    vertices: np.ndarray  # (., 2) outlines in the supports' frames, counter-clockwise from +z [m]
    gravity: np.ndarray  # (3,) [m/s^2]
    settings: np.ndarray  # (1,) SETTINGS


class Results(NamedTuple):
    """Results with one row per sample.

    q, v and dv contain the given joint values and the computed motion of the base.
    """

    q: np.ndarray = work("T, nq")
    v: np.ndarray = work("T, nv")
    dv: np.ndarray = work("T, nv")
    tau: np.ndarray = work("T, nv")
    samples: np.ndarray = work("T", dtype=SAMPLE)
    supports: np.ndarray = work("T, s", dtype=SUPPORT_SAMPLE)


class ThreadMemory(NamedTuple):
    """The work memory of one thread."""

    kinematics: np.ndarray = work("n", dtype=KINEMATICS)
    articulated: np.ndarray = work("n", dtype=ARTICULATED)
    velocity: np.ndarray = work("nv", "the kernels' velocity")
    acceleration: np.ndarray = work("nv")
    effort: np.ndarray = work("nv")
    turn: np.ndarray = work("3, 3")
    total: np.ndarray = work("6", "wrench of the surroundings on the base, moment first")
    momentum: np.ndarray = work("6", "of one body")
    shares: np.ndarray = work("s, 6", "each support's part of it")
    arms: np.ndarray = work("s, 3", "the supports' origins from the base's origin [m]")
    points: np.ndarray = work("e, 2", "of the fixed supports, in the world [m]")
    norm: np.ndarray = work("6, 6", "of `wrench_split`")
    norm_inverse: np.ndarray = work("6, 6")
    edges: np.ndarray = work("e, 4, 6", "of `wrench_split`")
    owners: np.ndarray = work("e", "support of each edge", "i8")
    coupling: np.ndarray = work("e, e")
    factor: np.ndarray = work("e, e")
    multipliers: np.ndarray = work("4, e")
    active: np.ndarray = work("e", dtype="i8")


def new_workspace(subject: AnalysedRobot) -> ThreadMemory:
    """Allocate the work memory of one thread for the analysis of `subject`."""
    n, nv = len(subject.forest.bodies), len(subject.forest.dofs)
    sizes = {"n": n, "nv": nv, "s": len(subject.supports), "e": len(subject.vertices)}
    return allocate(ThreadMemory, sizes)


def new_results(nq: int, nv: int, support_count: int, count: int) -> Results:
    """Allocate zeroed results of `count` samples."""
    return allocate(Results, {"nq": nq, "nv": nv, "s": support_count, "T": count})
