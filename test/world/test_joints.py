# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""What bounds and drives a joint: limits, dry friction, mimics, actuator limits, rotors."""

import numpy as np
import pytest
from world.scenes import GRAVITY, INTEGRATORS, one_joint, show, weightless

from hrpsim import World, load_model

integrators = pytest.mark.parametrize("integrator", INTEGRATORS)
LIMITED = 'lower="-0.5" upper="0.5" effort="1e9" velocity="1e9"'


@integrators
def test_a_limit_stops_the_joint_without_bounce(integrator):
    """An inelastic stop: the joint rests on the limit, past it by less than 1e-6 rad."""
    world = weightless(integrator=integrator)
    robot = world.add_robot(one_joint(limit=LIMITED), v=[1.0])
    furthest = 0.0
    for _ in range(1000):
        world.step()
        furthest = max(furthest, robot.q[0])
        assert abs(robot.v[0]) <= 1.0 + 1e-12
    show(f"past the limit, {integrator} [rad]", furthest - 0.5)
    assert furthest - 0.5 < 1e-6
    assert abs(robot.q[0] - 0.5) < 1e-3
    assert abs(robot.v[0]) < 1e-9


@integrators
@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_a_limit_pushes_only_while_it_is_touched(side, integrator):
    """Held against the limit by an effort, then pulled off: dv = tau t / I at once, no sticking."""
    world = weightless(integrator=integrator)
    robot = world.add_robot(one_joint(limit=LIMITED), q=[0.5 * side])
    robot.tau = [2.0 * side]
    world.step(500)
    assert abs(robot.q[0] - 0.5 * side) < 1e-6
    assert abs(robot.v[0]) < 1e-9
    robot.tau = [-0.01 * side]
    world.step(100)
    assert robot.v[0] == pytest.approx(-side * 0.01 * 0.1 / 0.01, rel=1e-6)


@integrators
def test_a_pendulum_against_its_stop_loses_energy_only(integrator):
    """2 kg at 0.5 m falls onto the limit again and again: never higher than before."""
    limit = 'lower="-0.3" upper="2" effort="1e9" velocity="1e9"'
    world = World(1e-3, integrator=integrator)
    model = one_joint(mass=2.0, at="0 0 -0.5", moment=0.03, limit=limit)
    robot = world.add_robot(model, q=[1.2])
    moment = 2.0 * 0.25 + 0.03
    height = 2.0 * GRAVITY * 0.5
    energy = height * (1 - np.cos(1.2))
    lowest = 0.0
    for _ in range(4000):
        world.step()
        now = 0.5 * moment * robot.v[0] ** 2 + height * (1 - np.cos(robot.q[0]))
        assert now < energy * (1 + 2e-3)
        lowest = min(lowest, robot.q[0])
    show(f"past the stop, {integrator} [rad]", -0.3 - lowest)
    assert lowest > -0.3 - 1e-5


def test_a_joint_that_starts_outside_comes_in_without_speed():
    world = weightless()
    robot = world.add_robot(one_joint(limit=LIMITED), q=[0.6])
    for _ in range(3000):
        world.step()
        assert abs(robot.v[0]) < 1e-12
    assert 0.0 <= robot.q[0] - 0.5 < 2e-6


@integrators
def test_dry_friction_holds_below_its_bound(integrator):
    world = weightless(integrator=integrator)
    robot = world.add_robot(one_joint(dynamics='friction="0.3"'))
    robot.tau = [0.2999]
    world.step(2000)
    assert abs(robot.q[0]) < 1e-12
    robot.tau = [0.3001]
    world.step(1000)
    assert robot.v[0] == pytest.approx(0.0001 / 0.01, rel=1e-6)


@integrators
def test_dry_friction_takes_a_constant_torque(integrator):
    """w = w0 - tau t / I until it stops: the energy falls by tau times the angle turned."""
    world = weightless(integrator=integrator)
    robot = world.add_robot(one_joint(dynamics='friction="0.02"'), v=[3.0])
    world.step(1000)
    assert robot.v[0] == pytest.approx(1.0, rel=1e-9)
    lost = 0.5 * 0.01 * (9.0 - 1.0)
    tolerance = 1e-9 if integrator == "rk4" else 1e-3
    assert 0.02 * robot.q[0] == pytest.approx(lost, rel=tolerance)
    world.step(1000)
    assert abs(robot.v[0]) < 1e-12
    expected = 9.0 / (2 * 0.02 / 0.01)
    assert robot.q[0] == pytest.approx(expected, rel=tolerance)


MIMIC = """<robot name="pair">
  <link name="base"/>
  <link name="a"><inertial><mass value="1"/>
    <inertia ixx="0.01" iyy="0.02" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="b"><inertial><mass value="1"/>
    <inertia ixx="0.02" iyy="0.03" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="lead" type="continuous"><parent link="base"/><child link="a"/>
    <axis xyz="0 1 0"/></joint>
  <joint name="follow" type="continuous"><parent link="base"/><child link="b"/>
    <axis xyz="0 1 0"/><mimic joint="lead" multiplier="-2" offset="0.3"/></joint>
</robot>"""


