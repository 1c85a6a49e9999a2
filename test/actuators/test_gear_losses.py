# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Rigid gears with losses: the loss acts on the torque that passes the gear."""

import math

import numpy as np
import pytest
from actuators.arms import LINK, ROTOR, arm
from numba import njit

import hrpsim

GEARS = [{}, {"stiffness": 1e5, "damping": 30.0}]
DRY = {"coulomb_friction": 0.5, "static_friction": 1.5, "stribeck_velocity": 0.1}
LEG = """<robot name="leg"><link name="hip"><inertial><mass value="5"/>
<inertia ixx="0.05" iyy="0.05" izz="0.05" ixy="0" ixz="0" iyz="0"/></inertial></link>{}</robot>"""
SEGMENT = """<link name="l{0}"><inertial><origin xyz="0.02 0.01 -0.1"/><mass value="1"/>
<inertia ixx="0.005" iyy="0.005" izz="0.003" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><origin xyz="0 0 -0.2"/><geometry><box size="0.2 0.12 0.04"/></geometry></collision>
</link><joint name="j{0}" type="revolute"><parent link="{1}"/><child link="l{0}"/>
<origin xyz="0 0 {2}"/><axis xyz="{3}"/><limit lower="-3" upper="3" effort="1000" velocity="100"/>
</joint><hrpsim reference="j{0}"><rotor inertia="0.1"/><gains kp="200" kd="4"/></hrpsim>"""


def turned(actuator, load, effort, steps=200):
    """Return (acceleration, actuator) of a joint after steps under a load and a motor's effort."""
    world, robot = arm(actuator)
    robot.command(efforts=[effort])
    for _ in range(steps):
        robot.apply_wrench("bob", torque=(0.0, 0.0, load))
        world.step()
    return robot.v[0] / world.time, robot.actuators["j"]


@pytest.mark.parametrize("gear", GEARS, ids=["rigid", "compliant"])
@pytest.mark.parametrize("e, b", [(0.9, 0.8), (0.6, 0.3), (0.5, 0.01)])
def test_the_loss_acts_on_what_passes_the_gear(gear, e, b):
    """Law: a = T / (I + J / b) driven back, e M / (I + e J) driving; the gear transmits T - I a."""
    losses = {"efficiency": e, "backdriving_efficiency": b} | gear
    for load in (1.0, -1.0):
        found, view = turned(losses, load, 0.0)
        a = load / (LINK + ROTOR / b)
        assert found == pytest.approx(a, rel=1e-3)
        assert view.torque == pytest.approx(LINK * a - load, rel=1e-3)
        found, view = turned(losses, 0.0, load)
        a = e * load / (LINK + e * ROTOR)
        assert found == pytest.approx(a, rel=1e-3)
        assert view.torque == pytest.approx(LINK * a, rel=1e-3)


@pytest.mark.parametrize("dry", [0.0, 0.5])
@pytest.mark.parametrize("load", [100.0, -100.0])
def test_a_self_locking_gear_rests_under_any_load(load, dry):
    """Law: driven back with b = 0 the rotor feels friction alone; at rest it stays at rest."""
    losses = {"efficiency": 0.4, "backdriving_efficiency": 0.0, "coulomb_friction": dry}
    world, robot = arm(losses)
    for _ in range(100):
        robot.apply_wrench("bob", torque=(0.0, 0.0, load))
        world.step()
    assert abs(robot.q[0]) < 1e-9
    robot.v = [2.0 * math.copysign(1.0, load)]
    for _ in range(100):
        robot.apply_wrench("bob", torque=(0.0, 0.0, load))
        world.step()
    slowed = 2.0 - dry / ROTOR * 0.1
    assert robot.v[0] == pytest.approx(math.copysign(slowed, load), rel=1e-6)


