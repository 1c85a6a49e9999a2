# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Two robots in one world: each has its namespace, its frames, and inputs of its own."""

from importlib.util import find_spec

import pytest
from geometry_msgs.msg import WrenchStamped
from ros.messages import wait_for_state
from sensor_msgs.msg import JointState

from hrpsim.ros.base import qos

STATE, ODOMETRY = "sensor_msgs/msg/JointState", "nav_msgs/msg/Odometry"
TF = "tf2_msgs/msg/TFMessage"
MASS = 2.5  # of a robot [kg]; its links have their centres of mass on the joint
WORLD = """
world: {{gravity: [0, 0, 0]}}
robots:
  - {{name: left, urdf: {urdf}, position: [0, 0, 1], orientation: [0, 0, 1, 0], gains: {gains}}}
  - {{name: right, urdf: {urdf}, position: [0, 2, 1], gains: {gains}}}
"""
LINK = """
<link name="{name}">
  <inertial>
    <mass value="{mass}"/>
    <inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/>
  </inertial>
</link>
"""
URDF = f"""
<robot name="spinner">
  {LINK.format(name="body", mass=2.0)}
  {LINK.format(name="rotor", mass=0.5)}
  <joint name="axle" type="continuous">
    <parent link="body"/><child link="rotor"/><axis xyz="0 0 1"/>
  </joint>
</robot>
"""


@pytest.fixture(scope="module")
def world_file(tmp_path_factory):
    folder = tmp_path_factory.mktemp("several")
    (folder / "spinner.urdf").write_text(URDF)
    file = folder / "several.yaml"
    file.write_text(WORLD.format(urdf=folder / "spinner.urdf", gains="{axle: [2.0, 0.2]}"))
    return file


class Pair:
    """A paused simulation of both robots."""

    def __init__(self, listener):
        self.listener = listener
        self.states = {side: listener.collect(STATE, f"/{side}/joint_states") for side in SIDES}
        self.odometry = {side: listener.collect(ODOMETRY, f"/{side}/odom") for side in SIDES}
        self.transforms = listener.collect(TF, "/tf")
        kind = "geometry_msgs/msg/WrenchStamped"
        self.push = {s: listener.publisher(kind, f"/{s}/apply_wrench") for s in SIDES}
        self.command = {s: listener.publisher(STATE, f"/{s}/joint_commands") for s in SIDES}

    def step(self, steps):
        """Make steps; return x of the base's velocity in its own frame, of both robots."""
        assert self.listener.set_parameter("step_count", steps).successful
        received = [*self.states.values(), *self.odometry.values()]
        wait_for_state(self.listener, self.listener.call("/hrpsim/step"), *received)
        return {side: self.odometry[side][-1].twist.twist.linear.x for side in SIDES}


SIDES = ("left", "right")


def wrench(link, x):
    message = WrenchStamped()
    message.header.frame_id = link
    message.wrench.force.x = x
    return message


@pytest.fixture(scope="module")
def shared_pair(module_simulations, module_listener, world_file):
    module_simulations.start(world_file=world_file, start_paused=True)
    return Pair(module_listener)


@pytest.fixture
def pair(shared_pair):
    shared_pair.listener.call("/hrpsim/reset")
    return shared_pair


def test_each_robot_has_its_topics_and_the_world_its_own(pair):
    world = {
        "/clock",
        "/tf",
        "/tf_static",
        "/contact_markers",
        "/simulation_description",
        "/diagnostics",
    }
    if find_spec("control_msgs"):
        world |= {"/solver", "/energy"}  # no link has a shape, so there are no link_contacts
    each = ("joint_states", "odom", "contact_points", "robot_description")
    expected = world | {f"/{side}/{topic}" for side in SIDES for topic in each}
    assert pair.listener.wait_for(lambda: expected <= set(pair.listener.publishers_of("hrpsim")))
    found = {name for name in pair.listener.publishers_of("hrpsim") if "/_action/" not in name}
    assert found - {"/rosout", "/parameter_events"} == expected
    inputs = ("joint_commands", "joint_trajectory", "apply_wrench", "set_base_pose")
    expected = {f"/{side}/{topic}" for side in SIDES for topic in inputs}
    assert pair.listener.wait_for(lambda: expected <= set(pair.listener.subscribers_of("hrpsim")))
    assert pair.listener.set_parameter("gains.left.axle", [3.0, 0.3]).successful
    assert not pair.listener.set_parameter("gains.axle", [3.0, 0.3]).successful


