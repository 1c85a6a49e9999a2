# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""`hrpsim wrench-plot`: bags of every kind that ROS 2 makes, and what it says of bad ones."""

from __future__ import annotations

import shutil
import subprocess
import sys

import numpy as np
import pytest
import yaml
from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

from hrpsim.bag import BagError, messages, read_foot_wrenches
from hrpsim.bag.reader import full_name, wrenches
from hrpsim.commands.cli import main

TYPES = get_typestore(Stores.ROS2_JAZZY)
WRENCH, POINT = "geometry_msgs/msg/WrenchStamped", "geometry_msgs/msg/PointStamped"
TIMES = np.arange(0.0, 4.0, 0.005)
WEIGHT = 570.0
CENTER = np.array([0.03, -0.01])  # of pressure, in the sensor frame [m]
DEPTH = 0.02  # of the sole below the sensor [m]
URDF = f"""<robot name="block">
  <link name="leg"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0"
    iyz="0"/></inertial></link>
  <joint name="ankle" type="revolute"><parent link="leg"/><child link="foot"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" effort="100" velocity="10"/></joint>
  <link name="foot"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0"
    iyz="0"/></inertial><collision><origin xyz="0 0 {-DEPTH + 0.05}"/><geometry>
    <box size="0.2 0.1 0.1"/></geometry></collision></link>
  <hrpsim reference="ankle"><sensor name="lfsensor" type="force_torque"/></hrpsim>
  <hrpsim reference="foot"><sensor name="rfsensor" type="force_torque"/></hrpsim>
</robot>"""


def kind(name):
    package, part = name.split("/")
    return TYPES.types[f"{package}/msg/{part}"]


def header(time):
    seconds, nanoseconds = divmod(round(time * 1e9), 1_000_000_000)
    stamp = kind("builtin_interfaces/Time")(seconds, nanoseconds)
    return kind("std_msgs/Header")(stamp, "sole")


def vector(values):
    return kind("geometry_msgs/Vector3")(*map(float, values))


def force_on(side, time):
    """The weight wanders from foot to foot; a fifth of it pushes forward, a tenth sideways."""
    share = 0.5 + 0.5 * np.sin(2.0 * time) * (1 if side == "left" else -1)
    return share * WEIGHT * np.array([0.2, 0.1, 1.0])


def wrench(side, time, depth=0.0):
    """The force acts at CENTER, `depth` below the sensor."""
    force = force_on(side, time)
    torque = np.cross([*CENTER, -depth], force)
    part = kind("geometry_msgs/Wrench")(vector(force), vector(torque))
    return kind("geometry_msgs/WrenchStamped")(header(time), part)


def point(time):
    where = kind("geometry_msgs/Point")(0.1 * time, 0.02, 0.0)
    return kind("geometry_msgs/PointStamped")(header(time), where)


def write_bag(path, times=TIMES, *, storage="mcap", compression=None, topics=None, tail=b""):
    """Write the given topics, or feet and ZMP: {name: (type, function of time)}."""
    topics = topics or {
        "/lfsensor": (WRENCH, lambda time: wrench("left", time)),
        "/rfsensor": (WRENCH, lambda time: wrench("right", time)),
        "/zmp": (POINT, point),
    }
    writer = Writer(path, version=9, storage_plugin=StoragePlugin[storage.upper()])
    if compression:
        writer.set_compression(CompressionMode[compression.upper()], CompressionFormat.ZSTD)
    with writer:
        for name, (type_name, message_at) in topics.items():
            connection = writer.add_connection(name, type_name, typestore=TYPES)
            for time in times:
                data = bytes(TYPES.serialize_cdr(message_at(time), type_name))
                writer.write(connection, round(time * 1e9) + 10**18, data + tail)
    return path


def split_bag(path, storage):
    """Return a bag in two files, each with half of the messages, as --max-bag-size makes it."""
    half = len(TIMES) // 2
    write_bag(path, TIMES[:half], storage=storage)
    other = write_bag(path.with_name("other"), TIMES[half:], storage=storage)
    (file,) = (f for f in other.iterdir() if f.suffix != ".yaml")
    shutil.move(file, path / f"second{file.suffix}")
    whole, part = (yaml.safe_load((p / "metadata.yaml").read_text()) for p in (path, other))
    whole, part = (m["rosbag2_bagfile_information"] for m in (whole, part))
    whole["relative_file_paths"].append(f"second{file.suffix}")
    whole["message_count"] += part["message_count"]
    for entry, more in zip(whole["topics_with_message_count"], part["topics_with_message_count"]):
        entry["message_count"] += more["message_count"]
    text = yaml.safe_dump({"rosbag2_bagfile_information": whole})
    (path / "metadata.yaml").write_text(text)
    return path


