# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Convex solids that were apart, and have not moved by as much as the distance between them."""

import math

from hrpsim.engine.collision.solids.collision_proxies import PRISM_ERROR
from hrpsim.engine.collision.solids.polyhedra import Polyhedra
from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import Separation, Solid, SolidPair

# Margin of a separation, as a part of the coordinates: rounding.
_ROUNDING = 1e-12


@inlined_kernel
def keep_clearance(m: SolidPair, separation_out: Separation) -> None:
    """Write the distance of two solids along their axis, and their pose, to a SEPARATION record."""
    separation_out.clear = m.separation.clear
    if m.separation.clear > 0.0:
        for i in range(3):
            separation_out.clear_t[i] = m.t[0, i]
            for j in range(3):
                separation_out.clear_R[i, j] = m.R[0, i, j]


@inner_kernel
def stay_apart(polyhedra: Polyhedra, m: SolidPair, kept: Separation) -> bool:
    """Return whether two convex solids are too far apart for contacts, by their displacement alone.

    No point of a has moved, in the frame of b, by more than the change of the position, plus the
    Frobenius norm of the change of the rotation times the radius of a. The distance along the axis
    has decreased by no more than that.
    """
    if not kept.clear > 0.0:
        return False
    a, b = polyhedra.solids[m.solid[0]], polyhedra.solids[m.solid[1]]
    moved = turned = 0.0
    for i in range(3):
        moved += (m.t[0, i] - kept.clear_t[i]) ** 2
        for j in range(3):
            turned += (m.R[0, i, j] - kept.clear_R[i, j]) ** 2
    moved = math.sqrt(moved) + math.sqrt(turned) * a.ball
    return kept.clear - moved > m.near + allowance(m, a, b)


@inlined_kernel
def allowance(m: SolidPair, a: Solid, b: Solid) -> float:
    """Return the distance of cores whose surfaces touch, with rounding errors [m]."""
    cores = m.rounding[0] + m.rounding[1] + _ROUNDING * (a.ball + b.ball)
    return cores + PRISM_ERROR * (a.cylinder_radius + b.cylinder_radius)
