# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The bodies, joints and shapes of a USD stage, in SI units with z up."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

_NONE = np.zeros((0, 3))


@dataclass(eq=False)
class BodyPrim:
    """A rigid body. Missing masses are 0, other missing values None."""

    path: str
    name: str
    pose: np.ndarray  # (4, 4) in the world
    mass: float = 0.0  # [kg]
    density: float = 0.0  # [kg/m^3]
    center: np.ndarray | None = None  # (3,) in the body [m]
    inertia: np.ndarray | None = None  # (3, 3) about the centre, along the axes of the body
    is_kinematic: bool = False
    gravity_compensation: float = 0.0  # compensated fraction of the weight
    meets_itself: bool = True  # whether the bodies of its articulation collide with each other


class MaterialPrim(NamedTuple):
    """A physics material. The defaults are the defaults of PhysX."""

    static_friction: float = 0.5
    dynamic_friction: float = 0.5
    restitution: float = 0.0


@dataclass(eq=False)
class JointPrim:
    """A joint between two bodies, "" for the world, with a frame (4, 4) in each.

    limits: (low, high) for each degree of freedom, such as "rotX" [rad or m]. low > high means
    locked. drives: (kp, kd, largest effort) for each degree of freedom, in SI units and radians.
    properties: fields of `JointData`. mimic: path of the leader, ratio and offset [rad or m], or
    None.
    """

    name: str
    kind: str  # revolute, prismatic, fixed, spherical, distance, d6, or the type of the prim
    body0: str
    body1: str
    frame0: np.ndarray
    frame1: np.ndarray
    axis: int = 0
    limits: dict[str, tuple[float, float]] = field(default_factory=dict)
    drives: dict[str, tuple[float, float, float]] = field(default_factory=dict)
    properties: dict[str, float] = field(default_factory=dict)
    path: str = ""
    mimic: tuple[str, float, float] | None = None


@dataclass(eq=False)
class ShapePrim:
    """A shape of a body, "" for the world. `placement` is the affine map (4, 4) to the body.

    sizes: edge, or radius, or radius and height, before the map is applied. owner: path of the
    body, or of the shape without a body.
    """

    name: str
    kind: str  # type of the prim
    body: str
    placement: np.ndarray
    sizes: tuple[float, ...] = ()
    axis: int = 2
    points: np.ndarray = field(default_factory=lambda: _NONE)
    faces: np.ndarray = field(default_factory=lambda: _NONE.astype(np.int64))
    approximation: str = "none"
    is_solid: bool = False
    is_seen: bool = True
    mass: float = 0.0
    density: float = 0.0
    material_density: float = 0.0
    material: str = ""  # name in StageData.materials
    owner: str = ""
    color: tuple[float, ...] | None = None


@dataclass(eq=False)
class StageData:
    """The contents of a USD stage.

    gravity: (3,) [m/s^2]. time_step: [s], None if the stage has none. notes: (element, why, name)
    of elements that are not simulated. apart: pairs of owners that never collide. missing: layers
    and references that cannot be opened.
    """

    name: str = "stage"
    scene: str = ""  # name of the PhysicsScene, "" without one
    gravity: tuple[float, ...] = (0.0, 0.0, -9.81)
    time_step: float | None = None
    bodies: list[BodyPrim] = field(default_factory=list)
    joints: list[JointPrim] = field(default_factory=list)
    shapes: list[ShapePrim] = field(default_factory=list)
    materials: dict[str, MaterialPrim] = field(default_factory=lambda: {"": MaterialPrim()})
    notes: list[tuple[str, str, str]] = field(default_factory=list)
    apart: list[tuple[str, str]] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
