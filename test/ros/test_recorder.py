# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The recorder's bag says what the topics said, and rosbags reads it."""

import signal
import time

import pytest
from rclpy.serialization import deserialize_message
from ros.bags import record, wait_until_recorded
from ros.conftest import LIMIT
from ros.messages import nanoseconds
from rosbags.highlevel import AnyReader
from rosbags.rosbag2 import Reader
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64, String

from hrpsim.bag import BagError, messages
from hrpsim.bag.foot_wrenches import plot_foot_wrenches
from hrpsim.bag.reader import lost_messages, message_counts, wrenches
from hrpsim.ros.base import qos
from hrpsim.ros.base.serialized_template import SerializedTemplate
from hrpsim.ros.base.stamps import Stamp
from hrpsim.ros.recording.topic_recorder import SequenceCounter, TopicRecorder

STATE_TOPICS = ["/clock", "/joint_states", "/imu/data", "/odom"]
STATE_TOPICS += ["/lfsensor", "/rfsensor", "/lhsensor", "/rhsensor"]
LATCHED_TOPICS = ["/robot_description", "/tf_static"]


def by_stamp(received):
    """Return {stamp: message} from the first step on: a paused node repeats its last state."""
    return {nanoseconds(message): message for message in received if nanoseconds(message)}


@pytest.fixture
def bag(tmp_path):
    return tmp_path / "bag"


def send_command(listener, position):
    """Command one joint as controllers do: serialised beforehand, velocity and effort empty."""
    publisher = listener.publisher("sensor_msgs/msg/JointState", "joint_commands")
    assert listener.wait_for(lambda: publisher.get_subscription_count() == 2)  # node and recorder

    def fill(message, stamp, numbers):
        message.header.stamp, message.position = stamp, numbers

    template = SerializedTemplate(publisher, JointState(name=["RLEG_JOINT3"]), fill, 1)
    template.numbers[:] = position
    template.publish(Stamp(0, 0))


@pytest.mark.long
def test_bag_holds_every_message(paused_simulation, simulations, listener, bag, tmp_path):
    listener.set_parameter("step_count", 2000)
    picture = tmp_path / "forces.png"
    topics = [*STATE_TOPICS, *LATCHED_TOPICS]
    recorder = record(simulations, bag, "--plot", picture, "--expect", *topics)
    states = listener.collect("sensor_msgs/msg/JointState", "joint_states")
    assert listener.wait_for(lambda: states)
    assert listener.call("/hrpsim/step").success
    assert listener.wait_for(lambda: states[-1].header.stamp.sec == 2)
    late = listener.node.create_publisher(Float64, "added_later", 10)
    assert listener.wait_for(lambda: late.get_subscription_count() > 0)
    listener.send(late, Float64(data=2.5))
    send_command(listener, -0.1)  # arrays without numbers are no stumbling block
    expected = {5_000_000 * k for k in range(1, 401)}
    wait_until_recorded(bag, {topic: expected for topic in STATE_TOPICS})
    wait_until_recorded(bag, {"/added_later": {0}, "/joint_commands": {0}})
    assert recorder.stop(LIMIT) == 0, recorder.lines

    counts = message_counts(bag)
    for topic in STATE_TOPICS:  # the state is repeated while the node is paused
        recorded = {nanoseconds(message) for message in messages(bag, topic)}
        assert recorded >= {5_000_000 * k for k in range(1, 401)}, topic
    assert counts["/tf"] >= 100
    assert counts["/tf_static"] == counts["/robot_description"] == counts["/added_later"] == 1
    assert not {topic: count for topic, count in lost_messages(bag).items() if count}

    with Reader(bag) as reader:
        assert {c.topic: c.msgcount for c in reader.connections} == counts
        stored = [
            deserialize_message(bytes(data), JointState)
            for connection, _, data in reader.messages()
            if connection.topic == "/joint_states"
        ]
    assert by_stamp(stored) == by_stamp(states)
    assert [m.data for m in messages(bag, "added_later")] == [2.5]
    with AnyReader([bag]) as reader:  # every message can be read with the definitions in the bag
        for connection, _, data in reader.messages():
            reader.deserialize(data, connection.msgtype)
    (command,) = messages(bag, "joint_commands")
    assert command.position.tolist() == [-0.1]
    assert command.velocity.size == command.effort.size == 0

    assert len(wrenches(bag, "lfsensor").time) == counts["/lfsensor"]
    assert picture.read_bytes().startswith(b"\x89PNG")
    with pytest.raises(BagError, match=r"no topic 'nosensor'.*lfsensor"):
        plot_foot_wrenches(bag, picture, left="nosensor")


@pytest.mark.quick_cases("mcap")
@pytest.mark.parametrize("storage", ["mcap", "sqlite3"])
def test_type_hashes_are_those_on_the_wire(paused_simulation, simulations, listener, bag, storage):
    arguments = "--storage", storage, "--expect", *STATE_TOPICS
    assert record(simulations, bag, *arguments).stop(LIMIT) == 0
    assert len(list(bag.glob("*.mcap" if storage == "mcap" else "*.db3"))) == 1
    assert len(wrenches(bag, "lfsensor").time) == message_counts(bag)["/lfsensor"] > 0
    with Reader(bag) as reader:
        digests = {c.topic: c.digest for c in reader.connections}
    for topic in ("/joint_states", "/lfsensor", "/imu/data", "/odom", "/tf", "/clock"):
        assert listener.wait_for(lambda t=topic: listener.node.get_publishers_info_by_topic(t))
        (offer,) = listener.node.get_publishers_info_by_topic(topic)
        assert digests[topic] == str(offer.topic_type_hash)


