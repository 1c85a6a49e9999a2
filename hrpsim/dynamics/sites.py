# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The sites of a step, where constraints push, and how they are numbered.

A *site* is a body (six columns: a spatial force at the tree's origin) or a degree of freedom (one
column: an effort).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hrpsim.jit.compiled import inlined_kernel, inner_kernel
from hrpsim.jit.fields import Axis, array
from hrpsim.model.system import FIXED, FREE
from hrpsim.spatial.simd import LANES

SITE = np.dtype(
    [
        ("body", "i8"),
        ("dof", "i8"),  # -1 for the body itself
        ("offset", "i8"),  # first column in the sites' velocity vector
        ("alone", "i8"),  # whether it is a body, and the only site of its limb
        ("largest", "f8"),  # largest diagonal entry of its own response [1/kg or 1/(kg m^2)]
    ]
)

SUPPORT = np.dtype(
    [
        ("site", "i8"),  # site of the body, -1 for none
        ("on_path", "i8"),  # whether the body supports a site
        ("source", "i8"),  # last site whose unit force was carried up through the body
        ("limb", "i8"),  # on a path: the first body of its limb, the root of a tree without limbs
        ("listed", "i8"),  # all bodies on paths, parents first: the k-th is in the k-th record
        ("tree_start", "i8"),  # at a root: first column of the tree, a multiple of LANES
        ("tree_width", "i8"),  # at a root: columns of the tree; some to spare make it a multiple
        ("tree_block", "i8"),  # at a root: where the tree's block starts in `block`
        ("first_site", "i8"),  # at a root: number of the tree's first site
        ("first_listed", "i8"),  # at a root: where the tree's bodies on paths begin in `listed`
        ("listed_count", "i8"),  # at a root: how many they are
        ("known_count", "i8"),  # in the first record: sites as they are numbered, 0 for not yet
        ("known_space", "i8"),  # the same: block space that they need
        ("known_bodies", "i8"),  # the same: how many bodies there were
        ("limb_sites", "i8"),  # at the first body of a limb: how many sites are on it
        ("_1", "f8"),  # what follows begins with a line of the cache
        ("twist", "f8", (6,)),  # work; six and two to spare
        ("_2", "f8", (2,)),
        ("answer", "f8", (LANES,)),  # work
        ("sweep", "f8", (6, LANES)),  # work
        ("at_base", "f8", (6, LANES)),  # unit forces on its sites, come to the base; lane 6: effort
        ("_3", "f8", (8,)),  # records a power of two apart would share few places of the cache
    ]
)


class Sites(NamedTuple):
    """The sites of one step."""

    supports: np.ndarray = array("each body on the paths from sites to roots", SUPPORT, Axis.BODY)
    marked: np.ndarray = array("1 for bodies that constraints push", "i8", Axis.BODY)
    numbered: np.ndarray = array("the same, when sites were last numbered", "i8", Axis.BODY)
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


def forget_numbers(sites: Sites) -> None:
    """Let sites be numbered anew: bodies have other places, or are others."""
    sites.supports["known_count"] = 0


@inner_kernel
def number_sites(forest, sites_out):
    """Number the bodies `marked` 1 and the degrees of freedom whose of_dof is marked >= 0.

    Also marks and lists the bodies on the paths from sites to their roots. Returns (count, block
    space needed). Where the last numbers are those of the same bodies, and of no degree of freedom,
    they stay.
    """
    known, with_dofs = sites_out.supports[0], _any_dof(sites_out.of_dof)
    as_many = known.known_bodies == forest.bodies.shape[0]
    if not with_dofs and known.known_count > 0 and as_many and _same_bodies(sites_out):
        return known.known_count, known.known_space
    count, needed = _number(forest, sites_out)
    known.known_count, known.known_space = 0 if with_dofs else count, needed
    known.known_bodies = forest.bodies.shape[0]
    return count, needed


@inlined_kernel
def _any_dof(of_dof):
    """Return whether any degree of freedom is marked."""
    marks = 0
    for k in range(of_dof.shape[0]):
        marks |= of_dof[k] + 1
    return marks != 0


@inlined_kernel
def _same_bodies(sites):
    """Return whether the marked bodies are those that were numbered last."""
    different = 0
    for i in range(sites.marked.shape[0]):
        different |= sites.marked[i] ^ sites.numbered[i]
    return different == 0


@inner_kernel
def _number(forest, sites_out):
    """Number what is marked; return (count, block space needed)."""
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
            support.first_site = count
        start = column
        support.site, sites_out.numbered[i] = -1, sites_out.marked[i]
        if sites_out.marked[i]:
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
    _find_lonely(forest, count, sites_out)
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
def _find_lonely(forest, site_count, sites_out):
    """Find the sites that share their limb, which hangs on a FREE base, with no other."""
    supports, sites = sites_out.supports, sites_out.sites
    for number in range(site_count):
        supports[supports[sites[number].body].limb].limb_sites = 0
    for number in range(site_count):
        supports[supports[sites[number].body].limb].limb_sites += 1
    for number in range(site_count):
        site = sites[number]
        limb = supports[site.body].limb
        hangs = forest.bodies[limb].parent >= 0
        site.alone = 1 if hangs and site.dof < 0 and supports[limb].limb_sites == 1 else 0
