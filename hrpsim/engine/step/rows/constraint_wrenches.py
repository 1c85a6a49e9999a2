# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Loads of constraint forces on bodies and joints, and impulses in impacts for users to read.

Rows are solved for impacts first and for the step's forces afterwards, which overwrites the
impulses. The next step starts from the impulses of the forces. Contacts store both kinds.
"""

from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.constraints.connection_rows import axis_of_row
from hrpsim.engine.constraints.joint_rows import JOINT_ROW_COUNT
from hrpsim.engine.constraints.rows import CONNECTION, DRIVE, LOWER_LIMIT
from hrpsim.engine.spatial.simd import broadcast, load, plus_times, store
from hrpsim.engine.step.scene.records import RK4


@inlined_kernel
def add_wrench(articulated, constrained, work, row, force):
    """Add a row's `force` to the bodies' loads and the joints' efforts."""
    if force == 0.0:
        return
    _add_to_port(articulated, constrained, work, row.constrained_a, row.J_a, force)
    if row.constrained_b >= 0:
        _add_to_port(articulated, constrained, work, row.constrained_b, row.J_b, force)


@inlined_kernel
def _add_to_port(articulated, constrained, work, number, J, force):
    """Add the force along J on a constraint body."""
    constraint_body = constrained.bodies[number]
    if constraint_body.dof >= 0:
        work.constraint_effort[constraint_body.dof] += J[0] * force
    else:
        wrench = articulated[constraint_body.body].constraint_wrench
        store(wrench, 0, plus_times(load(wrench, 0), load(J, 0), force))


@inlined_kernel
def clear_wrenches(articulated, work):
    """Empty the bodies' loads and the joints' constraint efforts."""
    clear_body_wrenches(articulated)
    for k in range(work.constraint_effort.shape[0]):
        work.constraint_effort[k] = 0.0


@inlined_kernel
def clear_body_wrenches(articulated):
    """Empty the bodies' loads."""
    for i in range(articulated.shape[0]):
        store(articulated[i].constraint_wrench, 0, broadcast(0.0))


@inlined_kernel
def hold_wrenches(settings, kinematics, articulated, rk4):
    """Save the constraint forces on bodies for RK4's later stages."""
    if settings.integrator != RK4:
        return
    for i in range(articulated.shape[0]):
        held, wrench, here = rk4.held[i], articulated[i].constraint_wrench, kinematics[i]
        for r in range(6):
            held.wrench[r] = wrench[r]
        for r in range(3):
            held.p[r], held.origin[r] = here.p[r], here.origin[r]


@inner_kernel
def add_impact_impulse(joint_impact_impulses, connections, rows, number):
    """Add the impact impulse of row `number` to the impact impulses of this step."""
    row = rows.rows[number]
    if LOWER_LIMIT <= row.kind and row.kind < LOWER_LIMIT + JOINT_ROW_COUNT:
        joint_impact_impulses[row.source, row.kind - LOWER_LIMIT] += row.impulse
    elif row.kind == CONNECTION or row.kind == DRIVE:
        connection = connections[row.source]
        connection.impact_impulse[axis_of_row(connection, number)] += row.impulse


@inner_kernel
def forget_impact_impulses(joint_impact_impulses, connections):
    """Clear the impact impulses at the start of a step."""
    joint_impact_impulses[:] = 0.0
    for c in range(connections.shape[0]):
        impact_impulse = connections[c].impact_impulse
        for axis in range(6):
            impact_impulse[axis] = 0.0
