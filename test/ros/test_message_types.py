# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Types that peers announce: only those of installed interface packages are imported."""

import subprocess
import sys
import time
from types import SimpleNamespace

import pytest

from hrpsim import HrpsimError
from hrpsim.ros.base import graph_faults
from hrpsim.ros.controller import velocity_listener
from hrpsim.ros.recording.bag_writer import definition_file, message_type
from hrpsim.ros.recording.topic_recorder import SequenceCounter, TopicRecorder

STRANGE = [
    "antigravity/msg/X",
    "this/msg/X",
    "numpy/msg/Array",
    "sensor_msgs/msg/Nothing",
    "sensor_msgs/srv/SetCameraInfo",
    "no_such_package/msg/X",
    "../etc/msg/X",
    "sensor_msgs.msg/msg/JointState",
    "JointState",
    "a/b",
    "a/b/c/d",
    "",
    "sensor_msgs/msg/JointState\n",
    "sensor_msgs/msg/../JointState",
    "x" * 10_000,
]


def test_an_installed_type_is_found():
    assert message_type("sensor_msgs/msg/JointState").__name__ == "JointState"
    assert definition_file("std_msgs/msg/Header").name == "Header.msg"


@pytest.mark.parametrize("name", STRANGE)
def test_no_other_is(name):
    with pytest.raises(HrpsimError):
        message_type(name)


def test_a_name_imports_nothing():
    """Law: a type name that a peer chose runs no code; `antigravity` would open a browser."""
    program = f"""
import sys
from hrpsim import HrpsimError
from hrpsim.ros.recording.bag_writer import message_type
before = set(sys.modules)
for name in {STRANGE!r}:
    try:
        message_type(name)
    except HrpsimError:
        pass
found = {{name.partition(".")[0] for name in set(sys.modules) - before}}
assert not found & {{"antigravity", "this"}} and not any(n.endswith(".msg") for n in found), found
"""
    subprocess.run([sys.executable, "-c", program], timeout=120, check=True)


def test_a_recorder_names_and_skips_them():
    """Law: whatever types are announced, the others are recorded."""
    warnings, added = [], []
    topics = [(f"/t{k}", [name]) for k, name in enumerate(STRANGE)]
    node = SimpleNamespace(
        get_topic_names_and_types=lambda: topics,
        get_publishers_info_by_topic=lambda topic: [],
        get_namespace=lambda: "/",
        get_logger=lambda: SimpleNamespace(warning=warnings.append),
    )
    recorder = TopicRecorder(node, SimpleNamespace(add_topic=lambda *_: added.append(_)))
    recorder.discover()
    recorder.discover()
    assert recorder.topics == [] and added == []
    assert len(warnings) == len(STRANGE)
    assert all(f"/t{k} " in line for k, line in enumerate(warnings))


def test_a_recorder_leaves_out_what_is_excluded_and_images_without_a_name(monkeypatch):
    """Law: patterns count in full and within the namespace; images and clouds need a name."""
    topics = {
        "/robot/joint_states": "sensor_msgs/msg/JointState",
        "/robot/debug/a": "std_msgs/msg/String",
        "/robot/tf": "std_msgs/msg/String",
        "/robot/eye": "sensor_msgs/msg/Image",
        "/robot/back": "sensor_msgs/msg/Image",
        "/robot/cloud": "sensor_msgs/msg/PointCloud2",
        "/other": "std_msgs/msg/String",
    }
    said, subscribed = [], []
    node = SimpleNamespace(
        get_topic_names_and_types=lambda: [(name, [kind]) for name, kind in topics.items()],
        get_publishers_info_by_topic=lambda topic: [],
        get_namespace=lambda: "/robot",
        count_publishers=lambda topic: 0,
        get_logger=lambda: SimpleNamespace(info=said.append),
    )
    monkeypatch.setattr(TopicRecorder, "_subscribe", lambda *given: subscribed.append(given[1]))
    bag = SimpleNamespace(add_topic=lambda *_: None)
    recorder = TopicRecorder(node, bag, ["/robot/debug/*", "tf"], ["eye"])
    recorder.discover()
    assert subscribed == recorder.topics == ["/robot/joint_states", "/robot/eye"]
    assert [line.split()[0] for line in said] == ["/robot/back", "/robot/cloud"]


def test_a_recorder_says_that_it_cannot_keep_up():
    """Law: messages that waited for a second, or got lost, are told once, with their topic."""
    message = (b"x" * 100, {"received_timestamp": 1e9 * (time.time() - 3.0)})
    lost = (b"x", {"received_timestamp": 1e9 * time.time(), "publication_sequence_number": 9})
    recorder = TopicRecorder(None, SimpleNamespace(write=lambda *_: None))
    for topic in ("/small", "/large"):
        recorder._counters[topic] = SequenceCounter(last=5)
    assert recorder.delay() == ""
    recorder._take_from("/large", SimpleNamespace(take_all=lambda: [message]))
    assert "waited up to 3.0 s" in (text := recorder.delay()) and "from /large" in text
    assert recorder.delay() == ""
    recorder._take_from("/small", SimpleNamespace(take_all=lambda: [lost]))
    assert "3 more are lost" in recorder.delay()


@pytest.mark.parametrize("stamped", [False, True])
def test_a_wrong_type_of_cmd_vel_is_named_once(monkeypatch, stamped):
    """Law: a publisher whose type is not received is named, with the right type and the option."""
    said = []
    kinds = [f"geometry_msgs/msg/{name}" for name in ("Twist", "TwistStamped")]
    right, wrong = reversed(kinds) if stamped else kinds
    reliable = SimpleNamespace(reliability=None)
    own = SimpleNamespace(node_name="walker", node_namespace="/", topic_type=right)
    infos = [
        SimpleNamespace(node_name="teleop", node_namespace="/", topic_type=k, qos_profile=reliable)
        for k in kinds
    ]
    node = SimpleNamespace(
        get_name=lambda: "walker",
        get_namespace=lambda: "/",
        get_topic_names_and_types=lambda: [],
        get_publishers_info_by_topic=lambda topic: infos,
        get_subscriptions_info_by_topic=lambda topic: [own],
        get_logger=lambda: SimpleNamespace(warning=said.append),
    )
    quiet = SimpleNamespace(topic="/cmd_vel", take_all=lambda: [])
    monkeypatch.setattr(velocity_listener, "PolledSubscription", lambda *given: quiet)
    monkeypatch.setattr(graph_faults, "_PERIOD", 0.0)
    listener = velocity_listener.VelocityListener(node, None, stamped)
    for _ in range(2):
        listener.poll(None)
    (text,) = said
    assert f"teleop sends /cmd_vel as {wrong}, but this node receives {right} only" in text
    assert "stamped_cmd_vel" in text
