# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""What is refused, by name; and the state of actuators in copies of worlds."""

import copy
import math
import pickle

import numpy as np
import pytest
from actuators.arms import arm

import hrpsim

ALL = {
    "delay": 0.0035,
    "command_period": 0.002,
    "slew_rate": 2.0,
    "integral_gain": 5.0,
    "velocity_integral_gain": 30.0,
    "velocity_integral_lower": -2.0,
    "velocity_integral_upper": 3.0,
    "time_constant": 0.05,
    "integral_limit": 1.0,
    "curve_velocity": (0.0, 4.0, 6.0),
    "curve_torque": (50.0, 50.0, 10.0),
    "stiffness": 1e4,
    "damping": 5.0,
    "backlash": 0.01,
    "encoder": "motor",
    "coulomb_friction": 0.5,
    "static_friction": 1.0,
    "efficiency": 0.8,
    "backdriving_efficiency": 0.7,
    "joint_resolution": 1e-3,
    "motor_resolution": 1e-3,
    "resistance": 0.5,
    "voltage": 24.0,
    "torque_constant": 0.05,
    "gear_ratio": 50.0,
    "current_limit": 30.0,
    "winding_heat_capacity": 20.0,
}


@pytest.mark.parametrize(
    "given, message",
    [
        ({"delay": -0.001}, "delay must be >= 0"),
        ({"delay": 1.5}, "delay must be >= 0 and finite, at most 1 s"),
        ({"delay": math.nan}, "delay must be"),
        ({"stiffness": "1e5"}, "stiffness must be"),
        ({"efficiency": None}, "efficiency must be positive and finite, at most 1, got None"),
        ({"curve_velocity": (0.0, 2.0, 1.0), "curve_torque": (3.0, 2.0, 1.0)}, "must increase"),
        ({"curve_velocity": (0.0, 2.0), "curve_torque": (3.0,)}, "must have equally many numbers"),
        ({"curve_velocity": (0.0, 2.0), "curve_torque": (1.0, 2.0)}, "must not rise"),
        (
            {"curve_velocity": (0.0, 2.0), "curve_torque": (1.0, math.nan)},
            r"curve_torque\[1\]|list",
        ),
        ({"curve_velocity": (1.0, 2.0), "curve_torque": (2.0, 1.0)}, "must begin at 0"),
        ({"housing_thermal_resistance": 0.0}, "from 1e-06 to 1e[+]12 K/W, got 0"),
        ({"integral_limit": 1.0}, "integral_limit has no effect without"),
        ({"velocity_integral_upper": 1.0}, "without a velocity_integral_gain"),
        (
            {"velocity_integral_gain": 1.0, "velocity_integral_upper": -math.inf},
            "velocity_integral_lower must be below",
        ),
        ({"backlash": 0.1}, "backlash of the gear has no effect without"),
        ({"encoder": "gear"}, "encoder 'gear' does not exist"),
        ({"encoder": "motor"}, "without the gear's stiffness"),
        ({"static_friction": 1.0, "coulomb_friction": 2.0}, "at least coulomb_friction"),
        ({"resistance": 1.0}, "needs a voltage and a torque_constant"),
        ({"winding_heat_capacity": 1.0}, "without the motor's resistance"),
    ],
)
def test_bad_properties_are_refused_by_name(given, message):
    """Law: the error names the property and what is allowed."""
    with pytest.raises(hrpsim.WorldError, match=message):
        hrpsim.Actuator(**given)


@pytest.mark.parametrize(
    "given, joint, message",
    [
        (
            {"backlash": 2.0, "stiffness": 1.0},
            {"kind": "revolute"},
            "backlash of joint 'j' must be smaller",
        ),
        (
            {"curve_velocity": (0, 1), "curve_torque": (9, 0)},
            {"effort": 5},
            "has the stall torque 9, above",
        ),
        ({"stiffness": 1.0}, {"rotor": 0}, "no rotor inertia"),
        ({"delay": -1}, {}, "delay must be >= 0"),
        ({"dealy": 1}, {}, "Did you mean 'delay'"),
    ],
)
def test_what_does_not_fit_a_joint_is_refused(given, joint, message):
    """Law: neither a description nor set_actuator takes it, and the robot stays as it was."""
    with pytest.raises(hrpsim.common.errors.HrpsimError, match=message):
        arm(given, **joint)
    if "dealy" not in given:
        _world, robot = arm(**joint)
        with pytest.raises(hrpsim.WorldError, match=message):
            robot.set_actuator(hrpsim.Actuator(**given))
        assert not robot.actuators


