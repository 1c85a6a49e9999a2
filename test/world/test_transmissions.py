# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Transmissions of ros2_control: their maps, commands and states of actuators, rotors."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hrpsim import ModelError, StateError, World, load_model, mass_matrix

ARM = """<robot name="wrist"><link name="world"/>
  <link name="a"><inertial><origin xyz="0.1 0 0"/><mass value="1"/>
    <inertia ixx="0.01" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="b"><inertial><origin xyz="0 0.1 0.1"/><mass value="0.5"/>
    <inertia ixx="0.01" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="pitch" type="continuous"><parent link="world"/><child link="a"/>
    <axis xyz="0 1 0"/></joint>
  <joint name="roll" type="continuous"><parent link="a"/><child link="b"/>
    <axis xyz="1 0 0"/></joint>
  %s</robot>"""
PAIR = """<transmission name="t"><plugin>transmission_interface/%s</plugin>
  <actuator name="m2" role="actuator2"><mechanical_reduction>%r</mechanical_reduction></actuator>
  <actuator name="m1" role="actuator1"><mechanical_reduction>%r</mechanical_reduction></actuator>
  <joint name="pitch" role="joint1"><mechanical_reduction>%r</mechanical_reduction>
    <offset>0.3</offset></joint>
  <joint name="roll" role="joint2"><mechanical_reduction>%r</mechanical_reduction>
    <offset>-0.2</offset></joint></transmission>"""
SERVOS = "".join(
    f'<hrpsim reference="{joint}"><gains kp="40" kd="3"/></hrpsim>' for joint in ("pitch", "roll")
)


def wrist(kind: str, reductions=(2.0, 3.0, 4.0, 5.0), more: str = SERVOS):
    """Return the robot's text; reductions of actuators 1 and 2, of joints 1 and 2."""
    m1, m2, n1, n2 = reductions
    control = PAIR % (kind, m2, m1, n1, n2)
    return ARM % f'<ros2_control name="c" type="system">{control}</ros2_control>{more}'


def simple(text: str, where: str = "ros2_control"):
    opened = f'<{where} name="c" type="system">' if where == "ros2_control" else ""
    closed = f"</{where}>" if where == "ros2_control" else ""
    kind = "<type>transmission_interface/SimpleTransmission</type>"
    transmission = f'<transmission name="t">{kind}{text}</transmission>'
    return ARM % f"{opened}{transmission}{closed}{SERVOS}"


def robot_of(text: str):
    world = World(gravity=(0, 0, 0))
    return world, world.add_robot(load_model(text), q=[0.4, -0.5])


reduction = st.floats(0.1, 100.0).flatmap(lambda n: st.sampled_from((n, -n)))


@given(st.tuples(*[reduction] * 4), st.tuples(*[st.floats(-3.0, 3.0)] * 4))
def test_the_maps_are_those_of_ros2_control(reductions, numbers):
    """Law: transmission_interface's maps to joints undo these; the power is the same."""
    m1, m2, n1, n2 = reductions
    q, tau = np.array(numbers[:2]), np.array(numbers[2:])
    for kind in ("DifferentialTransmission", "FourBarLinkageTransmission"):
        ratios = load_model(wrist(kind, reductions)).transmissions["t"].ratios
        a1, a2 = ratios @ q
        if kind[0] == "D":
            back = (a1 / m1 + a2 / m2) / (2 * n1), (a1 / m1 - a2 / m2) / (2 * n2)
        else:
            back = a1 / (n1 * m1), (a2 / m2 - a1 / (n1 * m1)) / n2
        rounding = 1e-13 * max(1.0, abs(n1 / n2), abs(n2 / n1), abs(1 / n2))
        assert back == pytest.approx(q, abs=rounding)
        rounding = 1e-13 * np.abs(ratios).max()
        assert (ratios.T @ tau) @ q == pytest.approx(tau @ (a1, a2), abs=rounding)


