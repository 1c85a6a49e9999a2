# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Bags give the states, commands and base that were written, and say where clocks disagree."""

import numpy as np
import pytest
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

from hrpsim.fitting import FitError, FitWarning, Recording, read_recording, read_recordings

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
        read_recording(write_bag(tmp_path / "bag", offset=-0.155))
    with pytest.raises(FitError, match="the clocks do not overlap"), pytest.warns(FitWarning):
        read_recording(write_bag(tmp_path / "far", offset=1e6))


def test_a_joint_that_is_missing_is_named(tmp_path):
    with pytest.raises(ValueError, match="no message has joint elbow"):
        read_recording(write_bag(tmp_path / "bag"), joints=["a", "elbow"])


def write_all(folder, stamps):
    """Write one recording as CSV, arrays and a bag; return their paths."""
    table = np.column_stack([stamps, TIMES])
    np.savetxt(folder / "run.csv", table, delimiter=",", header="time,position.a", comments="")
    np.savez(folder / "run.npz", time=stamps, joints=["a"], positions=TIMES[:, None])
    write_bag(folder / "run", stamps=stamps, joints=("a",))
    return [folder / name for name in ("run.csv", "run.npz", "run")]


@pytest.mark.parametrize("again", [0, 1])
@pytest.mark.filterwarnings("ignore::hrpsim.fitting.FitWarning")
def test_a_clock_that_begins_again_gives_a_segment_for_each_run(tmp_path, again):
    """Law: in bags, CSV files and arrays alike, a segment is a run of the clock, sample by sample.

    One recording of several runs is refused, with one text.
    """
    stamps = TIMES.copy()
    stamps[20:] = stamps[:20] + 0.005 * again
    for path in write_all(tmp_path, stamps):
        first, second = read_recordings(path)
        assert first.time == pytest.approx(stamps[:20])
        assert second.time == pytest.approx(stamps[20:])
        assert [first.name, second.name] == ["run (1 of 2)", "run (2 of 2)"]
        assert second.positions[:, 0] == pytest.approx(TIMES[20:])
        with pytest.raises(FitError, match=r"time does not increase without gaps\. .* 2 segments"):
            read_recording(path)


def test_stamps_that_repeat_are_refused_by_all_kinds_of_files(tmp_path):
    """Law: different samples of one stamp have no order, and are refused with one text."""
    stamps = TIMES.copy()
    stamps[20:] = stamps[19]
    for path in write_all(tmp_path, stamps):
        with pytest.raises(FitError, match=r"time does not increase: .* at sample 20"):
            read_recordings(path)


def test_a_gap_ends_a_segment(tmp_path):
    """Law: no window spans a pause of the samples, and the report names the segments."""
    stamps = TIMES + np.where(TIMES > 0.2, 1e4, 0.0)
    for path in write_all(tmp_path, stamps):
        with pytest.warns(FitWarning, match="2 segments"):
            found = read_recordings(path)
        assert [len(one.time) for one in found] == [20, 20]


def test_a_clock_that_steps_back_in_one_topic_only_is_refused(tmp_path):
    """Law: commands of which nobody knows the run are not used."""
    line = [(0.01 * k, 0.01 * (k % 20)) for k in range(40)]
    write_messages(
        tmp_path / "bag",
        [("joint_states", t, t, ["a"], [t], []) for t, _ in line]
        + [("joint_commands", t, stamp, ["a"], [t], []) for t, stamp in line],
    )
    with pytest.raises(FitError, match="0 times in joint_states, 1 times in joint_commands"):
        read_recordings(tmp_path / "bag")


def write_messages(path, rows):
    """Write rows of topic, reception [s], stamp [s], names, positions and velocities."""
    with Writer(path, version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        lines = {}
        for topic, received, stamp, names, positions, velocities in rows:
            if topic not in lines:
                lines[topic] = writer.add_connection(f"/{topic}", STATE, typestore=STORE)
            one = message(STATE, stamp)
            one.name = list(names)
            one.position, one.velocity = np.array(positions), np.array(velocities)
            writer.write(lines[topic], round(1e9 * received), STORE.serialize_cdr(one, STATE))


def test_commands_of_subsets_of_joints_hold_until_the_next(tmp_path):
    """Law: a joint keeps its command while messages name others, or have NaN for the joint."""
    nan = np.nan
    states = [("joint_states", t, t, ["a", "b"], [t, -t], []) for t in TIMES]
    commands = [
        ("joint_commands", 0.01, 0.01, ["a"], [1.0], []),
        ("joint_commands", 0.01, 0.01, ["b"], [2.0], []),
        ("joint_commands", 0.1, 0.1, ["b", "a"], [3.0, nan], []),
        ("joint_commands", 0.2, 0.2, ["a"], [4.0], []),
        ("joint_commands", 0.25, 0.25, ["a", "a"], [5.0, 6.0], []),  # the node refuses it
    ]
    write_messages(tmp_path / "bag", states + commands)
    with pytest.warns(FitWarning, match="1 messages of /joint_commands that the node refuses"):
        found = read_recording(tmp_path / "bag")
    assert found.command_joints == ("a", "b")
    assert found.command_time == pytest.approx([0.01, 0.1, 0.2])
    assert found.command_positions == pytest.approx(np.array([[1, 2], [1, 3], [4, 3]]))


def test_a_stamp_of_zero_means_now(tmp_path):
    """Law: a command without a stamp acts at the time of the states that were received then."""
    states = [("joint_states", 50.0 + t, t, ["a"], [t], []) for t in TIMES]
    commands = [("joint_commands", 50.0 + t, 0.0, ["a"], [t], []) for t in TIMES]
    write_messages(tmp_path / "bag", states + commands)
    found = read_recording(tmp_path / "bag")
    assert found.command_time == pytest.approx(TIMES)
    assert found.command_positions[:, 0] == pytest.approx(TIMES)


def test_one_state_without_velocities_costs_only_itself(tmp_path):
    """Law: the velocities of the other states are kept, and the report counts the lost state."""
    states = [
        ("joint_states", t, t, ["a"], [t], [] if k == 7 else [1.0]) for k, t in enumerate(TIMES)
    ]
    write_messages(tmp_path / "bag", states)
    with pytest.warns(FitWarning, match="1 messages of /joint_states without velocities"):
        found = read_recording(tmp_path / "bag", commands=None)
    assert found.time == pytest.approx(np.delete(TIMES, 7))
    assert found.velocities == pytest.approx(np.ones((39, 1)))


def test_samples_before_the_first_command_are_left_out():
    """Law: nothing is known of a servo's target before the first command of its joint."""
    commands = np.column_stack([TIMES, np.where(TIMES < 0.15, np.nan, TIMES)])
    with pytest.warns(FitWarning, match="samples before the first command are left out"):
        found = Recording(
            TIMES,
            ("a", "b"),
            np.column_stack([TIMES, TIMES]),
            command_time=TIMES,
            command_positions=commands,
        )
    assert found.time[0] == pytest.approx(0.14)
    assert np.isfinite(found.command_positions).all()
    with pytest.raises(FitError, match="no command has a value for 'b'"):
        Recording(
            TIMES,
            ("a", "b"),
            np.column_stack([TIMES, TIMES]),
            command_time=TIMES,
            command_positions=np.column_stack([TIMES, np.full(40, np.nan)]),
        )


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
    with pytest.raises(FitError, match="not a file of NumPy arrays"):
        read_recording(tmp_path / "run.npz")
