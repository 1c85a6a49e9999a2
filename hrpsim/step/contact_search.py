# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Where the bodies of a step are, and where they touch."""

from __future__ import annotations

from hrpsim.collision.candidates import keep_candidates, refresh_candidates
from hrpsim.collision.contacts import detect, recall_impulses
from hrpsim.jit.compiled import inlined_kernel, inner_kernel
from hrpsim.jit.on_demand import on_demand_kernel
from hrpsim.kinematics.forward import update_poses, update_velocities
from hrpsim.step.continuous.fast_motion import any_fast, look_at_drift, needs_every_shape
from hrpsim.step.continuous.passages import add_passages, find_flying
from hrpsim.step.scene.records import SEMI_IMPLICIT
from hrpsim.step.scene.status import DONE, MORE_CANDIDATES, MORE_CONTACTS, NEEDS_KERNEL


@inlined_kernel
def place_bodies(s):
    """Find where every body is, and how it moves."""
    update_poses(s.forest, s.q, s.kinematics)
    update_velocities(s.forest, s.work.velocity_middle, s.kinematics)


@on_demand_kernel(brings=("prepare_rows", "solve_rows"))
def find_contacts(s):
    """Find the contact points, and what each pressed with in the last step.

    Every world needs it; apart from the step it is compiled at the same time (announcement).

    Reads: collision, connections, forest, kinematics, materials, q, solver_choice,
    spring_hinges, work.
    Writes: collision, kinematics, q, work.
    """
    settings, stats, collision = s.settings[0], s.step_stats[0], s.collision
    status = list_pairs(s)
    if status == DONE and settings.continuous:
        status = _look_at_drift(s)
    if status != DONE:
        return status
    count = detect(
        s.forest,
        s.kinematics,
        stats.candidate_count,
        settings.contact_margin,
        settings.time_step,
        stats.previous_count,
        s.on_demand,
        collision,
    )
    if count == NEEDS_KERNEL:
        return NEEDS_KERNEL
    if count + stats.passage_count > collision.contacts.shape[0]:
        stats.needed = count + stats.passage_count
        return MORE_CONTACTS
    stats.contact_count = count
    if stats.flies or stats.passage_count > 0:
        status = add_passages(s)
        if status != DONE:
            return status
    stats.found_count = stats.contact_count
    match_contacts(s)
    return DONE


@inner_kernel
def list_pairs(s):
    """List the pairs of shapes that may meet, if the last list may be short."""
    settings, stats = s.settings[0], s.step_stats[0]
    stats.calm = 0
    if stats.candidate_count >= 0 and not needs_every_shape(s):
        stats.calm = keep_candidates(
            s.forest,
            s.kinematics,
            settings.contact_margin,
            settings.time_step,
            settings.continuous,
            s.collision,
        )
        if stats.calm:
            return DONE
    count = refresh_candidates(
        s.forest,
        s.kinematics,
        settings.contact_margin,
        settings.time_step,
        settings.skin,
        settings.continuous,
        stats.candidate_count,
        s.collision,
    )
    if count > s.collision.pairs.shape[0]:
        stats.candidate_count, stats.needed = -1, count
        return MORE_CANDIDATES
    stats.candidate_count = count
    return DONE


@inlined_kernel
def _look_at_drift(s):
    """Let nothing fast pass through anything on its way to where contacts are found."""
    fast = not s.step_stats[0].calm and any_fast(s.collision)
    if s.on_demand[0].resolve_impacts != 0 and (fast or s.step_stats[0].flies):
        status = find_flying(s)
        if status != DONE:
            return status
    if not fast or s.settings[0].integrator != SEMI_IMPLICIT:
        return DONE
    return hold_back_fast(s)


@on_demand_kernel(brings=("move_on",))
def hold_back_fast(s):
    """Hold back what is fast and would pass through something; place it again, and list its pairs.

    Reads: collision, forest, kinematics, q, work.
    Writes: collision, kinematics, q, work.
    """
    status = look_at_drift(s)
    if status != DONE or not s.step_stats[0].undrifted:
        return status
    place_bodies(s)
    return list_pairs(s)


@inner_kernel
def match_contacts(s):
    """Let contacts start from what they pressed with in the last step."""
    stats, collision = s.step_stats[0], s.collision
    stats.new_count = recall_impulses(
        stats.previous_count,
        collision.previous,
        stats.contact_count,
        collision.contacts,
        stats.born_count,
    )


@on_demand_kernel()
def match_contacts_again(s):
    """Let contacts start anew, where a step is solved once more.

    Reads: collision.
    Writes: collision.
    """
    match_contacts(s)
    return DONE