def test_a_four_bar_linkage_holds_its_second_joint_by_both_actuators():
    """Law: x_a1 = n_j1 n_a1 x_j1, x_a2 = n_a2 (x_j1 + n_j2 x_j2), offsets at the joints."""
    _, robot = robot_of(wrist("FourBarLinkageTransmission"))
    t = robot.transmissions["t"]
    assert t.joints == ("pitch", "roll") and t.actuators == ("m1", "m2")
    assert t.positions == pytest.approx([4 * 2 * 0.1, 3 * (0.1 + 5 * -0.3)])
    robot.v = [1.0, 2.0]
    assert t.velocities == pytest.approx([8.0, 3 * (1 + 10)])


@pytest.mark.parametrize("kind", ["DifferentialTransmission", "FourBarLinkageTransmission"])
def test_a_command_to_actuators_is_the_one_to_their_joints(kind):
    """Law: targets through the inverse map, efforts through the transposed one."""
    moved = []
    for through in (False, True):
        world, robot = robot_of(wrist(kind))
        t = robot.transmissions["t"]
        q, v, tau = np.array([0.7, 0.1]), np.array([0.2, -0.1]), np.array([0.5, 0.3])
        if through:
            a = t.ratios @ (q - [0.3, -0.2])
            t.command(a, t.ratios @ v, np.linalg.solve(t.ratios.T, tau), 0.01)
        else:
            robot.command(q, v, tau, over=0.01)
        world.step(50)
        assert t.efforts @ t.velocities == pytest.approx(
            robot.joint_efforts @ robot.joint_velocities
        )
        moved.append(robot.q)
    assert moved[0] == pytest.approx(moved[1], rel=1e-12)


def test_gains_at_equal_actuators_of_a_differential_are_those_of_its_joints():
    """Law: K = T^T diag(k) T, diagonal where both motors are alike; else it is refused."""
    _, robot = robot_of(wrist("DifferentialTransmission", (2.0, -2.0, 3.0, 5.0)))
    t, turn = robot.transmissions["t"], np.array([0.4, -0.1])
    start = t.positions
    t.command(start + turn, kp=7.0, kd=0.5)
    control = robot.world.scene.control
    assert control["kp"] == pytest.approx([7 * 2 * 2**2 * 3**2, 7 * 2 * 2**2 * 5**2])
    torques = control["kp"] * (control["target_position"] - robot.q)
    assert torques == pytest.approx(t.ratios.T @ (7.0 * turn))
    with pytest.raises(StateError, match="couple the joints 'pitch' and 'roll'"):
        t.command(start, kp=[7.0, 8.0])


def test_rotors_of_actuators_are_inertias_of_their_joints():
    """Law: T^T diag(I) T is added to the mass matrix."""
    plain = load_model(wrist("DifferentialTransmission", (2.0, 2.0, 3.0, 5.0)))
    rotors = '<hrpsim reference="pitch"><rotor inertia="1e-3" actuator="m1"/></hrpsim>'
    rotors += rotors.replace("m1", "m2")
    text = wrist("DifferentialTransmission", (2.0, 2.0, 3.0, 5.0), rotors)
    T = plain.transmissions["t"].ratios
    q = [0.3, 0.4]
    added = mass_matrix(load_model(text), q) - mass_matrix(plain, q)
    assert added == pytest.approx(1e-3 * T.T @ T, abs=1e-15)
    with pytest.raises(ModelError, match=r"couple the joints 'pitch' and 'roll' by 0\.045"):
        load_model(wrist("FourBarLinkageTransmission", more=rotors))


@pytest.mark.parametrize(
    "inside, ratio",
    [
        ('<joint name="roll"><mechanical_reduction>7</mechanical_reduction></joint>'
         '<actuator name="m"/>', 7.0),
        ('<joint name="roll"><hardwareInterface>E</hardwareInterface></joint>'
         '<actuator name="m"><mechanicalReduction>-50</mechanicalReduction></actuator>', -50.0),
    ],
)  # fmt: skip
@pytest.mark.parametrize("where", ["ros2_control", "robot"])
def test_a_simple_transmission_of_ros_2_and_of_ros_1(where, inside, ratio):
    """Law: ROS 2 states the reduction at the joint, ROS 1 at the actuator."""
    model = load_model(simple(inside, where))
    assert model.transmissions["t"].ratios == ratio and model.not_simulated == ()


