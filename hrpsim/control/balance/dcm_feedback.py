# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Feedback law: the desired ZMP from the error of the divergent component of motion (DCM).

docs/explanation/stabiliser.md has the equations. `zmp_gains` computes the gains.
"""

import math
from typing import NewType

import numpy as np

from hrpsim.common.constants import STANDARD_GRAVITY
from hrpsim.control.framework.controller import ControllerError
from hrpsim.control.pattern.support_polygon import nearest_in
from hrpsim.engine.compile.compiled import inlined_kernel
from hrpsim.engine.compile.kernel_types import Arrays, Index, Record, Vec2, Vec3
from hrpsim.engine.dynamics.functions import mass_matrix
from hrpsim.model.model import Model

FEEDBACK = np.dtype(
    [
        ("rates", "f8", (2,)),  # natural frequencies, see `dcm_natural_frequencies`
        ("gains", "f8", (2, 2)),  # see `zmp_gains`, for x and for y
        ("growth", "f8"),
        ("limit", "f8"),  # largest integral [m]
        ("integral", "f8", (2,)),  # integral of the error [m]
        ("dcm_error", "f8", (2,)),  # error of the DCM at the last tick [m]
        ("goal", "f8", (2,)),  # desired ZMP before the limit to the support [m]
    ]
)
Feedback = NewType("Feedback", Record)


def dcm_natural_frequencies(model: Model, q, height: float) -> tuple[float, float]:
    """Return the natural frequencies w of the robot as an inverted pendulum with rigid joints.

    w satisfies  c'' = w^2 (c - z)  and  w^2 = m g h / (m h^2 + I), with the centre of mass c, the
    ZMP z, and the inertia I about the centre of mass.

    Args:
        model: model of the robot.
        q: the posture, with a level base.
        height: height h of the centre of mass above the sole [m].

    Returns:
        (w for motion along x of the waist, w for motion along y) [1/s].
    """
    M = mass_matrix(model, q)[:6, :6]
    m = M[0, 0]
    # About the base's origin, along the base's axes. The coupling block contains the lever.
    x, y, z = M[1, 5] / m, -M[0, 5] / m, M[0, 4] / m
    about_x = M[3, 3] - m * (y * y + z * z)
    about_y = M[4, 4] - m * (x * x + z * z)
    weight = m * STANDARD_GRAVITY
    return tuple(
        math.sqrt(weight * height / (m * height * height + inertia))
        for inertia in (about_y, about_x)
    )


def zmp_gains(w: float, rate: float, T: float) -> tuple[float, float]:
    """Return the feedback gains of the ZMP for errors of the centre of mass.

    The error e follows  e'' = w^2 (e - z),  z' = (u - z) / T, with the desired ZMP u. One of the
    three poles is the pendulum's own pole -w, and another is -rate. The feedback does not use z, so
    these two poles determine the third. Raises ControllerError for a rate that the lag T [s] does
    not allow.

    Returns:
        (gain of the position error [1], gain of the velocity error [s]).
    """
    third = 1.0 / T - w - rate
    if third <= 0.0:
        raise ControllerError(
            f"walk: dcm_rate {rate:g} 1/s is too fast for a ZMP that lags by {T:g} s. It must be "
            f"below {1.0 / T - w:.3g} 1/s"
        )
    for_position = 1.0 + T * rate * third / w
    for_rate = T + T * (w * rate + w * third + rate * third) / (w * w)
    return for_position, for_rate


def new_feedback(rates, lag: float, period: float, gains) -> np.ndarray:
    """Return a feedback record (1,) with an integral of zero.

    Args:
        rates: natural frequencies from `dcm_natural_frequencies`.
        lag: delay of the actual ZMP behind the desired ZMP [s].
        period: control period [s].
        gains: stabilizer.Gains, of which dcm_rate, integral_rate [1/s] and integral_limit [m] are
            used.
    """
    feedback = np.zeros(1, dtype=FEEDBACK)
    feedback["rates"] = rates
    feedback["gains"] = [zmp_gains(w, gains.dcm_rate, lag) for w in rates]
    feedback["growth"] = gains.integral_rate * period
    feedback["limit"] = gains.integral_limit
    return feedback


@inlined_kernel
def write_desired_zmp(
    feedback: Feedback,
    trajectory: Arrays,
    com: Vec3,
    com_velocity: Vec3,
    k: Index,
    ahead: int,
    part: float,
    zmp_out: Vec2,
) -> None:
    """Write the desired ZMP (2,) [m] in the world frame of the reference.

    Args:
        feedback: a FEEDBACK record.
        trajectory: the reference.
        com: estimated centre of mass at sample k, in the same frame (3,) [m].
        com_velocity: estimated velocity of the centre of mass (3,) [m/s].
        k: number of the trajectory's sample for the estimate.
        ahead: number of the sample at the end of the period.
        part: weight of the feedback, 0 to 1.
        zmp_out: desired ZMP (2,) [m], written.
    """
    error, integral, goal = feedback.dcm_error, feedback.integral, feedback.goal
    for i in range(2):
        off = com[i] - trajectory.com[k, i]
        off_rate = com_velocity[i] - trajectory.com_velocity[k, i]
        error[i] = off + off_rate / feedback.rates[i]
        shift = feedback.gains[i, 0] * off + feedback.gains[i, 1] * off_rate + integral[i]
        goal[i] = trajectory.zmp[ahead, i] + part * shift
    phase = trajectory.phase[k]
    count = trajectory.corner_counts[phase]
    zmp_out[0], zmp_out[1] = goal[0], goal[1]
    if count > 0:
        zmp_out[0], zmp_out[1] = nearest_in(trajectory.corners[phase], count, goal[0], goal[1])
    for i in range(2):
        # Beyond the edge of the support the integral would only grow (windup).
        if (goal[i] - zmp_out[i]) * error[i] <= 0.0:
            grown = integral[i] + feedback.growth * error[i]
            integral[i] = min(max(grown, -feedback.limit), feedback.limit)