@integrators
def test_a_mimic_joint_keeps_ratio_and_offset(integrator):
    """q_f = -2 q_l + 0.3 within 1e-9, and the representative moves I_l + 4 I_f."""
    model = load_model(MIMIC, base="fixed")
    world = weightless(integrator=integrator)
    lead, follow = (model.joint(n).q_index for n in ("lead", "follow"))
    q = np.zeros(2)
    q[follow] = 0.3
    robot = world.add_robot(model, q=q)
    robot.command(efforts=[0.7], names=["lead"])
    worst = 0.0
    for _ in range(1000):
        world.step()
        worst = max(worst, abs(robot.q[follow] + 2.0 * robot.q[lead] - 0.3))
    show(f"mimic error, {integrator} [rad]", worst)
    assert worst < 1e-9
    assert robot.v[lead] == pytest.approx(0.7 / (0.02 + 4 * 0.03), rel=1e-6)


def test_a_mimic_joint_that_starts_wrong_closes_up():
    model = load_model(MIMIC, base="fixed")
    world = weightless()
    lead, follow = (model.joint(n).q_index for n in ("lead", "follow"))
    robot = world.add_robot(model)
    for _ in range(10):
        world.step(1000)
    assert abs(robot.q[follow] + 2.0 * robot.q[lead] - 0.3) < 1e-9


@integrators
def test_effort_and_velocity_limits_are_honoured(integrator):
    """5 Nm at most whatever is asked for; none that drives a joint faster than 2 rad/s."""
    limit = 'lower="-100" upper="100" effort="5" velocity="2"'
    world = weightless(integrator=integrator)
    robot = world.add_robot(one_joint(moment=1.0, limit=limit))
    robot.tau = [80.0]
    world.step(100)
    assert robot.v[0] == pytest.approx(0.5, rel=1e-9)
    assert robot.tau[0] == pytest.approx(5.0)
    world.step(2000)
    show(f"speed under a velocity limit of 2 rad/s, {integrator}", robot.v[0])
    assert robot.v[0] <= 2.0 + 5.0 * 1e-3
    robot.tau = [-80.0]
    world.step(100)
    assert robot.v[0] < 2.0


@integrators
def test_a_rotor_adds_its_reflected_inertia(integrator):
    """Gear ratio 100, 1e-5 kg m^2: 0.1 kg m^2 at the joint."""
    world = weightless(integrator=integrator)
    rotor = '<rotor inertia="1e-5" gear_ratio="100"/>'
    robot = world.add_robot(one_joint(extension=rotor))
    robot.tau = [0.33]
    world.step(1000)
    assert robot.v[0] == pytest.approx(0.33 / 0.11, rel=1e-9)


@pytest.mark.parametrize("kp, kd", [(1e3, 0.0), (1e7, 0.0), (1e7, 1e4), (1e12, 1e9), (0.0, 1e9)])
def test_the_semi_implicit_step_is_stable_at_any_gain(kp, kd):
    """Linearly implicit gains never blow up; with damping the target is reached exactly."""
    world = weightless()
    extension = f'<gains kp="{kp}" kd="{kd}"/>'
    limit = 'lower="-100" upper="100" effort="1e15" velocity="1e9"'
    robot = world.add_robot(one_joint(extension=extension, limit=limit), q=[0.2])
    robot.command(positions=[0.5])
    for _ in range(500):
        world.step()
        assert abs(robot.q[0] - 0.5) <= 0.3 * (1 + 1e-9)
    if kd and kp:
        assert abs(robot.q[0] - 0.5) < 1e-3 or kp / kd < 10


@pytest.mark.parametrize("kp, kd", [(5e3, 30.0), (1e5, 1e3), (1e7, 1e4)])
def test_stiff_gains_within_an_effort_limit_come_to_rest(kp, kd):
    """A joint 0.1 rad off its target, 150 Nm at most: it arrives and stays."""
    world = weightless()
    limit = 'lower="-100" upper="100" effort="150" velocity="1e9"'
    extension = f'<gains kp="{kp}" kd="{kd}"/>'
    robot = world.add_robot(one_joint(moment=0.1, extension=extension, limit=limit), q=[0.1])
    robot.command(positions=[0.0])
    world.step(3000)
    show(f"kp {kp:g}, 150 Nm: position and rate after 3 s", robot.q[0], robot.v[0])
    assert abs(robot.q[0]) < 1e-6
    assert abs(robot.v[0]) < 1e-6


@integrators
def test_gains_pull_as_a_spring_and_damper_do(integrator):
    """m q'' = kp (target - q) - kd v, critically damped: q - target = -(1 + w t) e^(-w t) a."""
    kp, moment = 4.0, 0.01
    kd = 2.0 * np.sqrt(kp * moment)
    world = weightless(1e-4, integrator)
    extension = f'<gains kp="{kp}" kd="{kd}"/>'
    robot = world.add_robot(one_joint(extension=extension))
    robot.command(positions=[0.5])
    world.step(1000)
    w = np.sqrt(kp / moment)
    expected = 0.5 - 0.5 * (1 + w * 0.1) * np.exp(-w * 0.1)
    assert robot.q[0] == pytest.approx(expected, rel=1e-7 if integrator == "rk4" else 5e-3)


@integrators
def test_the_delivered_effort_is_what_moved_the_joint(integrator):
    """I dv / dt = joint_efforts of each step, gains and feed-forward included."""
    world = weightless(integrator=integrator)
    robot = world.add_robot(one_joint(extension='<gains kp="40" kd="1"/>'), q=[0.1])
    robot.command(positions=[0.2], velocities=[0.1], efforts=[0.3])
    before = robot.v[0]
    for _ in range(50):
        world.step()
        assert 0.01 * (robot.v[0] - before) / 1e-3 == pytest.approx(
            robot.joint_efforts[0], abs=1e-9
        )
        before = robot.v[0]
