# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Hinges made of four constrained springs between two free bodies (Kuroda, ch. 6).

Two springs of natural length 0 lie on the axis, two hold torque at a distance from it. Each has
one row along its direction: the impulse of spring and damper is its lower bound, and beyond that
it pulls as much as keeps the extension within its maximum. A fifth row carries the torque of motor
and sliding friction, a couple of forces at the torque springs' points.
"""

from __future__ import annotations

import math

import numpy as np

from hrpsim.constraints.rows import (
    SPRING,
    attach_pair,
    coupling,
    least_inverse_mass,
    row_velocity,
    start_row,
)
from hrpsim.constraints.solver_table import ITERATIVE
from hrpsim.jit.compiled import inlined_kernel, inner_kernel
from hrpsim.spatial.vector import dot, point_velocity

FREE, STUCK, CREEPING, AT_LIMIT = range(4)  # phases of a hinge's angle
ROWS = 5  # of a hinge

# A hinge creeps that turns in a step by less than this share of what its torque springs give
# under the kinetic friction.
_CREEP = 0.1

# How much faster than penetration a spring may be taken back to its maximum extension.
_HASTE = 10.0

SPRING_HINGE = np.dtype(
    [
        ("body_a", "i8"),  # -1: the world
        ("body_b", "i8"),
        ("p_a", "f8", (3,)),  # centre of the hinge in the frames of the bodies [m]
        ("p_b", "f8", (3,)),
        ("R_a", "f8", (3, 3)),  # columns: where angle 0 is, square to it and the axis, the axis
        ("R_b", "f8", (3, 3)),
        ("half_width", "f8"),  # the axis springs' distance from the centre [m]
        ("radius", "f8"),  # the torque springs' distance from the axis [m]
        ("stiffness", "f8"),  # of each spring [N/m]
        ("damping", "f8"),  # [Ns/m]
        ("max_extension", "f8"),  # [m]
        ("lower", "f8"),  # limits of the angle [rad]
        ("upper", "f8"),
        ("static_friction", "f8"),  # torque that friction holds [Nm]
        ("kinetic_friction", "f8"),  # [Nm]
        ("torque", "f8"),  # of the motor, on b about the axis [Nm]
        ("solver", "i8"),
        ("angle", "f8"),  # of b from a at the start of the last step, turns counted [rad]
        ("rate", "f8"),  # [rad/s]
        ("phase", "i8"),
        ("held_angle", "f8"),  # that the torque springs hold [rad]
        ("extension", "f8", (4,)),  # of each spring at the start of the last step [m]
        ("impulse", "f8", (5,)),  # of each row in the last step [Ns or Nms]
        ("first_row", "i8"),
    ]
)

# work: one hinge in the world
PLACED_HINGE = np.dtype(
    [
        ("axes_a", "f8", (3, 3)),
        ("axes_b", "f8", (3, 3)),
        ("centre_a", "f8", (3,)),  # relative to the origin of a's tree (world: absolute) [m]
        ("centre_b", "f8", (3,)),
        ("point_a", "f8", (3,)),  # where the spring in hand pulls, from the origin of a's tree
        ("point_b", "f8", (3,)),  # the same point, its end on b, from that of b's
        ("apart", "f8", (3,)),  # from the point of a to that of b
        ("moving", "f8", (3,)),  # its rate [m/s]; then the direction of the row
        ("bending", "f8", (3,)),  # its second rate while both bodies turn on [m/s^2]
    ]
)


@inner_kernel
def mark_spring_sites(hinges, sites_out):
    """Mark the bodies that spring hinges join; return the number of their rows."""
    for h in range(hinges.shape[0]):
        hinge = hinges[h]
        if hinge.body_a >= 0:
            sites_out.marked[hinge.body_a] = 1
        if hinge.body_b >= 0:
            sites_out.marked[hinge.body_b] = 1
    return ROWS * hinges.shape[0]


@inner_kernel  # many parameters: names the parts of the scene that it reads, not the scene
def write_spring_rows(
    forest, kinematics, hinges, settings, time_step, placed, sites, first, used, rows_out
):
    """Write the rows of the spring hinges from row `first` on; move their friction's state on.

    sites.velocity must be the velocity at the start of the step. Returns the response space used.
    """
    rows, response = rows_out.rows, rows_out.response
    number = first
    for h in range(hinges.shape[0]):
        hinge = hinges[h]
        hinge.first_row = number
        _place(kinematics, hinge, placed)
        _turn(kinematics, hinge, settings, time_step, placed)
        for spring in range(4):
            row = rows[number]
            start_row(row, used)
            _place_spring(forest, kinematics, hinge, spring, placed)
            stretched = _direct_spring(time_step, placed)
            used = attach_pair(
                forest, sites, hinge, placed, placed.moving, False, row, response, used
            )
            row.kind, row.source, row.solver = SPRING, h, hinge.solver
            row.inverse_mass = coupling(row, row, response)
            if row.inverse_mass <= least_inverse_mass(row, sites):
                row.inverse_mass = 0.0
            row.lower = row.upper = row.impulse = 0.0
            hinge.extension[spring] = 0.0
            if spring < 2 or hinge.phase != FREE:
                hinge.extension[spring] = math.sqrt(dot(placed.apart, placed.apart))
                along = row_velocity(row, sites.velocity)
                force = hinge.stiffness * stretched - hinge.damping * along
                row.lower, row.upper = force * time_step, math.inf
                row.impulse = max(row.lower, hinge.impulse[spring])
                beyond = (stretched - hinge.max_extension) / time_step
                bend = 0.5 * time_step * dot(placed.moving, placed.bending)
                row.target = min(beyond + bend, _HASTE * settings.correction_speed)
                row.correction_velocity = min(beyond, 0.0)
            else:
                row.inverse_mass = 0.0
            number += 1
        row = rows[number]
        start_row(row, used)
        about = placed.moving
        for r in range(3):
            about[r] = placed.axes_a[r, 2]
        used = attach_pair(forest, sites, hinge, placed, about, True, row, response, used)
        row.kind, row.source, row.solver = SPRING, h, ITERATIVE
        torque = hinge.torque
        slides = hinge.phase == FREE or hinge.phase == AT_LIMIT
        if slides and hinge.kinetic_friction > 0.0 and hinge.rate != 0.0:
            torque -= math.copysign(hinge.kinetic_friction, hinge.rate)
        row.inverse_mass = 0.0
        row.lower = row.upper = row.impulse = -torque * time_step
        number += 1
    return used


@inlined_kernel
def _place(kinematics, hinge, placed_out):
    """Write where the hinge's frames are."""
    for end in range(2):
        body = hinge.body_a if end == 0 else hinge.body_b
        L = hinge.R_a if end == 0 else hinge.R_b
        t = hinge.p_a if end == 0 else hinge.p_b
        axes = placed_out.axes_a if end == 0 else placed_out.axes_b
        centre = placed_out.centre_a if end == 0 else placed_out.centre_b
        for r in range(3):
            centre[r] = t[r]
            for k in range(3):
                axes[r, k] = L[r, k]
        if body >= 0:
            R, p = kinematics[body].R, kinematics[body].p
            for r in range(3):
                x, y, z = R[r, 0], R[r, 1], R[r, 2]
                centre[r] = p[r] + (x * t[0] + y * t[1] + z * t[2])
                for k in range(3):
                    axes[r, k] = x * L[0, k] + y * L[1, k] + z * L[2, k]


