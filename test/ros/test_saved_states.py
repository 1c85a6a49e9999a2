# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""States by name, joints put elsewhere, modes of joints, and what is simulated, over real DDS."""

import json

import pytest
from ros.messages import seconds, time_told
from std_msgs.msg import String

from hrpsim.ros.base import qos

STATE = "sensor_msgs/msg/JointState"
ARM, KNEE, FREE = "RARM_JOINT3", "RLEG_JOINT3", "LARM_JOINT3"


class Node:
    """A paused simulation of config/stand.yaml."""

    def __init__(self, listener):
        self.listener = listener
        self.now = 0.0  # [s]
        self.states = listener.collect(STATE, "joint_states")
        self.commands = listener.publisher(STATE, "joint_commands")
        self.placing = listener.publisher(STATE, "set_joint_states")

    def call(self, service):
        answer = self.listener.call(f"/hrpsim/{service}")
        if answer.success and service != "step":
            self.now = time_told(answer.message)
        return answer.success, answer.message

    def set(self, name, value):
        answer = self.listener.set_parameter(name, value)
        return answer.successful, answer.reason

    def step(self, steps):
        """Make steps; return the states that they publish, without those of before, repeated."""
        assert self.set("step_count", steps)[0]
        before = self.now
        done, text = self.call("step")
        assert done, text
        self.now = time_told(text)
        assert self.listener.wait_for(
            lambda: self.states and abs(seconds(self.states[-1]) - self.now) < 1e-6
        )
        by_stamp = {seconds(state): state for state in self.states}
        self.states.clear()
        return [by_stamp[time] for time in sorted(by_stamp) if time > before + 1e-6]

    def send(self, publisher, **fields):
        message = publisher.msg_type()
        for name, value in fields.items():
            setattr(message, name, value)
        self.listener.send(publisher, message)


def bits(states):
    return [(list(s.position), list(s.velocity), list(s.effort)) for s in states]


def joint(state, name, field="position"):
    return getattr(state, field)[list(state.name).index(name)]


@pytest.fixture(scope="module")
def shared(paused_simulation, module_listener):
    return Node(module_listener)


@pytest.fixture
def node(shared):
    assert shared.call("reset")[0]
    shared.set("state_name", "saved")
    return shared


def test_a_saved_state_goes_on_bit_for_bit(node):
    """Law: what follows a load is what followed the save, targets of joints included."""
    node.send(node.commands, name=[ARM, KNEE], position=[-1.0, 1.0])
    node.step(30)
    done, text = node.call("save_state")
    assert done and "'saved'" in text
    first = node.step(200)
    node.send(node.commands, name=[ARM], position=[0.3])
    node.step(50)
    done, text = node.call("load_state")
    assert done, text
    again = node.step(200)
    assert seconds(again[0]) > seconds(first[-1])  # time goes on
    assert len(first) == 40
    assert bits(again[-40:]) == bits(first)
    assert abs(joint(again[-1], ARM) - joint(again[0], ARM)) > 1e-3  # it moves


def test_commands_that_wait_are_dropped_by_a_load(node):
    node.step(10)
    assert node.call("save_state")[0]
    first = node.step(20)
    assert node.call("load_state")[0]
    node.send(node.commands, name=[ARM], position=[0.5])
    assert node.call("load_state")[0]
    assert bits(node.step(20)) == bits(first)


def test_states_have_names_and_a_limit(node):
    for name in ("a", "b"):
        node.set("state_name", name)
        node.step(7)
        assert node.call("save_state")[0]
    node.set("state_name", "c")
    done, text = node.call("load_state")
    assert not done and "Available: " in text and "'c' does not exist" in text
    assert node.set("state_limit", 1)[0]
    done, text = node.call("save_state")
    assert not done and "the parameter state_limit, 1," in text
    node.set("state_name", "a")
    assert node.call("save_state")[0]  # one of that name is there already
    node.set("state_name", "")
    done, text = node.call("save_state")
    assert not done and "1 to 200 letters" in text
    assert node.set("state_limit", 20)[0]


def test_joints_are_put_where_they_are_to_be(node):
    """Law: the next step begins there, at rest, and joints that hold a position hold that one."""
    start = node.step(1)[-1]
    node.send(node.placing, name=[ARM, FREE], position=[-0.7, -0.4])
    after = node.step(1)[-1]
    assert joint(after, ARM) == pytest.approx(-0.7, abs=1e-4)
    assert joint(after, FREE) == pytest.approx(-0.4, abs=1e-4)
    assert joint(after, KNEE) == pytest.approx(joint(start, KNEE), abs=1e-4)
    later = node.step(400)[-1]
    assert joint(later, ARM) == pytest.approx(-0.7, abs=0.02)
    node.send(node.placing, name=[ARM], velocity=[2.0])
    moving = node.step(1)[-1]
    assert joint(moving, ARM, "velocity") == pytest.approx(2.0, rel=0.2)


