# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The messages of cmd_vel: which are taken, and from when on they count."""

import math

import pytest
from geometry_msgs.msg import Twist, TwistStamped

from hrpsim.control import Velocity
from hrpsim.ros.base.stamps import Stamp
from hrpsim.ros.controller.controller_topics import VelocityListener

NOW = Stamp(20, 0)


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
