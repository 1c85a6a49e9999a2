"""A robot's part of a scene, made ready for the kernels that read and command it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hrpsim.compiled import entry_point
from hrpsim.kinematics.forward import new_kinematics
from hrpsim.reference import Reference
from hrpsim.world.commanding import Actuators, set_commands
from hrpsim.world.joint_efforts import EffortSources, read_efforts
from hrpsim.world.link_states import (
    LinkSources,
    link_records,
    read_link_poses,
    read_link_velocities,
)
from hrpsim.world.scene import Scene

if TYPE_CHECKING:
    from hrpsim.world.robot import Robot


class RobotAccess:
    """References to a robot's arrays and what is called with them; it is for this scene alone."""

    def __init__(self, robot: Robot, scene: Scene, joint_q, joint_v, kp, kd):
        self.scene = scene
        q = scene.q[robot.first_q : robot.first_q + robot.nq]
        dofs = slice(robot.first_v, robot.first_v + robot.nv)
        self.actuators = Reference(Actuators(scene.control[dofs], q, joint_q, joint_v, kp, kd))
        joint_of = np.full(robot.nv, -1)
        joint_of[joint_v] = np.arange(len(joint_v))
        self.efforts = Reference(
            EffortSources(
                scene.settings,
                scene.joint_impulses[dofs],
                scene.joint_struck[dofs],
                robot.forest.dofs,
                joint_v,
                joint_of,
            )
        )
        self.links = Reference(
            LinkSources(
                robot.forest,
                q,
                scene.velocity[dofs],
                new_kinematics(robot.model.body_count),
                link_records(robot.frames),
                np.zeros((3, 3)),
            )
        )
        vector, table = np.empty(0), np.empty((0, 3))
        values = joint_v, vector, vector, vector, 0, 0, 1
        self.set_commands = entry_point(set_commands, self.actuators, *values)
        self.read_efforts = entry_point(read_efforts, self.efforts, 0, vector)
        self.read_poses = entry_point(read_link_poses, self.links, table, table)
        self.read_velocities = entry_point(read_link_velocities, self.links, table, table)
