# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Dry friction of joints: Coulomb's law, by predicted sliding and sticking as by rows."""

import math

import numpy as np
import pytest
from world.scenes import GRAVITY, one_joint, show, weightless

from evidence.experiments.scenes.standing import humanoid, our_standing
from hrpsim import Box, Sphere, World, load_model

LEG = """<robot name="leg">
  <link name="body"><inertial><mass value="3"/>
    <inertia ixx="0.02" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><geometry><box size="0.2 0.2 0.1"/></geometry></collision></link>
  {links}
</robot>"""
LINK = """<link name="{name}"><inertial><origin xyz="0 0 -0.1"/><mass value="0.5"/>
    <inertia ixx="0.002" iyy="0.002" izz="0.002" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><origin xyz="0 0 -0.2"/><geometry><sphere radius="0.03"/></geometry></collision>
  </link>
  <joint name="to_{name}" type="revolute"><parent link="{parent}"/><child link="{name}"/>
    <origin xyz="{at}"/><axis xyz="{axis}"/><dynamics friction="{friction}"/>
    <limit lower="-2" upper="2" effort="100" velocity="100"/></joint>"""


def table(friction: float = 0.6):
    """Return a body on four legs of one joint each, two of which may touch each other."""
    places = [("0.1 0.1 0", "0 1 0"), ("-0.1 0.1 0", "0 1 0"), ("0.1 -0.1 0", "1 0 0")]
    places.append(("-0.1 -0.1 0", "1 0 0"))
    links = [
        LINK.format(name=f"l{k}", parent="body", at=at, axis=axis, friction=friction)
        for k, (at, axis) in enumerate(places)
    ]
    return load_model(LEG.format(links="\n".join(links)), base="free")


def with_rows(world: World) -> World:
    """Give each dry friction a row of its own, solved by Newton's method."""
    world.add_solver_rule("newton", kind="friction")
    return world


def swaying_humanoid(rows: bool) -> np.ndarray:
    """Return q (steps, nq) of hrp2_like on rigid feet that sways, with 0.5 Nm in each joint."""
    model = humanoid(8, bush=False)
    world, robot = our_standing(model, tolerance=1e-11)
    robot.set_joint_properties(friction=0.5)
    if rows:
        with_rows(world)
    names = ["LLEG_JOINT1", "RLEG_JOINT1", "LLEG_JOINT5", "RLEG_JOINT5", "CHEST_JOINT0"]
    rest = np.array([robot.q[model.joint(n).q_index] for n in names])
    swing = np.array([0.02, 0.02, -0.02, -0.02, 0.2])
    states = []
    for k in range(250):
        robot.command(rest + swing * math.sin(2 * math.pi * k / 1000), names=names)
        world.step()
        states.append(robot.q)
    return np.array(states)


def test_prediction_and_rows_give_one_motion():
    """A humanoid sways on two feet: both ways end within the solver's tolerance of each other."""
    difference = np.abs(swaying_humanoid(False) - swaying_humanoid(True)).max()
    show("difference of q from that by rows", difference)
    assert difference < 1e-7


def falling(make, rows: bool, steps: int = 400) -> tuple[np.ndarray, World]:
    """Return q (steps, nq) of a scene."""
    world, robot = make()
    if rows:
        with_rows(world)
    states = []
    for _ in range(steps):
        world.step()
        states.append(robot.q)
    return np.array(states), world


def table_thrown():
    """A table falls onto its legs: they slide while it lands, then stick."""
    world = World(1e-3, tolerance=1e-11)
    world.add_ground()
    q = np.array([0.0, 0.0, 0.28, 0.0, 0.0, 0.0, 1.0, 0.4, -0.3, 0.3, -0.4])
    return world, world.add_robot(table(), q=q)


def table_crossed():
    """Two of a weightless robot's legs are pushed against each other, all joints stuck."""
    world = weightless(tolerance=1e-11)
    q = np.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.36, -0.36, 0.0, 0.0])
    robot = world.add_robot(table(), q=q)
    robot.command(efforts=[0.9, -0.9], names=["to_l0", "to_l1"])
    return world, robot


def arm_on_the_floor():
    """A stuck arm on a fixed base is hit by a box from above while it touches the floor."""
    world = World(1e-3, tolerance=1e-11)
    world.add_ground(height=-0.231)
    text = LEG.format(
        links=LINK.format(name="l0", parent="body", at="0 0 0", axis="0 1 0", friction=5.0)
    )
    robot = world.add_robot(load_model(text, base="fixed"), q=[0.05])
    world.add_body(Box((0.3, 0.3, 0.02)), 1.0, (-0.12, 0.0, 0.3), velocity=(0, 0, -1.0))
    return world, robot


def struck_arm():
    """A ball bounces off an arm that sticks: dry friction has no effect in the impact."""
    world = weightless(tolerance=1e-11)
    world.set_friction("arm", "ball", 0.0, restitution=1.0)
    text = LEG.format(
        links=LINK.format(name="l0", parent="body", at="0 0 0", axis="0 1 0", friction=0.2)
    ).replace("<collision><origin", '<collision name="arm"><origin')
    robot = world.add_robot(load_model(text, base="fixed"))
    world.add_body(Sphere(0.02), 0.1, (0.2, 0.0, -0.2), velocity=(-1.0, 0, 0), material="ball")
    return world, robot


@pytest.mark.parametrize("make", [table_thrown, table_crossed, arm_on_the_floor, struck_arm])
def test_contact_with_stuck_joints_is_as_by_rows(make):
    """Where a locked joint would leave a contact no motion, and where it lands or is struck."""
    predicted, world = falling(make, rows=False)
    by_rows, _ = falling(make, rows=True)
    difference = np.abs(predicted - by_rows).max()
    show(f"{make.__name__}: difference from that by rows", difference)
    assert np.ptp(by_rows, axis=0).max() > 1e-3
    assert difference < 1e-7
    assert world.stats.since_reset.unconverged == 0


