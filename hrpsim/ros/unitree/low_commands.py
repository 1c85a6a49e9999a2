# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The topic lowcmd: serialised LowCmds as commands of joints. Needs no ROS."""

from __future__ import annotations

from hrpsim.bridges.unitree.low_command import read_low_command
from hrpsim.bridges.unitree.motors import Motors
from hrpsim.ros.robot.joint_commands import JointCommand, JointCommands


class LowCommands(JointCommands):
    """Commands the joints of one robot by the LowCmds of Unitree's controllers."""

    def __init__(self, *arguments, motors: Motors, check_crc: bool, **options) -> None:
        super().__init__(*arguments, **options)
        self._motors, self._check_crc = motors, check_crc
        self._names = list(motors.joints)

    def validate(self, message: bytes) -> JointCommand:
        """Return the command. Raise WorldError for a wrong crc or a number that is not finite."""
        targets = read_low_command(message, self._motors, check=self._check_crc)
        return JointCommand(self._names, targets._asdict(), self._names, [])
