# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Signals: recording changes nothing, and every file gives back what was recorded, by one name."""

import numpy as np
import pytest

import hrpsim
from hrpsim import HrpsimError, Logger, World
from hrpsim.bag import BagError, SignalLog, draw_signals, messages, read_signals, topic_types
from hrpsim.bag.verify import verify_bag
from hrpsim.fitting import read_recording

LINK = '<link name="{}"><inertial><origin xyz="0 0 -0.2"/><mass value="1"/>'
LINK += '<inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>'
LINK += (
    '<collision><origin xyz="0 0 -0.2"/><geometry><sphere radius="0.05"/></geometry></collision>'
)
JOINT = (
    '<joint name="{}" type="continuous"><parent link="{}"/><child link="{}"/><axis xyz="0 1 0"/>'
)
ARM = (
    '<robot name="arm"><link name="base"/>'
    + JOINT.format("shoulder", "base", "upper")
    + "</joint>"
    + LINK.format("upper")
    + "</link>"
    + JOINT.format("elbow", "upper", "lower")
    + '<origin xyz="0 0 -0.4"/></joint>'
    + LINK.format("lower")
    + '</link><hrpsim reference="lower"><sensor name="wrist" type="force_torque"/>'
    '<sensor name="imu" type="imu"/></hrpsim></robot>'
)


def world_with_arm(**settings):
    """Return a world with an arm under position control, and a box that slides on the ground."""
    world = World(**settings)
    world.add_ground()
    arm = world.add_robot(hrpsim.load_model(ARM, base="fixed"), position=(0.0, 0.0, 2.0))
    arm.set_gains(40.0, 2.0)
    box = world.add_body(hrpsim.Box((0.2, 0.2, 0.2)), 1.0, (2.0, 0.0, 0.1), name="box")
    box.velocity = (1.0, 0.0, 0.0)
    return world


def run(world, ticks=20):
    for k in range(ticks):
        world.robots["arm"].command(positions=[0.1 * k, -0.05 * k])
        world.step(10)


@pytest.fixture
def log():
    """Return a closed logger of 0.2 s, sampled every 10 ms, as the commands are given."""
    world = world_with_arm(audit=True)
    with Logger(world, every=0.01) as made:
        run(world)
    return made


def test_recording_changes_no_bit_of_the_run():
    plain, recorded = world_with_arm(), world_with_arm()
    run(plain)
    with Logger(recorded, every=0.002):
        run(recorded)
    assert (plain.robots["arm"].q == recorded.robots["arm"].q).all()
    assert (plain.bodies["box"].v == recorded.bodies["box"].v).all()


def test_samples_are_the_states_and_the_commands_that_act_from_then_on(log):
    time = log.time("joint_states.position")
    assert time == pytest.approx(0.01 * np.arange(21))
    assert log["joint_commands.position.shoulder"][:20] == pytest.approx(0.1 * np.arange(20))
    world = world_with_arm()
    with Logger(world, "joint_states", every=0.001) as fine:
        run(world)
    speed, moved = fine["joint_states.velocity"], fine["joint_states.position"]
    assert np.diff(moved, axis=0) == pytest.approx(0.0005 * (speed[1:] + speed[:-1]), abs=1e-5)


def test_energies_balance_and_contacts_bear_the_weight(log):
    """Law: energy changes by the flows that are recorded beside it; the ground bears the box."""
    parts = ("kinetic", "potential", "elastic")
    total = sum(log[f"energy.{part}"] for part in parts)
    work, created, gone, more = (
        log[f"energy.{name}"] for name in ("work", "created", "dissipated", "corrected")
    )
    changed = np.diff(work + created - gone + more)[1:]
    assert np.isnan(total[0]) and np.diff(total)[1:] == pytest.approx(changed, abs=1e-9)
    assert log["box/link_contacts.force_z.box"][5:] == pytest.approx(9.80665, rel=1e-3)
    assert log["box/link_contacts.points.box"][5:] == pytest.approx(4.0)
    slowed = np.diff(log["box/odom.linear_velocity.x"])[2:10] / 0.01  # the box still slides
    assert log["box/link_contacts.force_x.box"][3:11] == pytest.approx(slowed, rel=1e-6)


