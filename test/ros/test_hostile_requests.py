# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Requests that nobody should send: each is answered, and the node and its world go on."""

import re
import struct

import numpy as np
import pytest

pytest.importorskip("simulation_interfaces", reason="no simulation_interfaces: make setup-test")

from rcl_interfaces.msg import Parameter, ParameterValue
from rcl_interfaces.srv import SetParameters, SetParametersAtomically
from ros.spawning import spawn_request
from sensor_msgs.msg import JointState
from simulation_interfaces.msg import Result
from simulation_interfaces.srv import DeleteEntity, GetEntities, GetEntitiesStates, SetEntityState

KINDS = "simulation_interfaces/srv/"
NOT_A_NUMBER = "{shape: {box: [0.1, 0.1, 0.1]}, mass: %s}"
LINK = """<link name="base"><inertial><mass value="1"/>
  <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>%s</link>"""
ROBOT = f'<robot name="r">{LINK}</robot>'
PLY = """ply
format ascii 1.0
element vertex 3
property float x
property float y
property float z
element face 1
property list uchar int vertex_indices
end_header
0 0 0
1 0 0
0 1 0
3 0 1 99
"""


def mesh(path):
    return ROBOT % f'<collision><geometry><mesh filename="{path}"/></geometry></collision>'


def bad_ply(folder):
    file = folder / "bad.ply"
    file.write_text(PLY)
    return mesh(file)


def false_npy(folder):
    """A height field whose header promises more numbers than any memory holds."""
    head = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000, 1000000), }"
    head += b" " * (63 - (10 + len(head)) % 64) + b"\n"
    file = folder / "false.npy"
    file.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head)
    return f"{{shape: {{height_field: {{file: {file}, size: 1.0}}}}, mass: 1}}"


DEADLY = {
    "a date as mass": lambda folder: NOT_A_NUMBER % "2020-01-01",
    "a tag that fails": lambda folder: NOT_A_NUMBER % "!!int abc",
    "brackets": lambda folder: "[" * 3000 + "]" * 3000,
    "an anchor in itself": lambda folder: "&a {shape: *a, mass: *a}",
    "an index out of range": bad_ply,
    "a false size": false_npy,
    "an unknown encoding": lambda folder: '<?xml version="1.0" encoding="undefined"?>' + ROBOT % "",
    "elements": lambda folder: "<robot name='r'>" + "<link>" * 20000,
    "a NUL": lambda folder: "{name: a\0b}",
    "no Unicode": lambda folder: "\ud800",
    "a mass for ever": lambda folder: NOT_A_NUMBER % ".inf",
    "a list for a mass": lambda folder: NOT_A_NUMBER % "[1, 2]",
}


class Target:
    def __init__(self, node, listener):
        self.node, self.listener = node, listener

    def call(self, service, request):
        kind = type(request).__name__.removesuffix("_Request")
        return self.listener.call(f"/hrpsim/{service}", request, KINDS + kind)

    def spawn(self, text, **fields):
        return self.call("spawn_entity", spawn_request(text, name="x", **fields)).result

    def delete(self, name):
        assert self.call("delete_entity", DeleteEntity.Request(entity=name)).result.result == 1

    def names(self, pattern=""):
        request = GetEntities.Request()
        request.filters.filter = pattern
        return self.call("get_entities", request)

    def state(self):
        response = self.call("get_entities_states", GetEntitiesStates.Request())
        return [(e, s.pose, s.twist) for e, s in zip(response.entities, response.states)]


@pytest.fixture(scope="module")
def target(paused_simulation, module_listener):
    target = Target(paused_simulation, module_listener)
    yield target
    assert paused_simulation.exit_code is None
    assert module_listener.call("/hrpsim/step").success  # and it can still do what it is for


@pytest.mark.parametrize("what", DEADLY)
def test_a_spawn_request_is_answered_whatever_it_holds(target, tmp_path, what):
    """Law: what cannot be spawned is refused in words of bounded length; the world stays."""
    before = target.state()
    try:
        result = target.spawn(DEADLY[what](tmp_path))
    except UnicodeEncodeError:
        return  # it cannot even be sent from Python
    assert len(result.error_message) < 5000
    if what == "an unknown encoding" and result.result == Result.RESULT_OK:
        target.delete("x")  # text that came as text is not decoded again
    else:
        assert result.result != Result.RESULT_OK and result.error_message
    assert target.state() == before


