# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Write motions as hrpsys sequences, as FollowJointTrajectory goals, and as CSV."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import yaml

from hrpsim.common.resources import user_path
from hrpsim.control.framework.controller import controlled_joints
from hrpsim.control.motion.motion_sequence import Channel, MotionSequence
from hrpsim.control.motion.sequence_files import write_sequence
from hrpsim.fitting.excitation.motions import ExcitingMotion
from hrpsim.world.objects.robot import Robot

_SECOND = 1_000_000_000  # [ns]


def write_motion(motion: ExcitingMotion, robot: Robot, basename: str | Path) -> list[Path]:
    """Write a motion in three formats, and return the paths.

    BASENAME.pos is for hrpsys's SequencePlayer. Joints that are not part of the motion keep the
    present position of `robot`. BASENAME.trajectory.yaml is a goal of
    control_msgs/action/FollowJointTrajectory. BASENAME.csv has the columns time and command.JOINT
    of recordings.

    Args:
        motion: the motion.
        robot: robot with the joints of the motion.
        basename: path without an extension. The folder is created.
    """
    base = user_path(basename)
    base.parent.mkdir(parents=True, exist_ok=True)
    paths = write_sequence(_sequence(motion, robot), base)
    goal, table = (base.with_name(f"{base.name}{end}") for end in (".trajectory.yaml", ".csv"))
    goal.write_text(yaml.safe_dump(_goal(motion), sort_keys=False, default_flow_style=None))
    header = ",".join(["time", *(f"command.{joint}" for joint in motion.joints)])
    rows = np.column_stack([motion.time, motion.positions])
    np.savetxt(table, rows, delimiter=",", header=header, comments="", fmt="%.9g")
    return [*paths, goal, table]


def _sequence(motion: ExcitingMotion, robot: Robot) -> MotionSequence:
    names = controlled_joints(robot.model)
    start = dict(zip(robot.joint_names, robot.joint_positions))
    columns = dict(zip(motion.joints, motion.positions.T))
    values = [columns.get(name, np.full(len(motion.time), start[name])) for name in names]
    return MotionSequence(names, Channel(motion.time, np.transpose(values)))


def _goal(motion: ExcitingMotion) -> dict:
    points = []
    for time, q, v in zip(motion.time, motion.positions, motion.velocities):
        seconds, nanoseconds = divmod(round(time * _SECOND), _SECOND)
        points.append(
            {
                "positions": [round(float(x), 9) for x in q],
                "velocities": [round(float(x), 9) for x in v],
                "time_from_start": {"sec": int(seconds), "nanosec": int(nanoseconds)},
            }
        )
    return {"trajectory": {"joint_names": list(motion.joints), "points": points}}