def test_other_integrators_are_refused():
    """Law: actuators with a model need semi_implicit."""
    with pytest.raises(hrpsim.WorldError, match="needs the integrator semi_implicit, not rk4"):
        arm({"delay": 0.1}, integrator="rk4")
    _world, robot = arm(integrator="euler")
    with pytest.raises(hrpsim.WorldError, match="semi_implicit"):
        robot.set_actuator(hrpsim.Actuator(delay=0.1))


def bits(world, count):
    """Return the state after each of some steps of a moving arm."""
    robot, found = world.robots["arm"], []
    for n in range(count):
        if n % 7 == 0:
            robot.command(positions=[0.3 * math.sin(0.1 * n)])
        world.step()
        view = robot.actuators["j"]
        found.append((robot.q[0], robot.v[0], view.motor_velocity, view.winding_temperature))
    return found


@pytest.mark.parametrize("how", ["restore", "copy", "pickle", "batch", "reset"])
def test_copies_go_on_bit_for_bit(how):
    """Law: motors, gears, temperatures and late commands are part of a world's state."""
    world, _ = arm(ALL, kp=300, kd=5)
    if how == "reset":
        start = bits(world, 60)
        world.reset()
        assert bits(world, 60) == start
        return
    bits(world, 30)
    snapshot = world.snapshot()
    other = {
        "copy": lambda: copy.deepcopy(world),
        "pickle": lambda: pickle.loads(pickle.dumps(world)),
    }.get(how, lambda: world)()
    ahead = bits(world, 60)
    world.restore(snapshot)
    if how == "batch":
        batch = hrpsim.Batch(world, 2)
        assert all(bits(one, 60) == ahead for one in batch.worlds)
    else:
        assert bits(other, 60) == ahead


def test_entities_that_come_and_go_leave_actuators_alone():
    """Law: motion and late commands are the same whether others are added, removed or given one."""
    paths = []
    for changes in (False, True):
        world, robot = arm(ALL, kp=300, kd=5)
        robot.command(positions=[0.3])
        world.step(20)
        if changes:
            model = arm({"delay": 0.5})[1].model
            other = world.add_robot(model, name="other")
            world.step(20)
            world.remove(other)
        else:
            world.step(20)
        world.step(20)
        paths.append((robot.q[0], robot.v[0]))
    assert paths[0] == paths[1]


def test_neither_other_things_nor_impossible_temperatures_are_taken():
    """Law: the error names what was given and what is allowed; nothing changes."""
    heat = {"resistance": 1.0, "voltage": 10.0, "torque_constant": 1.0}
    _world, robot = arm(heat | {"winding_heat_capacity": 10.0})
    for given in ({"delay": 0.1}, 3.0):
        with pytest.raises(hrpsim.WorldError, match=r"a preset's name or None, got"):
            robot.set_actuator(given, "j")
    with pytest.raises(hrpsim.WorldError, match=r"from -273\.15 to 10000 degrees Celsius"):
        robot.actuators["j"].winding_temperature = -300.0
    assert robot.actuators["j"].winding_temperature == 25.0


def test_encoders_round():
    """Law: the gains hold a position to half a step of the encoder, and readings are rounded."""
    world, robot = arm({"joint_resolution": 0.01}, kp=100, kd=10)
    robot.command(positions=[0.3033])
    world.step(2000)
    assert robot.q[0] == pytest.approx(0.3033, abs=0.0101)


def test_an_actuator_is_set_and_taken_away():
    """Law: without one the joint is a plain one again; views name what there is."""
    world, robot = arm(kp=100, kd=5)
    robot.command(positions=[0.5])
    robot.set_actuator(hrpsim.Actuator(stiffness=1e4, damping=5.0), "j")
    world.step(10)
    assert robot.actuators["j"].properties.stiffness == 1e4
    robot.set_actuator(None)
    assert not robot.actuators
    world.step(10)
    other, plain = arm(kp=100, kd=5)
    plain.q, plain.v = robot.q, robot.v
    plain.command(positions=[0.5])
    world.step(), other.step()
    assert np.array_equal(plain.v, robot.v)


