# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Wrenches of constraints on bodies, efforts on joints, and impact impulses for users to read.

Rows are solved for impacts first, and then for the forces of the step, which overwrites the
impulses. The next step starts from the impulses of the forces. Contacts store both kinds.
"""

from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import (
    Articulated,
    Connection,
    Index,
    Kinematics,
    Matrix,
    Records,
    Rk4,
    Row,
    Settings,
    Vec6,
    Work,
)
from hrpsim.engine.constraints.connection_rows import axis_of_row
from hrpsim.engine.constraints.joint_rows import JOINT_ROW_COUNT
from hrpsim.engine.constraints.rows import CONNECTION, DRIVE, LOWER_LIMIT, Rows
from hrpsim.engine.dynamics.constraint_bodies import ConstraintBodies
from hrpsim.engine.spatial.simd import broadcast, load, plus_times, store


@inlined_kernel
def add_wrench(
    articulated: Records[Articulated],
    constrained: ConstraintBodies,
    work: Work,
    row: Row,
    force: float,
) -> None:
    """Add the force of a row to the wrenches on the bodies and to the efforts of the joints.

    Args:
        articulated: ARTICULATED records (n,). `constraint_wrench` (6,) is changed.
        constrained: constraint bodies of the step.
        work: work arrays. `constraint_effort` (nv,) is changed.
        row: ROW record.
        force: force [N or Nm] or impulse [Ns or Nms] along the row.
    """
    if force == 0.0:
        return
    _add_to_port(articulated, constrained, work, row.constrained_a, row.J_a, force)
    if row.constrained_b >= 0:
        _add_to_port(articulated, constrained, work, row.constrained_b, row.J_b, force)


@inlined_kernel
def _add_to_port(
    articulated: Records[Articulated],
    constrained: ConstraintBodies,
    work: Work,
    number: Index,
    J: Vec6,
    force: float,
) -> None:
    """Add the force along J on a constraint body."""
    constraint_body = constrained.bodies[number]
    if constraint_body.dof >= 0:
        work.constraint_effort[constraint_body.dof] += J[0] * force
    else:
        wrench = articulated[constraint_body.body].constraint_wrench
        store(wrench, 0, plus_times(load(wrench, 0), load(J, 0), force))


@inlined_kernel
def clear_wrenches(articulated: Records[Articulated], work: Work) -> None:
    """Set the wrenches on the bodies and the constraint efforts of the joints to zero.

    These are `constraint_wrench` of `articulated` and `constraint_effort` of `work`.
    """
    clear_body_wrenches(articulated)
    for k in range(work.constraint_effort.shape[0]):
        work.constraint_effort[k] = 0.0


@inlined_kernel
def clear_body_wrenches(articulated: Records[Articulated]) -> None:
    """Set `constraint_wrench` of all bodies to zero."""
    for i in range(articulated.shape[0]):
        store(articulated[i].constraint_wrench, 0, broadcast(0.0))


@inlined_kernel
def hold_wrenches(
    settings: Settings, kinematics: Records[Kinematics], articulated: Records[Articulated], rk4: Rk4
) -> None:
    """Store the constraint wrenches on bodies [Nm, N] in rk4.held for later stages of rk4."""
    if not settings.staged:
        return
    for i in range(articulated.shape[0]):
        held_force, wrench, link = rk4.held[i], articulated[i].constraint_wrench, kinematics[i]
        for r in range(6):
            held_force.wrench[r] = wrench[r]
        for r in range(3):
            held_force.p[r], held_force.origin[r] = link.p[r], link.origin[r]


@inner_kernel
def add_impact_impulse(
    joint_impact_impulses: Matrix, connections: Records[Connection], rows: Rows, number: Index
) -> None:
    """Add the impulse of a row to the impact impulses of this step.

    Args:
        joint_impact_impulses: impulses for each degree of freedom and kind of row (nv, kinds) [Nms
            or Ns], changed.
        connections: CONNECTION_RECORD records. `impact_impulse` is changed.
        rows: rows of the step.
        number: number of the row.
    """
    row = rows.rows[number]
    if LOWER_LIMIT <= row.kind and row.kind < LOWER_LIMIT + JOINT_ROW_COUNT:
        joint_impact_impulses[row.source, row.kind - LOWER_LIMIT] += row.impulse
    elif row.kind == CONNECTION or row.kind == DRIVE:
        connection = connections[row.source]
        connection.impact_impulse[axis_of_row(connection, number)] += row.impulse


@inner_kernel
def forget_impact_impulses(joint_impact_impulses: Matrix, connections: Records[Connection]) -> None:
    """Set the impact impulses to zero at the start of a step.

    Args:
        joint_impact_impulses: impulses for each degree of freedom and kind of row (nv, kinds) [Nms
            or Ns], changed.
        connections: CONNECTION_RECORD records. `impact_impulse` is changed.
    """
    joint_impact_impulses[:] = 0.0
    for c in range(connections.shape[0]):
        impact_impulse = connections[c].impact_impulse
        for axis in range(6):
            impact_impulse[axis] = 0.0
