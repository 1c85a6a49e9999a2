# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A stand-in for joint_state_topic_hardware_interface 1.1, which no registry has.

What it does with messages, and nothing else, as its source says: which topics and QoS, which values
are read and which are skipped, when a command is sent and how its arrays are filled.
"""

import math
import xml.etree.ElementTree as ElementTree

from rclpy.qos import QoSProfile, qos_profile_sensor_data
from sensor_msgs.msg import JointState

PLUGIN = "joint_state_topic_hardware_interface/JointStateTopicSystem"
FIELDS = {"position": "position", "velocity": "velocity", "effort": "effort"}


class TopicHardware:
    """States and commands of the first <ros2_control> of a description, by "joint/interface"."""

    def __init__(self, node, urdf):
        system = ElementTree.fromstring(urdf).find("ros2_control")
        hardware = system.find("hardware")
        assert hardware.findtext("plugin") == PLUGIN
        self.parameters = {param.get("name"): param.text for param in hardware.findall("param")}
        self.threshold = float(self.parameters.get("trigger_joint_command_threshold", 1e-5))
        self.joints = {}
        self.states, self.commands = {}, {}
        for joint in system.findall("joint"):
            interfaces = [i.get("name") for i in joint.findall("command_interface")]
            self.joints[joint.get("name")] = interfaces
            for kind, values in (("state", self.states), ("command", self.commands)):
                for interface in joint.findall(f"{kind}_interface"):
                    initial = interface.find("param[@name='initial_value']")
                    key = f"{joint.get('name')}/{interface.get('name')}"
                    values[key] = math.nan if initial is None else float(initial.text)
        self._node = node
        self.latest = JointState()
        self.publisher = node.create_publisher(
            JointState,
            self.parameters.get("joint_commands_topic", "/robot_joint_commands"),
            QoSProfile(depth=1),
        )
        node.create_subscription(
            JointState,
            self.parameters.get("joint_states_topic", "/robot_joint_states"),
            self._hear,
            qos_profile_sensor_data,
        )

    def _hear(self, message):
        self.latest = message

    def read(self):
        """Take the last message; values that are not finite, and unknown joints, are skipped."""
        for k, name in enumerate(self.latest.name):
            for interface, field in FIELDS.items():
                values = getattr(self.latest, field)
                key = f"{name}/{interface}"
                if name in self.joints and len(values) and math.isfinite(values[k]):
                    assert key in self.states, key
                    self.states[key] = values[k]

    def write(self):
        """Send all commands unless they are where the states are; return whether they were sent."""
        difference = sum(abs(self.states[key] - self.commands[key]) for key in self.commands)
        if difference <= self.threshold:  # NaN is not
            return False
        message = JointState()
        message.header.stamp = self._node.get_clock().now().to_msg()
        for name, interfaces in self.joints.items():
            message.name.append(name)
            for interface in interfaces:
                getattr(message, FIELDS[interface]).append(self.commands[f"{name}/{interface}"])
        self.publisher.publish(message)
        return True
