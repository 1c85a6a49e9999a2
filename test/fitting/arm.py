# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A servo arm: hrpsim's description, and its motion by scipy's integration of the equation."""

from __future__ import annotations

import numpy as np
from scipy.integrate import solve_ivp

from hrpsim.fitting import Recording

URDF = """<robot name="arm"><link name="base"/>
<link name="rod"><inertial><origin xyz="0 0 -0.3"/><mass value="1.0"/>
<inertia ixx="0.02" iyy="0.02" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="shoulder" type="revolute"><parent link="base"/><child link="rod"/><axis xyz="0 1 0"/>
<limit lower="-6" upper="6" effort="1000" velocity="100"/><dynamics damping="0.1"/></joint>
</robot>"""
WORLD = """world: {time_step: 0.0005}
robots:
  - {name: arm, urdf: arm.urdf, base: fixed, gains: {shoulder: [10.0, 0.0]}}
"""
DAMPING = "robots.arm.joints.shoulder.damping"
GAIN = "robots.arm.joints.shoulder.kp"
ROTOR = "robots.arm.joints.shoulder.rotor_inertia"
MASS = "robots.arm.links.rod.mass_factor"
TRUE = {DAMPING: 0.25, GAIN: 14.0, ROTOR: 0.05}
NOISE = 2e-3  # [rad]
G = 9.80665


def write_world(folder):
    """Write the arm and its world; return the world file."""
    (folder / "arm.urdf").write_text(URDF)
    (folder / "arm.yaml").write_text(WORLD)
    return folder / "arm.yaml"


def motion(time, commands, command_time, delay=0.0, *, damping=0.25, kp=14.0, rotor=0.05):
    """Return angles of (I + m l^2 + rotor) q'' = kp (u(t - delay) - q) - d q' - m g l sin q."""
    inertia, weight = 0.02 + 0.09 + rotor, 0.3 * G

    def command(t):
        k = max(np.searchsorted(command_time, t - delay, side="right") - 1, 0)
        return commands[k]

    def rate(t, x):
        torque = kp * (command(t) - x[0]) - damping * x[1] - weight * np.sin(x[0])
        return [x[1], torque / inertia]

    found = solve_ivp(
        rate, (time[0], time[-1]), [0.3, 0.0], t_eval=time, max_step=0.005, rtol=1e-8, atol=1e-10
    )
    return found.y[0]


def commanded(duration, period=0.1):
    """Return times and angles of commands that excite the arm."""
    time = np.arange(0.0, duration, period)
    return time, 0.5 * np.sin(3.0 * time) + 0.4 * np.sign(np.sin(7.0 * time))


def recording(angles, time, command_time, commands, seed, **options):
    """Return the recording of angles with noise."""
    noise = np.random.default_rng(seed).normal(0.0, NOISE, len(time))
    return Recording(
        time,
        ("shoulder",),
        (angles + noise)[:, None],
        command_time=command_time,
        command_positions=commands[:, None],
        **options,
    )
