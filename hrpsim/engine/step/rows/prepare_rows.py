# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The constraint rows of a step: numbers, contents and islands."""

import numpy as np

from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import Index, Island, Scene
from hrpsim.engine.compile.lazy_kernels import lazy_kernel
from hrpsim.engine.constraints.connection_rows import (
    blur_of,
    connection_response_space,
    number_connection_rows,
    write_connection_rows,
)
from hrpsim.engine.constraints.contact_bending import bend_contact_rows
from hrpsim.engine.constraints.contact_rows import (
    contact_response_space,
    mark_contact_bodies,
    write_contact_rows,
)
from hrpsim.engine.constraints.joint_rows import (
    find_joint_rows,
    write_joint_rows,
    write_velocity_limit_rows,
)
from hrpsim.engine.constraints.penalty_rows import STABLE_BELOW, write_penalty_rows
from hrpsim.engine.constraints.rows import Rows
from hrpsim.engine.constraints.solver_table import DIRECT, NEWTON, SPLIT
from hrpsim.engine.constraints.tendon_rows import number_tendon_rows, write_driven_tendons
from hrpsim.engine.constraints.turning_rows import count_turning, remember_turning, write_turning
from hrpsim.engine.dynamics.constraint_bodies import number_constraint_bodies
from hrpsim.engine.dynamics.response import constrained_responses, constrained_velocities
from hrpsim.engine.solvers.direct_system import assemble_direct_system
from hrpsim.engine.step.rows.solver_memory import DIRECT_FIRST, recall_memory
from hrpsim.engine.step.scene.islands import find_islands
from hrpsim.engine.step.scene.status import (
    DONE,
    MORE_BLOCKS,
    MORE_DIRECT,
    MORE_RESPONSES,
    MORE_ROWS,
    NEEDS_KERNEL,
    TOO_STIFF,
)


@lazy_kernel()
def prepare_rows(s: Scene) -> int:
    """Write every row, or return the status of the array that is too small.

    Every world needs this kernel, so it is compiled in parallel with the step (announcement.py).

    Reads: articulated, collision, connections, constrained, control, counts, direct, failure,
    forest, impacts, islands, joint_holds, joint_impulses, joint_parameters, joint_rows,
    kinematics, materials, q, rows, settings, solver_choice, step_stats, tendons, velocity, work.
    Writes: collision, connections, constrained, counts, direct, failure, islands, joint_rows, rows,
    step_stats, tendons, work.
    """
    status = _count_rows(s)
    if status != DONE or s.counts[0].row_count == 0:
        return status
    status = _write_rows(s)
    if status != DONE:
        return status
    find_islands(
        s.settings[0], s.counts[0], s.forest.bodies, s.collision, s.constrained, s.rows, s.islands
    )
    return assemble_direct(s)


@inlined_kernel
def _count_rows(s: Scene) -> int:
    """Count the rows and the needed capacity. Return the status of the first array too small."""
    stats, counts, failure = s.step_stats[0], s.counts[0], s.failure[0]
    stats.direct_rows = stats.split_rows = stats.factorisations = stats.fell_back = 0
    counts.newton_rows = stats.newton_islands = stats.newton_factorisations = 0
    stats.handed_over = 0
    contacts, contact_count = s.collision.contacts, counts.contact_count
    mark_contact_bodies(contacts, contact_count, s.constrained)
    first_joint_row = number_connection_rows(s.connections, 3 * contact_count, s.constrained)
    counts.connection_rows = first_joint_row - 3 * contact_count
    first_tendon_row = first_joint_row + find_joint_rows(s)
    counts.row_count = number_tendon_rows(s.tendons, first_tendon_row, s.constrained.of_dof)
    counts.turning_rows = 0
    if s.settings[0].turning_friction:
        counts.turning_rows = count_turning_rows(s)
        if counts.turning_rows == NEEDS_KERNEL:
            return NEEDS_KERNEL
        counts.row_count += counts.turning_rows
    counts.island_count, counts.direct_island = 0, -1
    if counts.row_count == 0:
        return DONE
    failure.needed = counts.row_count
    if counts.row_count > s.rows.rows.shape[0]:
        return MORE_ROWS
    counts.constrained_count, failure.needed = number_constraint_bodies(s.forest, s.constrained)
    if failure.needed > s.constrained.inverse_inertia.shape[0]:
        return MORE_BLOCKS
    failure.needed = contact_response_space(s.forest, contacts, contact_count, s.constrained)
    failure.needed += 2 * (counts.row_count - first_joint_row) * s.constrained.velocity.shape[0]
    failure.needed += connection_response_space(s.forest, s.connections, s.constrained)
    if failure.needed > s.rows.response.shape[0]:
        return MORE_RESPONSES
    return DONE


