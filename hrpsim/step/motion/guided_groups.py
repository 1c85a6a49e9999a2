# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Centres of mass where guided bodies press on others in an rk4 step.

The stages move the common centre of mass of bodies that press on each other as if nothing pressed.
A guided body (hrpsim.step.motion.loose_rotation) leaves that by a way of its own. Where nothing of
a group leans on the world the whole group is shifted so that its centre comes where the stages had
led it. Within the group nothing moves against anything else.
"""

from __future__ import annotations

import math

from hrpsim.jit.compiled import inner_kernel
from hrpsim.model.system import FREE
from hrpsim.step.scene.islands import join, representative_of, root_of


@inner_kernel
def keep_group_centres(counts, bodies, q, sites, rows, trees, turns):
    """Shift groups of trees by minus the mean of what guided bodies left the stages' way by."""
    held = turns
    _join_pressed(counts, bodies, sites, rows, trees)
    for i in range(held.shape[0]):
        held[i].group_mass = 0.0
        for r in range(3):
            held[i].group_shift[r] = 0.0
    for i in range(held.shape[0]):
        root, mass = bodies[i].root, bodies[i].mass
        group = held[representative_of(trees, root)]
        group.group_mass += mass if bodies[root].joint_type == FREE else math.inf
        if held[i].guided:
            for r in range(3):
                group.group_shift[r] -= mass * held[i].detour[r]
    for number in range(counts.row_count):
        row = rows.rows[number]
        if _pushes_links(sites, row) and row.site_b < 0:
            held[representative_of(trees, root_of(bodies, sites, row.site_a))].group_mass = math.inf
    for i in range(held.shape[0]):
        if bodies[i].root == i and bodies[i].joint_type == FREE:
            group, j = held[representative_of(trees, i)], bodies[i].q_index
            for r in range(3):
                q[j + r] += group.group_shift[r] / group.group_mass


@inner_kernel
def _join_pressed(counts, bodies, sites, rows, trees):
    """Make one group of the trees that constraint forces act between."""
    for i in range(trees.shape[0]):
        trees[i].representative = i
    for number in range(counts.row_count):
        row = rows.rows[number]
        if _pushes_links(sites, row) and row.site_b >= 0:
            join(trees, root_of(bodies, sites, row.site_a), root_of(bodies, sites, row.site_b))


@inner_kernel
def _pushes_links(sites, row):
    """Return whether a row exerts a force on links, at contacts or connections."""
    return row.impulse != 0.0 and sites.sites[row.site_a].dof < 0
