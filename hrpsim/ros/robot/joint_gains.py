# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Gains of the joints as parameters: gains.<joint> is [kp, kd]. Imports ROS where it needs it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hrpsim.ros.robot.part_parameters import PartParameters

if TYPE_CHECKING:
    from rclpy.node import Node

PREFIX = "gains."


def joints_with_gains(robot) -> dict[str, tuple[float, float]]:
    """Return kp and kd of each joint under position control; at first all joints with gains."""
    control = robot.world.scene.control[robot.first_v : robot.first_v + robot.nv]
    at = {joint.name: control[joint.v_index] for joint in robot.model.joints}
    return {
        name: (float(at[name]["kp"]), float(at[name]["kd"]))
        for name in robot.joint_names
        if at[name]["kp"] > 0.0
    }


class JointGains(PartParameters):
    """The parameters of one robot's gains, named `prefix` + joint."""

    def __init__(self, node: Node, robot, prefix: str = PREFIX):
        from rcl_interfaces.msg import ParameterDescriptor

        self._robot = robot
        self._gains: dict[str, tuple[float, float]] = {}
        descriptor = ParameterDescriptor(
            description="Gains of the joint's servo: kp [Nm/rad or N/m], kd [Nms/rad or Ns/m]",
            additional_constraints="[kp, kd]: two finite numbers, kp > 0 and kd >= 0",
        )
        first = {joint: list(gains) for joint, gains in joints_with_gains(robot).items()}
        super().__init__(node, prefix, first, descriptor)

    def problem(self, name: str, value) -> str:
        """Return what is wrong with a value for a parameter, or ""."""
        fits = len(value) == 2 and np.isfinite(value).all() and min(value) >= 0.0
        if fits and value[0] > 0.0:
            return ""
        return (
            f"parameter {name!r} is {list(value)}; it must be [kp, kd]: two finite numbers, "
            "kp > 0 and kd >= 0"
        )

    def change(self, name: str, value) -> None:
        """Set the gains of a joint; its present command uses them."""
        joint = self._parts[name]
        self._gains[joint] = (float(value[0]), float(value[1]))
        self._robot.set_gains(*self._gains[joint], names=[joint])
        follow_gains(self._robot, joint, *self._gains[joint])

    def apply(self) -> None:
        """Apply the gains that were set to the present commands, after a reset."""
        for joint in self._gains:
            follow_gains(self._robot, joint, *self._gains[joint])


def follow_gains(robot, joint: str, kp: float, kd: float) -> None:
    """Change the active gains: kp under position control, kd where the servo damps."""
    control = robot.world.scene.control
    at = robot.first_v + robot.model.joint(joint).v_index
    holds = control["kp"][at] > 0.0
    if holds or control["kd"][at] > 0.0:
        control["kd"][at] = kd
    if holds:
        control["kp"][at] = kp
