# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Dry friction of motor and gear: Stribeck's curve, and losses in proportion to the load.

A gear with the efficiencies e (motor drives) and b (driven back) turns the motor's torque M into
the joint's T: T = e M or T = M / b. Both are Coulomb friction about a mean, so sticking and the
direction of motion need no case of their own:

    behind a rigid gear    T = (e + 1 / b) / 2 M,   friction (1 / b - e) / 2 |M| on the joint,
    before a gear's spring M = (1 / e + b) / 2 T,   friction (1 / e - b) / 2 |T| on the motor.
"""

from __future__ import annotations

import math

from hrpsim.jit.compiled import inlined_kernel

_FAST = 6.0  # multiple of Stribeck's velocity above which exp(-r^2) is rounding


@inlined_kernel
def dry_friction(unit, speed):
    """Return the level of dry friction at a speed [Nm]: Stribeck's curve."""
    if speed == 0.0:
        return unit.static
    ratio = speed / unit.stribeck_speed
    if unit.static == unit.coulomb or abs(ratio) > _FAST:
        return unit.coulomb
    return unit.coulomb + (unit.static - unit.coulomb) * math.exp(-ratio * ratio)
