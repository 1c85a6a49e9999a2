"""The recorder's bag says what the topics said, and rosbags reads it."""

import signal
import time

import pytest
from rclpy.serialization import deserialize_message
from rosbags.highlevel import AnyReader
from rosbags.rosbag2 import Reader
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64

from hrpsim.ros.bag_reader import BagError, lost_messages, message_counts, messages, wrenches
from hrpsim.ros.topic_recorder import SequenceCounter
from hrpsim.ros.wrench_plot import plot_foot_forces

STATE_TOPICS = ["/clock", "/joint_states", "/imu/data", "/odom"]
STATE_TOPICS += ["/lfsensor", "/rfsensor", "/lhsensor", "/rhsensor"]


def stamp_of(message):
    stamp = message.clock if hasattr(message, "clock") else message.header.stamp
    return stamp.sec * 1_000_000_000 + stamp.nanosec


def by_stamp(received):
    """Return {stamp: message} from the first step on: a paused node repeats its last state."""
    return {stamp_of(message): message for message in received if stamp_of(message)}


@pytest.fixture
def bag(tmp_path):
    return tmp_path / "bag"


def record(simulations, bag, *arguments):
    recorder = simulations.start_program("hrpsim.ros.recorder", "--output", bag, *arguments)
    assert recorder.wait_for_line("ready", timeout=60.0), recorder.lines
    return recorder


def test_bag_holds_every_message(paused_simulation, simulations, listener, bag, tmp_path):
    listener.set_parameter("step_count", 2000)
    picture = tmp_path / "forces.png"
    recorder = record(simulations, bag, "--plot", picture, "--expect", *STATE_TOPICS)
    states = listener.collect("sensor_msgs/msg/JointState", "joint_states")
    assert listener.wait_for(lambda: states)
    assert listener.call("/hrpsim/step").success
    assert listener.wait_for(lambda: states[-1].header.stamp.sec == 2)
    late = listener.node.create_publisher(Float64, "added_later", 10)
    assert listener.wait_for(lambda: late.get_subscription_count() > 0)
    listener.send(late, Float64(data=2.5))
    time.sleep(3.5)  # what got lost on the way is sent again within 3 s
    assert recorder.stop() == 0, recorder.lines

    counts = message_counts(bag)
    for topic in STATE_TOPICS:  # the state is repeated while the node is paused
        recorded = {stamp_of(message) for message in messages(bag, topic)}
        assert recorded >= {5_000_000 * k for k in range(1, 401)}, topic
    assert counts["/tf"] >= 100
    assert counts["/tf_static"] == counts["/robot_description"] == counts["/added_later"] == 1
    assert set(lost_messages(bag).values()) == {0}

    with Reader(bag) as reader:
        assert {c.topic: c.msgcount for c in reader.connections} == counts
        stored = [
            deserialize_message(bytes(data), JointState)
            for connection, _, data in reader.messages()
            if connection.topic == "/joint_states"
        ]
    assert by_stamp(stored) == by_stamp(states)
    assert [m.data for m in messages(bag, "added_later")] == [2.5]
    with AnyReader([bag]) as reader:  # every type can be read with the definitions in the bag
        for connection, _, data in reader.messages():
            reader.deserialize(data, connection.msgtype)

    assert len(wrenches(bag, "lfsensor").time) == counts["/lfsensor"]
    assert picture.read_bytes().startswith(b"\x89PNG")
    with pytest.raises(BagError, match=r"no topic 'nosensor'.*lfsensor"):
        plot_foot_forces(bag, picture, left="nosensor")


def test_type_hashes_are_those_on_the_wire(paused_simulation, simulations, listener, bag):
    assert record(simulations, bag).stop() == 0
    with Reader(bag) as reader:
        digests = {c.topic: c.digest for c in reader.connections}
    for topic in ("/joint_states", "/lfsensor", "/imu/data", "/odom", "/tf", "/clock"):
        listener.wait_for(lambda t=topic: listener.node.get_publishers_info_by_topic(t))
        (offer,) = listener.node.get_publishers_info_by_topic(topic)
        assert digests[topic] == str(offer.topic_type_hash)


def test_namespace_is_all_that_is_recorded(paused_simulation, simulations, bag):
    simulations.start(namespace="/left", remap=["/clock:=clock"], start_paused=True)
    simulations.start(namespace="/right", remap=["/clock:=clock"], start_paused=True)
    assert record(simulations, bag, "--namespace", "/left").stop() == 0
    topics = set(message_counts(bag))
    assert "/left/joint_states" in topics
    assert "/clock" in topics
    assert "/joint_states" not in topics
    assert not any(topic.startswith("/right") for topic in topics)


def test_a_topic_that_never_comes_is_named(simulations, bag):
    recorder = simulations.start_program(
        *("hrpsim.ros.recorder", "--output", bag),
        *("--expect", "nothing_here", "--discovery-timeout", 1.0),
    )
    assert recorder.wait(timeout=30.0) == 1
    assert any("/nothing_here" in line for line in recorder.lines)


def test_an_existing_bag_is_left_alone(simulations, bag):
    bag.mkdir()
    recorder = simulations.start_program("hrpsim.ros.recorder", "--output", bag)
    assert recorder.wait(timeout=30.0) == 1
    assert any(str(bag) in line for line in recorder.lines)
    assert not list(bag.iterdir())


def test_two_interrupts_still_leave_a_whole_bag(paused_simulation, simulations, bag):
    recorder = record(simulations, bag)
    recorder.send_signal(signal.SIGINT)
    time.sleep(0.05)
    recorder.send_signal(signal.SIGINT)
    assert recorder.wait(timeout=20.0) == 0
    assert message_counts(bag)["/robot_description"] == 1


def test_losses_are_gaps_in_the_sequence():
    counter = SequenceCounter()
    for number in (7, 8, 11, 12, 20):
        counter.add(number)
    assert (counter.received, counter.lost) == (5, 9)
    counter.add(3)  # a second publisher
    assert counter.lost is None
