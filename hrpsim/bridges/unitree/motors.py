# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The joints of Unitree's robots in the order of the motors in LowCmd and LowState.

Source: unitreerobotics/unitree_mujoco (motors of go2.xml, g1/g1_joint_index_dds.md).
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

import numpy as np

from hrpsim.bridges.unitree.messages import GO, HG, Messages
from hrpsim.common.errors import WorldError

_GO2 = tuple(
    f"{leg}_{joint}_joint" for leg in ("FR", "FL", "RR", "RL") for joint in ("hip", "thigh", "calf")
)
_LEG = ("hip_pitch", "hip_roll", "hip_yaw", "knee", "ankle_pitch", "ankle_roll")
_ARM = (
    *("shoulder_pitch", "shoulder_roll", "shoulder_yaw", "elbow"),
    *("wrist_roll", "wrist_pitch", "wrist_yaw"),
)
_WAIST = tuple(f"waist_{axis}_joint" for axis in ("yaw", "roll", "pitch"))


def _sides(parts: Collection[str]) -> list[tuple[str, ...]]:
    return [tuple(f"{side}_{part}_joint" for part in parts) for side in ("left", "right")]


_G1 = (*_sides(_LEG)[0], *_sides(_LEG)[1], *_WAIST, *_sides(_ARM)[0], *_sides(_ARM)[1])
# Joints that a G1 with 23 joints, or with a locked waist, does not have.
_ABSENT = {*_WAIST[1:], *(name for side in _sides(_ARM) for name in side[-2:])}
_G1_COMPLETE, _G1_REDUCED = 5, 4  # mode_machine of 29 and of 23 joints


class Motors(NamedTuple):
    """The motors of one robot.

    Attributes:
        messages: layouts of the robot's messages.
        slots: indices (n,) in `motor_cmd` and `motor_state` of the robot's n motors.
        joints: name of the joint of each motor.
        mode_machine: type of the robot in unitree_hg, 0 in unitree_go.
        feet: name prefixes of the foot links, in the order of `foot_force`.
    """

    messages: Messages
    slots: np.ndarray
    joints: tuple[str, ...]
    mode_machine: int = 0
    feet: tuple[str, ...] = ()


def motors_of(kind: str, joints: Collection[str], robot: str) -> Motors:
    """Return the motors of a robot.

    Args:
        kind: "go2" or "g1".
        joints: names of the robot's joints. Unitree's messages do not command joints without a
            motor.
        robot: name of the robot, for errors.

    Raises:
        WorldError: the joint of a motor is missing.
    """
    table = _GO2 if kind == "go2" else _G1
    absent = [name for name in table if name not in joints]
    missing = [name for name in absent if kind == "go2" or name not in _ABSENT]
    if missing:
        raise WorldError(
            f"robot {robot!r} is not a {kind}: joints are missing: {', '.join(missing)}. "
            "Rename the joints of the robot, or leave the parameter 'unitree' empty"
        )
    slots = np.array([k for k, name in enumerate(table) if name not in absent])
    names = tuple(table[k] for k in slots)
    if kind == "go2":
        return Motors(GO, slots, names, feet=("FR", "FL", "RR", "RL"))
    return Motors(HG, slots, names, _G1_REDUCED if absent else _G1_COMPLETE)