def test_one_tree_of_frames_holds_both(pair):
    pair.step(20)
    static = pair.listener.collect(TF, "/tf_static", qos.LATCHED)
    assert pair.listener.wait_for(lambda: pair.transforms and static)
    edges = {t.child_frame_id: t for t in pair.transforms[-1].transforms}
    assert {child: edge.header.frame_id for child, edge in edges.items()} == {
        "left/body": "odom",
        "left/rotor": "left/body",
        "right/body": "odom",
        "right/rotor": "right/body",
    }
    assert edges["right/body"].transform.translation.y == pytest.approx(2.0)
    assert edges["left/body"].transform.rotation.z == pytest.approx(1.0)


def test_commands_reach_one_robot(pair):
    pair.listener.send(pair.command["right"], JointState(name=["axle"], position=[0.5]))
    pair.step(2000)
    assert pair.states["right"][-1].position[0] == pytest.approx(0.5, abs=1e-3)
    assert pair.states["left"][-1].position[0] == 0.0


def test_a_wrench_gives_the_impulse_that_is_documented(pair):
    """m v = F (duration + ramp / 2), along the axes of the link, here turned by half a turn."""
    set_parameter = pair.listener.set_parameter
    assert set_parameter("wrench_duration", 0.05).successful
    assert set_parameter("wrench_ramp", 0.0205).successful  # no whole number of steps
    pair.listener.send(pair.push["left"], wrench("left/body", 3.0))
    impulse = 3.0 * (0.05 + 0.5 * 0.0205)
    assert pair.step(50)["left"] == pytest.approx(3.0 * 0.05 / MASS)  # the ramp begins
    speeds = pair.step(100)
    assert speeds == {"left": pytest.approx(impulse / MASS), "right": 0.0}
    place = pair.odometry["left"][-1].pose.pose.position
    assert place.x < -1e-3  # the base looks backwards

    # Two links at once, through the centre of mass both, and in steps of one.
    pair.listener.send(pair.push["right"], wrench("body", 1.0))
    pair.listener.send(pair.push["right"], wrench("right/rotor", 2.0))
    for _ in range(10):
        pair.step(10)
    assert pair.step(1)["right"] == pytest.approx(impulse / MASS)


def test_a_new_wrench_replaces_and_a_zero_one_ends(pair):
    assert pair.listener.set_parameter("wrench_duration", 10.0).successful
    pair.listener.send(pair.push["left"], wrench("body", 3.0))
    assert pair.step(20)["left"] == pytest.approx(3.0 * 0.02 / MASS)
    pair.listener.send(pair.push["left"], wrench("body", -3.0))
    assert pair.step(10)["left"] == pytest.approx(3.0 * 0.01 / MASS)
    pair.listener.send(pair.push["left"], wrench("body", 0.0))
    assert pair.step(50)["left"] == pytest.approx(3.0 * 0.01 / MASS)


def test_a_wrench_ahead_of_time_waits_for_its_stamp(pair):
    assert pair.listener.set_parameter("wrench_duration", 0.01).successful
    assert pair.listener.set_parameter("wrench_ramp", 0.0).successful
    pair.step(1)
    now = pair.states["left"][-1].header.stamp
    message = wrench("body", 5.0)
    start = now.sec * 10**9 + now.nanosec + 50_000_000
    message.header.stamp.sec, message.header.stamp.nanosec = divmod(start, 10**9)
    pair.listener.send(pair.push["left"], message)
    assert pair.step(50)["left"] == 0.0
    assert pair.step(5)["left"] == pytest.approx(5.0 * 0.005 / MASS)
    assert pair.step(100)["left"] == pytest.approx(5.0 * 0.01 / MASS)


def test_lockstep_waits_for_both(simulations, listener, world_file):
    simulations.start(
        namespace="/both",
        remap=["/clock:=clock"],
        world_file=world_file,
        lockstep=True,
        real_time_factor=0.0,
    )
    states = listener.collect(STATE, "/both/left/joint_states")
    publishers = {s: listener.publisher(STATE, f"/both/{s}/joint_commands") for s in SIDES}

    def answer(side, stamp):
        message = JointState(name=["axle"], position=[0.1])
        message.header.stamp.nanosec = stamp
        listener.send(publishers[side], message)

    def comes_to(stamp):
        return listener.wait_for(lambda: states and states[-1].header.stamp.nanosec == stamp)

    answer("left", 0)
    listener.spin(0.2)
    assert comes_to(0)
    answer("right", 0)
    assert comes_to(5_000_000)
    answer("right", 5_000_000)
    listener.spin(0.2)
    assert states[-1].header.stamp.nanosec == 5_000_000
    answer("left", 5_000_000)
    assert comes_to(10_000_000)
