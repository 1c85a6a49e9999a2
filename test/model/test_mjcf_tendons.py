# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Fixed tendons of MJCF: their actuators and equalities, against MuJoCo."""

import numpy as np
import pytest
from world.scenes import show

from hrpsim import ModelError, StateError, World, WorldError, load_model

mujoco = pytest.importorskip("mujoco")

GRAVITY = (0.0, 0.0, -9.81)
FINGER = """<mujoco><option timestep="1e-5" integrator="RK4"/>
  <worldbody><body><inertial pos=".05 0 .02" mass="0.2" diaginertia="1e-3 2e-3 2e-3"/>
    <joint name="q1" axis="0 1 0" damping="0.01"/>
    <body pos=".1 0 0"><inertial pos=".04 .01 0" mass="0.1" diaginertia="1e-3 2e-3 2e-3"/>
      <joint name="q2" axis="0 1 0"/>
      <body pos=".08 0 0"><inertial pos=".03 0 0" mass="0.1" diaginertia="1e-3 1e-3 1e-3"/>
        <joint name="q3" axis="0 1 .2"/></body></body></body></worldbody>
  <tendon><fixed name="pair"><joint joint="q2" coef="0.7"/><joint joint="q3" coef="-1.2"/></fixed>
    <fixed name="one"><joint joint="q1" coef="-2"/></fixed>
    <fixed name="all"><joint joint="q1" coef="1"/><joint joint="q2" coef="1"/>
      <joint joint="q3" coef="1"/></fixed>%s</tendon>
  %s</mujoco>"""
SERVO = '<position name="servo" tendon="pair" kp="9" kv="0.3" gear="1" forcerange="-0.8 0.8"/>'
PULL = '<motor name="pull" tendon="one" gear="3"/>'


def finger(actuators="", tendons="", more="", **options):
    """Return the world, the robot, MuJoCo's model and its data, in one state."""
    text = FINGER % (tendons, f"<actuator>{actuators}</actuator>{more}")
    world = World(gravity=GRAVITY, **options)
    q = [0.3, -0.4, 0.5]
    robot = world.add_robot(load_model(text), q=q)
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    data.qpos[:] = q
    return world, robot, model, data


def apart(world, robot, model, data, steps: int) -> float:
    """Return the largest difference of positions from MuJoCo's (RK4, 10 us) over some steps."""
    worst = 0.0
    for _ in range(steps):
        world.step()
        while data.time < world.time - 1e-9:
            mujoco.mj_step(model, data)
        worst = max(worst, np.abs(data.qpos - robot.q).max())
    return worst


@pytest.mark.parametrize("ctrl", [0.9, -1.5])
def test_a_servo_on_a_tendon_of_two_joints_moves_them_as_in_mujoco(ctrl):
    """Law: the error is of second order in the step; -1.5 takes the servo to its limit."""
    errors = []
    for time_step in (1e-3, 5e-4):
        world, robot, model, data = finger(SERVO, time_step=time_step, tolerance=1e-12)
        assert not any("pair" in note or "servo" in note for note in robot.model.not_simulated)
        robot.tendons["pair"].command(ctrl)
        data.ctrl[0] = ctrl
        errors.append(apart(world, robot, model, data, round(0.1 / time_step)))
    show("servo on a tendon: off MuJoCo [rad] at 1 and 0.5 ms", *errors)
    assert errors[0] < 2e-3 and errors[1] < 0.35 * errors[0]


def test_at_a_tenth_of_a_hundredth_of_a_millisecond_they_agree():
    """Law: in the limit of small steps the motions are one."""
    world, robot, model, data = finger(SERVO, time_step=1e-5, tolerance=1e-13)
    robot.tendons["pair"].command(0.9)
    data.ctrl[0] = 0.9
    assert apart(world, robot, model, data, 1000) < 1e-9
    tendon = robot.tendons["pair"]
    assert tendon.length == pytest.approx(data.ten_length[0], abs=1e-9)
    assert tendon.velocity == pytest.approx(data.ten_velocity[0], rel=1e-6)
    assert tendon.effort == pytest.approx(data.actuator_force[0], rel=1e-4)


def test_an_effort_on_a_tendon_acts_on_its_joints_by_their_coefficients():
    """Law: J^T f; a step from rest by a force is that by the joint efforts."""
    world, robot, _, _ = finger(SERVO, tolerance=1e-13)
    other, twin, _, _ = finger(SERVO, tolerance=1e-13)
    robot.tendons["pair"].command(effort=0.5)
    twin.tendons["pair"].command(effort=0.0)
    twin.command(efforts=[0.0, 0.7 * 0.5, -1.2 * 0.5])
    for _ in range(50):
        world.step()
        other.step()
    assert robot.q == pytest.approx(twin.q, abs=1e-12)
    assert robot.tendons["pair"].effort == pytest.approx(0.5)
    robot.tendons["pair"].command(effort=5.0)
    world.step()
    assert robot.tendons["pair"].effort == pytest.approx(0.8)  # its limit