@pytest.mark.parametrize("suffix", [".npz", ".mcap"])
def test_a_file_gives_back_every_number_under_the_same_name(log, tmp_path, suffix):
    if suffix == ".mcap":
        pytest.importorskip("rosbags")
    log.save(tmp_path / f"run{suffix}")
    found = read_signals(tmp_path / f"run{suffix}")
    whole = log.log
    some = {name for name in whole.columns if not np.isnan(whole[name]).all()}
    assert some <= set(found.columns) <= set(whole.columns) and len(some) > 40
    for name in some:
        assert np.array_equal(found[name], whole[name], equal_nan=True), name
        assert found.time(name) == pytest.approx(whole.time(name), abs=1e-9)
        assert found.unit(name) == whole.unit(name)
    assert found.topics["wrist"].frame == whole.topics["wrist"].frame == "lower"


def test_an_mcap_is_a_bag_with_the_messages_of_ros(log, tmp_path):
    pytest.importorskip("rosbags")
    path = tmp_path / "run.mcap"
    log.save(path)
    assert topic_types(path)["/wrist"] == "geometry_msgs/msg/WrenchStamped"
    states = list(messages(path, "joint_states"))
    assert states[0].name == ["shoulder", "elbow"] and len(states) == 21
    assert states[-1].position == pytest.approx(log["joint_states.position"][-1], abs=0)
    stamp = states[3].header.stamp
    assert (stamp.sec, stamp.nanosec) == (0, 30_000_000)
    from rosbags.rosbag2.storage_mcap import McapReader

    reader = McapReader(path)  # by the index at the end, which ours does not read
    reader.open()
    assert reader.metadata.message_count == sum(len(t.time) for t in log.log.topics.values())
    reader.close()


