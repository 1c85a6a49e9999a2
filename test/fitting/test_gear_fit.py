# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Parameters of gears, from the positions of a joint and its motor."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import hrpsim
from hrpsim.fitting import Recording, Signal, unexplained

URDF = """<robot name="arm"><link name="base"/>
<link name="rod"><inertial><origin xyz="0 0 -0.3"/><mass value="1.0"/>
<inertia ixx="0.02" iyy="0.02" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="shoulder" type="revolute"><parent link="base"/><child link="rod"/><axis xyz="0 1 0"/>
<limit lower="-6" upper="6" effort="1000" velocity="100"/><dynamics damping="0.1"/></joint>
<hrpsim reference="shoulder"><rotor inertia="0.05"/></hrpsim></robot>"""
WORLD = """world: {time_step: 0.0005}
robots:
  - name: arm
    urdf: arm.urdf
    base: fixed
    gains: {shoulder: [14.0, 0.4]}
    actuators: {shoulder: {encoder: motor, stiffness: 90.0, damping: 0.5, backlash: 0.0}}
"""
GEAR = "robots.arm.actuators.shoulder"
STIFFNESS, DAMPING, BACKLASH, ROTOR, INERTIA, WEIGHT = 60.0, 0.5, 0.03, 0.05, 0.11, 0.3 * 9.80665
NOISE = 2e-4  # [rad]


def measured(backlash):
    """Return the recording of an arm behind an elastic gear with backlash, by scipy."""
    time, command_time = np.arange(0.0, 2.0, 0.01), np.arange(0.0, 2.0, 0.05)
    commands = 0.5 * np.sin(5.0 * command_time) * (command_time > 0.0)

    def rate(t, x):
        command = commands[max(np.searchsorted(command_time, t, side="right") - 1, 0)]
        twist = x[2] - x[0]
        free = np.sign(twist) * max(abs(twist) - 0.5 * backlash, 0.0)
        torque = STIFFNESS * free + (DAMPING * (x[3] - x[1]) if free or not backlash else 0.0)
        motor = 14.0 * (command - x[2]) - 0.4 * x[3] - torque
        link = torque - 0.1 * x[1] - WEIGHT * np.sin(x[0])
        return [x[1], link / INERTIA, x[3], motor / ROTOR]

    ends = {"t_eval": time, "max_step": 1e-3, "rtol": 1e-8, "atol": 1e-10}
    x = solve_ivp(rate, (0.0, time[-1]), np.zeros(4), **ends).y
    noise = NOISE * np.random.default_rng(0).normal(size=(2, len(time), 1))
    noise[:, 0] = 0.0  # the arm hangs still
    joints = ("shoulder",)
    motor = Signal("motor_position", "motor", time[1:], (x[2][:, None] + noise[1])[1:], joints)
    return Recording(
        time,
        joints,
        x[0][:, None] + noise[0],
        command_time=command_time,
        command_positions=commands[:, None],
        signals=(motor,),
    )


def fitted(folder, one, **given):
    """Return the fit of properties of the gear."""
    (folder / "arm.urdf").write_text(URDF)
    (folder / "arm.yaml").write_text(WORLD)
    parameters = {f"{GEAR}.{name}": value for name, value in given.items()}
    return hrpsim.fit(folder / "arm.yaml", [one], parameters, window=1.99)


def test_the_stiffness_of_a_gear_is_found(tmp_path):
    """Law: the twist of a gear under a known load gives the stiffness."""
    found = fitted(tmp_path, measured(0.0), stiffness={"start": 90.0, "between": [10, 500]})
    assert found.values[0] == pytest.approx(STIFFNESS, rel=0.01)
    assert found.errors(False)["motor"][1] < 1.5 * NOISE


def test_a_missing_backlash_leaves_a_residual(tmp_path):
    """Law: a model without the backlash cannot explain the twist, and a model with it can."""
    one = measured(BACKLASH)
    stiffness = {"start": 90.0, "between": [10, 500]}
    without = fitted(tmp_path, one, stiffness=stiffness)
    gap = {"start": 0.02, "between": [0.0, 0.1]}
    found = fitted(tmp_path, one, stiffness=stiffness, backlash=gap)
    least = min(own.autocorrelation[1] for own in unexplained(without))
    assert least > 0.9 > max(own.autocorrelation[1] for own in unexplained(found))
    assert found.values[1] == pytest.approx(BACKLASH, rel=0.1)
    assert found.errors(False)["motor"][1] < 0.3 * without.errors(False)["motor"][1]
