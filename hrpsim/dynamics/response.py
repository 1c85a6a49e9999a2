# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""How a factorised forest answers, site to site, to forces.

A *site* is where constraints push: a body (six columns: a spatial force at the tree's origin) or
a degree of freedom (one column: an effort). The response of sites to unit forces on sites is the
link-space inverse inertia (J M^-1 J^T for the sites' J), found by sweeps along support paths.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hrpsim.jit.compiled import inlined_kernel, inner_kernel
from hrpsim.jit.fields import Axis, array
from hrpsim.model.system import FIXED, FREE
from hrpsim.spatial.simd import (
    LANES,
    broadcast,
    load,
    minus_times,
    plus,
    plus_times,
    store,
    store_six,
    store_six_transposed,
    times,
)

SITE = np.dtype(
    [
        ("body", "i8"),
        ("dof", "i8"),  # -1 for the body itself
        ("offset", "i8"),  # first column in the sites' velocity vector
        ("largest", "f8"),  # largest diagonal entry of its own response [1/kg or 1/(kg m^2)]
    ]
)

SUPPORT = np.dtype(
    [
        ("site", "i8"),  # site of the body, -1 for none
        ("on_path", "i8"),  # whether the body supports a site
        ("source", "i8"),  # last site whose unit force was carried up through the body
        ("tree_start", "i8"),  # at a root: first column of the tree, a multiple of LANES
        ("tree_width", "i8"),  # at a root: columns of the tree; some to spare make it a multiple
        ("tree_block", "i8"),  # at a root: where the tree's block starts in `block`
        ("first_listed", "i8"),  # at a root: where the tree's bodies on paths begin in `listed`
        ("listed_count", "i8"),  # at a root: how many they are
        ("listed", "i8"),  # all bodies on paths, parents first: the k-th is in the k-th record
        ("_1", "f8", (7,)),  # what follows begins with a line of the cache
        ("twist", "f8", (6,)),  # work; six and two to spare
        ("_2", "f8", (2,)),
        ("answer", "f8", (LANES,)),  # work
        ("sweep", "f8", (6, LANES)),  # work
    ]
)


class Sites(NamedTuple):
    """The sites of one step."""

    supports: np.ndarray = array("each body on the paths from sites to roots", SUPPORT, Axis.BODY)
    of_dof: np.ndarray = array(
        "site of the degree of freedom, -1 for none", "i8", Axis.DOF, fill=-1
    )
    sites: np.ndarray = array("bodies and degrees of freedom that are pushed", SITE, Axis.SITE)
    velocity: np.ndarray = array(
        "velocity of every site column, and of those to spare", "f8", Axis.COLUMN
    )
    acceleration: np.ndarray = array("the same, while impacts are resolved", "f8", Axis.COLUMN)
    lag: np.ndarray = array(
        "displacement that impacts of this step owe to coming late", "f8", Axis.COLUMN
    )
    inverse_inertia: np.ndarray = array(
        "response blocks, row by row; a row is as long as its tree is wide", "f8", Axis.BLOCK
    )


def site_sizes(body_count: int, dof_count: int, block_capacity: int) -> dict[Axis, int]:
    """Return how long the arrays of sites are along each axis."""
    return {
        Axis.BODY: body_count,
        Axis.DOF: dof_count,
        Axis.SITE: body_count + dof_count,
        Axis.COLUMN: site_columns(body_count, dof_count),
        Axis.BLOCK: block_capacity,
    }


def site_columns(body_count: int, dof_count: int) -> int:
    """Return how many columns the sites of so many bodies can need, those to spare included."""
    return (6 + LANES) * body_count + dof_count


@inner_kernel
def number_sites(forest, sites_out):
    """Number the sites whose `site` or of_dof is marked >= 0; return (count, block space needed).

    Also marks and lists the bodies on the paths from sites to their roots.
    """
    supports, of_dof, sites = sites_out.supports, sites_out.of_dof, sites_out.sites
    n = forest.bodies.shape[0]
    count = column = needed = root = 0
    for i in range(n):
        body, support = forest.bodies[i], supports[i]
        if body.parent < 0:
            if i > 0:
                column, needed = _close_tree(column, needed, supports[root])
            root = i
            support.tree_start, support.tree_block = column, needed
        start = column
        if support.site >= 0:
            support.site = count
            site = sites[count]
            site.body, site.dof, site.offset = i, -1, column
            count += 1
            column += 6
        if body.joint_type != FREE and body.joint_type != FIXED and of_dof[body.v_index] >= 0:
            of_dof[body.v_index] = count
            site = sites[count]
            site.body, site.dof, site.offset = i, body.v_index, column
            count += 1
            column += 1
        support.on_path = 1 if column > start else 0
    _, needed = _close_tree(column, needed, supports[root])
    for i in range(n - 1, -1, -1):
        if supports[i].on_path and forest.bodies[i].parent >= 0:
            supports[forest.bodies[i].parent].on_path = 1
    _list_paths(forest, supports)
    return count, needed


@inlined_kernel
def _close_tree(column, needed, tree):
    """Write the width of a tree that ends before `column`; return the next one's column and block.

    Rows are some whole lanes long, so that they are read and written without a remainder.
    """
    columns = column - tree.tree_start
    tree.tree_width = LANES * ((columns + LANES - 1) // LANES)
    return tree.tree_start + tree.tree_width, needed + columns * tree.tree_width


@inlined_kernel
def _list_paths(forest, supports):
    """List the bodies on paths, tree by tree."""
    listed = 0
    for number in range(forest.order.shape[0]):
        i = forest.order[number]
        if forest.bodies[i].parent < 0:
            supports[i].first_listed = listed
            supports[i].listed_count = 0
        if supports[i].on_path:
            supports[listed].listed = i
            supports[i].source = -1
            supports[forest.bodies[i].root].listed_count += 1
            listed += 1


@inner_kernel
def site_responses(forest, kinematics, articulated, site_count, sites_out):
    """Write the response block of every tree: column j of a block answers a unit force on j.

    Blocks are symmetric: a site looks for the answers of itself and of later ones only.
    """
    supports = sites_out.supports
    for number in range(site_count):
        site = sites_out.sites[number]
        _carry_up(forest, kinematics, articulated, number, site, supports)
        root = supports[forest.bodies[site.body].root]
        for k in range(root.first_listed, root.first_listed + root.listed_count):
            i = supports[k].listed
            if supports[i].source == number or i > site.body:
                _carry_down(forest.bodies[i], kinematics[i], articulated[i], supports, i, number)
                if i >= site.body:
                    _write_answer(forest.bodies[i], supports[i], number, root, sites_out)
        site.largest = _largest_response(site, root, sites_out.inverse_inertia)


@inlined_kernel
def _largest_response(site, tree, block):
    """Return the largest diagonal entry of a site's block with itself."""
    at = site.offset - tree.tree_start
    largest = 0.0
    for k in range(at, at + (6 if site.dof < 0 else 1)):
        largest = max(largest, block[tree.tree_block + k * tree.tree_width + k])
    return largest


@inlined_kernel
def _carry_up(forest, kinematics, articulated, number, site, supports):
    """Carry unit forces on site `number`, one a column, from its body to the root's `sweep`.

    Leaves on the way what each joint feels of them.
    """
    i = site.body
    F = supports[i].sweep
    for r in range(6):
        store(F, r * LANES, broadcast(0.0))
        if site.dof < 0:
            F[r, r] = 1.0
    f0, f1, f2 = load(F, 0), load(F, LANES), load(F, 2 * LANES)
    f3, f4, f5 = load(F, 3 * LANES), load(F, 4 * LANES), load(F, 5 * LANES)
    while True:
        body, here = forest.bodies[i], supports[i]
        here.source = number
        u = broadcast(0.0)
        if body.joint_type != FREE and body.joint_type != FIXED:
            u = _product(kinematics[i].S, f0, f1, f2, f3, f4, f5)
        store(here.answer, 0, u)
        if i == site.body and site.dof >= 0:
            here.answer[0] = 1.0
            u = load(here.answer, 0)
        if body.parent < 0:
            break
        U, scaled = articulated[i].U, times(u, articulated[i].D_inverse)
        f0, f1 = minus_times(f0, scaled, U[0]), minus_times(f1, scaled, U[1])
        f2, f3 = minus_times(f2, scaled, U[2]), minus_times(f3, scaled, U[3])
        f4, f5 = minus_times(f4, scaled, U[4]), minus_times(f5, scaled, U[5])
        i = body.parent
    F = supports[i].sweep
    store(F, 0, f0)
    store(F, LANES, f1)
    store(F, 2 * LANES, f2)
    store(F, 3 * LANES, f3)
    store(F, 4 * LANES, f4)
    store(F, 5 * LANES, f5)


@inlined_kernel
def _product(x, a0, a1, a2, a3, a4, a5):
    """Return the sum of lanes times the numbers `x` (6,), in three independent sums."""
    first = plus_times(times(a0, x[0]), a1, x[1])
    second = plus_times(times(a2, x[2]), a3, x[3])
    third = plus_times(times(a4, x[4]), a5, x[5])
    return plus(plus(first, second), third)


@inlined_kernel
def _carry_down(body, kinematics_i, articulated_i, supports, i, number):
    """Turn the forces at body `i` into its motions, given its parent's.

    Bodies that the forces of site `number` did not pass through are moved by their parents only.
    """
    here = supports[i]
    A = here.sweep
    if body.joint_type == FREE:
        _apply_inverse(articulated_i.root_inverse, A)
        return
    S, D_inverse = kinematics_i.S, articulated_i.D_inverse
    rate = broadcast(0.0)
    if here.source == number:
        rate = times(load(here.answer, 0), D_inverse)
    if body.parent < 0:
        for r in range(6):
            store(A, r * LANES, times(rate, S[r]))
    else:
        above = supports[body.parent].sweep
        a0, a1, a2 = load(above, 0), load(above, LANES), load(above, 2 * LANES)
        a3, a4, a5 = load(above, 3 * LANES), load(above, 4 * LANES), load(above, 5 * LANES)
        U = articulated_i.U
        rate = minus_times(rate, _product(U, a0, a1, a2, a3, a4, a5), D_inverse)
        store(A, 0, plus_times(a0, rate, S[0]))
        store(A, LANES, plus_times(a1, rate, S[1]))
        store(A, 2 * LANES, plus_times(a2, rate, S[2]))
        store(A, 3 * LANES, plus_times(a3, rate, S[3]))
        store(A, 4 * LANES, plus_times(a4, rate, S[4]))
        store(A, 5 * LANES, plus_times(a5, rate, S[5]))
    store(here.answer, 0, rate)


@inlined_kernel
def _apply_inverse(inverse, A):
    """Replace A (6, 8) by inverse A."""
    a0, a1, a2 = load(A, 0), load(A, LANES), load(A, 2 * LANES)
    a3, a4, a5 = load(A, 3 * LANES), load(A, 4 * LANES), load(A, 5 * LANES)
    for r in range(6):
        store(A, r * LANES, _product(inverse[r], a0, a1, a2, a3, a4, a5))


@inlined_kernel
def _write_answer(body, here, number, tree, sites_out):
    """Copy the motion of a body and its joint to their places for site `number` in the block.

    Those are rows of the site's columns and, mirrored, columns of its rows. Earlier sites of
    the same body have them already.
    """
    site = sites_out.sites[number]
    column = site.offset - tree.tree_start
    columns = 6 if site.dof < 0 else 1
    block, width = sites_out.inverse_inertia, tree.tree_width
    if here.site >= number:
        row = sites_out.sites[here.site].offset - tree.tree_start
        at, mirrored = (
            tree.tree_block + row * width + column,
            tree.tree_block + column * width + row,
        )
        if columns == 6:
            _write_square(here.sweep, block, at, mirrored, width)
        else:
            for r in range(6):
                block[at + r * width] = block[mirrored + r] = here.sweep[r, 0]
    if body.joint_type != FREE and body.joint_type != FIXED:
        other = sites_out.of_dof[body.v_index]
        if other >= number:
            row = sites_out.sites[other].offset - tree.tree_start
            at = tree.tree_block + row * width + column
            mirrored = tree.tree_block + column * width + row
            for k in range(columns):
                block[at + k] = here.answer[k]
                block[mirrored + k * width] = here.answer[k]


@inlined_kernel
def _write_square(sweep, block, at, mirrored, width):
    """Write six by six numbers from entry `at` of the block on, and mirrored elsewhere."""
    a0, a1, a2 = load(sweep, 0), load(sweep, LANES), load(sweep, 2 * LANES)
    a3, a4, a5 = load(sweep, 3 * LANES), load(sweep, 4 * LANES), load(sweep, 5 * LANES)
    store_six(block, at, a0)
    store_six(block, at + width, a1)
    store_six(block, at + 2 * width, a2)
    store_six(block, at + 3 * width, a3)
    store_six(block, at + 4 * width, a4)
    store_six(block, at + 5 * width, a5)
    if mirrored != at:
        store_six_transposed(block, mirrored, width, a0, a1, a2, a3, a4, a5)
        return
    for r in range(6):  # symmetric to the last bit
        for k in range(r):
            block[at + k * width + r] = block[at + r * width + k]


@inner_kernel
def site_velocities(forest, kinematics, velocity, site_count, sites_out):
    """Write the velocity of every site under the kernels' `velocity` (nv,)."""
    supports = sites_out.supports
    last = forest.bodies[forest.order[forest.order.shape[0] - 1]].root
    for k in range(supports[last].first_listed + supports[last].listed_count):
        i = supports[k].listed
        body, twist = forest.bodies[i], supports[i].twist
        if body.joint_type == FREE:
            for r in range(6):
                twist[r] = velocity[body.v_index + r]
            continue
        rate = velocity[body.v_index] if body.joint_type != FIXED else 0.0
        own = times(load(kinematics[i].S, 0), rate)
        if body.parent >= 0:
            own = plus(load(supports[body.parent].twist, 0), own)
        store(twist, 0, own)
    for number in range(site_count):
        site = sites_out.sites[number]
        if site.dof >= 0:
            sites_out.velocity[site.offset] = velocity[site.dof]
        else:
            twist = supports[site.body].twist
            for r in range(6):
                sites_out.velocity[site.offset + r] = twist[r]
