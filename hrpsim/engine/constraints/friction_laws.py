# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Friction laws: bounds of the impulses along a contact's two tangents, by the normal impulse.

This file has everything that solvers use of a law: the axes, the bound, the projection onto the
permitted set, and the derivative of the projection if it exists. No other file compares the codes
of laws.
"""

import math

from hrpsim.engine.compile.compiled import inlined_kernel
from hrpsim.engine.compile.numba_code import NumbaCode

keep_branch = NumbaCode("hrpsim.engine.compile.intrinsics", "keep_branch")

CONE, PYRAMID, SLIP_DIRECTION = range(3)

LAWS = {"cone": CONE, "pyramid": PYRAMID, "slip_direction": SLIP_DIRECTION}
"""The laws by the names that worlds choose them with."""

# Laws whose derivative is written here (`disk_derivative`).
DIFFERENTIABLE = (CONE,)


@inlined_kernel
def law_in_step(model, slides):
    """Return the law of a contact in this step; a sticking contact has no direction of slip.

    Args:
        model: friction model of the contact.
        slides: whether the contact slides.
    """
    return PYRAMID if model == SLIP_DIRECTION and not slides else model


@inlined_kernel
def is_isotropic(law):
    """Return whether any two axes may be tangents; the rows of both then have a common mass."""
    return law == CONE


@inlined_kernel
def friction_axes(law, angle, slip_x, slip_y):
    """Return cosine and sine of the angle from the tangents to the axes of a law.

    Args:
        law: friction law in this step.
        angle: angle drawn when the contact began [rad].
        slip_x: slip along the first tangent [m/s].
        slip_y: slip along the second tangent [m/s].
    """
    if law == SLIP_DIRECTION:
        slip = math.sqrt(slip_x * slip_x + slip_y * slip_y)
        return -slip_x / slip, -slip_y / slip
    return math.cos(angle), math.sin(angle)


@inlined_kernel
def tangent_count(law):
    """Return the number of tangents with friction; a point slips freely along the others."""
    return 1 if law == SLIP_DIRECTION else 2


@inlined_kernel
def bounds_each_axis(law):
    """Return whether each tangent has its own bound; the rows are then solved one by one."""
    return law == PYRAMID


@inlined_kernel
def friction_bound(normal):
    """Return the friction impulse that the normal row of a contact permits [Ns]."""
    return normal.friction * normal.impulse


@inlined_kernel
def project_friction(law, bound, x, y):
    """Return the friction impulses projected onto the set that the law permits [Ns].

    - CONE: scaled to the bound (Nakaoka eqs. 19-21).
    - PYRAMID: each impulse limited to +-bound.
    - SLIP_DIRECTION: x limited to 0 to bound, y = 0.

    Args:
        law: friction law in this step.
        bound: bound of friction [Ns].
        x: impulse along the first axis of the law [Ns].
        y: impulse along the second axis of the law [Ns].
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
    """Return the factor that scales (x, y) onto the disk of radius `bound`; 1 inside the disk."""
    size = math.sqrt(x * x + y * y)
    return bound / size if size > bound else 1.0


@inlined_kernel
def project_onto_cone(mu, upper, normal, x, y):
    """Return the point of the cone |(x, y)| <= mu normal that is nearest to an impulse [Ns].

    The normal impulse of this point is then limited to `upper`, and friction to the disk that the
    limited normal impulse permits.

    Args:
        mu: friction coefficient.
        upper: limit of the normal impulse [Ns].
        normal: normal impulse [Ns].
        x: first friction impulse [Ns].
        y: second friction impulse [Ns].
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
    """Return whether `disk_derivative` is the derivative of the law's projection."""
    return law in DIFFERENTIABLE


@inlined_kernel
def disk_derivative(bound, x, y, rate):
    """Return the derivative of `project_onto_disk`.

    If (x, y) is outside, the projected impulse is the bound times the derivatives by the bound.

    Args:
        bound: radius of the disk [Ns].
        x: first impulse [Ns].
        y: second impulse [Ns].
        rate: factor of the derivatives by x and y.

    Returns:
        (whether (x, y) is outside, derivatives of both impulses by the bound, then the derivatives
        by x and y times `rate`: xx, xy = yx, yy).
    """
    size = math.sqrt(x * x + y * y)
    if size <= bound:
        return False, 0.0, 0.0, rate, 0.0, rate
    dx, dy, turn = x / size, y / size, rate * bound / size
    return True, dx, dy, turn * dy * dy, -turn * dx * dy, turn * dx * dx


@inlined_kernel
def friction_holds(normal, x, y, share):
    """Return whether friction, squared, is below `share` of its squared bound: the point sticks."""
    bound = friction_bound(normal)
    xx, yy = x.impulse * x.impulse, y.impulse * y.impulse
    if normal.friction_model == CONE:
        return xx + yy < share * bound * bound
    if normal.friction_model == PYRAMID:
        return max(xx, yy) < share * bound * bound
    return False  # along one direction only: the other one slips freely
