# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Place the robots of many worlds on the floor."""

from __future__ import annotations

import numpy as np

from hrpsim.learning.terms import rotations
from hrpsim.learning.terms.task_state import TaskState
from hrpsim.model.shapes.convex_hull import farthest_against
from hrpsim.world.start import shapes_over_floor


def lifts_to_floor(state: TaskState, worlds: np.ndarray) -> np.ndarray:
    """Return the vertical displacements (m,) [m] that put robots onto the planes of their worlds.

    `lift_to_floor` computes the same displacement for one robot.

    worlds: indices of the worlds (m,).

    Raises:
        WorldError: the world has no plane under a shape of the robot.
    """
    world = state.batch.worlds[0]
    robot = world.robots[state.robot_name]
    every = state.batch.link_poses(state.robot_name, worlds)
    positions, quaternions = (values[worlds] for values in every)
    link_of = {frame.body: k for k, frame in reversed(list(enumerate(robot.frames)))}
    lifts = []
    for plane, shape in shapes_over_floor(world, robot):
        link = link_of[shape.body]
        frame, normal = robot.frames[link], plane.R[:, 2]
        R = rotations.rotation_matrices(quaternions[:, link]) @ frame.R.T  # of the body
        origin = positions[:, link] - R @ frame.p
        R_shape = R @ shape.R
        against = np.einsum("nji,j->ni", R_shape, normal)
        lowest = rotations.in_world(R_shape, farthest_against(shape.geometry, against))
        heights = (origin + R @ shape.p + lowest - plane.p) @ normal
        lifts.append(-heights / normal[2])
    return np.max(lifts, axis=0)