def test_xacro_is_refused_until_it_is_allowed(target):
    """Law: nothing that is sent is evaluated unless `spawn_xacro` says so."""
    text = ROBOT % '<xacro:property name="a" value="${2 + 3}"/>'
    text = text.replace("<robot", '<robot xmlns:xacro="http://www.ros.org/wiki/xacro"')
    refused = target.spawn(text)
    assert refused.result != Result.RESULT_OK and "spawn_xacro" in refused.error_message
    assert target.listener.set_parameter("spawn_xacro", True).successful
    assert target.spawn(text).result == Result.RESULT_OK
    assert target.listener.set_parameter("spawn_xacro", False).successful
    target.delete("x")


@pytest.mark.parametrize(
    "limit, value, message",
    [
        ("entity_limit", 1, "the world has 1 entities, the maximum"),
        (
            "spawn_size_limit",
            20,
            "resource_string has 49 bytes. The parameter spawn_size_limit allows 20",
        ),
        ("spawn_link_limit", 0, "'r' has 1 links. The parameter spawn_link_limit allows 0"),
    ],
)
def test_limits_are_parameters(target, limit, value, message):
    """Law: what a request may cost is bounded by a parameter that the refusal names."""
    text = NOT_A_NUMBER % "1.00000000" if "size" in limit else ROBOT % ""
    before = target.listener.call(
        "/hrpsim/get_parameters", _get(limit), "rcl_interfaces/srv/GetParameters"
    )
    assert target.listener.set_parameter(limit, value).successful
    result = target.spawn(text)
    standard = before.values[0].integer_value
    assert target.listener.set_parameter(limit, standard).successful
    assert result.result != Result.RESULT_OK
    assert message in result.error_message


def _get(name):
    from rcl_interfaces.srv import GetParameters

    return GetParameters.Request(names=[name])


@pytest.mark.parametrize("pattern", ["(a+)+$b", "(", "a" * 300, "(?=x)", r"(\w)\1"])
def test_a_filter_is_answered_whatever_it_says(target, pattern):
    """Law: no filter costs more than its length times that of the names."""
    response = target.names(pattern)
    assert (response.result.result == Result.RESULT_OK) == (pattern == "(a+)+$b")
    assert response.entities == []


def test_a_state_that_is_refused_changes_nothing(target):
    """Law: set_entity_state does all of what it is asked, or nothing."""
    assert target.spawn("{shape: {sphere: 0.1}, mass: 1}").result == Result.RESULT_OK
    before = target.state()
    request = SetEntityState.Request(entity="x")
    for flag in ("set_pose", "set_twist"):  # from release 2.1 on
        if hasattr(request, flag):
            setattr(request, flag, True)
    request.state.pose.position.x = 3.0
    request.state.twist.linear.x = float("inf")
    result = target.call("set_entity_state", request).result
    assert result.result != Result.RESULT_OK and result.error_message
    assert target.state() == before
    target.delete("x")


@pytest.mark.parametrize("kind", [SetParameters, SetParametersAtomically])
def test_a_parameter_of_no_type_is_refused(target, kind):
    """Law: the services of parameters answer, too, whatever rclpy makes of a request."""
    request = kind.Request(parameters=[Parameter(name="tf_rate", value=ParameterValue(type=77))])
    snake = re.sub(r"(?<!^)(?=[A-Z])", "_", kind.__name__).lower()
    response = target.listener.call(
        f"/hrpsim/{snake}", request, f"rcl_interfaces/srv/{kind.__name__}"
    )
    result = response.results[0] if hasattr(response, "results") else response.result
    assert not result.successful and "has the unknown type 77" in result.reason


def test_bytes_that_are_no_message_are_passed_over(target):
    """Law: what cannot be decoded is left out, and the publisher is heard again.

    The middleware may hold what it sends next back for its heartbeat period of 3 s.
    """
    publisher = target.listener.publisher("sensor_msgs/msg/JointState", "joint_commands")
    for junk in (b"", b"\x00", b"\x00\x01\x00\x00" + b"\xff" * 40, bytes(range(256))):
        publisher.publish(junk)
    odd = JointState(name=["\x00", ""], position=[float("nan"), 1.0])
    target.listener.send(publisher, odd)
    assert target.listener.call("/hrpsim/step").success
    assert target.listener.set_parameter("step_count", 300).successful
    states = target.listener.collect("sensor_msgs/msg/JointState", "joint_states")

    def follows():
        target.listener.send(publisher, JointState(name=["HEAD_JOINT0"], position=[0.2]))
        assert target.listener.call("/hrpsim/step").success
        head = list(states[-1].name).index("HEAD_JOINT0") if states else None
        return head is not None and abs(states[-1].position[head] - 0.2) < 0.01

    assert target.listener.wait_for(follows)
    assert np.isfinite(states[-1].position).all()
    target.listener.node.destroy_publisher(publisher)
