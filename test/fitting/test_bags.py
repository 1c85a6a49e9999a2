# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Bags give the states, commands and base that were written, and say where clocks disagree."""

import numpy as np
import pytest
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

from hrpsim.fitting import FitError, FitWarning, Recording, read_recording

STORE = get_typestore(Stores.ROS2_JAZZY)
STATE, ODOMETRY = "sensor_msgs/msg/JointState", "nav_msgs/msg/Odometry"
TIMES = 0.01 * np.arange(1, 41)


def message(kind, stamp):
    """Return an empty message with a stamp [s]."""
    made = {name: STORE.types[name] for name in STORE.types}
    clock = made["builtin_interfaces/msg/Time"](int(stamp // 1), round(stamp % 1.0 * 1e9))
    header = made["std_msgs/msg/Header"](clock, "")
    if kind == STATE:
        return made[kind](header, [], np.zeros(0), np.zeros(0), np.zeros(0))
    vector = made["geometry_msgs/msg/Vector3"]
    pose = made["geometry_msgs/msg/Pose"](
        made["geometry_msgs/msg/Point"](stamp, 0.0, 1.0),
        made["geometry_msgs/msg/Quaternion"](0.0, 0.0, 0.0, 1.0),
    )
    twist = made["geometry_msgs/msg/Twist"](vector(1.0, 0.0, 0.0), vector(0.0, 0.0, 0.0))
    return made[kind](
        header,
        "base",
        made["geometry_msgs/msg/PoseWithCovariance"](pose, np.zeros(36)),
        made["geometry_msgs/msg/TwistWithCovariance"](twist, np.zeros(36)),
    )


def write_bag(path, offset=0.0, joints=("a", "b"), stamps=TIMES):
    """Write states, odometry, and commands whose stamps are `offset` [s] late, in this order."""
    with Writer(path, version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        for topic, kind in (("joint_states", STATE), ("joint_commands", STATE), ("odom", ODOMETRY)):
            line = writer.add_connection(f"/{topic}", kind, typestore=STORE)
            for k, time in enumerate(TIMES):
                one = message(kind, stamps[k] + (offset if topic == "joint_commands" else 0.0))
                if kind == STATE:
                    one.name = list(joints if k % 2 else joints[::-1])
                    values = {"a": time, "b": -time}
                    one.position = np.array([values.get(name, 0.0) for name in one.name])
                writer.write(line, round(1e9 * time), STORE.serialize_cdr(one, kind))
    return path


def test_a_bag_is_read_as_it_was_written(tmp_path):
    """Law: joints are matched by name in each message; a base of 1 m/s along x has that speed."""
    found = read_recording(write_bag(tmp_path / "bag"))
    a = found.joints.index("a")
    assert found.time == pytest.approx(TIMES)
    assert found.positions[:, a] == pytest.approx(TIMES)
    assert found.positions[:, 1 - a] == pytest.approx(-TIMES)
    assert found.command_positions[:, found.command_joints.index("a")] == pytest.approx(TIMES)
    assert found.base[:, 0] == pytest.approx(TIMES)
    assert found.base_velocity[:, 0] == pytest.approx(np.ones(40))
    assert found.velocities is None


def test_clocks_that_disagree_are_named(tmp_path):
    """Law: stamps that differ from reception unequally are reported, or refused without overlap."""
    with pytest.warns(FitWarning, match="clocks of joint_states and joint_commands disagree"):
        read_recording(write_bag(tmp_path / "bag", offset=-0.15))
    with pytest.raises(FitError, match="the clocks disagree"), pytest.warns(FitWarning):
        read_recording(write_bag(tmp_path / "far", offset=1e6))


def test_a_joint_that_is_missing_is_named(tmp_path):
    with pytest.raises(ValueError, match="a message has no joint elbow"):
        read_recording(write_bag(tmp_path / "bag"), joints=["a", "elbow"])


@pytest.mark.parametrize("again", [0, 1, -1])
def test_a_clock_that_begins_again_is_refused_by_all_kinds_of_files(tmp_path, again):
    """Law: bags, CSV files and arrays refuse stamps that step back or repeat, with one text."""
    stamps = TIMES.copy()
    stamps[20:] = stamps[19] if again == -1 else stamps[:20] + 0.005 * again
    said = "does not increase: .* at sample 20: give each run of the clock as a recording"
    table = np.column_stack([stamps, TIMES])
    np.savetxt(tmp_path / "run.csv", table, delimiter=",", header="time,position.a", comments="")
    np.savez(tmp_path / "run.npz", time=stamps, joints=["a"], positions=TIMES[:, None])
    write_bag(tmp_path / "run", stamps=stamps)
    for name in ("run.csv", "run.npz", "run"):
        with pytest.raises(FitError, match=said):
            read_recording(tmp_path / name)


def test_repeated_samples_are_left_out():
    """Law: a paused simulation repeats its last state; the recording is that without the pause."""
    at = np.repeat(np.arange(40), np.where(np.arange(40) == 7, 5, 1))
    one, two = TIMES[:, None], np.column_stack([TIMES, -TIMES])
    fields = {"time": TIMES, "positions": one, "command_time": TIMES, "command_positions": two}
    paused = Recording(
        joints=("a",),
        command_joints=("a", "b"),
        **{key: value[at] for key, value in fields.items()},
    )
    for key, value in fields.items():
        assert getattr(paused, key).tolist() == value.tolist()


@pytest.mark.parametrize("content", [b"", b"no archive", b"PK\x03\x04 cut"])
def test_damaged_arrays_are_refused(tmp_path, content):
    (tmp_path / "run.npz").write_bytes(content)
    with pytest.raises(FitError, match="not arrays of a recording"):
        read_recording(tmp_path / "run.npz")