@njit
def exact_course(e, b, dry, gains, count, step):
    """Return (q, v) after each step of a servo on a sine under a load that is another.

    Each step finds the only side and branch that agree with the motion that they lead to.
    """
    q = v = 0.0
    out = np.zeros((count, 2))
    for n in range(count):
        t = (n + 0.5) * step
        motor = gains[0] * (0.6 * math.sin(7 * t) - q - 0.5 * step * v) - gains[1] * v
        load = 3.0 * math.sin(11 * t + 0.5)
        level = dry[0] + (dry[1] - dry[0]) * math.exp(-((v / dry[2]) ** 2))
        end = 0.0
        for side in (1.0, -1.0):
            for gain, sign in ((e, side), (1.0 / b, -side)):
                a = (load + gain * (motor - side * level)) / (LINK + gain * ROTOR)
                passes = sign * (motor - ROTOR * a - side * level) >= 0.0
                if passes and side * (v + step * a) > 0.0:
                    end = v + step * a
        q += 0.5 * step * (v + end)
        v = end
        out[n] = q, v
    return out


@pytest.mark.parametrize("dry", [{}, DRY], ids=["smooth", "Stribeck"])
@pytest.mark.parametrize("e, b", [(0.9, 0.8), (0.4, 0.05)])
def test_a_servo_moves_as_the_equations_say(e, b, dry):
    """Law: the motion is that of the equations in steps of 10 us, to 1e-3 at 1 ms."""
    losses = {"efficiency": e, "backdriving_efficiency": b} | dry
    world, robot = arm(losses, kp=40, kd=2)
    path = []
    for n in range(600):
        t = (n + 0.5) * 1e-3
        robot.command(positions=[0.6 * math.sin(7 * t)])
        robot.apply_wrench("bob", torque=(0.0, 0.0, 3.0 * math.sin(11 * t + 0.5)))
        world.step()
        path.append(robot.q[0])
    level = np.array(tuple(dry.values()) or (0.0, 0.0, 1.0))
    wanted = exact_course(e, b, level, (40.0, 2.0), 60_000, 1e-5)[99::100, 0]
    assert np.abs(path - wanted).max() < 1e-3 * np.abs(wanted).max()


def transmitted(passed, side, e, b):
    """Return what a gear transmits of torques, at a side."""
    back = passed / b if b > 0.0 else np.where(passed == 0.0, -side, np.sign(passed)) * np.inf
    return np.where(side * passed > 0.0, e * passed, back)


@pytest.mark.parametrize(
    "losses",
    [
        {"efficiency": 0.8, "backdriving_efficiency": 0.7},
        {"efficiency": 0.6, "backdriving_efficiency": 0.3} | DRY,
        {"efficiency": 0.5, "backdriving_efficiency": 0.0, "coulomb_friction": 0.2},
    ],
)
def test_a_landing_leg_obeys_the_law_at_every_joint(losses):
    """Law: each torque is that of the side and branch of the motion found, in every step."""
    segments = zip("012", ("hip", "l0", "l1"), (0, -0.2, -0.2), ("0 1 0", "1 0 0", "0 1 0"))
    model = hrpsim.load_model(LEG.format("".join(SEGMENT.format(*one) for one in segments)))
    world = hrpsim.World(sleeping=False)
    world.add_ground()
    robot = world.add_robot(model, q=[0, 0, 0.67, 0, 0, 0, 1, 0, 0, 0])
    robot.set_actuator(hrpsim.Actuator(**losses))
    robot.command(positions=[0.1, -0.05, 0.05])
    views = [robot.actuators[name] for name in robot.joint_names]
    e, b = losses["efficiency"], losses["backdriving_efficiency"]
    has_landed = False
    for _ in range(250):
        before = robot.v[6:]
        world.step()
        after = robot.v[6:]
        has_landed = has_landed or len(world.contacts) > 0
        dry = world.scene.actuators.steps["dry"]
        torque = np.array([view.torque for view in views])
        net = np.array([view.motor_torque for view in views]) - 0.1 * (after - before) / 1e-3
        low, high = transmitted(net - dry, 1.0, e, b), transmitted(net + dry, -1.0, e, b)
        room = 1e-5 * (np.abs(torque) + np.abs(net) + 1.0)
        rests = np.abs(after) < 1e-6
        slid = np.where(after > 0.0, net - dry, net + dry)
        driven = (b == 0.0) & (torque * after <= 0.0)
        off = np.where(driven, slid, torque - np.where(after > 0.0, low, high))
        assert (rests | (np.abs(off) <= room)).all()
        assert (~rests | ((low - room <= torque) & (torque <= high + room))).all()
    assert has_landed
