# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

r"""The crane as a controller plug-in with a joystick.

    ros2 run hrpsim hrpsim_controller --ros-args -p base:=fixed \
        -p controller:=evidence.crane:JoystickCrane

joy (sensor_msgs/Joy): the left stick moves forward and sideways. The right stick moves up and down,
and turns. Button 0 closes the claws, and button 1 opens the claws. cmd_vel (geometry_msgs/Twist):
linear [m/s] and angular.z [rad/s]. close_claws (std_msgs/Bool) closes or opens the claws. A command
of a stick or a velocity ends if it is not repeated within 0.5 s.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from geometry_msgs.msg import Twist
from rclpy.node import Node
from sensor_msgs.msg import Joy
from std_msgs.msg import Bool

from evidence.crane.player import PlayedCrane
from hrpsim.control.framework.controller import Command, State
from hrpsim.model.model import Model
from hrpsim.ros.base import qos
from hrpsim.ros.base.polling import PolledSubscription

AXES = (1, 0, 4, 3)  # axes of Joy: forward, left, up, left turn
CLOSE, OPEN = 0, 1  # buttons
_DEAD_ZONE = 0.05  # dead zone of the axes


class JoystickCrane(PlayedCrane):
    """A crane commanded by joy, cmd_vel and close_claws."""

    def configure(self, model: Model, parameters: Mapping[str, Any]) -> None:
        """Read the parameters of Crane, and subscribe to the topics."""
        super().configure(model, parameters)
        self._node = Node("crane_joystick")
        self._subscriptions = [
            (PolledSubscription(self._node, kind, topic, qos.COMMAND), act)
            for kind, topic, act in (
                (Joy, "joy", self._joy),
                (Twist, "cmd_vel", self._twist),
                (Bool, "close_claws", self._claws),
            )
        ]

    def control(self, state: State) -> Command:
        """Apply the messages since the last period, and advance the reference."""
        for subscription, act in self._subscriptions:
            for message, _ in subscription.take_all():
                act(message)
        return super().control(state)

    def stop(self) -> None:
        """Unsubscribe from the topics."""
        self._node.destroy_node()

    def _joy(self, message: Joy) -> None:
        axes = [message.axes[k] if k < len(message.axes) else 0.0 for k in AXES]
        self._push(np.where(np.abs(axes) < _DEAD_ZONE, 0.0, axes))
        pressed = [k for k, button in enumerate(message.buttons) if button]
        if CLOSE in pressed or OPEN in pressed:
            self.close = CLOSE in pressed

    def _twist(self, message: Twist) -> None:
        linear = message.linear
        velocity = np.array([linear.x, linear.y, linear.z]) / self.speed
        self._push(np.append(velocity, message.angular.z / self.turn_speed))

    def _push(self, shares: np.ndarray) -> None:
        if np.isfinite(shares).all():
            self.push_stick(shares)

    def _claws(self, message: Bool) -> None:
        self.close = message.data
