# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The laws of compliant rows (constraints.rows), differentiated by a complex step.

docs/explanation/linearization.md, "Rows that hold". The weight of a damper depends on the inverse
mass of its row, and therefore on q.
"""

import numpy as np

from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.constraints.impact_rows import CLOSED

_STEP = 1e-30
_ROUNDING = 1e-6  # share of a target by which it is not another one


@inner_kernel
def stop_derivatives(row, own_target, gap, rate, stop, time_step, derivatives_out):
    """Write derivatives (3, 2) of target and compliance by gap, rate and inverse mass.

    own_target: target of the row, without the contribution of bodies that turn [m/s].

    Returns 0, or 1 if the row has another law. Stops that are met within the step act only for the
    rest of the step and have another law.
    """
    return _derive(row, own_target, gap, rate, True, stop, time_step, derivatives_out)


@inner_kernel
def hold_derivatives(row, error, rate, held, time_step, derivatives_out):
    """Write derivatives (3, 2) of target and compliance by error, rate and inverse mass.

    The row belongs to a lock or mimic. `held` has its compliance and damping time.
    """
    _derive(row, row.target, error, rate, False, held, time_step, derivatives_out)


@inlined_kernel
def _derive(row, own_target, error, rate, is_stop, own, time_step, derivatives_out):
    inverse_mass, other = row.inverse_mass - row.compliance, 0
    for k in range(3):
        target, compliance = _law(
            error + (1j * _STEP if k == 0 else 0j),
            rate + (1j * _STEP if k == 1 else 0j),
            inverse_mass + (1j * _STEP if k == 2 else 0j),
            is_stop,
            own.compliance,
            own.damping_time,
            time_step,
        )
        derivatives_out[k, 0] = target.imag / _STEP
        derivatives_out[k, 1] = compliance.imag / _STEP
        if abs(target.real - own_target) > _ROUNDING * abs(own_target):
            other = 1
        if abs(compliance.real - row.compliance) > _ROUNDING * row.compliance:
            other = 1
    return other


@inlined_kernel
def _law(error, rate, inverse_mass, is_stop, compliance, damping_time, time_step):
    """Return the target and compliance of a row that acts for the whole step.

    `error` is the error in the middle of the step, extrapolated with the rate at its start. For a
    stop, `error` is the gap.
    """
    start, weight = error - 0.5 * time_step * rate, 1.0 + 0.0j
    if is_stop and start.real > CLOSED:
        start, damping_time = 0.0j, 0.0
    if compliance > 0.0:
        drag = damping_time * time_step * inverse_mass
        weight = (3.0 * compliance + drag) / (6.0 * compliance + drag)
    share = 1.0 / (1.0 + 4.0 * weight * damping_time / time_step)
    pressed = 0.5 * (start + error) + (1.0 - weight) * damping_time * rate
    return -4.0 * share * pressed / time_step, 4.0 * compliance * share / time_step**2


def held_by_inverse_mass(
    inverse_mass: np.ndarray, compliance: np.ndarray, damping_time: np.ndarray, time_step: float
) -> tuple[np.ndarray, ...]:
    """Return c and d of rows (k,), and their derivatives by the inverse mass.

    A row that holds an error has the target c (d rate - 4 error / time_step), and the compliance
    4 compliance c / time_step^2.
    """
    drag = damping_time * time_step * (inverse_mass + 1j * _STEP)
    whole = np.where(compliance > 0.0, 6.0 * compliance + drag, 1.0)
    weight = np.where(compliance > 0.0, (3.0 * compliance + drag) / whole, 1.0)
    c = 1.0 / (1.0 + 4.0 * weight * damping_time / time_step)
    d = 1.0 - 4.0 * (1.0 - weight) * damping_time / time_step
    return c.real, d.real, c.imag / _STEP, d.imag / _STEP