def test_an_mcap_has_a_checksum_for_each_chunk(log, tmp_path):
    pytest.importorskip("rosbags")
    log.save(tmp_path / "run.mcap")
    whole = verify_bag(tmp_path / "run.mcap")
    assert whole.messages > 0 and whole.problems == whole.unchecked == []
    data = bytearray((tmp_path / "run.mcap").read_bytes())
    data[len(data) // 2] ^= 1
    (tmp_path / "run.mcap").write_bytes(data)
    assert verify_bag(tmp_path / "run.mcap").problems


@pytest.mark.parametrize("suffix", [".npz", ".mcap"])
def test_a_fit_reads_what_was_recorded(log, tmp_path, suffix):
    if suffix == ".mcap":
        pytest.importorskip("rosbags")
    log.save(tmp_path / f"run{suffix}")
    found = read_recording(tmp_path / f"run{suffix}")
    assert found.joints == found.command_joints == ("shoulder", "elbow")
    assert np.array_equal(found.positions, log["joint_states.position"])
    assert np.array_equal(found.velocities, log["joint_states.velocity"])
    assert np.array_equal(found.command_positions, log["joint_commands.position"])
    assert found.command_velocities is None and found.base is None


def test_a_fit_reads_a_body(log, tmp_path):
    log.save(tmp_path / "run.npz")
    found = read_recording(tmp_path / "run.npz", states=None, base="box/odom", entity="box")
    assert np.array_equal(found.base[:, 0], log["box/odom.position.x"])
    with pytest.raises(BagError, match=r"'bax/odom' does not exist. Did you mean 'box/odom'"):
        read_recording(tmp_path / "run.npz", states=None, base="bax/odom")


@pytest.mark.parametrize(
    "name, nearest", [("joint_state", "joint_states"), ("wrist.forc.z", "wrist.force.z")]
)
def test_a_misspelt_signal_is_refused_with_the_nearest_name(log, tmp_path, name, nearest):
    log.save(tmp_path / "run.npz")
    for read in (
        lambda: Logger(world_with_arm(), [name]),
        lambda: read_signals(tmp_path / "run.npz", [name]),
        lambda: log.log.part([name]),
    ):
        with pytest.raises(HrpsimError, match=f"does not exist. Did you mean '{nearest}'"):
            read()


def test_names_are_topics_fields_columns_or_patterns():
    world = world_with_arm()
    for name, count in (("wrist", 6), ("wrist.force", 3), ("wrist.force.z", 1), ("*.force.*", 3)):
        with Logger(world, name) as log:
            assert len(log.log) == count
    assert len({one.topic for one in Logger.table(world)}) == len(Logger.table(world))


def test_what_is_added_and_removed_is_recorded_while_it_is_there(tmp_path):
    """Law: no samples of what is not there; a robot that comes later has its name as prefix."""
    world = world_with_arm()
    with Logger(world, ["*odom.position.z", "*joint_states.position*"], every=0.01) as log:
        world.step(30)
        world.remove("box")
        world.step(30)
        world.add_body(hrpsim.Sphere(0.1), 1.0, (2.0, 0.0, 1.0), name="box")
        world.add_robot(hrpsim.load_model(ARM, base="fixed"), name="other", position=(5, 0, 2))
        world.step(30)
    heights, times = log["box/odom.position.z"], log.time("box/odom.position.z")
    assert times == pytest.approx([0.0, 0.01, 0.02, 0.03, 0.06, 0.07, 0.08, 0.09])
    assert heights[:4] == pytest.approx(0.1, abs=1e-4) and heights[4] == pytest.approx(1.0)
    assert len(log["joint_states.position.elbow"]) == 10
    assert log.time("other/joint_states.position.elbow")[0] == pytest.approx(0.06)
    log.save(tmp_path / "run.npz")
    assert np.array_equal(read_signals(tmp_path / "run.npz")["box/odom.position.z"], heights)


def test_after_a_reset_the_samples_from_then_on_are_replaced():
    world = world_with_arm()
    with Logger(world, "joint_states.position", every=0.01) as log:
        world.step(50)
        saved = world.snapshot()
        world.step(50)
        once = log["joint_states.position"].copy()
        world.restore(saved)
        world.step(50)
        assert np.array_equal(log["joint_states.position"], once)
        world.reset()
        world.step(20)
        assert log.time("joint_states.position") == pytest.approx([0.0, 0.01, 0.02])


def test_samples_of_settling_are_not_kept():
    world = World()
    world.add_ground()
    world.add_body(hrpsim.Box((0.2, 0.2, 0.2)), 1.0, (0.0, 0.0, 0.101), name="box")
    with Logger(world, "box/odom.position.z", every=0.01) as log:
        world.settle()
        assert len(log["box/odom.position.z"]) <= 1
        world.step(20)
    assert log["box/odom.position.z"] == pytest.approx(0.1, abs=1e-5)
    assert len(log["box/odom.position.z"]) == 3


def test_the_default_interval_fits_every_time_step():
    for step, interval in ((0.001, 0.005), (0.002, 0.004), (0.008, 0.008)):
        with Logger(world_with_arm(time_step=step), "solver.residual") as log:
            log._world.step(40)
        assert np.diff(log.time("solver.residual")) == pytest.approx(interval)


def test_a_sensor_with_the_name_of_another_topic_keeps_its_signals():
    world = World()
    for name in ("odom", "joint_states"):
        text = ARM.replace('name="wrist"', f'name="{name}"')
        world.add_robot(hrpsim.load_model(text, base="fixed"), name=name)
    topics = [one.topic for one in Logger.table(world)]
    assert len(set(topics)) == len(topics) and "joint_states/joint_states_2" in topics


def test_copies_are_not_recorded():
    world = world_with_arm()
    with Logger(world, "joint_states") as log:
        copy = world.copy()
        copy.step(100)
        assert len(log.time("joint_states.position")) == 1


def test_a_frame_of_pandas_has_a_row_for_each_sample(log):
    pytest.importorskip("pandas")
    frame = log.to_pandas()
    assert len(frame) == 21
    assert frame["wrist.force.z"].to_numpy() == pytest.approx(log["wrist.force.z"])


@pytest.mark.parametrize("content", [b"", b"no archive", b"PK\x03\x04 cut"])
def test_a_damaged_file_is_refused(tmp_path, content):
    (tmp_path / "run.npz").write_bytes(content)
    with pytest.raises(BagError, match=r"run.npz: not a file of NumPy arrays"):
        read_signals(tmp_path / "run.npz")


@pytest.mark.parametrize("table", ["[]", "{}", '{"version": 9}', '{"version": 1, "topics": [3]}'])
def test_a_wrong_table_is_refused(tmp_path, table):
    np.savez(tmp_path / "run.npz", signals=np.array(table))
    with pytest.raises(BagError, match=r"run\.npz"):
        read_signals(tmp_path / "run.npz")


def test_a_figure_has_a_panel_for_each_field(log, tmp_path):
    pytest.importorskip("matplotlib")
    draw_signals(log.log.part(["wrist", "solver.residual"]), tmp_path / "a.png", 0.05, 0.1)
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(HrpsimError, match="no sample is between 5 and 6 s"):
        draw_signals(log.log.part(["wrist"]), tmp_path / "b.png", 5.0, 6.0)
    with pytest.raises(HrpsimError, match="no samples"):
        draw_signals(SignalLog([]), tmp_path / "b.png")
    assert not (tmp_path / "b.png").exists()
