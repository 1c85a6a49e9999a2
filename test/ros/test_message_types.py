# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Types that peers announce: only those of installed interface packages are imported."""

import subprocess
import sys
from types import SimpleNamespace

import pytest

from hrpsim import HrpsimError
from hrpsim.ros.recording.bag_writer import definition_file, message_type
from hrpsim.ros.recording.topic_recorder import TopicRecorder

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