@pytest.mark.long
def test_namespace_is_all_that_is_recorded(paused_simulation, simulations, bag):
    simulations.start(namespace="/left", remap=["/clock:=clock"], start_paused=True)
    simulations.start(namespace="/right", remap=["/clock:=clock"], start_paused=True)
    expected = ["joint_states", "/clock"]
    recorder = record(simulations, bag, "--namespace", "/left", "--expect", *expected)
    assert recorder.stop(LIMIT) == 0
    topics = set(message_counts(bag))
    assert "/left/joint_states" in topics
    assert "/clock" in topics
    assert "/joint_states" not in topics
    assert not any(topic.startswith("/right") for topic in topics)

    by_default = bag.with_name("by_default")  # a message from the namespace is waited for
    assert record(simulations, by_default, "--namespace", "/left").stop(LIMIT) == 0
    counts = message_counts(by_default)
    assert any(counts[topic] for topic in counts if topic.startswith("/left/"))


def test_a_namespace_that_stays_silent_is_named(paused_simulation, simulations, bag):
    recorder = simulations.start_program(
        *("hrpsim.ros.recording.recorder", "--output", bag),
        *("--namespace", "/nobody", "--discovery-timeout", 2.0),
    )
    assert recorder.wait(LIMIT) == 1, recorder.lines
    assert any("/nobody/" in line for line in recorder.lines)


class ListBag:
    """Takes what a TopicRecorder writes."""

    def __init__(self):
        self.topics, self.written = [], []

    def add_topic(self, topic, type_name, qos):
        self.topics.append(topic)

    def write(self, topic, time, data):
        self.written.append(topic)


def test_a_latched_topic_that_is_known_before_its_publisher_is_recorded(listener, monkeypatch):
    """A controller that waits for robot_description makes the topic known long before the node."""
    node, bag = listener.node, ListBag()
    publisher = node.create_publisher(String, "text", qos.LATCHED)
    publisher.publish(String(data="once"))
    node.create_subscription(String, "text", lambda message: None, qos.LATCHED)
    assert listener.wait_for(lambda: node.count_publishers("/text"))
    recorder = TopicRecorder(node, bag)
    with monkeypatch.context() as blind:  # the recorder's side has not seen the publisher yet
        blind.setattr(node, "get_publishers_info_by_topic", lambda topic: [])
        blind.setattr(node, "count_publishers", lambda topic: 0)
        recorder.discover()
        recorder.discover()
    assert "/text" in recorder.topics

    def heard():
        recorder.discover()
        recorder.take()
        return recorder.has_heard("/text")

    assert listener.wait_for(heard)
    assert bag.written.count("/text") == bag.topics.count("/text") == 1


def test_a_topic_that_never_comes_is_named(simulations, bag):
    """Asked of the program that launch files start, with arguments as ROS gives them."""
    recorder = simulations.start_program(
        *("hrpsim.ros.recording.recorder", "--output", bag),
        *("--expect", "nothing_here", "--discovery-timeout", 1.0),
        *("--ros-args", "-r", "__ns:=/robot1"),
    )
    assert recorder.wait(LIMIT) == 1
    assert any("/robot1/nothing_here" in line for line in recorder.lines)


def test_an_existing_bag_is_left_alone(simulations, bag):
    bag.mkdir()
    recorder = simulations.start_program("hrpsim.ros.recording.recorder", "--output", bag)
    assert recorder.wait(LIMIT) == 1
    assert any(str(bag) in line for line in recorder.lines)
    assert not list(bag.iterdir())


@pytest.mark.long
def test_two_interrupts_still_leave_a_whole_bag(paused_simulation, simulations, bag):
    recorder = record(simulations, bag, "--expect", "robot_description")
    recorder.send_signal(signal.SIGINT)
    time.sleep(0.05)
    recorder.send_signal(signal.SIGINT)
    assert recorder.wait(LIMIT) == 0
    assert message_counts(bag)["/robot_description"] == 1


def test_losses_are_gaps_in_the_sequence():
    counter = SequenceCounter()
    for number in (7, 8, 11, 12, 20):
        counter.add(number)
    assert (counter.received, counter.lost) == (5, 9)
    counter.add(3)  # a second publisher
    assert counter.lost is None


def test_losses_of_several_publishers_are_unknown(listener):
    """Where a second publisher's numbers are greater than the first's, nothing is lost."""
    node, bag = listener.node, ListBag()
    first, second = (node.create_publisher(Float64, "shared", qos.STATE) for _ in range(2))
    for _ in range(3):
        second.publish(Float64())
    recorder = TopicRecorder(node, bag)
    assert listener.wait_for(lambda: node.count_publishers("/shared") == 2)
    recorder.discover()
    for publisher in (first, second):
        bag.written.clear()
        assert listener.wait_for(lambda one=publisher: one.get_subscription_count() == 1)
        publisher.publish(Float64())
        assert listener.wait_for(lambda: recorder.take() >= 0 and "/shared" in bag.written)
    assert recorder.losses()["/shared"] is None