@pytest.mark.parametrize(
    "inside, cause",
    [
        ('<joint name="rol"/><actuator name="m"/>', "joint 'rol' does not exist. Did you mean"),
        ('<joint name="roll"/>', "needs 1 named <actuator>, got 0"),
        ('<joint name="roll"><offset>two</offset></joint><actuator name="m"/>', "'two', not"),
        ('<joint name="roll"><mechanical_reduction>0</mechanical_reduction></joint>'
         '<actuator name="m"/>', "reduction of 'roll' is zero"),
        ('<joint name="roll"><mechanical_reduction>2</mechanical_reduction></joint><actuator'
         ' name="m"><mechanical_reduction>3</mechanical_reduction></actuator>', "Remove one of"),
    ],
)  # fmt: skip
def test_an_ill_formed_one_is_refused_in_ros2_control_and_noted_elsewhere(inside, cause):
    with pytest.raises(ModelError, match="transmission 't'") as error:
        load_model(simple(inside))
    assert cause in str(error.value)
    with pytest.warns(match="not simulated"):
        model = load_model(simple(inside, "robot"))
    assert not model.transmissions and cause in model.not_simulated[0]


def test_joints_of_another_transmission_and_rotors_of_no_actuator_are_refused():
    second = "<ros2_control>" + PAIR.replace('"t"', '"u"') % ("DifferentialTransmission", *"1111")
    text = wrist("DifferentialTransmission", more=second.replace("'", "") + "</ros2_control>")
    with pytest.raises(ModelError, match="joint 'pitch' belongs to 't' already"):
        load_model(text)
    rotor = '<hrpsim reference="pitch"><rotor inertia="1" actuator="m3"/></hrpsim>'
    with pytest.raises(ModelError, match=r"'m3' does not exist. .*m1"):
        load_model(wrist("DifferentialTransmission", more=rotor))


@pytest.mark.parametrize("kind", ["DifferentialTransmission", "FourBarLinkageTransmission"])
def test_they_are_mujoco_s_fixed_tendons_of_the_same_coefficients(kind):
    """Law: lengths are positions but for the offsets, rates velocities, J^T f joint efforts."""
    mujoco = pytest.importorskip("mujoco")
    world, robot = robot_of(wrist(kind))
    t = robot.transmissions["t"]
    fixed = "".join(
        f'<fixed name="{name}"><joint joint="pitch" coef="{a}"/><joint joint="roll" coef="{b}"/>'
        "</fixed>"
        for name, (a, b) in zip(t.actuators, t.ratios)
    )
    motors = "".join(f'<motor tendon="{name}"/>' for name in t.actuators)
    model = mujoco.MjModel.from_xml_string(
        f"""<mujoco><worldbody><body><joint name="pitch" axis="0 1 0"/><geom size=".1"/>
        <body><joint name="roll"/><geom size=".1"/></body></body></worldbody>
        <tendon>{fixed}</tendon><actuator>{motors}</actuator></mujoco>"""
    )
    data = mujoco.MjData(model)
    robot.v = [0.7, -1.1]
    data.qpos[:], data.qvel[:], data.ctrl[:] = robot.q, robot.v, [0.4, -0.9]
    mujoco.mj_forward(model, data)
    assert t.positions == pytest.approx(data.ten_length - t.ratios @ [0.3, -0.2], abs=1e-12)
    assert t.velocities == pytest.approx(data.ten_velocity, abs=1e-12)
    t.command(efforts=data.ctrl)
    world.step()
    assert robot.joint_efforts == pytest.approx(data.qfrc_actuator, abs=1e-12)
    assert t.efforts == pytest.approx(data.ctrl, abs=1e-12)
