# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Volume, centre of mass and inertia of rigid bodies and of uniform solids."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from hrpsim.common.errors import ModelError
from hrpsim.model.shapes.compound import Compound, centered_shape
from hrpsim.model.shapes.geometry import Box, Capsule, Cylinder, Geometry, Mesh, Plane, Sphere
from hrpsim.model.shapes.mesh_integrals import solid_moments
from hrpsim.model.shapes.placement import IDENTITY, Placement

_FLATTEST = 1e-9  # least part of its bounding box that a solid fills


class BodyInertia(NamedTuple):
    """Mass [kg], centre of mass c (3,) [m] and inertia about c (3, 3) [kg m^2], in one frame."""

    mass: float
    com: np.ndarray
    inertia: np.ndarray

    def seen_from(self, placement: Placement) -> BodyInertia:
        """Transform the inertia to the parent frame of `placement`.

        The inertia is given in the child frame, which `placement` locates in the parent frame.
        """
        R = placement.R
        return BodyInertia(self.mass, R @ self.com + placement.p, R @ self.inertia @ R.T)

    def about(self, point: np.ndarray) -> np.ndarray:
        """Return the inertia (3, 3) about a point (3,) instead of the centre of mass [kg m^2]."""
        d = self.com - point
        return self.inertia + self.mass * ((d @ d) * np.eye(3) - np.outer(d, d))


def total(parts: Sequence[BodyInertia]) -> BodyInertia:
    """Return the inertia of several parts that are joined rigidly.

    All parts are in the same frame.
    """
    mass = sum(part.mass for part in parts)
    if mass == 0.0:
        return BodyInertia(0.0, np.zeros(3), sum((p.inertia for p in parts), np.zeros((3, 3))))
    if len(parts) == 1:
        return parts[0]
    com = sum((part.mass * part.com for part in parts), np.zeros(3)) / mass
    return BodyInertia(mass, com, sum((part.about(com) for part in parts), np.zeros((3, 3))))


def solid_inertia(geometry: Geometry | Compound, mass: float) -> np.ndarray:
    """Return the inertia (3, 3) of a uniform solid about the centre of mass [kg m^2]."""
    return _uniform(geometry, mass).inertia


def solid_parts(geometry: Geometry | Compound) -> list[tuple[Geometry, Placement]]:
    """Return the shapes of a uniform solid, placed about the centre of mass."""
    center = _uniform(geometry, 1.0).com
    if isinstance(geometry, Compound):
        return [
            centered_shape(part, Placement(placement.R, placement.p - center))
            for part, placement in geometry.parts
        ]
    if isinstance(geometry, Mesh):
        return [(geometry.moved(-center), IDENTITY)]
    return [(geometry, IDENTITY)]


def solid_volume(geometry: Geometry) -> float:
    """Return the volume of a shape [m^3]. Raises ModelError for a shape that encloses no volume."""
    if isinstance(geometry, Sphere):
        return 4.0 / 3.0 * math.pi * geometry.radius**3
    if isinstance(geometry, Box):
        return math.prod(geometry.lengths)
    if isinstance(geometry, Cylinder):
        return math.pi * geometry.radius**2 * geometry.length
    if isinstance(geometry, Capsule):
        return math.pi * geometry.radius**2 * (geometry.length + 4.0 / 3.0 * geometry.radius)
    if isinstance(geometry, Mesh):
        why = why_no_solid(geometry)
        if why is not None:
            raise ModelError(
                f"{geometry.label}: {why}, so it has no mass properties. Make the shape static, "
                "or use ConvexHull(mesh.vertices)"
            )
        return geometry.volume
    raise ModelError(
        f"a {type(geometry).__name__} has no volume, so it cannot move. Make the shape static"
    )


def why_no_solid(mesh: Mesh) -> str | None:
    """Return the reason why a mesh bounds no solid, or None."""
    if mesh.why_open is not None:
        return mesh.why_open
    extents = np.ptp(mesh.vertices, axis=0)
    if abs(mesh.volume) < _FLATTEST * math.prod(np.maximum(extents, _FLATTEST * extents.max())):
        return "it is flat: its triangles enclose no volume"
    if mesh.volume < 0.0:
        return "its triangles face inwards: list their corners counter-clockwise from outside"
    return None


def _uniform(geometry: Geometry | Compound, mass: float) -> BodyInertia:
    """Return mass, centre of mass and inertia about the centre of mass, in the geometry's frame."""
    if isinstance(geometry, Compound):
        volumes = [solid_volume(part) for part, _ in geometry.parts]
        return total(
            [
                _uniform(part, mass * volume / sum(volumes)).seen_from(placement)
                for volume, (part, placement) in zip(volumes, geometry.parts, strict=True)
            ]
        )
    volume = solid_volume(geometry)
    if isinstance(geometry, Mesh):
        volume, com, inertia = solid_moments(geometry.vertices, geometry.triangles)
        return BodyInertia(mass, com, inertia * (mass / volume))
    assert not isinstance(geometry, Plane)  # which has no volume
    return BodyInertia(mass, np.zeros(3), _primitive_inertia(geometry, mass))


def _primitive_inertia(geometry: Sphere | Box | Cylinder | Capsule, mass: float) -> np.ndarray:
    if isinstance(geometry, Sphere):
        return np.eye(3) * (0.4 * mass * geometry.radius**2)
    if isinstance(geometry, Box):
        x, y, z = geometry.lengths
        return np.diag([y * y + z * z, x * x + z * z, x * x + y * y]) * (mass / 12.0)
    r, length = geometry.radius, geometry.length
    if isinstance(geometry, Cylinder):
        across = mass * (3.0 * r * r + length * length) / 12.0
        return np.diag([across, across, 0.5 * mass * r * r])
    cylinder, ball = math.pi * r * r * length, 4.0 / 3.0 * math.pi * r**3
    m_c = mass * cylinder / (cylinder + ball)
    m_b = mass - m_c
    across = m_c * (3.0 * r * r + length * length) / 12.0
    across += m_b * (0.4 * r * r + 0.25 * length * length + 0.375 * r * length)
    return np.diag([across, across, 0.5 * m_c * r * r + 0.4 * m_b * r * r])
