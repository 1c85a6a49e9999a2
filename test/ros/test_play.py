# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""`hrpsim play`: a recorded run over real topics, once more in a new world of one process."""

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from ros.bags import record, wait_until_recorded
from ros.conftest import LIMIT
from ros.messages import nanoseconds
from rosbags.highlevel import AnyReader
from sensor_msgs.msg import JointState

from hrpsim.bag import BagError
from hrpsim.commands.cli import main
from hrpsim.ros.base.stamps import SimulationClock
from hrpsim.ros.replay.recorded_run import Arrival, RecordedTopics
from hrpsim.ros.replay.replay import RecordedTopic, Replay

FEEDBACK = Path(__file__).with_name("feedback_controller.py")
STATE = "sensor_msgs/msg/JointState"
TICKS = 400


def start_recorder(simulations, bag, *arguments):
    expect = ["/clock", "/joint_states", "/simulation_description"]
    return record(simulations, bag, "--expect", *expect, *arguments)


@pytest.fixture(scope="module")
def lockstep_bag(module_simulations, module_listener, tmp_path_factory):
    """A run in lockstep with a controller that uses all sensors, and gains of its own."""
    simulations, listener = module_simulations, module_listener
    bag = tmp_path_factory.mktemp("play") / "bag"
    gains = {"gains.RLEG_JOINT3": [5500.0, 45.0]}
    node = simulations.start(start_paused=True, lockstep=True, real_time_factor=0.0, **gains)
    states = listener.collect(STATE, "joint_states")
    controller = simulations.start_program(
        "hrpsim.ros.controller.controller_node",
        *("--ros-args", "-p", f"controller:={FEEDBACK}:Feedback", "-p", "lockstep:=true"),
        *("-p", f"parameters:=['ticks:={TICKS}']"),
    )
    # Paused, the node repeats the first state, and the controller its answer: it is waited for.
    recorder = start_recorder(simulations, bag, "/joint_commands")
    assert listener.call("/hrpsim/resume").success
    last = TICKS * 5_000_000
    assert listener.wait_for(lambda: states and nanoseconds(states[-1]) == last, LIMIT)
    assert controller.wait(LIMIT) == 0
    commands = {5_000_000 * k for k in range(TICKS)}
    wait_until_recorded(bag, {"/joint_commands": commands, "/joint_states": commands | {last}})
    assert recorder.stop(LIMIT) == 0, recorder.lines
    assert node.stop() == 0
    return bag


def play(capsys, bag, *arguments):
    """Return exit code and report of the command."""
    capsys.readouterr()
    code = main(["play", str(bag), "--json", *map(str, arguments)])
    return code, json.loads(capsys.readouterr().out)


@pytest.mark.long
def test_a_run_in_lockstep_comes_out_bit_for_bit(lockstep_bag, capsys):
    """Law: over topics and here: each position, velocity and effort has the same bits."""
    code, report = play(capsys, lockstep_bag)
    assert report["departs"] is None and code == 0, report
    assert report["lockstep"] and report["messages_followed"] == TICKS
    assert report["messages_rejected"] == 0
    assert report["states_compared"] == TICKS + 1
    assert report["largest_difference"] == {"position": 0.0, "velocity": 0.0, "effort": 0.0}
    assert report["simulated_time"] == pytest.approx(TICKS * 0.005)


def test_another_world_departs_and_it_is_told_where(lockstep_bag, capsys):
    code, report = play(capsys, lockstep_bag, "--integrator", "euler", "--duration", 0.5)
    departs = report["departs"]
    assert code == 1 and 0.0 <= departs["time"] < 0.1
    assert departs["recorded"] != departs["replayed"] and departs["robot"] == "hrp2"
    assert report["largest_difference"]["effort"] > 0.0


def test_a_changed_command_departs_in_the_tick_that_it_acts_in(lockstep_bag):
    """Law: the first difference is in the state after the changed command, in its joint first."""
    replay = Replay(RecordedTopics(lockstep_bag))
    arrivals = replay._topics[0]._arrivals
    changed = 100
    message = arrivals[changed].message
    joint = list(message.name).index("RARM_JOINT0")
    message.position = np.array(message.position)
    message.position[joint] += 1e-3
    comparison = replay.run()
    assert comparison.departure.time == pytest.approx((changed + 1) * 0.005)
    assert 1e-6 < comparison.largest["position"] < 1e-2


@pytest.mark.long
def test_stamped_commands_without_lockstep_come_out_the_same(simulations, listener, tmp_path):
    """Law: what is sent ahead of time acts at its stamp, there as here."""
    bag = tmp_path / "bag"
    simulations.start(start_paused=True, real_time_factor=0.2)
    recorder = start_recorder(simulations, bag)
    states = listener.collect(STATE, "joint_states")
    publisher = listener.publisher(STATE, "joint_commands")
    assert listener.wait_for(lambda: publisher.get_subscription_count() == 2)
    for k, target in enumerate((-0.3, -0.6)):
        message = JointState(name=["RARM_JOINT3"], position=[target])
        message.header.stamp.nanosec = 50_000_000 + 200_000_000 * k
        listener.send(publisher, message)
    assert listener.call("/hrpsim/resume").success
    assert listener.wait_for(lambda: states and nanoseconds(states[-1]) > 500_000_000, LIMIT)
    assert listener.call("/hrpsim/pause").success
    wait_until_recorded(bag, {"/joint_states": {5_000_000 * k for k in range(101)}})
    assert recorder.stop(LIMIT) == 0
    comparison = Replay(RecordedTopics(bag)).run()
    assert comparison.departure is None, comparison.departure
    assert comparison.count > 100


