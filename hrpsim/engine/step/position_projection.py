# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Projection of the position errors g of rigid connections to zero at the end of a step.

Rows constrain velocities. Positions therefore drift by the curvature of a step, and stabilisation
corrects only a part of the drift. This file corrects the positions by Newton's method, with the
rows and the factors of the step. These are slightly outdated, because bodies have rotated since
then with an angular velocity omega. Convergence is therefore linear: each iteration reduces the
errors by a factor of about omega dt. Velocities do not change. Loaded contacts may open but not
close.
"""

from hrpsim.engine.compile.compiled import inner_kernel
from hrpsim.engine.compile.lazy_kernels import lazy_kernel
from hrpsim.engine.constraints.connection_rows import LOCKED, find_direction
from hrpsim.engine.constraints.placed_connection import place_frames
from hrpsim.engine.constraints.rows import LOCK, MIMIC
from hrpsim.engine.kinematics.forward import update_poses
from hrpsim.engine.spatial.vector import copy_vector
from hrpsim.engine.step.arrays import Scene
from hrpsim.engine.step.motion.carry import move
from hrpsim.engine.step.rows.constrain import solve_displacement
from hrpsim.engine.step.scene.status import DONE

_ITERATIONS = 10
_EXACT = 1e-13  # [m or rad]


@lazy_kernel(feature="projection")
def project_connections(s: Scene) -> int:
    """Correct the positions until the errors of rigid connections vanish or no longer decrease.

    Returns:
        DONE, or the status of the array that is too small.
    """
    error = _ask_for_corrections(s)
    for _ in range(_ITERATIONS):
        if not error > _EXACT:
            break
        copy_vector(s.q, s.work.q_nearest)
        status = solve_displacement(s)
        if status != DONE:
            return status
        move(s.forest, s.work.correction_velocity, s.settings[0].time_step, s.q)
        before, error = error, _ask_for_corrections(s)
        if not error < before:
            copy_vector(s.work.q_nearest, s.q)
            break
        if error > 0.5 * before:
            break
    return DONE


@inner_kernel
def _ask_for_corrections(s: Scene) -> float:
    """Set the correction of every row to its remaining error. Return the largest [m or rad]."""
    rows, rate = s.rows.rows, 1.0 / s.settings[0].time_step
    update_poses(s.forest, s.q, s.kinematics)
    largest = 0.0
    for number in range(s.counts[0].row_count):
        row = rows[number]
        row.correction_velocity = 0.0
        row.bilateral = 0
        if row.compliance > 0.0:
            continue
        error = 0.0
        if row.kind == LOCK:
            error = s.q[s.forest.dofs[row.source].q_index] - s.joint_holds[row.source].position
        elif row.kind == MIMIC:
            dof = s.forest.dofs[row.source]
            error = s.q[dof.q_index] - dof.mimic_offset
            error -= dof.mimic_ratio * s.q[s.forest.dofs[dof.mimic_dof].q_index]
        row.correction_velocity = -rate * error
        largest = max(largest, abs(error))
    placed = s.work.placed_connection[0]
    for c in range(s.connections.shape[0]):
        connection = s.connections[c]
        if not connection.enabled:
            continue
        place_frames(s.forest, s.kinematics, connection, placed)
        for axis in range(6):
            if connection.axes[axis] == LOCKED and rows[connection.row[axis]].compliance == 0.0:
                error = find_direction(connection, axis, placed)
                rows[connection.row[axis]].correction_velocity = -rate * error
                largest = max(largest, abs(error))
    return largest