@inlined_kernel
def _turn(kinematics, hinge, settings, time_step, placed):
    """Find the angle and its rate, and whether the torque springs hold it (Kuroda 6.2, 6.3)."""
    A, B = placed.axes_a, placed.axes_b
    cosine = sine = rate = 0.0
    for r in range(3):
        cosine += A[r, 0] * B[r, 0]
        sine += A[r, 1] * B[r, 0]
        if hinge.body_b >= 0:
            rate += A[r, 2] * kinematics[hinge.body_b].v[r]
        if hinge.body_a >= 0:
            rate -= A[r, 2] * kinematics[hinge.body_a].v[r]
    change = math.atan2(sine, cosine) - hinge.angle
    change -= 2.0 * math.pi * math.floor(change / (2.0 * math.pi) + 0.5)
    reverses = hinge.rate * rate < 0.0
    hinge.angle += change
    hinge.rate = rate
    if hinge.angle < hinge.lower or hinge.angle > hinge.upper:
        hinge.phase = AT_LIMIT
        hinge.held_angle = hinge.lower if hinge.angle < hinge.lower else hinge.upper
        return
    stands = abs(rate) * hinge.radius < settings.slip_threshold
    if hinge.phase == AT_LIMIT or hinge.static_friction == 0.0:
        hinge.phase = FREE
    if hinge.static_friction > 0.0 and hinge.phase == FREE and (stands or reverses):
        hinge.phase = STUCK
        hinge.held_angle = hinge.angle
    if hinge.phase == FREE:
        return
    arm, kinetic = 2.0 * hinge.radius * hinge.radius, hinge.kinetic_friction
    off = hinge.angle - hinge.held_angle
    load = -arm * (hinge.stiffness * off + hinge.damping * rate)
    bound = kinetic if hinge.phase == CREEPING else hinge.static_friction
    hinge.phase = STUCK if abs(load) <= bound else FREE
    if hinge.phase == FREE and arm * hinge.stiffness * abs(rate) * time_step < _CREEP * kinetic:
        hinge.phase = CREEPING
        off = -(math.copysign(kinetic, load) / arm + hinge.damping * rate) / hinge.stiffness
        hinge.held_angle = hinge.angle - off