def test_a_duration_counts_from_the_first_recorded_state(lockstep_bag, monkeypatch):
    """Law: of states from 0.5 s on, 0.1 s are 21 at 200 Hz; a state without joints is none."""
    replay = Replay(RecordedTopics(lockstep_bag))
    (states,) = replay._states.values()
    for step in [step for step in states if step < 500]:
        del states[step]
    comparison = replay.run(duration=0.1)
    assert comparison.count == 21 and comparison.departure is None
    recording = RecordedTopics(lockstep_bag)
    monkeypatch.setattr("hrpsim.ros.replay.recorded_run.messages", lambda *_: [JointState()])
    with pytest.raises(BagError, match="no joint states"):
        Replay(recording)


@pytest.mark.parametrize("version, time", [(1, 0.0), (2, 0.004)])
def test_a_bag_of_an_earlier_release_is_replayed_without_interpolation(lockstep_bag, version, time):
    """Law: without lockstep its targets jumped, whatever interpolate_commands was."""
    recording = RecordedTopics(lockstep_bag)
    recording.description["version"] = version
    recording.description["settings"]["lockstep"] = False
    replay = Replay(recording)
    interpolation = replay._inputs[0]._interpolation
    interpolation.note(["HEAD_JOINT0"])
    replay.clock.steps = 4
    assert interpolation.time_for(["HEAD_JOINT0"]) == pytest.approx(time)


def test_what_is_recorded_is_read_by_rosbags(lockstep_bag):
    """Law: metadata of version 9, definitions, QoS and hashes of every type are in the bag."""
    with AnyReader([lockstep_bag]) as reader:
        connections = {connection.topic: connection for connection in reader.connections}
        commands = connections["/joint_commands"]
        assert commands.msgtype == STATE and commands.digest.startswith("RIHS01_")
        assert commands.msgdef.data and commands.ext.offered_qos_profiles
        stamps = [
            nanoseconds(reader.deserialize(data, connection.msgtype))
            for connection, _, data in reader.messages([commands])
        ]
    # A state that is repeated, while its command is on the way, is answered again.
    assert sorted(set(stamps)) == [5_000_000 * k for k in range(TICKS)]
    assert "version: 9" in (lockstep_bag / "metadata.yaml").read_text()


def test_what_is_recorded_is_read_by_mcap(lockstep_bag):
    """Law: another reader finds the same messages, chunk by chunk, and all checksums hold."""
    reading = pytest.importorskip("mcap.reader", reason="no mcap")
    decoding = pytest.importorskip("mcap_ros2.decoder", reason="no mcap_ros2")
    (path,) = lockstep_bag.glob("*.mcap")
    with path.open("rb") as file:
        reader = reading.make_reader(
            file, validate_crcs=True, decoder_factories=[decoding.DecoderFactory()]
        )
        assert reader.get_header().profile == "ros2"
        found = [
            message
            for _, channel, _, message in reader.iter_decoded_messages(topics=["/joint_commands"])
        ]
    assert len({nanoseconds(message) for message in found}) == TICKS
    with AnyReader([lockstep_bag]) as other:
        mine = [c for c in other.connections if c.topic == "/joint_commands"]
        for message, (connection, _, data) in zip(found, other.messages(mine), strict=True):
            same = other.deserialize(data, connection.msgtype)
            assert list(message.name) == list(same.name)
            assert list(message.position) == list(same.position)


def test_a_bag_without_a_world_needs_one(lockstep_bag):
    recording = RecordedTopics(lockstep_bag)
    recording.description = {}
    with pytest.raises(BagError, match="Give --world"):
        Replay(recording)


def test_messages_arrive_at_their_times():
    """Law: by the clock, in order; in lockstep by their stamps, what is repeated once."""
    clock = SimulationClock(1e-3)

    def sent(time, name):
        message_stamp = SimpleNamespace(sec=0, nanosec=time)
        return SimpleNamespace(header=SimpleNamespace(stamp=message_stamp), name=name)

    arrivals = [Arrival(0, sent(5_000_000, "a")), Arrival(3_000_000, sent(5_000_000, "b"))]
    topic = RecordedTopic("/t", arrivals, clock)
    assert [m.name for m, _ in topic.take_all()] == ["a"]
    assert topic.steps_to_next(10) == 3
    clock.steps = 3
    assert [m.name for m, _ in topic.take_all()] == ["b"]
    assert topic.steps_to_next(10) == 10
    clock.steps = 0
    stamped = RecordedTopic("/t", arrivals, clock, by_stamp=True)
    assert list(stamped.take_all()) == [] and stamped.steps_to_next(10) == 5
    clock.steps = 5
    assert [m.name for m, _ in stamped.take_all()] == ["a"]