@inlined_kernel
def _write_rows(s: Scene) -> int:
    """Write every row to the arrays. Return TOO_STIFF if a penalty contact would be unstable."""
    counts = s.counts[0]
    settings = s.settings[0]
    constrained_responses(
        s.forest, s.kinematics, s.articulated, counts.constrained_count, s.constrained
    )
    if settings.free_motion:
        find_constrained_motion(s)
    else:
        constrained_velocities(
            s.forest, s.kinematics, s.velocity, counts.constrained_count, s.constrained
        )
    used = write_contact_rows(s)
    if settings.free_rotation:
        bend_contacts(s)
    if settings.penalty_contacts:
        status = write_penalties(s)
        if status != DONE:
            return status
    if counts.connection_rows > 0:
        used = write_connections(s, used)
    first_joint_row = 3 * counts.contact_count + counts.connection_rows
    if counts.row_count > first_joint_row:
        used = write_joints(s, first_joint_row, used)
    if used != NEEDS_KERNEL and settings.tendons:
        used = write_tendons(s, used)
    if used != NEEDS_KERNEL and counts.turning_rows > 0:
        used = write_turning_rows(s, used)
    return NEEDS_KERNEL if used == NEEDS_KERNEL else DONE


@lazy_kernel(feature="free_motion")
def find_constrained_motion(s: Scene) -> int:
    """Write initial velocity and unconstrained acceleration of the constraint bodies."""
    constrained, work, dt = s.constrained, s.work, s.settings[0].time_step
    velocity, acceleration = constrained.velocity, constrained.acceleration
    for k in range(work.change.shape[0]):
        work.change[k] = s.velocity[k] + dt * work.dv[k]
    constrained_velocities(
        s.forest, s.kinematics, work.change, s.counts[0].constrained_count, constrained
    )
    for k in range(velocity.shape[0]):
        acceleration[k] = velocity[k]
        constrained.gap_offset[k] = velocity[k] = 0.0
    constrained_velocities(
        s.forest, s.kinematics, s.velocity, s.counts[0].constrained_count, constrained
    )
    for k in range(velocity.shape[0]):
        acceleration[k] = (acceleration[k] - velocity[k]) / dt
    return DONE


@lazy_kernel(feature="free_rotation")
def bend_contacts(s: Scene) -> int:
    """Correct the contact rows of rotating free bodies to hold at the end of the step."""
    bend_contact_rows(s)
    return DONE


@lazy_kernel(feature="penalty_contacts")
def write_penalties(s: Scene) -> int:
    """Write the impulses of penalty contacts. Return TOO_STIFF if one would be unstable."""
    failure = s.failure[0]
    failure.stiffness, stiffest = write_penalty_rows(s)
    if failure.stiffness < STABLE_BELOW:
        return DONE
    failure.needed = stiffest
    return TOO_STIFF


@lazy_kernel(np.int64, feature="connections")
def write_connections(s: Scene, used: int) -> int:
    """Write the rows of connections. Return the number of entries of `response` in use."""
    return write_connection_rows(s, used)


@lazy_kernel(np.int64, np.int64)
def write_joints(s: Scene, first: Index, used: int) -> int:
    """Write the rows of joints from row `first` on. Return the entries of `response` in use."""
    first, used = write_joint_rows(s, first, used)
    return write_velocity_limit_rows(s, first, used)


@lazy_kernel(np.int64, feature="tendons")
def write_tendons(s: Scene, used: int) -> int:
    """Write the rows of driven tendons. Return the entries of `response` in use."""
    return write_driven_tendons(s, used)


@lazy_kernel(feature="turning_friction")
def count_turning_rows(s: Scene) -> int:
    """Return the number of rows that resist spin and rolling of contacts."""
    return count_turning(s)


@lazy_kernel(np.int64, feature="turning_friction")
def write_turning_rows(s: Scene, used: int) -> int:
    """Write the rows against spin and rolling. Return the entries of `response` in use."""
    return write_turning(s, used)


@lazy_kernel(feature="turning_friction")
def remember_turning_impulses(s: Scene) -> int:
    """Store the impulses against spin and rolling for the next warm start, and for users."""
    remember_turning(s)
    return DONE


@inlined_kernel
def assemble_direct(s: Scene) -> int:
    """Write the matrix of the direct solver, if any rows use this solver.

    An island that this solver took over in the last step is assigned to it again.
    """
    stats, k = s.step_stats[0], s.counts[0].direct_island
    if k >= 0:
        island = s.islands.ranges[k]
        recall_memory(s.collision.contacts, s.rows, island)
        if island.memory.state == DIRECT_FIRST:
            make_direct(s.rows, island)
    for number in range(s.counts[0].row_count):
        solver = s.rows.rows[number].solver
        stats.direct_rows += 1 if solver == DIRECT else 0
        stats.split_rows += 1 if solver == SPLIT else 0
        s.counts[0].newton_rows += 1 if s.rows.rows[number].choice == NEWTON else 0
    if stats.direct_rows + stats.split_rows == 0:
        return DONE
    return write_direct_system(s)


@inner_kernel
def make_direct(rows: Rows, island: Island) -> None:
    """Assign all rows of an island to the direct solver."""
    for k in range(island.first, island.end):
        first = rows.island_rows[k]
        for number in range(first, first + (3 if k < island.contact_end else 1)):
            rows.rows[number].solver = DIRECT


@lazy_kernel(brings=("solve_direct_island",))
def write_direct_system(s: Scene) -> int:
    """Write the matrix of the direct solver, or return the status of an array that is too small."""
    s.direct.blur[0], s.direct.left[0] = blur_of(s.connections), 0.0
    if assemble_direct_system(s.forest, s.constrained, s.rows, s.counts[0].row_count, s.direct):
        return DONE
    return MORE_DIRECT