def test_a_loaded_joint_does_not_creep():
    """A pendulum held by its friction against gravity and a load that varies: not one bit moves."""
    world = World(1e-3)
    model = one_joint(mass=1.0, at="0.3 0 0", dynamics='friction="4"')
    robot = world.add_robot(model, q=[0.2])
    weight = GRAVITY * 0.3 * math.cos(0.2)
    for k in range(100):
        robot.tau = [0.9 * (4.0 - weight) * math.sin(k)]
        world.step(1000)
    assert robot.q[0] == 0.2
    assert robot.v[0] == 0.0


@pytest.mark.parametrize("time_step, tolerance", [(1e-3, 2e-3), (1e-5, 2e-5)])
def test_an_oscillator_stops_where_coulomb_says(time_step, tolerance):
    """Turning points x0 - 2 n f / k in turn, until |x| < f / k; half a period each.

    The error is of first order, as the friction reverses within a step.
    """
    k, f, inertia, x0 = 4.0, 0.35, 0.01, 1.0
    world = weightless(time_step)
    robot = world.add_robot(one_joint(dynamics=f'friction="{f}"', moment=inertia), q=[x0])
    robot.set_joint_properties(stiffness=k)
    half = math.pi * math.sqrt(inertia / k)
    turns = math.ceil((x0 - f / k) / (2 * f / k))
    for n in range(1, turns + 2):
        world.step(round(n * half / time_step) - round((n - 1) * half / time_step))
        at = (-1) ** min(n, turns) * (x0 - 2 * min(n, turns) * f / k)
        assert robot.q[0] == pytest.approx(at, abs=tolerance)
    assert robot.v[0] == 0.0


def test_a_joint_leaves_rest_beyond_its_friction_alone():
    """At f (1 - 1e-6) it rests; at f (1 + 1e-6) it turns by (tau - f) / I."""
    world = weightless()
    robot = world.add_robot(one_joint(dynamics='friction="0.3"'))
    robot.tau = [0.3 * (1 - 1e-6)]
    world.step(100)
    assert robot.v[0] == 0.0
    robot.tau = [0.3 * (1 + 1e-6)]
    world.step(100)
    assert robot.v[0] == pytest.approx(0.3e-6 / 0.01 * 0.1, rel=1e-6)


def test_friction_set_and_taken_away_later():
    """w' = -f / I only while the joint has friction."""
    world = weightless()
    robot = world.add_robot(one_joint(), v=[3.0])
    world.step(10)
    assert robot.v[0] == pytest.approx(3.0, rel=1e-12)
    robot.set_joint_properties(friction=0.02)
    world.step(500)
    assert robot.v[0] == pytest.approx(2.0, rel=1e-9)
    robot.set_joint_properties(friction=0.0)
    world.step(500)
    assert robot.v[0] == pytest.approx(2.0, rel=1e-9)
    assert world.stats.row_count == 0


def test_stuck_joints_have_no_rows():
    """At rest a table's legs are locked: contacts alone have rows, and friction bears its load."""
    world, robot = table_thrown()
    world.step(3000)
    contacts = world.stats.contact_count
    assert world.stats.row_count == 3 * contacts
    efforts = robot.constraint_efforts("friction")
    assert 0.01 < np.abs(efforts).max() <= 0.6


def test_a_joint_rests_at_its_limit_without_rows():
    """There friction, within its bound, and the limit bear the load; no row, not one bit moves."""
    world = weightless()
    limit = 'lower="-1" upper="0.5" effort="1e9" velocity="1e9"'
    robot = world.add_robot(one_joint(dynamics='friction="0.3"', limit=limit), q=[0.5])
    for tau in (0.2, 1.0, 5.0, 0.0, -0.2, 0.4):
        robot.tau = [tau]
        world.step(20)
        friction = robot.constraint_efforts("friction")[0]
        limit = robot.constraint_efforts("limit")[0]
        assert friction + limit == pytest.approx(-tau, abs=1e-9)
        assert abs(friction) <= 0.3 + 1e-9
        assert limit <= 0.0
        assert robot.q[0] == 0.5
        assert world.stats.row_count == 0
    robot.tau = [-0.35]
    world.step(100)
    assert robot.v[0] == pytest.approx(-0.05 / 0.01 * 0.1, rel=1e-9)


def driven_table(rows: bool, seed: int) -> tuple[np.ndarray, World]:
    """Return q (steps, nq) of a table in flight whose efforts jump, which takes legs to limits."""
    rng = np.random.default_rng(seed)
    world = weightless(tolerance=1e-11, correction_rate=0.0)
    text = table().urdf.replace('lower="-2" upper="2"', 'lower="-0.1" upper="0.1"')
    robot = world.add_robot(load_model(text, base="free"))
    if rows:
        with_rows(world)
    states = []
    for k in range(400):
        if k % 10 == 0:
            robot.tau = np.concatenate([np.zeros(6), rng.uniform(-1.5, 1.5, 4)])
        world.step()
        states.append(robot.q)
    return np.array(states), world


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_joints_that_start_stop_and_meet_their_limits_move_as_by_rows(seed):
    """Efforts jump: joints start and stop together; one motion obeys friction and limits."""
    predicted, world = driven_table(False, seed)
    by_rows, _ = driven_table(True, seed)
    difference = np.abs(predicted - by_rows).max()
    show(f"seed {seed}: difference from that by rows", difference)
    assert np.abs(by_rows[:, 7:]).max() > 0.1 - 1e-6
    assert difference < 1e-9
    assert world.stats.since_reset.unconverged == 0
