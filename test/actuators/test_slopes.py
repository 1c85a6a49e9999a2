# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Laws of actuators: their derivatives are slopes of their values."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from interpreted import interpreted, records

from hrpsim.engine.actuators.commands import command_in_effect, command_rate, present_share
from hrpsim.engine.actuators.gear import gear_torque
from hrpsim.engine.actuators.motor import motor_torque
from hrpsim.engine.actuators.records import COMMAND
from hrpsim.engine.dynamics.joint_forces import (
    damping_inertia,
    damping_slopes,
    demand,
    demand_slope,
)

run_motor, run_gear, run_damping, run_demand, run_demand_slope, run_command, run_rate, run_share = (
    interpreted(kernel)
    for kernel in (
        motor_torque,
        gear_torque,
        damping_inertia,
        demand,
        demand_slope,
        command_in_effect,
        command_rate,
        present_share,
    )
)
DT = 1e-3
numbers, positive = st.floats(-10.0, 10.0), st.floats(0.01, 10.0)


@given(numbers, numbers, positive, positive, st.booleans(), st.booleans())
def test_slopes_of_a_motor_are_differences(motor, joint, gain, volts, has_limit, has_current):
    """Law: within its limits, at its current and voltage limits, and at its limit of speed."""
    unit = SimpleNamespace(
        effort_limit=20.0,
        curve_points=0,
        velocity_limit=5.0 if has_limit else math.inf,
        steepest=0.0,
    )
    now = SimpleNamespace(
        demand=3.0 * gain,
        of_motor=gain,
        of_joint=0.5 * gain,
        motor_start=1.0,
        weight=0.7,
        current_torque=2.0 if has_current else math.inf,
        voltage_torque=volts,
        back_emf=0.4,
        limiter=2.0 if has_limit else 0.0,
    )
    _, by_motor, by_joint, _ = run_motor(unit, now, motor, joint)
    step = 1e-6
    for k, slope in enumerate((by_motor, by_joint)):
        ends = [
            run_motor(unit, now, motor + size * (k == 0), joint + size * (k == 1))
            for size in (step, -step)
        ]
        assume(all(end[1:3] == (by_motor, by_joint) for end in ends))  # no kink between them
        assert (ends[0][0] - ends[1][0]) / (2.0 * step) == pytest.approx(slope, rel=1e-6, abs=1e-7)


@given(numbers, positive, st.floats(0.0, 5.0), numbers)
def test_the_slope_of_a_gear_is_a_difference(torque, of_rate, dead_torque, rate):
    """Law: within the backlash and beyond, and over the reach that the gear states."""
    unit, now = SimpleNamespace(dead_torque=dead_torque), SimpleNamespace()
    now.gear_torque, now.of_rate = torque, of_rate
    value, slope, reach = run_gear(unit, now, rate)
    assume(reach > 1e-6)
    for part in (0.9 * reach, -0.9 * reach):
        change = run_gear(unit, now, rate + part)[0] - value
        if (
            abs(torque + of_rate * rate) < dead_torque
            or change * value <= 0.0
            or part * value > 0.0
        ):
            assert change == pytest.approx(slope * part, rel=1e-6, abs=1e-9)


@given(st.floats(0.0, 100.0), positive)
def test_slopes_of_an_implicit_damper_are_differences(damping, inertia):
    found = damping_slopes(np.array([damping]), np.array([inertia]), DT)
    step = 1e-4 * max(damping, 1.0)
    assume(damping > step)
    by_damping = run_damping(damping + step, inertia, DT) - run_damping(damping - step, inertia, DT)
    step_inertia = 1e-4 * inertia
    ends = [run_damping(damping, inertia + size, DT) for size in (step_inertia, -step_inertia)]
    expected = by_damping / (2.0 * step), (ends[0] - ends[1]) / (2.0 * step_inertia)
    np.testing.assert_allclose(np.ravel(found), expected, rtol=1e-5, atol=1e-9)


@given(numbers, numbers, positive, positive)
def test_slopes_of_a_demand_are_differences(position, rate, kp, kd):
    names = "effort", "target_position", "target_velocity"
    actuator = SimpleNamespace(kp=kp, kd=kd, **dict.fromkeys(names, 0.3))
    value = run_demand(actuator, position, rate)
    for kind, name in enumerate(names):
        moved = SimpleNamespace(**(vars(actuator) | {name: 1.3}))
        slope = run_demand_slope(actuator, kind)
        assert run_demand(moved, position, rate) - value == pytest.approx(slope, rel=1e-9, abs=1e-9)


@given(st.integers(0, 3), st.floats(0.05, 0.95), st.integers(0, 5), st.lists(numbers, min_size=6))
def test_slopes_of_a_delayed_command_are_differences(steps, part, slot, efforts):
    """Law: by the present command and by the delay, which is (steps + part) time steps."""
    unit = SimpleNamespace(delay_steps=steps, delay_part=part, slots=6, period=0.0, slew_step=0.0)
    unit.lag = unit.velocity_integral_gain = 0.0

    def effort(delay_part=part, present=0.0):
        state = SimpleNamespace(elapsed=0.0, slot=slot, sample=records(1, COMMAND)[0])
        command = dict(effort=efforts[slot] + present, kp=0.0, kd=0.0, target_velocity=0.0)
        law = SimpleNamespace(target_position=0.0, ahead=0.0, given=0, **command)
        unit.delay_part, out = delay_part, records(1, COMMAND)
        run_command(unit, state, stored, law, DT, out[0])
        return out["constant"][0]

    stored = records(6, COMMAND)
    stored["constant"] = efforts[:6]
    change = effort(present=1.0) - effort()
    assert change == pytest.approx(run_share(unit), abs=1e-9)
    by_delay = (effort(part + 0.01) - effort(part - 0.01)) / (0.02 * DT)
    unit.delay_part = part
    stored["constant"][slot] = efforts[slot]
    assert run_rate(unit, stored, slot, DT) == pytest.approx(by_delay, rel=1e-6, abs=1e-6)