@pytest.mark.quick_cases("one file-sqlite3", "split-mcap", "message-mcap", "plain-sqlite3")
@pytest.mark.parametrize("storage", ["mcap", "sqlite3"])
@pytest.mark.parametrize("form", ["plain", "message", "file", "split", "one file"])
def test_every_kind_of_bag_gives_the_same_wrenches(tmp_path, storage, form):
    path = tmp_path / "bag"
    if form == "split":
        split_bag(path, storage)
    else:
        compression = form if form in ("message", "file") else None
        write_bag(path, storage=storage, compression=compression)
    if form == "one file":
        (path,) = (f for f in path.iterdir() if f.suffix != ".yaml")
    feet = read_foot_wrenches(path)
    assert np.allclose(feet.left.time, TIMES, atol=1e-9)
    assert np.array_equal(feet.right.force, [force_on("right", t) for t in TIMES])
    assert np.array_equal(feet.zmp[:, 0], 0.1 * TIMES)


def test_center_of_pressure_is_where_the_force_acts(tmp_path):
    """Force at a known point of a sole whose depth robot_description tells; NaN in the air."""
    description = kind("std_msgs/String")(URDF)
    feet = read_foot_wrenches(
        write_bag(
            tmp_path / "bag",
            topics={
                "/robot1/lfsensor": (WRENCH, lambda time: wrench("left", time, DEPTH)),
                "/robot1/rfsensor": (WRENCH, lambda time: wrench("right", time, DEPTH)),
                "/robot1/robot_description": ("std_msgs/msg/String", lambda time: description),
            },
        )
    )
    assert feet.left.sole_depth == pytest.approx(DEPTH)
    assert feet.least_force == pytest.approx(0.05 * WEIGHT)
    points = feet.left.center_of_pressure(feet.least_force)
    loaded = feet.left.force[:, 2] >= feet.least_force
    assert 0.1 < loaded.mean() < 0.95
    assert np.abs(points[loaded] - CENTER).max() < 1e-12
    assert np.isnan(points[~loaded]).all()
    assert feet.zmp_time.size == 0


def test_feet_with_stamps_of_their_own_are_added_up(tmp_path):
    """Drivers of a real robot: the right foot's stamps lie between those of the left one."""
    bag = write_bag(
        tmp_path / "bag",
        topics={
            "/lfsensor": (WRENCH, lambda time: wrench("left", time)),
            "/rfsensor": (WRENCH, lambda time: wrench("right", time + 0.0023)),
        },
    )
    times, left, right = read_foot_wrenches(bag).vertical_forces()
    assert len(times) == len(TIMES) - 1
    assert np.abs(left + right - WEIGHT).max() < 0.01  # linear between stamps 5 ms apart


def test_repeated_and_trailing_bytes_do_no_harm(tmp_path):
    """A paused node repeats its state; publishers of raw messages append bytes of padding."""
    times = np.concatenate([TIMES, TIMES[-1:], TIMES[-1:]])
    bag = write_bag(tmp_path / "bag", times, tail=b"\x40\x04\x00\x00\x00\x00\x00\x00")
    assert len(wrenches(bag, "lfsensor").time) == len(times)
    feet = read_foot_wrenches(bag)
    assert len(feet.left.time) == len(TIMES) and np.all(np.diff(feet.left.time) > 0.0)
    assert np.array_equal(feet.left.force[-1], force_on("left", TIMES[-1]))


def test_the_command_writes_a_picture_without_rclpy(tmp_path):
    bag = write_bag(tmp_path / "bag")
    code = (
        "import sys; sys.modules['rclpy'] = None; from hrpsim.commands.cli import main; "
        f"sys.exit(main(['wrench-plot', {str(bag)!r}]))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=500, check=False
    )
    picture = tmp_path / "bag_wrenches.png"
    assert (result.returncode, result.stdout) == (0, f"wrote {picture}\n"), result.stderr
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("has_zmp", [True, False])
def test_the_zmp_has_a_panel_where_it_was_recorded(tmp_path, has_zmp, monkeypatch):
    from matplotlib.figure import Figure

    drawn = []
    monkeypatch.setattr(Figure, "savefig", lambda figure, picture: drawn.append(figure))
    topics = {f"/{s[0]}fsensor": (WRENCH, lambda t, s=s: wrench(s, t)) for s in ("left", "right")}
    bag = write_bag(tmp_path / "bag", topics=None if has_zmp else topics)
    assert main(["wrench-plot", str(bag), "--output", str(tmp_path / "a.png")]) == 0
    (figure,) = drawn
    labels = [axes.get_ylabel() for axes in figure.axes]
    assert labels[0] == "vertical force [N]" and "centre of pressure [m]" in labels
    assert ("ZMP [m]" in labels) is has_zmp
    left = next(l for l in figure.axes[0].lines if "left" in l.get_label())
    assert np.array_equal(left.get_ydata(), [force_on("left", t)[2] for t in TIMES])


