# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Target velocity and compliance of a constraint row with spring and damper (SPOOK, AGX eq. 15).

docs/explanation/derivations.md, section 10, has the equations. The functions take real or complex
numbers. A complex step through the same functions gives the derivatives.
"""

from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel, kernel
from hrpsim.engine.compile.kernel_types import JointParameters, MaterialPair, Matrix, Seconds
from hrpsim.engine.constraints.impact_rows import CLOSED

# Share of a step that a compliant stop acts for at least, once it is met: bounds its compliance.
_SHORTEST = 1e-3
_STEP = 1e-30  # of the complex step


@inlined_kernel
def damper_weight(inverse_mass, compliance: float, damping):
    """Return the weight of the final velocity in the force of a row's damper, from 1/2 to 1.

    A damper that is slow compared with the step has the weight 1/2, which gives second order. A
    fast damper has the weight 1, which lets the motion decay without oscillation.

    Args:
        inverse_mass: inverse mass of the row [1/kg or 1/(kg m^2)].
        compliance: inverse stiffness of the spring [m/N or rad/Nm].
        damping: damping time multiplied by the time for which the damper acts [s^2].
    """
    if compliance == 0.0:
        return 1.0 + 0.0 * inverse_mass
    drag = damping * inverse_mass
    return (3.0 * compliance + drag) / (6.0 * compliance + drag)


@inlined_kernel
def held_law(
    error, rate, inverse_mass, compliance: float, damping_time: Seconds, time_step: Seconds
):
    """Return target and compliance of a row that drives an error to zero by spring and damper.

    Args:
        error: error in the middle of the step, extrapolated by `rate` [m or rad].
        rate: rate of the error at the start of the step [m/s or rad/s].
        inverse_mass: inverse mass of the row without compliance [1/kg or 1/(kg m^2)].
        compliance: inverse stiffness of the spring [m/N or rad/Nm]. 0 makes the row rigid.
        damping_time: time constant of the damper [s].
        time_step: [s].

    Returns:
        (target [m/s or rad/s], compliance of the row [1/kg or 1/(kg m^2)]).
    """
    weight = damper_weight(inverse_mass, compliance, damping_time * time_step)
    damping_factor = 1.0 / (1.0 + 4.0 * (weight * damping_time) / time_step)
    pressed = error + (1.0 - weight) * damping_time * rate
    target = damping_factor * (rate - 4.0 * pressed / time_step)
    return target, 4.0 * compliance * damping_factor / (time_step * time_step)


@inlined_kernel
def stop_law(
    gap,
    rate,
    acceleration: float,
    inverse_mass,
    compliance: float,
    damping_time: Seconds,
    time_step: Seconds,
):
    """Return target and compliance of a one-sided row, and the time for which the row acts.

    If the gap closes within the step, spring and damper act for the rest of the step. If only other
    constraints can close the gap, the spring acts alone.

    Args:
        gap: gap in the middle of the step, extrapolated by `rate` [m or rad].
        rate: rate of the gap at the start of the step [m/s or rad/s].
        acceleration: acceleration of the gap without constraints [m/s^2 or rad/s^2].
        inverse_mass: inverse mass of the row without compliance [1/kg or 1/(kg m^2)].
        compliance: inverse stiffness of the spring [m/N or rad/Nm].
        damping_time: time constant of the damper [s].
        time_step: [s].

    Returns:
        (target [m/s or rad/s], compliance of the row [1/kg or 1/(kg m^2)], time [s]).
    """
    start, fraction = gap - 0.5 * time_step * rate, 1.0
    if start.real > CLOSED:
        end = gap + 0.5 * time_step * (rate + time_step * acceleration)
        if end.real < 0.0:
            remaining = end / (end - start)
            fraction = remaining if remaining.real > _SHORTEST else _SHORTEST
        else:
            damping_time = 0.0
        start = 0.0
    duration = time_step * fraction
    weight = damper_weight(inverse_mass, compliance, damping_time * duration)
    damping_factor = 1.0 / (1.0 + 4.0 * weight * damping_time / time_step)
    pressed = 0.5 * (start + gap) + (1.0 - weight) * damping_time * rate
    target = -4.0 * damping_factor * pressed / time_step
    return target, 4.0 * compliance * damping_factor / (time_step * duration), duration


@inner_kernel
def held_slopes(
    error: float,
    rate: float,
    inverse_mass: float,
    own: JointParameters,
    time_step: Seconds,
    slopes_out: Matrix,
) -> None:
    """Write the derivatives of `held_law` with respect to error, rate and inverse mass.

    Args:
        error: as for `held_law` [m or rad].
        rate: as for `held_law` [m/s or rad/s].
        inverse_mass: as for `held_law` [1/kg or 1/(kg m^2)].
        own: record with the compliance and the damping time of the row.
        time_step: [s].
        slopes_out: derivatives of target and compliance (2 columns) with respect to error, rate and
            inverse mass (3 rows), written.
    """
    for k in range(3):
        target, compliance = held_law(
            error + (1j * _STEP if k == 0 else 0j),
            rate + (1j * _STEP if k == 1 else 0j),
            inverse_mass + (1j * _STEP if k == 2 else 0j),
            own.compliance,
            own.damping_time,
            time_step,
        )
        slopes_out[k, 0], slopes_out[k, 1] = target.imag / _STEP, compliance.imag / _STEP


@inner_kernel
def stop_slopes(
    gap: float,
    rate: float,
    acceleration: float,
    inverse_mass: float,
    own: JointParameters | MaterialPair,
    time_step: Seconds,
    slopes_out: Matrix,
) -> tuple[float, float]:
    """Evaluate `stop_law`, and write the derivatives of target and compliance.

    Args:
        gap: as for `stop_law` [m or rad].
        rate: as for `stop_law` [m/s or rad/s].
        acceleration: as for `stop_law` [m/s^2 or rad/s^2].
        inverse_mass: as for `stop_law` [1/kg or 1/(kg m^2)].
        own: record with the compliance and the damping time of the row.
        time_step: [s].
        slopes_out: derivatives of target and compliance with respect to gap, rate and inverse mass
            (3, 2).

    Returns:
        (target [m/s or rad/s], compliance of the row [1/kg or 1/(kg m^2)]).
    """
    value, give = 0.0, 0.0
    for k in range(3):
        target, compliance, _ = stop_law(
            gap + (1j * _STEP if k == 0 else 0j),
            rate + (1j * _STEP if k == 1 else 0j),
            acceleration,
            inverse_mass + (1j * _STEP if k == 2 else 0j),
            own.compliance,
            own.damping_time,
            time_step,
        )
        slopes_out[k, 0], slopes_out[k, 1] = target.imag / _STEP, compliance.imag / _STEP
        value, give = target.real, compliance.real
    return value, give


@kernel
def held_factors(
    inverse_mass, compliance: float, damping_time: Seconds, time_step: Seconds, factors_out
) -> None:
    """Write the factors c and d of rows by `held_law`, and their derivatives.

    `held_law` is linear in rate and error: the target is c (d rate - 4 error / time_step).

    Args:
        inverse_mass: inverse masses of the rows without compliance (k,) [1/kg or 1/(kg m^2)].
        compliance: inverse stiffnesses of the springs (k,) [m/N or rad/Nm].
        damping_time: time constants of the dampers (k,) [s].
        time_step: [s].
        factors_out: c, d [1], then the derivatives of c and d with respect to the inverse mass [kg
            or kg m^2] (4, k), written.
    """
    for k in range(inverse_mass.shape[0]):
        moved = inverse_mass[k] + 1j * _STEP
        by_error, _ = held_law(1.0, 0.0, moved, compliance[k], damping_time[k], time_step)
        by_rate, _ = held_law(0.0, 1.0, moved, compliance[k], damping_time[k], time_step)
        c = -0.25 * time_step * by_error
        d = by_rate / c
        factors_out[0, k], factors_out[1, k] = c.real, d.real
        factors_out[2, k], factors_out[3, k] = c.imag / _STEP, d.imag / _STEP