def test_a_tendon_of_one_joint_is_a_gear():
    """Law: the joint's effort is coefficient times gear times ctrl, as qfrc_actuator is."""
    _, robot, model, data = finger(PULL)
    data.ctrl[0] = 0.2
    mujoco.mj_forward(model, data)
    assert data.qfrc_actuator[0] == pytest.approx(-2 * 3 * 0.2)
    assert not robot.tendons and robot.model.command_interfaces == {"q1": ("effort",)}
    assert any("gear times gain times ctrl" in note for note in robot.model.not_simulated)


def test_an_equality_of_a_tendon_is_a_ratio_of_its_joints():
    """Law: 0.7 q2 - 1.2 q3 is what it is at qpos0, 0, plus the first coefficient."""
    equality = '<equality><tendon tendon1="pair" polycoef="-0.88 0 0 0 0"/></equality>'
    world, robot, _, _ = finger(more=equality)
    assert not any("equality" in note for note in robot.model.not_simulated)
    world.step(300)
    q = robot.joint_positions
    assert 0.7 * q[1] - 1.2 * q[2] == pytest.approx(-0.88, abs=1e-9)


def test_what_is_not_simulated_is_named():
    tendons = '<fixed name="soft" stiffness="3"><joint joint="q1" coef="1"/></fixed>'
    three = '<motor name="three" tendon="all"/>'
    with pytest.warns(match="not simulated"):
        _, robot, _, _ = finger(three, tendons)
    assert (
        "actuator on a tendon but a fixed one of one or two joints (1: three): not simulated"
        in (robot.model.not_simulated)
    )
    assert "tendon stiffness (1: soft): not simulated" in robot.model.not_simulated


def test_its_command_is_part_of_snapshots_and_resets():
    """Law: the same motion again, from a snapshot and in a copy with another robot before it."""
    world, robot, _, _ = finger(SERVO)
    robot.tendons["pair"].command(0.9)
    world.step(20)
    start = world.snapshot()
    world.step(30)
    end = robot.q.copy()
    robot.tendons["pair"].command(-0.9)
    world.step(5)
    world.restore(start)
    world.step(30)
    assert np.array_equal(robot.q, end)
    world.restore(start)
    world.add_body(__import__("hrpsim").Sphere(0.1), 1.0, position=(5, 5, 5))
    world.step(30)
    assert robot.q == pytest.approx(end, abs=1e-12)
    world.reset()
    assert robot.tendons["pair"].record()["target_position"] == pytest.approx(
        0.7 * -0.4 - 1.2 * 0.5
    )


def test_what_makes_no_sense_is_refused_and_changes_nothing():
    world, robot, _, _ = finger(SERVO)
    tendon = robot.tendons["pair"]
    before = tendon.record().copy()
    with pytest.raises(StateError, match="needs a position"):
        tendon.command()
    with pytest.raises(StateError, match="must be a finite number, got nan"):
        tendon.command(np.nan)
    with pytest.raises(StateError, match="has no gains"):
        tendon.command(0.1, kp=0.0, kd=0.0)
    with pytest.raises(WorldError, match="kp"):
        tendon.command(0.1, kp=-1.0)
    assert tendon.record() == before
    with pytest.raises(WorldError, match="driven tendons are not differentiated"):
        world.linearize()
    with pytest.raises(WorldError, match=r"tendon 'pair' of .* semi_implicit"):
        World(integrator="rk4").add_robot(robot.model)
    for text, cause in (
        ('coefficient="1" joint="q4" joint_coefficient="1"', "'q4' does not exist"),
        ('coefficient="1" joint="q2" joint_coefficient="1"', "with itself"),
        ('coefficient="0" joint="q3" joint_coefficient="1"', "zero"),
    ):
        tag = f'<hrpsim reference="q2"><tendon name="t" {text}/></hrpsim></robot>'
        with pytest.raises(ModelError, match=cause):
            load_model(robot.model.urdf.replace("</robot>", tag))


def test_another_robot_that_leaves_takes_its_tendons_along():
    """Law: the one that remains keeps its command, and the motion that it has alone."""
    world, robot, _, _ = finger(SERVO)
    other = world.add_robot(robot.model, q=robot.q, name="other")
    robot.tendons["pair"].command(0.3)
    other.tendons["pair"].command(-0.7)
    alone, same, _, _ = finger(SERVO)
    same.tendons["pair"].command(-0.7)
    world.step(20)
    world.remove(robot)
    world.step(20)
    alone.step(40)
    assert other.q == pytest.approx(same.q, abs=1e-9)
