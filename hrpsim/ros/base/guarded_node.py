"""A node that goes on whatever its callbacks raise: the one place where that is seen to."""

from __future__ import annotations

from rclpy.node import Node

from hrpsim.ros.base.faults import Faults


class GuardedNode(Node):
    """Wraps every callback where it is made: services, subscriptions, timers.

    A service answers an error with what it says, the services of parameters too; a message or a
    turn of a timer that cannot be dealt with is left out. `faults` counts what was the node's own
    doing and logs it with its traceback.
    """

    def __init__(self, name: str, **options):
        self.faults = Faults(self.get_logger)
        super().__init__(name, **options)

    def create_service(self, srv_type, srv_name, callback, **options):
        """Make a service that answers whatever `callback` raises."""
        answer = self.faults.answering(srv_type, srv_name, callback)
        return super().create_service(srv_type, srv_name, answer, **options)

    def create_subscription(self, msg_type, topic, callback, qos_profile, **options):
        """Make a subscription that passes over messages that `callback` cannot bear."""
        hear = self.faults.hearing(topic, callback)
        return super().create_subscription(msg_type, topic, hear, qos_profile, **options)

    def create_timer(self, timer_period_sec, callback, *arguments, **options):
        """Make a timer whose turns that fail are left out."""
        turn = self.faults.hearing("a timer", callback)
        return super().create_timer(timer_period_sec, turn, *arguments, **options)
