# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""One joint with an actuator, and its equations of motion in steps of a microsecond."""

import math

import numpy as np
from numba import njit

import hrpsim

LINK = 0.1  # inertia about the joint [kg m^2]
ROTOR = 0.05
URDF = """<robot name="arm"><link name="base"/><link name="bob"><inertial><mass value="1"/>
<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j" type="{kind}"><parent link="base"/><child link="bob"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="1" effort="{effort}" velocity="{velocity}"/>
<dynamics damping="{damping}" friction="{friction}"/></joint>
<hrpsim reference="j"><rotor inertia="{rotor}"/><gains kp="{kp}" kd="{kd}"/>
{actuator}</hrpsim></robot>"""
FINE = 1e-6  # step of the reference [s]


def arm(actuator=None, *, time_step=1e-3, integrator="semi_implicit", **joint):
    """Return (world, robot) of one joint; `actuator` are the properties of its actuator."""
    settings = {"kp": 0, "kd": 0, "effort": 1000, "velocity": 0, "damping": 0, "friction": 0}
    settings |= {"rotor": ROTOR, "kind": "continuous", "actuator": ""} | joint
    if actuator is not None:
        values = {
            name: " ".join(map(repr, value)) if isinstance(value, tuple) else value
            for name, value in actuator.items()
        }
        settings["actuator"] = "<actuator {}/>".format(
            " ".join(f'{name}="{value}"' for name, value in values.items())
        )
    model = hrpsim.load_model(URDF.format(**settings), base="fixed")
    world = hrpsim.World(time_step, gravity=(0, 0, 0), integrator=integrator)
    return world, world.add_robot(model)


def motion(world, robot, count):
    """Return the joint's positions and velocities (count, 2) after each step."""
    rows = []
    for _ in range(count):
        world.step()
        rows.append((robot.q[0], robot.v[0]))
    return np.array(rows)


@njit
def two_mass(gear, gains, dry, target, count, every):
    """Return joint and motor, (q, v, angle, velocity), every so many steps of a microsecond.

    gear: stiffness, damping, backlash in all, encoder at the motor; gains: kp, kd; dry: Fc, Fs, vs.
    Equations of Nordin, Galic and Gutman 1997, and of Coulomb friction with Stribeck's curve.
    """
    k, c, half, at_motor = gear[0], gear[1], 0.5 * gear[2], gear[3] != 0.0
    q = v = angle = w = twist = 0.0
    out = np.zeros((count // every, 4))
    for n in range(count):
        demand = gains[0] * (target - (angle if at_motor else q))
        demand -= gains[1] * (w if at_motor else v)
        rate, gap = w - v, angle - q - twist
        torque, flank = k * twist + c * rate, 0
        if gap >= half - 1e-15 and torque > 0.0:
            flank = 1
        elif gap <= -half + 1e-15 and torque < 0.0:
            flank = -1
        else:
            torque = 0.0
        level = dry[0] + (dry[1] - dry[0]) * math.exp(-((w / dry[2]) ** 2))
        net, after = demand - torque, 0.0
        if w != 0.0 or abs(net) > level:
            side = w if w != 0.0 else net
            after = w + FINE * (net - math.copysign(level, side)) / ROTOR
            if w * after < 0.0 and level > 0.0:
                after = 0.0
        w = after
        v += FINE * torque / LINK
        angle, q = angle + FINE * w, q + FINE * v
        if flank != 0:
            twist = angle - q - flank * half
        else:
            twist = twist * math.exp(-k * FINE / c) if c > 0.0 else 0.0
            twist = max(min(twist, angle - q + half), angle - q - half)
        if (n + 1) % every == 0:
            out[n // every] = (q, v, angle, w)
    return out


@njit
def dragged(kp, damping, dry, speed, count, every):
    """Return (q, v) of a rotor and link that a spring drags over a Stribeck friction."""
    q = v = 0.0
    inertia = LINK + ROTOR
    out = np.zeros((count // every, 2))
    for n in range(count):
        net = kp * (speed * (n + 0.5) * FINE - q) - damping * v
        level = dry[0] + (dry[1] - dry[0]) * math.exp(-((v / dry[2]) ** 2))
        after = 0.0
        if v != 0.0 or abs(net) > level:
            side = v if v != 0.0 else net
            after = v + FINE * (net - math.copysign(level, side)) / inertia
            if v * after < 0.0:
                after = 0.0
        v = after
        q += FINE * v
        if (n + 1) % every == 0:
            out[n // every] = (q, v)
    return out


def cycle(values, time_step):
    """Return amplitude and period [s] of an oscillation about its mean."""
    off = values - values.mean()
    rises = np.flatnonzero((off[:-1] < 0.0) & (off[1:] >= 0.0))
    times = rises - off[rises] / (off[rises + 1] - off[rises])
    return np.ptp(off) / 2.0, np.diff(times).mean() * time_step
