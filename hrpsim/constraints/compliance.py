# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Check the damping of compliant constraints."""

import numpy as np

from hrpsim.errors import WorldError

DAMPING_STEPS = 2.0  # default damping time, in time steps


def refuse_undamped(compliance: np.ndarray, damping_time: np.ndarray, time_step: float) -> None:
    """Refuse rigid constraints that would ring: they need a damping time of one time step.

    A damping time below zero means another law.
    """
    rings = (compliance == 0.0) & (damping_time >= 0.0) & (damping_time < (1 - 1e-9) * time_step)
    if rings.any():
        raise WorldError(
            f"damping_time {damping_time[rings].min():g} s is too short where the compliance is 0: "
            f"it must be one time step, {time_step:g} s, or more"
        )
