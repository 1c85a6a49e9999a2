# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Temperatures of winding and housing, and the constants of the motor at them.

C_w dT_w/dt = R i^2 - (T_w - T_h) / r_wh,   C_h dT_h/dt = (T_w - T_h) / r_wh - (T_h - T_a) / r_ha
"""

from __future__ import annotations

from hrpsim.jit.compiled import inlined_kernel, inner_kernel


@inlined_kernel
def warmed(value, rise, temperature, unit):
    """Return a constant of the motor at a temperature, linear in it."""
    return value * (1.0 + rise * (temperature - unit.reference))


@inlined_kernel
def current_share(unit, state):
    """Return the share of the current limit that the winding's temperature allows."""
    if unit.winding_capacity == 0.0 or state.winding_temperature <= unit.derating_temperature:
        return 1.0
    span = unit.limit_temperature - unit.derating_temperature
    return max((unit.limit_temperature - state.winding_temperature) / span, 0.0)


@inner_kernel
def heat(unit, state, time_step):
    """Advance the temperatures by a step, with the torque of the motor in it.

    By the implicit midpoint rule: of second order, without bound on the step.
    """
    K = warmed(unit.torque_constant, unit.torque_constant_rise, state.housing_temperature, unit)
    R = warmed(unit.resistance, unit.resistance_rise, state.winding_temperature, unit)
    current = state.motor_torque / K
    flow = unit.winding_to_housing
    to_winding = R * current * current - flow * (
        state.winding_temperature - state.housing_temperature
    )
    loss = (state.housing_temperature - unit.ambient) * unit.housing_to_ambient
    to_housing = flow * (state.winding_temperature - state.housing_temperature) - loss
    a = unit.winding_capacity / time_step + 0.5 * flow
    b = unit.housing_capacity / time_step + 0.5 * (flow + unit.housing_to_ambient)
    c = 0.5 * flow
    determinant = a * b - c * c
    state.winding_temperature += (b * to_winding + c * to_housing) / determinant
    state.housing_temperature += (a * to_housing + c * to_winding) / determinant
