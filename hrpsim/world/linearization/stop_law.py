# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The law of compliant contacts and limits, as hrpsim.constraints.rows.soften_stop has it.

Written for complex numbers: the imaginary part of a step of 1e-30 is the derivative to rounding.
"""

from __future__ import annotations

import numpy as np

from hrpsim.constraints.impact_rows import CLOSED

_STEP = 1e-30
_ROUNDING = 1e-6  # share of a target by which it is not another one


def _law(gap, rate, inverse_mass, compliance, damping_time, time_step):
    """Return the target and compliance of a row whose stop acts for the whole step."""
    start = gap - 0.5 * time_step * rate
    is_open = start.real > CLOSED
    damping_time = np.where(is_open, 0.0, damping_time)
    drag = damping_time * time_step * inverse_mass
    safe = np.where(compliance > 0.0, compliance, 1.0)
    weight = np.where(compliance > 0.0, (3.0 * safe + drag) / (6.0 * safe + drag), 1.0)
    share = 1.0 / (1.0 + 4.0 * weight * damping_time / time_step)
    pressed = 0.5 * (np.where(is_open, 0.0, start) + gap) + (1.0 - weight) * damping_time * rate
    return -4.0 * share * pressed / time_step, 4.0 * compliance * share / time_step**2


def stop_derivatives(rows, gap, rate, pairs, time_step):
    """Return derivatives (3, k) of targets and of compliances by gap, rate and inverse mass.

    Of rows (k,) with the parameters `pairs` (k,). Also returns which rows (k,) have another law:
    stops that are met within the step act for the rest of it alone.
    """
    own = rows["inverse_mass"] - rows["compliance"]
    values, by_target, by_compliance = np.array([gap, rate, own], dtype=complex), [], []
    for k in range(3):
        moved = values.copy()
        moved[k] += 1j * _STEP
        law = _law(*moved, pairs["compliance"], pairs["damping_time"], time_step)
        by_target.append(law[0].imag / _STEP)
        by_compliance.append(law[1].imag / _STEP)
    other = np.abs(law[0].real - rows["target"]) > _ROUNDING * np.abs(rows["target"])
    other |= np.abs(law[1].real - rows["compliance"]) > _ROUNDING * rows["compliance"]
    return np.array(by_target), np.array(by_compliance), other
