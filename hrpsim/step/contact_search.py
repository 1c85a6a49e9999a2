"""Where the bodies of a step are, and where they touch."""

from __future__ import annotations

from hrpsim.collision.candidates import keep_candidates, refresh_candidates
from hrpsim.collision.contacts import detect, recall_impulses
from hrpsim.jit.compiled import inlined_kernel, inner_kernel
from hrpsim.jit.late import RESTITUTION
from hrpsim.kinematics.forward import update_poses, update_velocities
from hrpsim.step.impacts.impact_times import any_fast, look_at_drift, needs_every_shape
from hrpsim.step.impacts.passages import add_passages, find_flying, mark_far
from hrpsim.step.scene.scene import SEMI_IMPLICIT
from hrpsim.step.scene.status import DONE, MORE_CANDIDATES, MORE_CONTACTS, NEEDS_KERNEL


@inlined_kernel
def place_bodies(s):
    """Find where every body is, and how it moves."""
    update_poses(s.forest, s.q, s.kinematics)
    update_velocities(s.forest, s.work.velocity_middle, s.kinematics)


@inlined_kernel
def collide_shapes(s):
    """Find the contact points, and what each pressed with in the last step."""
    settings, tally, collision = s.settings[0], s.tally[0], s.collision
    status = list_pairs(s)
    if status == DONE and settings.continuous:
        status = _look_at_drift(s)
    if status != DONE:
        return status
    count = detect(
        s.forest,
        s.kinematics,
        tally.candidate_count,
        settings.contact_margin,
        settings.time_step,
        tally.previous_count,
        s.late,
        collision,
    )
    if count < 0:
        tally.needed = -1 - count
        return NEEDS_KERNEL
    if count + tally.passage_count > collision.contacts.shape[0]:
        tally.needed = count + tally.passage_count
        return MORE_CONTACTS
    tally.contact_count = count
    if tally.flies:
        mark_far(s)
    if tally.passage_count > 0:
        add_passages(s)
    tally.found_count = tally.contact_count
    recall(s)
    return DONE


@inner_kernel
def list_pairs(s):
    """List the pairs of shapes that may meet, if the last list may be short."""
    settings, tally = s.settings[0], s.tally[0]
    tally.calm = 0
    if tally.candidate_count >= 0 and not needs_every_shape(s):
        tally.calm = keep_candidates(
            s.forest,
            s.kinematics,
            settings.contact_margin,
            settings.time_step,
            settings.continuous,
            s.collision,
        )
        if tally.calm:
            return DONE
    count = refresh_candidates(
        s.forest,
        s.kinematics,
        settings.contact_margin,
        settings.time_step,
        settings.skin,
        settings.continuous,
        tally.candidate_count,
        s.collision,
    )
    if count > s.collision.pairs.shape[0]:
        tally.candidate_count, tally.needed = -1, count
        return MORE_CANDIDATES
    tally.candidate_count = count
    return DONE


@inlined_kernel
def _look_at_drift(s):
    """Let nothing fast pass through anything on its way to where contacts are found."""
    fast = not s.tally[0].calm and any_fast(s.collision)
    if s.late[RESTITUTION] != 0 and (fast or s.tally[0].flies):
        find_flying(s)
    if not fast or s.settings[0].integrator != SEMI_IMPLICIT:
        return DONE
    status = look_at_drift(s)
    if status != DONE or not s.tally[0].undrifted:
        return status
    place_bodies(s)
    return list_pairs(s)


@inner_kernel
def recall(s):
    """Let contacts start from what they pressed with in the last step."""
    tally, collision = s.tally[0], s.collision
    tally.new_count = recall_impulses(
        tally.previous_count,
        collision.previous,
        tally.contact_count,
        collision.contacts,
        tally.born_count,
    )
