# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Robots that come and go while a node runs: their topics, frames and parameters do, too."""

import time

import pytest
from ros.messages import seconds, time_told

pytest.importorskip("simulation_interfaces", reason="no simulation_interfaces: make setup-test")

from ros.conftest import LIMIT
from ros.spawning import spawn_request
from sensor_msgs.msg import JointState
from simulation_interfaces.msg import Result
from simulation_interfaces.srv import DeleteEntity, ResetSimulation, SpawnEntity, StepSimulation

from hrpsim.ros.base import qos

STATE = "sensor_msgs/msg/JointState"
TF = "tf2_msgs/msg/TFMessage"
INERTIA = 1.1  # of the pendulum about its hinge [kg m^2]: 0.1 + 1 kg (1 m)^2
PENDULUM = """<robot name="pendulum"><link name="world"/><link name="arm"><inertial>
  <origin xyz="0 0 -1"/><mass value="1"/>
  <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="hinge" type="continuous"><parent link="world"/><child link="arm"/>
  <axis xyz="0 1 0"/></joint></robot>"""
TWIN = "package://hrpsim/urdf/hrp2_like.urdf.xacro"


class Zoo:
    """Spawns robots on a paused node, steps it, and deletes them."""

    def __init__(self, listener, node="/hrpsim"):
        self.listener = listener
        self.node = node

    def call(self, kind, service, **fields):
        return self.ask(kind.Request(**fields), service)

    def ask(self, request, service):
        name = type(request).__name__.removesuffix("_Request")
        kind = f"simulation_interfaces/srv/{name}"
        return self.listener.call(f"{self.node}/{service}", request, kind)

    def spawn(self, name, text=PENDULUM, **fields):
        return self.ask(spawn_request(text, name=name, **fields), "spawn_entity").result

    def delete(self, name):
        result = self.call(DeleteEntity, "delete_entity", entity=name).result
        assert result.result == Result.RESULT_OK, result.error_message

    def step(self, steps):
        """Make steps; return the simulated time [s]."""
        result = self.call(StepSimulation, "step_simulation", steps=steps).result
        assert result.result == Result.RESULT_OK, result.error_message
        return time_told(result.error_message)

    def topics(self):
        """Names of what the node publishes."""
        return set(self.listener.publishers_of(self.node.strip("/")))

    def shows(self, topic):
        return self.listener.wait_for(lambda: topic in self.topics(), LIMIT)

    def has_taken_down(self, prefix):
        return self.listener.wait_for(
            lambda: not any(topic.startswith(prefix) for topic in self.topics()), LIMIT
        )


@pytest.fixture(scope="module")
def shared(paused_simulation, module_listener):
    return Zoo(module_listener)


@pytest.fixture
def zoo(shared):
    shared.call(ResetSimulation, "reset_simulation")
    return shared


def test_a_spawned_robot_is_commanded_and_measured(zoo):
    """From rest, hanging: angular velocity = torque * time / inertia."""
    result = zoo.spawn("pendulum")
    assert result.result == Result.RESULT_OK, result.error_message
    assert "Its topics are in 'pendulum/'" in result.error_message
    states = zoo.listener.collect(STATE, "/pendulum/joint_states")
    commands = zoo.listener.publisher(STATE, "/pendulum/joint_commands")
    zoo.listener.send(commands, JointState(name=["hinge"], effort=[1.1e-6]))
    now = zoo.step(100)
    assert zoo.listener.wait_for(
        lambda: states and seconds(states[-1]) == pytest.approx(now, abs=1e-9), LIMIT
    )
    assert list(states[-1].name) == ["hinge"]
    # Gravity's m g l theta has slowed it down by (w t)^2 / 6, w^2 = 8.9 /s^2.
    assert states[-1].velocity[0] == pytest.approx(1.1e-6 * 0.1 / INERTIA, rel=0.03)
    zoo.delete("pendulum")
    assert zoo.has_taken_down("/pendulum/")
    zoo.step(10)


def test_what_is_deleted_can_come_again(zoo):
    for _ in range(2):
        assert zoo.spawn("pendulum").result == Result.RESULT_OK
        heard = zoo.listener.collect(STATE, "/pendulum/joint_states")
        assert zoo.listener.wait_for(lambda: heard, LIMIT)  # noqa: B023
        zoo.delete("pendulum")
        assert zoo.has_taken_down("/pendulum/")


