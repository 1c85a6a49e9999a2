# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Numerical inverse kinematics of a chain of revolute joints, by damped least squares.

Each joint turns about the z axis of its frame. The error of the tip is
    e = (target position - position, radius * rotation vector from the tip to the target),
and a step is dq = J^T (J J^T + d I)^-1 e (Levenberg 1944; Wampler 1986). The damping d [m^2] falls
after a step that reduced |e|, and rises after a step that did not.
"""

import math

import numpy as np

from hrpsim.engine.compile.compiled import inlined_kernel, kernel
from hrpsim.engine.compile.kernel_types import ChainLink, ChainWork, Matrix, Records, Vec6

CHAIN_JOINTS = 6
LINK = np.dtype([("R", "f8", (3, 3)), ("p", "f8", (3,))])  # a frame in the one before it, at zero
CHAIN_WORK = np.dtype(
    [
        ("axis", "f8", (CHAIN_JOINTS, 3)),  # of each joint
        ("at", "f8", (CHAIN_JOINTS, 3)),  # a point on it [m]
        ("R", "f8", (3, 3)),  # of the frame that was reached last
        ("p", "f8", (3,)),
        ("turned", "f8", (3, 3)),
        ("e", "f8", (6,)),  # [m]
        ("J", "f8", (6, CHAIN_JOINTS)),
        ("A", "f8", (6, 6)),  # J J^T, then its Cholesky factor
        ("y", "f8", (6,)),
        ("angles", "f8", (CHAIN_JOINTS,)),  # to be tried
    ]
)
_ROUNDS = 200
_FIRST_DAMPING = 1e-4  # [m^2]
_LEAST_DAMPING = 1e-12
_MOST_DAMPING = 1e6
_SMALLEST_GAIN = 1e-12  # part of |e|^2: least gain of a step for a target out of reach
_OPPOSITE = 1e-9


@kernel
def solve_chain(
    links: Records[ChainLink],
    target: ChainLink,
    radius: float,
    tolerance: float,
    work: ChainWork,
    angles: Vec6,
) -> float:
    """Solve for the joint angles that place the tip at `target`, and return the error |e| [m].

    The iteration ends at |e| <= tolerance, or if no step reduces |e|. The start angles decide which
    of several solutions is found.

    Args:
        links: LINK records (7,) of the six joints and the tip.
        target: LINK record of the target pose.
        radius: weight of the orientation [m]. A rotation by 1 rad counts as much as this distance.
        tolerance: accepted error [m].
        work: work arrays.
        angles: joint angles (6,) [rad], start and result.
    """
    error = _look(links, angles, target, radius, work)
    damping = _FIRST_DAMPING
    for _ in range(_ROUNDS):
        if error <= tolerance:
            return error
        _write_jacobian(radius, work)
        gained = 0.0
        while damping <= _MOST_DAMPING:
            _step(damping, angles, work)
            new = _look(links, work.angles, target, radius, work)
            if new < error:
                gained = (error * error - new * new) / (error * error)
                error = new
                damping = max(0.1 * damping, _LEAST_DAMPING)
                break
            damping *= 10.0
            _look(links, angles, target, radius, work)
        if gained == 0.0:
            return error
        for k in range(CHAIN_JOINTS):
            angles[k] = work.angles[k]
        if gained < _SMALLEST_GAIN:
            return error
    return error


@inlined_kernel
def _look(
    links: Records[ChainLink], angles: Vec6, target: ChainLink, radius: float, work: ChainWork
) -> float:
    """Write the joints' axes and positions and the tip's error e for `angles`. Return |e| [m]."""
    R, p, turned = work.R, work.p, work.turned
    for a in range(3):
        p[a] = links[0].p[a]
        for b in range(3):
            R[a, b] = links[0].R[a, b]
    for k in range(CHAIN_JOINTS):
        c, s = math.cos(angles[k]), math.sin(angles[k])
        for a in range(3):
            work.axis[k, a] = R[a, 2]
            work.at[k, a] = p[a]
            x, y = R[a, 0], R[a, 1]
            R[a, 0] = c * x + s * y
            R[a, 1] = c * y - s * x
        ahead = links[k + 1]
        for a in range(3):
            p[a] += R[a, 0] * ahead.p[0] + R[a, 1] * ahead.p[1] + R[a, 2] * ahead.p[2]
            for b in range(3):
                turned[a, b] = (
                    R[a, 0] * ahead.R[0, b] + R[a, 1] * ahead.R[1, b] + R[a, 2] * ahead.R[2, b]
                )
        for a in range(3):
            for b in range(3):
                R[a, b] = turned[a, b]
    return _find_error(target, radius, work)


@inlined_kernel
def _find_error(target: ChainLink, radius: float, work: ChainWork) -> float:
    """Write the error e between the pose in `work` and the target, and return |e| [m]."""
    R, p, turned, e = work.R, work.p, work.turned, work.e
    for a in range(3):
        e[a] = target.p[a] - p[a]
        for b in range(3):
            turned[a, b] = (
                target.R[a, 0] * R[b, 0] + target.R[a, 1] * R[b, 1] + target.R[a, 2] * R[b, 2]
            )
    x = 0.5 * (turned[2, 1] - turned[1, 2])
    y = 0.5 * (turned[0, 2] - turned[2, 0])
    z = 0.5 * (turned[1, 0] - turned[0, 1])
    sine = math.sqrt(x * x + y * y + z * z)
    angle = math.atan2(sine, 0.5 * (turned[0, 0] + turned[1, 1] + turned[2, 2] - 1.0))
    if sine > _OPPOSITE:
        scale = radius * angle / sine
    elif angle > 1.0:  # half a turn: any axis across would do
        x, y, z, scale = 1.0, 0.0, 0.0, radius * angle
    else:
        scale = radius
    e[3], e[4], e[5] = scale * x, scale * y, scale * z
    total = 0.0
    for a in range(6):
        total += e[a] * e[a]
    return math.sqrt(total)


@inlined_kernel
def _write_jacobian(radius: float, work: ChainWork) -> None:
    """Write the Jacobian J (6, 6) of the tip: velocity, then `radius` times angular velocity."""
    p, J = work.p, work.J
    for k in range(CHAIN_JOINTS):
        zx, zy, zz = work.axis[k, 0], work.axis[k, 1], work.axis[k, 2]
        x, y, z = p[0] - work.at[k, 0], p[1] - work.at[k, 1], p[2] - work.at[k, 2]
        J[0, k] = zy * z - zz * y
        J[1, k] = zz * x - zx * z
        J[2, k] = zx * y - zy * x
        J[3, k], J[4, k], J[5, k] = radius * zx, radius * zy, radius * zz


@inlined_kernel
def _factorise(J: Matrix, damping: float, A: Matrix) -> None:
    """Write the lower triangle of the Cholesky factor A (6, 6) of J J' + damping I."""
    for a in range(6):
        for b in range(a + 1):
            total = damping if a == b else 0.0
            for k in range(CHAIN_JOINTS):
                total += J[a, k] * J[b, k]
            for k in range(b):
                total -= A[a, k] * A[b, k]
            A[a, b] = math.sqrt(max(total, _LEAST_DAMPING)) if a == b else total / A[b, b]


@inlined_kernel
def _step(damping: float, angles: Vec6, work: ChainWork) -> None:
    """Write the joint angles after one damped step from `angles`. e and J are read from `work`."""
    J, A, y = work.J, work.A, work.y
    _factorise(J, damping, A)
    for a in range(6):
        total = work.e[a]
        for k in range(a):
            total -= A[a, k] * y[k]
        y[a] = total / A[a, a]
    for a in range(5, -1, -1):
        total = y[a]
        for k in range(a + 1, 6):
            total -= A[k, a] * y[k]
        y[a] = total / A[a, a]
    for k in range(CHAIN_JOINTS):
        total = 0.0
        for a in range(6):
            total += J[a, k] * y[a]
        work.angles[k] = angles[k] + total