@pytest.mark.parametrize(
    ("fields", "cause"),
    [
        ({"name": [], "position": []}, "names no joint"),
        ({"name": ["NOSE"], "position": [0.0]}, "NOSE"),
        ({"name": [ARM, ARM], "position": [0.0, 0.0]}, "more than once"),
        ({"name": [ARM], "position": [9.0]}, "is not within"),
        ({"name": [ARM], "position": [float("nan")]}, "finite"),
        ({"name": [ARM], "position": [0.0, 1.0]}, "2 values"),
        ({"name": [ARM], "position": [0.0], "effort": [1.0]}, "efforts"),
        ({"name": [ARM]}, "neither position nor velocity"),
        ({"name": [ARM], "velocity": [float("inf")]}, "finite"),
    ],
)
def test_what_joints_cannot_be_is_rejected(node, paused_simulation, fields, cause):
    before = bits(node.step(5))
    assert node.call("reset")[0]
    said = len(paused_simulation.lines)
    node.send(node.placing, **fields)
    assert bits(node.step(5))[-1] == before[-1]
    assert node.listener.wait_for(
        lambda: any(
            "set_joint_states" in line and cause in line for line in paused_simulation.lines[said:]
        )
    ), paused_simulation.lines[-3:]


def test_a_joint_that_is_off_follows_nothing(node):
    """Law: no effort whatever is commanded; commanded again it holds where it is then."""
    assert node.set(f"modes.{ARM}", "off") == (True, "")
    node.send(node.commands, name=[ARM, FREE], position=[-1.2, -1.2])
    states = node.step(300)
    assert {joint(state, ARM, "effort") for state in states[-10:]} == {0.0}
    assert joint(states[-1], FREE) == pytest.approx(-1.2, abs=0.1)
    assert node.call("reset")[0]
    assert {joint(state, ARM, "effort") for state in node.step(50)} == {0.0}  # over a reset
    hanging = joint(node.step(20)[-1], ARM)
    assert node.set(f"modes.{ARM}", "commanded")[0]
    node.step(500)
    assert joint(node.step(1)[-1], ARM) == pytest.approx(hanging, abs=0.1)
    node.send(node.commands, name=[ARM], position=[-1.0])
    assert joint(node.step(800)[-1], ARM) == pytest.approx(-1.0, abs=0.05)


def test_a_locked_joint_stands_and_can_be_freed(node):
    here = joint(node.step(1)[-1], ARM)
    assert node.set(f"modes.{ARM}", "locked")[0]
    node.send(node.commands, name=[ARM], position=[here - 0.5])
    assert joint(node.step(200)[-1], ARM) == pytest.approx(here, abs=1e-4)
    node.send(node.placing, name=[ARM], position=[here - 0.5])
    assert joint(node.step(1)[-1], ARM) == pytest.approx(here, abs=1e-4)  # refused: it is locked
    node.step(3)  # to a multiple of the publish period, as after a load
    assert node.call("save_state")[0]
    first = node.step(50)
    assert node.call("load_state")[0]
    assert bits(node.step(50)) == bits(first)
    assert node.set(f"modes.{ARM}", "commanded")[0]
    node.send(node.commands, name=[ARM], position=[here - 0.5])
    assert joint(node.step(800)[-1], ARM) == pytest.approx(here - 0.5, abs=0.05)


def test_modes_that_do_not_exist_are_refused(node):
    done, reason = node.set(f"modes.{ARM}", "asleep")
    assert not done and "'commanded', 'off', 'locked'" in reason
    assert not node.set("modes.NOSE", "off")[0]


def test_what_is_simulated_is_told_to_who_comes_late(node):
    """Law: one latched message describes robot, joints, sensors; another follows each change."""
    listener, told = node.listener, []
    listener.node.create_subscription(String, "simulation_description", told.append, qos.LATCHED)
    assert listener.wait_for(lambda: told)
    data = json.loads(told[-1].data)
    assert data["version"] == 2 and data["world"]["name"] == "standing"
    assert data["world"]["time_step"] == 0.001 and data["world"]["gravity"][2] == -9.80665
    (robot,) = data["robots"]
    assert robot["name"] == "hrp2" and robot["topics"] == ""
    names = [entry["name"] for entry in robot["joints"]]
    assert names == list(node.step(1)[-1].name)
    arm = robot["joints"][names.index(ARM)]
    assert arm["type"] == "revolute" and arm["lower"] < arm["upper"]
    assert arm["gains"][0] > 0.0 and arm["mode"] == "commanded"
    sensors = {sensor["name"]: sensor for sensor in robot["sensors"]}
    assert sensors["lfsensor"]["frame"] == "l_sole"
    pytest.importorskip("simulation_interfaces", reason="no simulation_interfaces: setup-test")
    from ros.spawning import spawn_request

    assert node.call("save_state")[0]
    request = spawn_request("{name: crate, shape: {sphere: 0.1}, mass: 3}")
    request.initial_pose.pose.position.z = 9.0
    kind = "simulation_interfaces/srv/SpawnEntity"
    assert listener.call("/hrpsim/spawn_entity", request, kind).result.result == 1
    assert listener.wait_for(lambda: len(told) > 1)
    assert json.loads(told[-1].data)["bodies"] == [{"name": "crate", "mass": 3.0, "shapes": 1}]
    done, text = node.call("load_state")  # saved before the crate came
    assert not done and "other robots, bodies or connections" in text
    from simulation_interfaces.srv import DeleteEntity

    listener.call(
        "/hrpsim/delete_entity",
        DeleteEntity.Request(entity="crate"),
        "simulation_interfaces/srv/DeleteEntity",
    )
    assert listener.wait_for(lambda: json.loads(told[-1].data)["bodies"] == [])
