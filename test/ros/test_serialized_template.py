# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

import numpy as np
import pytest
from geometry_msgs.msg import TransformStamped, WrenchStamped
from rclpy.serialization import deserialize_message
from rosbags.typesys import Stores, get_typestore
from sensor_msgs.msg import JointState
from tf2_msgs.msg import TFMessage

from hrpsim.ros.base.serialized_template import SerializedTemplate, _indices_of_numbers
from hrpsim.ros.base.stamps import SimulationClock, Stamp


class Catcher:
    """Takes the place of a publisher and its handle at the end of the wire: keeps the bytes."""

    @property
    def handle(self):
        return self

    def publish_raw(self, data):
        self.data = data


def fill_wrench(message, stamp, numbers):
    message.header.stamp = stamp
    force, torque = message.wrench.force, message.wrench.torque
    force.x, force.y, force.z, torque.x, torque.y, torque.z = numbers


@pytest.mark.parametrize("frame", ["", "a", "ab", "abc", "abcd", "l_sole", "left_foot_sensor"])
def test_every_alignment_of_the_header(frame):
    catcher, message = Catcher(), WrenchStamped()
    message.header.frame_id = frame
    template = SerializedTemplate(catcher, message, fill_wrench, 6)
    template.numbers[:] = values = [1.5, -2.0, 1e300, -0.0, np.pi, 5e-324]
    template.publish(Stamp(123456, 789_000_001))

    got = deserialize_message(catcher.data, WrenchStamped)
    assert (got.header.stamp.sec, got.header.stamp.nanosec) == (123456, 789_000_001)
    assert got.header.frame_id == frame
    fields = got.wrench.force, got.wrench.torque
    assert [v for f in fields for v in (f.x, f.y, f.z)] == values


@pytest.mark.parametrize("count", [0, 1, 36])
def test_sequences(count):
    def fill(message, stamp, numbers):
        message.header.stamp = stamp
        message.position, message.effort = numbers[:count], numbers[count:]

    catcher = Catcher()
    message = JointState(name=[f"joint_{i}" * (i % 5) for i in range(count)])
    template = SerializedTemplate(catcher, message, fill, 2 * count)
    template.numbers[:] = values = np.arange(2 * count) - 7.25
    template.publish(Stamp(1, 2))

    got = deserialize_message(catcher.data, JointState)
    assert got.name == message.name
    assert [*got.position, *got.effort] == list(values)
    assert len(got.velocity) == 0


def test_every_stamp_of_a_list_is_set():
    def fill(message, stamp, numbers):
        for transform, x in zip(message.transforms, numbers):
            transform.header.stamp = stamp
            transform.transform.translation.x = x

    catcher = Catcher()
    transforms = [TransformStamped(child_frame_id="c" * i) for i in range(9)]
    template = SerializedTemplate(catcher, TFMessage(transforms=transforms), fill, 9)
    template.numbers[:] = np.arange(9)
    template.publish(Stamp(5, 6))

    got = deserialize_message(catcher.data, TFMessage).transforms
    assert {(t.header.stamp.sec, t.header.stamp.nanosec) for t in got} == {(5, 6)}
    assert [t.transform.translation.x for t in got] == list(range(9))
    assert [t.child_frame_id for t in got] == ["c" * i for i in range(9)]


@pytest.mark.parametrize("time_step", [1e-3, 1 / 60, 0.002, 1e-4])
def test_stamps_do_not_accumulate_rounding(time_step):
    clock = SimulationClock(time_step)
    clock.steps = 100_000_000
    assert clock.stamp.total == round(100_000_000 * time_step * 1e9)
    assert 0 <= clock.stamp.nanoseconds < 1_000_000_000


@pytest.mark.parametrize("given", [(), ("position",), ("position", "velocity"), ("effort",)])
def test_nothing_follows_the_end_of_a_message_with_empty_arrays(given):
    """rosbags, which reads no more than the message is long, accepts what is published."""
    catcher = Catcher()
    fields = {field: [1.0, 2.0] for field in given}
    template = SerializedTemplate(
        catcher, JointState(name=["a", "b"], **fields), lambda message, stamp, numbers: None, 0
    )
    template.publish(Stamp(0, 0))
    types = get_typestore(Stores.ROS2_JAZZY)
    got = types.deserialize_cdr(catcher.data, "sensor_msgs/msg/JointState")
    assert {f: getattr(got, f).tolist() for f in ("position", "velocity", "effort")} == {
        f: fields.get(f, []) for f in ("position", "velocity", "effort")
    }
    assert len(types.serialize_cdr(got, got.__msgtype__)) == len(catcher.data)


def test_marks_that_stand_again_behind_the_end_are_passed_over():
    """Law: the first place of each mark counts; a mark that is missing is an error."""
    marks = 3.0e15 + np.arange(4)
    floats = np.array([0.0, marks[2], marks[0], 7.0, marks[1], marks[3], marks[0], marks[3]])
    assert _indices_of_numbers(floats, marks).tolist() == [2, 4, 1, 5]
    with pytest.raises(RuntimeError, match="3 of 4 numbers"):
        _indices_of_numbers(floats[:5], marks)