def test_a_namespace_can_be_given_and_is_nobody_else_s(zoo):
    codes = SpawnEntity.Response
    assert zoo.spawn("a-b").result == codes.NAME_INVALID  # no name for topics
    assert zoo.spawn("a-b", entity_namespace="/zoo/left").result == Result.RESULT_OK
    assert zoo.shows("/zoo/left/joint_states")
    refused = zoo.spawn("other", entity_namespace="/zoo/left")
    assert refused.result == codes.NAMESPACE_INVALID
    assert "is the namespace of 'a-b'" in refused.error_message
    assert zoo.spawn("other", entity_namespace="zoo/right").result == Result.RESULT_OK
    assert zoo.shows("/zoo/right/joint_states")
    zoo.step(5)


def test_a_second_humanoid_has_all_that_the_first_has(zoo):
    static = zoo.listener.collect(TF, "/tf_static", qos.LATCHED)
    moving = zoo.listener.collect(TF, "/tf")
    request = spawn_request(uri=TWIN, name="twin")
    request.initial_pose.pose.position.y = 3.0
    request.initial_pose.pose.position.z = 2.0
    answer = zoo.listener.call(
        "/hrpsim/spawn_entity", request, "simulation_interfaces/srv/SpawnEntity"
    )
    assert answer.result.result == Result.RESULT_OK, answer.result.error_message
    for topic in ("joint_states", "lfsensor", "imu/data", "odom", "zmp", "robot_description"):
        assert zoo.shows(f"/twin/{topic}"), topic
    assert zoo.listener.set_parameter("gains.twin.RLEG_JOINT3", [6000.0, 50.0]).successful

    def frames(messages):
        return {t.child_frame_id for t in messages[-1].transforms} if messages else set()

    def has_both(names):
        own = [name for name in names if name.startswith("twin/")]
        return 0 < len(own) < len(names)

    zoo.step(20)
    for messages in (moving, static):  # beside those of the first robot
        assert zoo.listener.wait_for(lambda: has_both(frames(messages)), LIMIT)  # noqa: B023
    assert zoo.call(ResetSimulation, "reset_simulation").result.result == Result.RESULT_OK
    assert zoo.has_taken_down("/twin/")
    assert not zoo.listener.set_parameter("gains.twin.RLEG_JOINT3", [6000.0, 50.0]).successful


def test_coming_and_going_while_time_runs(zoo):
    states = zoo.listener.collect(STATE, "joint_states")
    assert zoo.listener.call("/hrpsim/resume").success
    for _ in range(3):
        assert zoo.spawn("pendulum").result == Result.RESULT_OK
        heard = zoo.listener.collect(STATE, "/pendulum/joint_states")
        assert zoo.listener.wait_for(lambda: len(heard) > 5, LIMIT)  # noqa: B023
        zoo.delete("pendulum")
    states.clear()
    assert zoo.listener.wait_for(lambda: len(states) > 5, LIMIT)
    assert zoo.listener.call("/hrpsim/pause").success


def test_the_first_robot_can_go_and_another_take_its_name(simulations, listener):
    simulations.start(start_paused=True, remap=["__node:=empty"], namespace="/empty")
    zoo = Zoo(listener, "/empty/empty")
    zoo.topics = lambda: set(listener.publishers_of("empty", "/empty"))
    assert zoo.shows("/empty/joint_states")
    zoo.delete("hrp2")
    assert listener.wait_for(lambda: "/empty/joint_states" not in zoo.topics(), LIMIT)
    zoo.step(10)
    assert zoo.spawn("hrp2").result == Result.RESULT_OK
    states = listener.collect(STATE, "/empty/hrp2/joint_states")
    zoo.step(10)
    assert listener.wait_for(lambda: states and list(states[-1].name) == ["hinge"], LIMIT)


def test_in_lockstep_time_waits_for_the_first_robots_only(simulations, listener):
    simulations.start(
        lockstep=True, lockstep_timeout=0.5, start_paused=True, remap=["__node:=step"]
    )
    zoo = Zoo(listener, "/step")
    assert zoo.spawn("pendulum").result == Result.RESULT_OK
    states = listener.collect(STATE, "/pendulum/joint_states")
    commands = listener.publisher(STATE, "/joint_commands")
    assert listener.call("/step/resume").success
    listener.send(commands, JointState(name=["HEAD_JOINT0"], position=[0.1]))  # for 0 s
    assert listener.wait_for(lambda: states and seconds(states[-1]) == pytest.approx(0.005), LIMIT)
    time.sleep(0.2)
    listener.spin(0.2)
    assert seconds(states[-1]) == pytest.approx(0.005)  # the next tick waits for hrp2
    zoo.delete("hrp2")
    assert listener.wait_for(lambda: seconds(states[-1]) > 0.1, LIMIT)  # nobody to wait for