def refused(capsys, *arguments):
    assert main(["wrench-plot", *map(str, arguments)]) == 1
    error = capsys.readouterr().err
    assert error.startswith("hrpsim: ") and error.count("\n") == 1
    return error


def test_what_is_wrong_is_said_in_one_line(tmp_path, capsys):
    bag = write_bag(tmp_path / "bag")
    error = refused(capsys, bag, "--left", "lsensor")
    assert "no topic 'lsensor'" in error and f"{WRENCH}: /lfsensor, /rfsensor" in error
    assert f"/zmp is of type {POINT}, not {WRENCH}" in refused(capsys, bag, "--left", "zmp")
    assert "no topic 'zpm'" in refused(capsys, bag, "--zmp", "zpm")
    assert "bag.odd" in refused(capsys, bag, "--output", tmp_path / "bag.odd")
    assert "nowhere" in refused(capsys, tmp_path / "nowhere")
    assert "not a bag" in refused(capsys, tmp_path)
    (tmp_path / "notes.txt").write_text("no bag")
    assert "notes.txt" in refused(capsys, tmp_path / "notes.txt")
    (bag / "metadata.yaml").unlink()
    whole = (bag / "bag.mcap").read_bytes()
    (bag / "bag.mcap").write_bytes(whole[:100])  # no channel is whole
    assert "bag.mcap" in refused(capsys, bag / "bag.mcap")
    assert "bag.mcap" in refused(capsys, bag)


def test_feet_that_say_nothing_or_nothing_together_are_named(tmp_path, capsys):
    late = write_bag(
        tmp_path / "late",
        topics={
            "/lfsensor": (WRENCH, lambda time: wrench("left", time)),
            "/rfsensor": (WRENCH, lambda time: wrench("right", time + 100.0)),
        },
    )
    assert "do not overlap: /lfsensor 0.000 to 3.995 s, /rfsensor 100." in refused(capsys, late)
    silent = write_bag(tmp_path / "silent", times=[])
    assert "no message on /lfsensor" in refused(capsys, silent)


def test_a_name_that_two_robots_share_must_be_given_in_full(tmp_path):
    topics = {
        f"/{robot}/{side[0]}fsensor": (WRENCH, lambda time, side=side: wrench(side, time))
        for robot in ("a", "b")
        for side in ("left", "right")
    }
    bag = write_bag(tmp_path / "bag", topics=topics)
    with pytest.raises(BagError, match=r"/a/lfsensor or /b/lfsensor"):
        read_foot_wrenches(bag)
    assert full_name(bag, "b/lfsensor") == "/b/lfsensor"
    assert read_foot_wrenches(bag, "/b/lfsensor", "/b/rfsensor").left.topic == "/b/lfsensor"


def test_names_without_a_slash_are_found(tmp_path):
    """Law: what a program wrote by rosbag2's writer need not have absolute names."""
    topics = {
        "lfsensor": (WRENCH, lambda time: wrench("left", time)),
        "a/rfsensor": (WRENCH, lambda time: wrench("right", time)),
    }
    bag = write_bag(tmp_path / "bag", topics=topics)
    feet = read_foot_wrenches(bag)
    assert (feet.left.topic, feet.right.topic) == ("lfsensor", "a/rfsensor")
    assert full_name(bag, "/lfsensor") == "lfsensor"


def test_a_message_that_is_cut_short_is_an_error(tmp_path):
    path = tmp_path / "bag"
    with Writer(path, version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        connection = writer.add_connection("/lfsensor", WRENCH, typestore=TYPES)
        writer.write(connection, 1, bytes(TYPES.serialize_cdr(wrench("left", 0.0), WRENCH))[:40])
    with pytest.raises(BagError, match="/lfsensor: a message of type"):
        list(messages(path, "lfsensor"))
