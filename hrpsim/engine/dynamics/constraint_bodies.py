# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The constraint bodies of a step: the bodies and joints on which constraints act.

A *constraint body* is a body (six columns: a spatial force at the tree's origin) or a degree of
freedom (one column: an effort).
"""

from typing import NamedTuple

import numpy as np

from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.fields import Axis, array
from hrpsim.engine.compile.kernel_types import Index, Indices, Records, Support
from hrpsim.engine.kinematics.forest import Forest
from hrpsim.engine.spatial.simd import LANES
from hrpsim.model.system import FIXED, FREE

CONSTRAINT_BODY = np.dtype(
    [
        ("body", "i8"),
        ("dof", "i8"),  # -1 for the body itself
        ("offset", "i8"),  # first column in the constraint bodies' velocity vector
        ("alone", "i8"),  # whether it is a body, and the only constraint body of its limb
        ("largest", "f8"),  # largest diagonal entry of its own response [1/kg or 1/(kg m^2)]
    ]
)

SUPPORT = np.dtype(
    [
        ("constraint_body", "i8"),  # constraint body of the body, -1 for none
        ("on_path", "i8"),  # whether the body supports a constraint body
        ("source", "i8"),  # last constraint body whose unit force was carried up through the body
        ("limb", "i8"),  # on a path: the first body of its limb, the root of a tree without limbs
        ("listed", "i8"),  # all bodies on paths, parents first: the k-th is in the k-th record
        ("tree_start", "i8"),  # at a root: first column of the tree, a multiple of LANES
        ("tree_width", "i8"),  # at a root: columns of the tree; some to spare make it a multiple
        ("tree_block", "i8"),  # at a root: where the tree's block starts in `inverse_inertia`
        ("first_constrained", "i8"),  # at a root: number of the tree's first constraint body
        ("first_listed", "i8"),  # at a root: where the tree's bodies on paths begin in `listed`
        ("listed_count", "i8"),  # at a root: number of bodies of the tree in `listed`
        (
            "known_count",
            "i8",
        ),  # in the first record: constraint bodies as they are numbered, 0 for not yet
        ("known_space", "i8"),  # the same: block space that they need
        ("known_bodies", "i8"),  # the same: how many bodies there were
        (
            "limb_constrained",
            "i8",
        ),  # at the first body of a limb: how many constraint bodies are on it
        ("_1", "f8"),  # aligns the next field to a cache line
        ("twist", "f8", (6,)),  # work; six and two spare
        ("_2", "f8", (2,)),
        ("answer", "f8", (LANES,)),  # work
        ("sweep", "f8", (6, LANES)),  # work
        (
            "at_base",
            "f8",
            (6, LANES),
        ),  # unit forces on its constraint bodies, come to the base; lane 6: effort
        ("_3", "f8", (8,)),  # records a power of two apart would share few places of the cache
    ]
)


class ConstraintBodies(NamedTuple):
    """The constraint bodies of one step."""

    supports: np.ndarray = array(
        "bodies on the paths from constraint bodies to roots", SUPPORT, Axis.BODY
    )
    marked: np.ndarray = array("1: constraints act on the body", "i8", Axis.BODY)
    numbered: np.ndarray = array(
        "`marked` when constraint bodies were last numbered", "i8", Axis.BODY
    )
    of_dof: np.ndarray = array(
        "constraint body of each degree of freedom; -1: none", "i8", Axis.DOF, fill=-1
    )
    bodies: np.ndarray = array(
        "bodies and degrees of freedom with constraints", CONSTRAINT_BODY, Axis.CONSTRAINT_BODY
    )
    velocity: np.ndarray = array("velocities of constraint bodies, with padding", "f8", Axis.COLUMN)
    acceleration: np.ndarray = array(
        "accelerations of constraint bodies, for impacts", "f8", Axis.COLUMN
    )
    gap_offset: np.ndarray = array(
        "displacement correction for impacts after the start of the step", "f8", Axis.COLUMN
    )
    inverse_inertia: np.ndarray = array(
        "inverse inertia blocks, by row; row length: tree width", "f8", Axis.BLOCK
    )


def constrained_sizes(body_count: int, dof_count: int, block_capacity: int) -> dict[Axis, int]:
    """Return the capacities of the arrays of constraint bodies, as a dictionary by axis."""
    return {
        Axis.BODY: body_count,
        Axis.DOF: dof_count,
        Axis.CONSTRAINT_BODY: body_count + dof_count,
        Axis.COLUMN: velocity_entries(body_count, dof_count),
        Axis.BLOCK: block_capacity,
    }


def velocity_entries(body_count: int, dof_count: int) -> int:
    """Return the largest number of velocity entries that constraint bodies can need.

    Args:
        body_count: number of bodies.
        dof_count: number of degrees of freedom.
    """
    return (6 + LANES) * body_count + dof_count


def forget_numbers(constrained: ConstraintBodies) -> None:
    """Force a new numbering of constraint bodies, after bodies or indices have changed."""
    constrained.supports["known_count"] = 0


@inner_kernel
def number_constraint_bodies(forest: Forest, constrained_out: ConstraintBodies) -> tuple[int, int]:
    """Number the constraint bodies of the step, and list the bodies on the paths to the roots.

    Constraint bodies are the bodies with `marked` = 1 and the degrees of freedom with `of_dof` >=
    0. The numbers stay the same if the last step numbered the same bodies and no degree of freedom.

    Returns:
        (number of constraint bodies, number of entries that the blocks need in `inverse_inertia`).
    """
    known, with_dofs = constrained_out.supports[0], _any_dof(constrained_out.of_dof)
    as_many = known.known_bodies == forest.bodies.shape[0]
    if not with_dofs and known.known_count > 0 and as_many and _same_bodies(constrained_out):
        return known.known_count, known.known_space
    count, needed = _number(forest, constrained_out)
    known.known_count, known.known_space = 0 if with_dofs else count, needed
    known.known_bodies = forest.bodies.shape[0]
    return count, needed


@inlined_kernel
def _any_dof(of_dof: Indices) -> bool:
    """Return whether any degree of freedom is marked."""
    marks = 0
    for k in range(of_dof.shape[0]):
        marks |= of_dof[k] + 1
    return marks != 0


@inlined_kernel
def _same_bodies(constrained: ConstraintBodies) -> bool:
    """Return whether the marked bodies are the same as at the last numbering."""
    different = 0
    for i in range(constrained.marked.shape[0]):
        different |= constrained.marked[i] ^ constrained.numbered[i]
    return different == 0


@inner_kernel
def _number(forest: Forest, constrained_out: ConstraintBodies) -> tuple[int, int]:
    """Number the marked constraint bodies, and return (count, block space needed)."""
    supports, of_dof, constrained = (
        constrained_out.supports,
        constrained_out.of_dof,
        constrained_out.bodies,
    )
    n = forest.bodies.shape[0]
    count = column = needed = root = 0
    for i in range(n):
        body, support = forest.bodies[i], supports[i]
        if body.parent < 0:
            if i > 0:
                column, needed = _close_tree(column, needed, supports[root])
            root = i
            support.tree_start, support.tree_block = column, needed
            support.first_constrained = count
        start = column
        support.constraint_body, constrained_out.numbered[i] = -1, constrained_out.marked[i]
        if constrained_out.marked[i]:
            support.constraint_body = count
            constraint_body = constrained[count]
            constraint_body.body, constraint_body.dof, constraint_body.offset = i, -1, column
            count += 1
            column += 6
        if body.joint_type != FREE and body.joint_type != FIXED and of_dof[body.v_index] >= 0:
            of_dof[body.v_index] = count
            constraint_body = constrained[count]
            constraint_body.body, constraint_body.dof, constraint_body.offset = (
                i,
                body.v_index,
                column,
            )
            count += 1
            column += 1
        support.on_path = 1 if column > start else 0
    _, needed = _close_tree(column, needed, supports[root])
    _list_paths(forest, supports)
    _find_lonely(forest, count, constrained_out)
    return count, needed


@inlined_kernel
def _close_tree(column: Index, needed: int, tree: Support) -> tuple[int, int]:
    """Write the width of a tree's block in `inverse_inertia`, after the last column of the tree.

    The width is rounded up to a multiple of the lanes of a vector register, so that loops over a
    row of the block have no remainder.

    Args:
        column: the column after the tree's last column.
        needed: number of entries in the blocks of all trees before.
        tree: record of the tree's root.

    Returns:
        (first column of the next tree, number of entries with this tree's block).
    """
    columns = column - tree.tree_start
    tree.tree_width = LANES * ((columns + LANES - 1) // LANES)
    return tree.tree_start + tree.tree_width, needed + columns * tree.tree_width


@inlined_kernel
def _list_paths(forest: Forest, supports: Records[Support]) -> None:
    """Mark the parents of marked bodies up to the roots, and list all marked bodies by tree."""
    for i in range(forest.bodies.shape[0] - 1, -1, -1):
        if supports[i].on_path and forest.bodies[i].parent >= 0:
            supports[forest.bodies[i].parent].on_path = 1
    listed = 0
    for number in range(forest.order.shape[0]):
        i = forest.order[number]
        parent = forest.bodies[i].parent
        if parent < 0:
            supports[i].first_listed = listed
            supports[i].listed_count = 0
        if supports[i].on_path:
            begins = parent < 0 or forest.bodies[parent].joint_type == FREE
            supports[i].limb = i if begins else supports[parent].limb
            supports[listed].listed = i
            supports[i].source = -1
            supports[forest.bodies[i].root].listed_count += 1
            listed += 1


@inlined_kernel
def _find_lonely(forest: Forest, constrained_count: int, constrained_out: ConstraintBodies) -> None:
    """Mark each constraint body that is the only one on its limb of a FREE base."""
    supports, constrained = constrained_out.supports, constrained_out.bodies
    for number in range(constrained_count):
        supports[supports[constrained[number].body].limb].limb_constrained = 0
    for number in range(constrained_count):
        supports[supports[constrained[number].body].limb].limb_constrained += 1
    for number in range(constrained_count):
        constraint_body = constrained[number]
        limb = supports[constraint_body.body].limb
        hangs = forest.bodies[limb].parent >= 0
        constraint_body.alone = (
            1 if hangs and constraint_body.dof < 0 and supports[limb].limb_constrained == 1 else 0
        )
