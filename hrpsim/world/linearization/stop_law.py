# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The law of compliant contacts and limits, as hrpsim.constraints.rows.soften_stop has it.

Written for complex numbers: the imaginary part of a step of 1e-30 is the derivative to rounding.
"""

from __future__ import annotations

from hrpsim.constraints.impact_rows import CLOSED
from hrpsim.jit.compiled import inner_kernel

_STEP = 1e-30
_ROUNDING = 1e-6  # share of a target by which it is not another one


@inner_kernel
def _law(gap, rate, inverse_mass, compliance, damping_time, time_step):
    """Return the target and compliance of a row whose stop acts for the whole step."""
    start, weight = gap - 0.5 * time_step * rate, 1.0 + 0.0j
    if start.real > CLOSED:
        start, damping_time = 0.0j, 0.0
    if compliance > 0.0:
        drag = damping_time * time_step * inverse_mass
        weight = (3.0 * compliance + drag) / (6.0 * compliance + drag)
    share = 1.0 / (1.0 + 4.0 * weight * damping_time / time_step)
    pressed = 0.5 * (start + gap) + (1.0 - weight) * damping_time * rate
    return -4.0 * share * pressed / time_step, 4.0 * compliance * share / time_step**2


@inner_kernel
def stop_derivatives(row, gap, rate, stop, time_step, derivatives_out):
    """Write derivatives (3, 2) of target and compliance by gap, rate and inverse mass.

    Returns 1 if the row has another law: stops that are met within the step act for the rest of
    it alone; 0 otherwise.
    """
    own, other = row.inverse_mass - row.compliance, 0
    for k in range(3):
        target, compliance = _law(
            gap + (1j * _STEP if k == 0 else 0j),
            rate + (1j * _STEP if k == 1 else 0j),
            own + (1j * _STEP if k == 2 else 0j),
            stop.compliance,
            stop.damping_time,
            time_step,
        )
        derivatives_out[k, 0] = target.imag / _STEP
        derivatives_out[k, 1] = compliance.imag / _STEP
        if abs(target.real - row.target) > _ROUNDING * abs(row.target):
            other = 1
        if abs(compliance.real - row.compliance) > _ROUNDING * row.compliance:
            other = 1
    return other