@inlined_kernel
def _place_spring(forest, kinematics, hinge, spring, placed):
    """Write where a spring pulls, how far its ends are apart, and how they move.

    It pulls both bodies at its end on b, so that the pair gains no angular momentum.
    """
    A, B = placed.axes_a, placed.axes_b
    sign = 1.0 if spring % 2 == 0 else -1.0
    on_axis = spring < 2
    far = sign * (hinge.half_width if on_axis else hinge.radius)
    held = hinge.held_angle if hinge.phase != FREE else hinge.angle
    cosine, sine = math.cos(held), math.sin(held)
    a, b = placed.point_a, placed.point_b
    for r in range(3):
        along_a = A[r, 2] if on_axis else cosine * A[r, 0] + sine * A[r, 1]
        along_b = B[r, 2] if on_axis else B[r, 0]
        a[r] = placed.centre_a[r] + far * along_a
        b[r] = placed.centre_b[r] + far * along_b
        apart = b[r] - a[r]
        if hinge.body_b >= 0:
            apart += kinematics[forest.bodies[hinge.body_b].root].origin[r]
        if hinge.body_a >= 0:
            apart -= kinematics[forest.bodies[hinge.body_a].root].origin[r]
        placed.apart[r] = apart
        placed.moving[r] = placed.bending[r] = 0.0
    _add_motion(kinematics, hinge.body_b, b, 1.0, placed)
    _add_motion(kinematics, hinge.body_a, a, -1.0, placed)
    for r in range(3):
        a[r] += placed.apart[r]


@inlined_kernel
def _add_motion(kinematics, body, point, sign, placed):
    """Add `sign` times the velocity of a body's point, and how that turns with the body."""
    if body < 0:
        return
    v, p, total = kinematics[body].v, kinematics[body].p, placed.moving
    along = square = 0.0
    for r in range(3):
        along += v[r] * (point[r] - p[r])
        square += v[r] * v[r]
    for r in range(3):
        placed.bending[r] += sign * (along * v[r] - square * (point[r] - p[r]))
    x, y, z = point_velocity(v, point[0], point[1], point[2])
    total[0] += sign * x
    total[1] += sign * y
    total[2] += sign * z


@inlined_kernel
def _direct_spring(time_step, placed):
    """Turn placed.moving into the unit vector that the spring will lie along; return d along it.

    That of its points at the end of the step, at their present velocities.
    """
    d, n = placed.apart, placed.moving
    for r in range(3):
        n[r] = d[r] + time_step * n[r]
    length = math.sqrt(dot(n, n))
    if length < 1e-12:
        n[0], n[1], n[2] = 0.0, 0.0, 1.0
        return dot(d, n)
    for r in range(3):
        n[r] /= length
    return dot(d, n)


@inner_kernel
def remember_spring_impulses(rows, hinges_out):
    """Keep the impulses of the hinges' rows, for the next step's start and for users."""
    for h in range(hinges_out.shape[0]):
        hinge = hinges_out[h]
        for k in range(ROWS):
            hinge.impulse[k] = rows[hinge.first_row + k].impulse
