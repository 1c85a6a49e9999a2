# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Read <ros2_control>: command interfaces and start positions of joints."""

from __future__ import annotations

import math

from hrpsim.common.values import LARGEST
from hrpsim.model.readers.robot_data import RobotData
from hrpsim.model.readers.urdf.description import Description
from hrpsim.model.readers.urdf.joint_types import MOVING_TYPES

COMMANDS = ("position", "velocity", "effort")
STATES = ("position", "velocity", "effort")
_TOPIC_SYSTEMS = ("joint_state_topic_hardware_interface/JointStateTopicSystem",)
INITIAL = "initial_value"  # parameter of a state interface


def read_ros2_control(description: Description, robot: RobotData, element) -> None:
    """Record command interfaces and start positions. Raises ModelError for invalid values.

    The start of a joint is the <param name="initial_value"> of the position's <state_interface>, as
    in gz_ros2_control and the mock system of ros2_control.
    """
    document = description.document
    for joint in document.children(element, "joint"):
        name = document.text(joint, "name")
        document.require_name(joint, "joint", name, description.joints)
        interfaces = [
            document.text(interface, "name")
            for interface in document.children(joint, "command_interface")
        ]
        known = robot.commanded.get(name, ())
        robot.commanded[name] = tuple(dict.fromkeys((*known, *interfaces)))
        for parameter in joint.iterfind("state_interface/param"):
            if is_initial_value(parameter):
                if description.joints[name].type not in MOVING_TYPES:
                    document.fail(parameter, f"joint {name!r} has no position to start at")
                robot.joints[name].start = _number(description, parameter)


def is_initial_value(parameter) -> bool:
    """Return whether a <param> of a <state_interface> is the start position of a joint."""
    interface = parameter.getparent().get("name")
    return parameter.get("name") == INITIAL and interface == "position"


def speaks_by_topics(hardware) -> bool:
    """Return whether the <hardware> plugin exchanges commands and states over ROS topics."""
    return (hardware.findtext("plugin") or "").strip() in _TOPIC_SYSTEMS


def _number(description: Description, parameter) -> float:
    text = (parameter.text or "").strip()
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not abs(value) <= LARGEST:
        description.document.fail(parameter, f"{text!r} is not a finite number")
    return value