def test_what_does_not_act_leaves_the_plain_joint_its_bits():
    """Law: readings and reports alone cost a step nothing; views then show the plain joint."""
    readings = {"torque_noise": 0.1, "torque_resolution": 0.5, "ambient_temperature": 30.0}
    joint = {"kp": 300, "kd": 5, "friction": 0.2, "velocity": 2.0, "effort": 40}
    (world, robot), (other, plain) = arm(readings, **joint), arm(**joint)
    for each in (robot, plain):
        each.command(positions=[0.5])
    for _ in range(300):
        world.step(), other.step()
        assert (robot.q[0], robot.v[0], robot.tau[0]) == (plain.q[0], plain.v[0], plain.tau[0])
    view = robot.actuators["j"]
    assert len(world.scene.actuators.units) == 0
    assert (view.motor_position, view.motor_velocity) == (robot.q[0], robot.v[0])
    assert (view.torque, view.motor_torque) == (robot.tau[0], robot.tau[0])
    assert view.winding_temperature == view.housing_temperature == 30.0
    with pytest.raises(hrpsim.WorldError, match="Give its motor a resistance"):
        view.winding_temperature = 50.0


@pytest.mark.parametrize("given", [{name: value} for name, value in ALL.items()])
def test_what_acts_changes_the_motion_or_is_refused_alone(given):
    """Law: no property of a step is taken for one of readings alone."""
    try:
        world, robot = arm(given, kp=300, kd=5)
    except hrpsim.common.errors.HrpsimError:
        return
    other, plain = arm(kp=300, kd=5)
    world.step(), other.step()
    for command in ({"positions": [0.5]}, {"velocities": [0.5]}):
        for each in (robot, plain):
            each.command(**command)
        world.step(50), other.step(50)
    assert robot.actuators["j"].properties.acts == (robot.q[0] != plain.q[0])


def test_world_files_name_actuators(tmp_path):
    """Law: actuators of a world file are those of set_actuator, by names with * and ?."""
    from actuators.arms import URDF

    settings = {"kp": 1, "kd": 1, "effort": 10, "velocity": 0, "damping": 0, "friction": 0}
    settings |= {"rotor": 0.1, "kind": "continuous", "actuator": ""}
    (tmp_path / "arm.urdf").write_text(URDF.format(**settings))
    text = "robots: [{urdf: arm.urdf, base: fixed, actuators: {'*': {delay: 0.5, %s}}}]"
    path = tmp_path / "world.yaml"
    path.write_text(text % "curve_velocity: [0, 1], curve_torque: [5, 0]")
    robot = hrpsim.load_world(path).robots["arm"]
    wanted = hrpsim.Actuator(delay=0.5, curve_velocity=(0, 1), curve_torque=(5, 0))
    assert robot.actuators["j"].properties == wanted
    path.write_text(text % "backlash: 1")
    with pytest.raises(
        hrpsim.WorldError, match=r"robots\[0\].actuators.\*.*without the gear's stiffness"
    ):
        hrpsim.load_world(path)


def test_readings_are_those_of_encoder_and_torque_sensor():
    """Law: rounded to the resolutions; noise of the given deviation, by seed, joint and step."""
    from hrpsim.world.objects.robot_reader import RobotReader

    sensor = {"joint_resolution": 0.01, "torque_resolution": 0.25}
    world, robot = arm(sensor, kp=100, kd=10)
    robot.q, reader = [0.3033], RobotReader(robot, ("j",))
    robot.command(efforts=[1.1])
    world.step()
    q, _, effort = reader.read()
    assert (q, effort) == pytest.approx((0.30, 1.0), abs=1e-12)
    robot.set_actuator(hrpsim.Actuator(torque_noise=0.5))
    readings = []
    for _ in range(2000):
        world.step()
        readings.append(reader.read()[2])
    again = reader.read()[2]
    assert np.mean(readings) == pytest.approx(1.1, abs=0.05)
    assert np.std(readings) == pytest.approx(0.5, rel=0.05)
    assert readings[-1] == again != readings[-2]
    assert robot.tau[0] == pytest.approx(1.1, rel=1e-12)


def test_an_encoder_at_the_motor_reads_the_motor():
    """Law: with the encoder at the motor a reading is the motor's, not the joint's."""
    from hrpsim.world.objects.robot_reader import RobotReader

    world, robot = arm({"stiffness": 100.0, "damping": 1.0, "encoder": "motor"}, kp=200, kd=5)
    robot.command(positions=[0.5])
    world.step(30)
    view = robot.actuators["j"]
    read = RobotReader(robot, ("j",)).read()
    assert read[:2].tolist() == [view.motor_position, view.motor_velocity]
    assert abs(read[0] - robot.q[0]) > 1e-3
