# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Inertia of moving bodies: sum links, refuse non-physical or unresisted inertias."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from hrpsim.model.shapes.placement import Placement
from hrpsim.model.system import FIXED, FREE, PRISMATIC, REVOLUTE, System

# Descriptions are printed with few digits: a thin plate may break the triangle inequality slightly.
_TRIANGLE_TOLERANCE = 1e-3
_SINGULAR = 1e-13
# Below these a moment of inertia is zero: part of the largest one, and a radius of gyration [m].
_ROUNDING = 1e-12
_POINT_RADIUS = 1e-7


class BodyInertia(NamedTuple):
    """Mass [kg], centre of mass (3,) [m] and inertia about it (3, 3) [kg m^2], in one frame."""

    mass: float
    com: np.ndarray
    inertia: np.ndarray

    def seen_from(self, placement: Placement) -> BodyInertia:
        """Return the same inertia in the frame in which this one's frame is placed."""
        R = placement.R
        return BodyInertia(self.mass, R @ self.com + placement.p, R @ self.inertia @ R.T)


def total(parts: Sequence[BodyInertia]) -> BodyInertia:
    """Return the inertia of rigidly joined parts, all given in the same frame."""
    mass = sum(part.mass for part in parts)
    if mass == 0.0:
        return BodyInertia(0.0, np.zeros(3), sum((p.inertia for p in parts), np.zeros((3, 3))))
    if len(parts) == 1:
        return parts[0]
    com = sum((part.mass * part.com for part in parts), np.zeros(3)) / mass
    inertia = np.zeros((3, 3))
    for part in parts:
        d = part.com - com
        inertia += part.inertia + part.mass * ((d @ d) * np.eye(3) - np.outer(d, d))
    return BodyInertia(mass, com, inertia)


def why_nonphysical(body: BodyInertia) -> str | None:
    """Return what makes an inertia impossible for a solid body, or None for a sound one.

    Points and thin rods, with moments of zero, are limits of what is possible.
    """
    smallest, middle, largest = np.linalg.eigvalsh(body.inertia)
    moments = f"principal moments of inertia {smallest:.4g}, {middle:.4g}, {largest:.4g} kg m^2"
    if not body.mass > 0.0 and body.inertia.any():
        return f"its mass is zero, and its {moments} are not"
    if smallest < -_rounding(body, largest):
        return f"the {moments} are not all positive"
    if smallest + middle < largest * (1.0 - _TRIANGLE_TOLERANCE) - _rounding(body, largest):
        return f"of its {moments} the largest exceeds the sum of the others"
    return None


def lacks_inertia(body: BodyInertia) -> bool:
    """Return whether a body, which is not impossible, resists no rotation about some axis."""
    moments = np.linalg.eigvalsh(body.inertia)
    return bool(moments[0] <= _rounding(body, moments[2]))


def _rounding(body: BodyInertia, largest: float) -> float:
    """Return the moment of inertia below which it is zero: a radius of gyration of 0.1 um."""
    return _ROUNDING * abs(largest) + body.mass * _POINT_RADIUS**2


def unresisted_bodies(system: System) -> list[int]:
    """Return the bodies whose joint no inertia resists, so that its acceleration is undefined.

    Runs the inward pass of the articulated-body algorithm (RBDA section 7.3) in a posture without
    symmetry; a joint is unresisted where S^T I_A S plus the rotor inertia vanishes. For the bodies
    above, which come later in the list, it counts as fixed.
    """
    articulated = [
        _spatial_inertia(*body)
        for body in zip(system.mass, system.com, system.inertia, strict=True)
    ]
    unresisted = []
    for i in reversed(range(len(system.parent))):
        I_A, joint, parent = articulated[i], system.joint_type[i], system.parent[i]
        if joint == FREE:
            scale = np.sqrt(np.repeat(_block_traces(I_A), 3))  # their units differ
            moments = np.abs(np.linalg.eigvalsh(I_A / np.outer(scale, scale)))
            if moments.min() <= _SINGULAR * moments.max():
                unresisted.append(i)
            continue
        if joint != FIXED:
            axis = 2 if joint == REVOLUTE else 5
            U = I_A[:, axis]
            D = U[axis] + system.rotor_inertia[system.v_index[i]]
            if abs(D) <= _SINGULAR * _block_traces(I_A)[axis // 3]:
                unresisted.append(i)
            else:
                I_A = I_A - np.outer(U, U) / D
        if parent >= 0:
            X = _motion_to_body(system, i)
            articulated[parent] = articulated[parent] + X.T @ I_A @ X
    return unresisted


def _block_traces(I_A: np.ndarray) -> np.ndarray:
    """Return rotational [kg m^2] and translational [kg] traces of a spatial inertia, never 0."""
    return np.maximum(np.diag(I_A).reshape(2, 3).sum(axis=1), np.finfo(float).tiny)


def _spatial_inertia(mass: float, com: np.ndarray, inertia: np.ndarray) -> np.ndarray:
    c = _cross(com)
    return np.block([[inertia + mass * c @ c.T, mass * c], [mass * c.T, mass * np.eye(3)]])


def _motion_to_body(system: System, i: int) -> np.ndarray:
    """Return the transform of motion vectors from the parent body to body i, not at zero."""
    R, p = system.placement_R[i], system.placement_p[i]
    if system.joint_type[i] == REVOLUTE:
        angle = 0.3 + 0.1 * i
        c, s = np.cos(angle), np.sin(angle)
        R = R @ np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    elif system.joint_type[i] == PRISMATIC:
        p = p + 0.01 * R[:, 2]
    return np.block([[R.T, np.zeros((3, 3))], [-R.T @ _cross(p), R.T]])


def _cross(v: np.ndarray) -> np.ndarray:
    return np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])
