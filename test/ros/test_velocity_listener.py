# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The messages of cmd_vel: which are taken, and from when on they count."""

import math

import pytest
from geometry_msgs.msg import Twist, TwistStamped
from rclpy.qos import QoSProfile, ReliabilityPolicy

from hrpsim.control import Velocity
from hrpsim.ros.base.stamps import Stamp
from hrpsim.ros.controller.velocity_listener import VelocityListener, unused_velocities

NOW = Stamp(20, 0)
BEST_EFFORT = ReliabilityPolicy.BEST_EFFORT


class Walker:
    """A controller that records its commands."""

    def __init__(self):
        self.taken = []

    def command_velocity(self, velocity, time):
        self.taken.append((velocity, time))


def twist(forward=0.0, left=0.0, turn=0.0):
    message = Twist()
    message.linear.x, message.linear.y, message.angular.z = forward, left, turn
    return message


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_a_velocity_that_is_not_finite_is_counted_and_changes_nothing(listener, bad):
    walker, sender = Walker(), listener.node.create_publisher(Twist, "cmd_vel", 10)
    velocities = VelocityListener(listener.node, walker, stamped=False)
    assert listener.wait_for(lambda: sender.get_subscription_count() == 1)
    for message in (twist(bad), twist(0.1, bad), twist(0.1, 0.0, bad), twist(0.1, 0.02, -0.3)):
        sender.publish(message)

    def arrived():
        velocities.poll(NOW)
        return walker.taken

    assert listener.wait_for(arrived)
    assert walker.taken == [(Velocity(0.1, 0.02, -0.3), 20.0)]
    assert velocities.rejections.count == 3


def test_a_stamp_counts_if_it_lies_at_most_a_second_ahead(listener):
    """Law: others, of the past or of another clock, count from now on."""
    walker, sender = Walker(), listener.node.create_publisher(TwistStamped, "cmd_vel", 10)
    velocities = VelocityListener(listener.node, walker, stamped=True)
    assert listener.wait_for(lambda: sender.get_subscription_count() == 1)
    for seconds in (20.5, 21.0, 21.5, 19.0, 0.0, 1.7e9):
        message = TwistStamped(twist=twist(0.1))
        message.header.stamp.sec = int(seconds)
        message.header.stamp.nanosec = round(seconds % 1.0 * 1e9)
        sender.publish(message)

    def arrived():
        velocities.poll(NOW)
        return len(walker.taken) == 6

    assert listener.wait_for(arrived)
    assert [time for _, time in walker.taken] == [20.5, 21.0, 20.0, 20.0, 20.0, 20.0]


def doubts(listener, message, stamped):
    """Return the warnings of one message, sent at simulated time NOW."""
    kind = TwistStamped if stamped else Twist
    log, sender = [], listener.node.create_publisher(kind, "cmd_vel", 10)
    walker = Walker()
    velocities = VelocityListener(listener.node, walker, stamped)
    velocities._watch._logger = type("Log", (), {"warning": log.append})
    assert listener.wait_for(lambda: sender.get_subscription_count() == 1)
    sender.publish(message)

    def arrived():
        velocities.poll(NOW)
        return walker.taken

    assert listener.wait_for(arrived)
    return log


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda m: setattr(m.linear, "z", 0.5), "linear.z has no effect"),
        (lambda m: setattr(m.angular, "x", math.nan), "angular.x has no effect"),
        (lambda m: setattr(m.linear, "x", 20.0), "20 m/s is too fast for a walk"),
        (lambda m: setattr(m.angular, "z", 30.0), "if 30 degrees are meant, write 0.5236"),
    ],
)
def test_a_doubtful_velocity_is_named(listener, change, words):
    """Law: what a walk cannot do, and other units, are warned of once."""
    message = twist(0.1)
    change(message)
    assert [words in text for text in doubts(listener, message, stamped=False)] == [True]


@pytest.mark.parametrize(
    ("frame", "seconds", "words"),
    [
        ("map", 20, ["frame_id 'map' has no effect"]),
        ("base_link", 20, []),
        ("", 0, []),
        ("", 1_700_000_000, ["the stamp is 1.7e+09 s from simulated time"]),
        ("", 2, ["the stamp is -18 s from simulated time"]),
    ],
)
def test_a_header_without_effect_is_named(listener, frame, seconds, words):
    message = TwistStamped(twist=twist(0.1))
    message.header.frame_id, message.header.stamp.sec = frame, seconds
    found = doubts(listener, message, stamped=True)
    assert len(found) == len(words) and all(map(str.count, found, words))


def test_publishers_that_nobody_receives_are_named(listener):
    """Law: best effort, and cmd_vel to a controller that does not walk by velocity, are named."""
    node = listener.node
    node.create_publisher(Twist, "cmd_vel", QoSProfile(depth=1, reliability=BEST_EFFORT))
    assert listener.wait_for(lambda: unused_velocities(node))
    assert "does not walk by velocity" in unused_velocities(node)[0]
    velocities = VelocityListener(node, Walker(), stamped=False)
    assert listener.wait_for(lambda: "as best effort" in "".join(velocities._unreceived()))
