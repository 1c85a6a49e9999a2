# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Friction laws: how the normal impulse of a contact bounds the impulses along its two tangents.

This file has all that solvers use of a law: its axes, its bound, the projection onto its
permitted set, and the derivative of that where it has one. No other file compares the codes of
laws.
"""

import math

from hrpsim.jit.compiled import inlined_kernel
from hrpsim.jit.numba_code import NumbaCode

keep_branch = NumbaCode("hrpsim.jit.intrinsics", "keep_branch")

CONE, PYRAMID, SLIP_DIRECTION = range(3)

LAWS = {"cone": CONE, "pyramid": PYRAMID, "slip_direction": SLIP_DIRECTION}
"""The laws by the names that worlds choose them with."""

# Laws whose derivative is written here (`disk_derivative`).
DIFFERENTIABLE = (CONE,)


@inlined_kernel
def law_in_step(model, slides):
    """Return the law of a contact in this step; a sticking contact has no direction of slip."""
    return PYRAMID if model == SLIP_DIRECTION and not slides else model


@inlined_kernel
def is_isotropic(law):
    """Return whether any two axes serve as tangents; their rows then have a common mass."""
    return law == CONE


@inlined_kernel
def friction_axes(law, angle, slip_x, slip_y):
    """Return cosine and sine of the angle from the tangents to the axes of a law.

    `angle` [rad] was drawn at the contact's birth, `slip_x`, `slip_y` [m/s] is its slip along the
    tangents.
    """
    if law == SLIP_DIRECTION:
        slip = math.sqrt(slip_x * slip_x + slip_y * slip_y)
        return -slip_x / slip, -slip_y / slip
    return math.cos(angle), math.sin(angle)


@inlined_kernel
def tangent_count(law):
    """Return the number of tangents with friction; along the others a point slips freely."""
    return 1 if law == SLIP_DIRECTION else 2


@inlined_kernel
def bounds_each_axis(law):
    """Return whether each tangent is bounded for itself: rows are then solved one by one."""
    return law == PYRAMID


@inlined_kernel
def friction_bound(normal):
    """Return the friction impulse that the normal row of a contact permits [Ns]."""
    return normal.friction * normal.impulse


@inlined_kernel
def project_friction(law, bound, x, y):
    """Return the friction impulses x, y projected onto those that the law permits [Ns].

    CONE: scaled to the bound (Nakaoka eqs. 19-21); PYRAMID: each to +-bound; SLIP_DIRECTION: x to
    0 to bound, and no other.
    """
    if law == CONE:
        return project_onto_disk(bound, x, y)
    if law == PYRAMID:
        return min(max(x, -bound), bound), min(max(y, -bound), bound)
    return min(max(x, 0.0), bound), 0.0


@inlined_kernel
def project_onto_disk(bound, x, y):
    """Return the point (x, y) scaled to the disk of radius `bound`, if it lies outside."""
    square = x * x + y * y
    if square > bound * bound:
        keep_branch()
        scale = bound / math.sqrt(square)
        return x * scale, y * scale
    return x, y


@inlined_kernel
def disk_scale(bound, x, y):
    """Return the factor that brings (x, y) onto the disk of radius `bound`; 1 inside."""
    size = math.sqrt(x * x + y * y)
    return bound / size if size > bound else 1.0


@inlined_kernel
def project_onto_cone(mu, upper, normal, x, y):
    """Return the point of the cone |(x, y)| <= mu normal that is nearest to an impulse [Ns].

    Its normal impulse is then bounded by `upper`, and its friction by the disk that this permits.
    """
    size = math.sqrt(x * x + y * y)
    if size > mu * normal:
        normal = max((normal + mu * size) / (1.0 + mu * mu), 0.0)
    normal = min(normal, upper)
    if size > mu * normal:
        scale = mu * normal / size
        return normal, scale * x, scale * y
    return normal, x, y


@inlined_kernel
def has_derivative(law):
    """Return whether `disk_derivative` is that of the law's projection: for Newton's method."""
    return law in DIFFERENTIABLE


@inlined_kernel
def disk_derivative(bound, x, y, rate):
    """Return the derivative of `project_onto_disk`.

    Returns (whether (x, y) is outside, the derivatives of both impulses by the bound, and those by
    x and y, xx, xy = yx and yy, times `rate`). Outside, the impulse is the bound times the former.
    """
    size = math.sqrt(x * x + y * y)
    if size <= bound:
        return False, 0.0, 0.0, rate, 0.0, rate
    dx, dy, turn = x / size, y / size, rate * bound / size
    return True, dx, dy, turn * dy * dy, -turn * dx * dy, turn * dx * dx


@inlined_kernel
def friction_holds(normal, x, y, share):
    """Return whether friction, squared, is below `share` of its bound: the point sticks."""
    bound = friction_bound(normal)
    xx, yy = x.impulse * x.impulse, y.impulse * y.impulse
    if normal.friction_model == CONE:
        return xx + yy < share * bound * bound
    if normal.friction_model == PYRAMID:
        return max(xx, yy) < share * bound * bound
    return False  # along one direction only: the other one slips freely
