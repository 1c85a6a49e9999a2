# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Light bodies between heavily loaded connections, kept stable at large steps.

A force f at the arm r turns a body by r x f; when the body turns by d, that changes by -K d with
K = (f . r) 1 - sym(r f^T), the geometric stiffness. Frozen over a step, a link under the tension T
vibrates at sqrt(12 T / (m l)), which an explicit step survives only while dt is a fraction of its
period. Taken at the end of the step instead, as joint springs are, the positive part of K adds
dt^2 K to the body's rotational inertia. Only what exceeds the inertia of the body itself is added,
so that nothing changes where the step is short enough (compare Tournier et al. 2015).
"""

from __future__ import annotations

import math

import numpy as np

from hrpsim.constraints.connection_rows import LOCKED, find_direction
from hrpsim.constraints.placed_connection import place_frames
from hrpsim.dynamics.articulated import spread_inertia
from hrpsim.jit.compiled import inlined_kernel
from hrpsim.jit.lazy_kernels import lazy_kernel
from hrpsim.model.system import FREE
from hrpsim.step.scene.scene_contents import has_connections
from hrpsim.step.scene.status import DONE


@lazy_kernel(np.float64, used=has_connections)
def add_geometric_stiffness(s, horizon):
    """Add the geometric stiffness of last step's connection forces to free bodies' inertias."""
    for i in range(s.work.geometric_stiffness.shape[0]):
        geometric_stiffness = s.work.geometric_stiffness[i]
        for k in range(6):
            geometric_stiffness[k] = 0.0
    placed = s.work.placed_connection[0]
    for c in range(s.connections.shape[0]):
        connection = s.connections[c]
        if connection.enabled and not _holds_rotation(connection):
            _load_ends(s.forest, s.kinematics, s.work, connection, placed, horizon)
    for i in range(s.work.geometric_stiffness.shape[0]):
        geometric_stiffness, inertia = s.work.geometric_stiffness[i], s.articulated[i].inertia
        size = geometric_stiffness[0] + geometric_stiffness[1] + geometric_stiffness[2]
        own = s.forest.bodies[i].inertia
        least = min(own[0, 0], own[1, 1], own[2, 2])
        if size > least:
            share = 1.0 - least / size
            for k in range(6):
                inertia[4 + k] += share * geometric_stiffness[k]
            spread_inertia(inertia, s.articulated[i].I_A)
    return DONE


@inlined_kernel
def _holds_rotation(connection):
    return (
        connection.axes[3] == LOCKED
        and connection.axes[4] == LOCKED
        and connection.axes[5] == LOCKED
    )


@inlined_kernel
def _load_ends(forest, kinematics, work, connection, placed, horizon):
    """Add the stiffness that a connection's force of the last step gives both its bodies."""
    place_frames(forest, kinematics, connection, placed)
    force = placed.force
    for r in range(3):
        force[r] = 0.0
    for axis in range(3):
        if connection.axes[axis]:
            find_direction(connection, axis, placed)
            for r in range(3):
                force[r] += horizon * connection.impulse[axis] * placed.direction[r]
    for end in range(2):
        body = connection.body_a if end == 0 else connection.body_b
        if body >= 0 and forest.bodies[body].joint_type == FREE:
            point = placed.point_a if end == 0 else placed.point_b
            sign = 1.0 if end == 0 else -1.0
            fx, fy, fz = sign * force[0], sign * force[1], sign * force[2]
            _add_stiffness(fx, fy, fz, point[0], point[1], point[2], work.geometric_stiffness[body])


@inlined_kernel
def _add_stiffness(fx, fy, fz, x, y, z, tension_out):
    """Add the positive part of (f . r) 1 - sym(r f^T), as xx, yy, zz, xy, xz, yz.

    Its eigenvectors are n along f x r, with f . r, and with unit vectors of f and r e = f - r, with
    (|f| |r| + f . r) / 2, and f + r, whose eigenvalue is negative or zero.
    """
    f, r = math.sqrt(fx * fx + fy * fy + fz * fz), math.sqrt(x * x + y * y + z * z)
    if f == 0.0 or r == 0.0:
        return
    fx, fy, fz, x, y, z = fx / f, fy / f, fz / f, x / r, y / r, z / r
    nx, ny, nz = fy * z - fz * y, fz * x - fx * z, fx * y - fy * x
    square = nx * nx + ny * ny + nz * nz
    along = f * r * (fx * x + fy * y + fz * z)
    if square < 1e-16:
        along = max(along, 0.0)
        _add_square(-along, x, y, z, tension_out)
        for k in range(3):
            tension_out[k] += along
        return
    _add_square(max(along, 0.0) / square, nx, ny, nz, tension_out)
    ex, ey, ez = fx - x, fy - y, fz - z
    square = ex * ex + ey * ey + ez * ez
    _add_square(0.5 * (f * r + along) / square, ex, ey, ez, tension_out)


@inlined_kernel
def _add_square(weight, x, y, z, tension_out):
    tension_out[0] += weight * x * x
    tension_out[1] += weight * y * y
    tension_out[2] += weight * z * z
    tension_out[3] += weight * x * y
    tension_out[4] += weight * x * z
    tension_out[5] += weight * y * z
