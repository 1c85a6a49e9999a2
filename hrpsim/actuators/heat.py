# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Temperatures of winding and housing, and the constants of the motor at them.

C_w dT_w/dt = R i^2 - (T_w - T_h) / r_wh,   C_h dT_h/dt = (T_w - T_h) / r_wh - (T_h - T_a) / r_ha
"""

from __future__ import annotations

from hrpsim.jit.compiled import inlined_kernel


@inlined_kernel
def warmed(value, rise, temperature, unit):
    """Return a constant of the motor at a temperature, linear in it."""
    return value * (1.0 + rise * (temperature - unit.reference))


@inlined_kernel
def current_share(unit, state):
    """Return the share of the current limit that the winding's temperature allows."""
    if unit.has_heat == 0 or state.winding_temperature <= unit.derating_temperature:
        return 1.0
    span = unit.limit_temperature - unit.derating_temperature
    return max((unit.limit_temperature - state.winding_temperature) / span, 0.0)


@inlined_kernel
def heat(unit, state):
    """Advance the temperatures by a step, with the torque of the motor in it.

    By the implicit midpoint rule: of second order, without bound on the step.
    """
    K = warmed(unit.torque_constant, unit.torque_constant_rise, state.housing_temperature, unit)
    R = warmed(unit.resistance, unit.resistance_rise, state.winding_temperature, unit)
    current = state.motor_torque / K
    difference = state.winding_temperature - state.housing_temperature
    passed = unit.winding_to_housing * difference
    to_winding = R * current * current - passed
    to_housing = passed - unit.housing_to_ambient * (state.housing_temperature - unit.ambient)
    state.winding_temperature += unit.winding_rise * to_winding + unit.mutual_rise * to_housing
    state.housing_temperature += unit.housing_rise * to_housing + unit.mutual_rise * to_winding
