# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The lean of an ankle link against the springs of its foot that exerts a desired torque.

One foot responds to desired and measured torques about x and y of its sole. Springs with stiffness
K and damping C deflect by the solution of K a + C da/dt = torque; an integral of the torque's error
is added to that torque, for a floor that is not as expected. In the air the integral decays.
"""

from __future__ import annotations

import math

import numpy as np

from hrpsim.control.balance.foot import Foot
from hrpsim.jit.compiled import kernel

ADMITTANCE = np.dtype(
    [
        ("yields", "f8", (2,)),  # of the springs [rad/Nm]
        ("servo_yields", "f8", (2,)),
        ("kept", "f8", (2,)),  # fraction of a deflection left after a period
        ("growth", "f8"),
        ("fading", "f8"),
        ("yielded", "f8", (2,)),  # by the springs so far [rad]
        ("answer", "f8", (2,)),  # the integral [Nm]
    ]
)


def new_admittance(
    foot: Foot, servo_yields, period: float, answer_time: float, fading_time: float
) -> np.ndarray:
    """Return the record (1,) of a foot that was never under load.

    servo_yields: turn of the sole about its x and y for each unit of torque (2,) [rad/Nm]. Errors
    are corrected within `answer_time` and decay in `fading_time` [s].
    """
    admittance = np.zeros(1, dtype=ADMITTANCE)
    admittance["yields"] = 1.0 / foot.turn_stiffness
    admittance["servo_yields"] = servo_yields
    admittance["kept"] = [
        math.exp(-period * k / c) if c > 0.0 and math.isfinite(k) else 0.0
        for k, c in zip(foot.turn_stiffness, foot.turn_damping)
    ]
    admittance["growth"] = period / answer_time
    admittance["fading"] = math.exp(-period / fading_time)
    return admittance


@kernel
def answer_torque(admittance, axis, wanted, measured, stands, part):
    """Return the lean about `axis` of the sole [rad] for the torque `wanted` about the pivot [Nm].

    admittance: an ADMITTANCE record. measured: the floor's torque [Nm]; stands: whether the foot
    bears load; part: weight of the response, 0 to 1.
    """
    yielded, answer = admittance.yielded, admittance.answer
    if stands:
        answer[axis] += part * admittance.growth * (wanted - measured)
    else:
        answer[axis] *= admittance.fading
    rest = admittance.yields[axis] * (part * wanted + answer[axis])
    yielded[axis] = rest + (yielded[axis] - rest) * admittance.kept[axis]
    # The sole yields the other way; the servos' deflection is compensated elsewhere.
    return -yielded[axis] - admittance.servo_yields[axis] * answer[axis]
