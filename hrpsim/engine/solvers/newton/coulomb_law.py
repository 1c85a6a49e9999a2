# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Coulomb's law in the augmented Lagrangian: impulses at a velocity, and their derivative.

Let m be the multiplier of a row, rho its penalty and v its velocity relative to its target. The
impulse of the row is m - rho v, projected to the row's bounds. Friction is projected to the disk
that this normal impulse permits (Alart & Curnier 1991). If impulse and multiplier are equal, the
impulses obey Coulomb's law.
"""

from __future__ import annotations

import math

import numpy as np

from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import Constraint
from hrpsim.engine.constraints.friction_laws import disk_derivative

# The last two: while the normal impulse is at its upper bound, as by a force limit.
OPEN, STICKS, SLIPS, STICKS_AT_LIMIT, SLIPS_AT_LIMIT = range(5)

_ROUNDING = 2.3e-16  # of a number, as a share of it

# A constraint block: a contact, or a single row; of the three directions normal, x, y a row has the
# first. Velocities count from the target [m/s or rad/s], impulses [Ns, Nms].
CONSTRAINT = np.dtype(
    [
        ("row", "i8"),  # its first row
        ("size", "i8"),  # 3 for a contact, otherwise 1
        ("node_a", "i8"),  # of the trees that it pushes; node_b is -1 for none or the same
        ("node_b", "i8"),
        ("arm_a", "i8"),  # where its rows begin, in the trees' coordinates
        ("arm_b", "i8"),
        ("first_a", "i8"),  # first coordinate of each tree, and how many it has
        ("first_b", "i8"),
        ("rank_a", "i8"),
        ("rank_b", "i8"),
        ("block", "i8"),  # where the trees' common block begins
        ("friction", "f8"),
        ("lower", "f8"),  # bounds of the first row
        ("upper", "f8"),
        ("compliance", "f8"),  # of the first row [velocity for a unit impulse]
        ("inverse_mass", "f8", (3,)),
        ("scale", "f8"),  # penalty for a factor 1: the least mass; 0 where nothing moves
        ("state", "i8"),  # as above; of a single row OPEN, at a bound, or STICKS
        ("factor_state", "i8"),  # that which the factor was made for
        ("multiplier", "f8", (3,)),
        ("impulse", "f8", (3,)),  # by the law
        ("best", "f8", (3,)),  # impulses with the least error so far
        ("kept", "f8", (3,)),  # those of an earlier search
        ("led", "f8", (3,)),  # those to which the path led at first
        ("free", "f8", (3,)),  # velocity without the impulses of its island
        ("velocity", "f8", (3,)),
        ("step", "f8", (3,)),  # change of the velocity in the present step
        ("stiffness", "f8", (9,)),  # -d impulse / d velocity: nn, nx, ny, xn, xx, xy, yn, yx, yy
    ]
)


@inlined_kernel
def _state_of(yields: bool, presses: bool, slips: bool) -> int:
    """Return the state of a contact.

    Args:
        yields: whether the normal impulse depends on the velocity.
        presses: whether the normal impulse is positive.
        slips: whether friction is at its bound.
    """
    if yields:
        return SLIPS if slips else STICKS
    if presses:
        return SLIPS_AT_LIMIT if slips else STICKS_AT_LIMIT
    return OPEN


@inner_kernel
def answer(constraint: Constraint, penalty: float, share: float, wants_stiffness: bool) -> None:
    """Write the impulse of a constraint block at the velocity after a fraction of the step.

    Args:
        constraint: record of the constraint block.
        penalty: penalty rho as a multiple of the block's scale (mass).
        share: fraction of the step.
        wants_stiffness: whether to write the derivative of the impulse as well.
    """
    rho = penalty * constraint.scale
    if rho <= 0.0:
        _stay(constraint, wants_stiffness)
        return
    # m - rho (v + c l) = l
    part = 1.0 / (1.0 + rho * constraint.compliance)
    along = constraint.velocity[0] + share * constraint.step[0]
    unbounded = part * (constraint.multiplier[0] - rho * along)
    normal = min(max(unbounded, constraint.lower), constraint.upper)
    constraint.impulse[0] = normal
    slope = part * rho if normal == unbounded else 0.0
    if constraint.size == 1:
        if wants_stiffness:
            constraint.state, constraint.stiffness[0] = STICKS if slope > 0.0 else OPEN, slope
        return
    x = constraint.multiplier[1] - rho * (constraint.velocity[1] + share * constraint.step[1])
    y = constraint.multiplier[2] - rho * (constraint.velocity[2] + share * constraint.step[2])
    bound = constraint.friction * normal
    slips, dx, dy, xx, xy, yy = disk_derivative(bound, x, y, rho)
    constraint.impulse[1], constraint.impulse[2] = (bound * dx, bound * dy) if slips else (x, y)
    if wants_stiffness:
        state = _state_of(slope > 0.0, normal > constraint.lower, slips)
        friction_slope = constraint.friction * slope
        set_stiffness(
            constraint, state, slope, friction_slope * dx, friction_slope * dy, xx, xy, yy
        )


@inlined_kernel
def _stay(constraint: Constraint, wants_stiffness: bool) -> None:
    """Set the impulse of a constraint block that nothing can move to its multiplier."""
    for r in range(constraint.size):
        constraint.impulse[r] = constraint.multiplier[r]
    if wants_stiffness:
        set_stiffness(constraint, OPEN, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


@inlined_kernel
def set_stiffness(
    constraint: Constraint,
    state: int,
    nn: float,
    xn: float,
    yn: float,
    xx: float,
    xy: float,
    yy: float,
) -> None:
    """Write state and slope (the derivative of the impulse) of a constraint block.

    The arguments after `state` are the entries (impulse, velocity) of the slope. The entries nx and
    ny are zero, because normal impulses do not depend on slip.
    """
    constraint.state = state
    stiffness = constraint.stiffness
    stiffness[0], stiffness[3], stiffness[6] = nn, xn, yn
    stiffness[1], stiffness[4], stiffness[7] = 0.0, xx, xy
    stiffness[2], stiffness[5], stiffness[8] = 0.0, xy, yy


@inner_kernel
def law_error(constraint: Constraint) -> float:
    """Return the amount by which the multipliers of a block violate Coulomb's law [m/s].

    The violation is the largest change of velocity if a single row were solved again, plus the
    rounding error of the normal impulse. The result is infinity if the multipliers are not finite.
    """
    if constraint.scale <= 0.0:
        return 0.0
    impulse, inverse_mass, error = constraint.multiplier, constraint.inverse_mass, 0.0
    total = 0.0
    for r in range(constraint.size):
        total += impulse[r] + constraint.velocity[r]
    if not math.isfinite(total):
        return math.inf
    if inverse_mass[0] > 0.0:
        short = -constraint.velocity[0] - constraint.compliance * impulse[0]
        unbounded = impulse[0] + short / inverse_mass[0]
        error = (
            abs(min(max(unbounded, constraint.lower), constraint.upper) - impulse[0])
            * inverse_mass[0]
        )
        error += _ROUNDING * abs(impulse[0]) * inverse_mass[0]
    if constraint.size == 1:
        return error
    x, y = impulse[1], impulse[2]
    if inverse_mass[1] > 0.0:
        x -= constraint.velocity[1] / inverse_mass[1]
    if inverse_mass[2] > 0.0:
        y -= constraint.velocity[2] / inverse_mass[2]
    limit, size = constraint.friction * impulse[0], math.sqrt(x * x + y * y)
    if size > limit:
        x, y = x * limit / size, y * limit / size
    error = max(error, abs(x - impulse[1]) * inverse_mass[1])
    return max(error, abs(y - impulse[2]) * inverse_mass[2])
