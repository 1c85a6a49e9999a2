# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Friction laws: sets of permitted friction impulses along a contact's two tangents.

The set depends on the normal impulse. Solvers use four properties of a law, all defined in this
file. These are the axes, the bound, the projection onto the set, and the derivative of the
projection, if any. No other file compares the codes of laws.
"""

import math

from hrpsim.engine.compile.compiled import inlined_kernel
from hrpsim.engine.compile.kernel_types import Row
from hrpsim.engine.compile.numba_code import NumbaCode

keep_branch = NumbaCode("hrpsim.engine.compile.intrinsics", "keep_branch")

CONE, PYRAMID, SLIP_DIRECTION = range(3)

LAWS = {"cone": CONE, "pyramid": PYRAMID, "slip_direction": SLIP_DIRECTION}
"""The laws by the names that worlds choose them with."""

# Laws whose derivative is written here (`disk_derivative`).
DIFFERENTIABLE = (CONE,)


@inlined_kernel
def law_in_step(model: int, slides: bool) -> int:
    """Return the friction law of a contact in this step.

    A sticking contact has no direction of slip, so SLIP_DIRECTION becomes PYRAMID.

    Args:
        model: friction model of the contact.
        slides: whether the contact slides.
    """
    return PYRAMID if model == SLIP_DIRECTION and not slides else model


@inlined_kernel
def is_isotropic(law: int) -> bool:
    """Return whether a law is the same for all pairs of tangents.

    The rows of both tangents then have a common mass.
    """
    return law == CONE


@inlined_kernel
def friction_axes(law: int, angle: float, slip_x: float, slip_y: float) -> tuple[float, float]:
    """Return the rotation from the tangents of a contact to the axes of its friction law.

    Args:
        law: friction law in this step.
        angle: random angle of the contact, the same for its whole life [rad].
        slip_x: slip along the first tangent [m/s].
        slip_y: slip along the second tangent [m/s].

    Returns:
        (cosine, sine) of the angle.
    """
    if law == SLIP_DIRECTION:
        slip = math.sqrt(slip_x * slip_x + slip_y * slip_y)
        return -slip_x / slip, -slip_y / slip
    return math.cos(angle), math.sin(angle)


@inlined_kernel
def tangent_count(law: int) -> int:
    """Return the number of axes along which the law has friction, 1 or 2.

    Along any other axis the contact slips freely.
    """
    return 1 if law == SLIP_DIRECTION else 2


@inlined_kernel
def bounds_each_axis(law: int) -> bool:
    """Return whether the friction along each tangent has its own bound.

    The solver then treats the rows of the tangents one by one.
    """
    return law == PYRAMID


@inlined_kernel
def friction_bound(normal: Row) -> float:
    """Return the friction impulse that the normal impulse of a contact permits [Ns]."""
    return normal.friction * normal.impulse


@inlined_kernel
def project_friction(law: int, bound: float, x: float, y: float) -> tuple[float, float]:
    """Project friction impulses onto the set that the law permits. Return (x, y) [Ns].

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
def project_onto_disk(bound: float, x: float, y: float) -> tuple[float, float]:
    """Scale (x, y) to the edge of the disk of radius `bound`. Inside the disk, (x, y) is unchanged.

    Impulses and bound have the same unit [Ns].
    """
    square = x * x + y * y
    if square > bound * bound:
        keep_branch()
        scale = bound / math.sqrt(square)
        return x * scale, y * scale
    return x, y


@inlined_kernel
def disk_scale(bound: float, x: float, y: float) -> float:
    """Return the factor, at most 1, that scales (x, y) onto a disk.

    Args:
        bound: radius of the disk [Ns].
        x: first impulse [Ns].
        y: second impulse [Ns].
    """
    size = math.sqrt(x * x + y * y)
    return bound / size if size > bound else 1.0


@inlined_kernel
def project_onto_cone(
    mu: float, upper: float, normal: float, x: float, y: float
) -> tuple[float, float, float]:
    """Project an impulse onto the friction cone |(x, y)| <= mu normal, to the nearest point.

    The nearest normal impulse is then limited to `upper`, and friction to the disk that the limited
    normal impulse permits.

    Args:
        mu: friction coefficient [1].
        upper: limit of the normal impulse [Ns].
        normal: normal impulse [Ns].
        x: first friction impulse [Ns].
        y: second friction impulse [Ns].

    Returns:
        (normal, x, y) [Ns].
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
def has_derivative(law: int) -> bool:
    """Return whether `disk_derivative` is the derivative of the law's projection."""
    return law in DIFFERENTIABLE


@inlined_kernel
def disk_derivative(
    bound: float, x: float, y: float, rate: float
) -> tuple[bool, float, float, float, float, float]:
    """Return the derivative of `project_onto_disk`. All entries have the unit [1].

    For a point outside the disk, the derivatives with respect to the bound, times the bound, are
    the projected impulse.

    Args:
        bound: radius of the disk [Ns].
        x: first impulse [Ns].
        y: second impulse [Ns].
        rate: factor of the derivatives with respect to x and y [1].

    Returns:
        (whether (x, y) is outside, dx/dbound, dy/dbound, then `rate` times the derivatives with
        respect to x and y: xx, xy = yx, yy).
    """
    size = math.sqrt(x * x + y * y)
    if size <= bound:
        return False, 0.0, 0.0, rate, 0.0, rate
    dx, dy, turn = x / size, y / size, rate * bound / size
    return True, dx, dy, turn * dy * dy, -turn * dx * dy, turn * dx * dx


@inlined_kernel
def sliding_derivative(bound: float, slip_x: float, slip_y: float) -> tuple[float, float, float]:
    """Return the derivative of a sliding contact's friction with respect to the slip, for the cone.

    Friction has the magnitude `bound` and acts against the slip. If the slip changes, friction
    changes by -(u . change) u / give. The unit vector u is perpendicular to the slip.

    Args:
        bound: radius of the disk [Ns].
        slip_x: slip along the first tangent [m/s].
        slip_y: slip along the second tangent [m/s].

    Returns:
        (x of u, y of u, give [m/s per Ns]).
    """
    speed = math.hypot(slip_x, slip_y)
    return -slip_y / speed, slip_x / speed, speed / bound


@inlined_kernel
def friction_holds(normal: Row, x: Row, y: Row, share: float) -> bool:
    """Return whether friction is so far below its bound that a contact point sticks.

    The squared friction must be below `share` times the squared bound.

    Args:
        normal: ROW record of the contact's normal.
        x: ROW record of the first tangent.
        y: ROW record of the second tangent.
        share: fraction of the squared bound, 0 to 1.
    """
    bound = friction_bound(normal)
    xx, yy = x.impulse * x.impulse, y.impulse * y.impulse
    if normal.friction_model == CONE:
        return xx + yy < share * bound * bound
    if normal.friction_model == PYRAMID:
        return max(xx, yy) < share * bound * bound
    return False  # along one direction only: the other one slips freely
