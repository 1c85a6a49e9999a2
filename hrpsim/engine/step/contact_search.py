# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Compute the poses of all bodies for a step's contact search, and find the contacts."""

from hrpsim.engine.collision.candidates import keep_candidates, refresh_candidates
from hrpsim.engine.collision.contacts import detect, recall_impulses
from hrpsim.engine.collision.records import Collision
from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import Failure, Kinematics, Records, Search, Settings
from hrpsim.engine.compile.lazy_kernels import lazy_kernel
from hrpsim.engine.kinematics.forest import Forest
from hrpsim.engine.kinematics.forward import update_poses, update_velocities
from hrpsim.engine.step.arrays import Scene
from hrpsim.engine.step.continuous.fast_motion import check_drift
from hrpsim.engine.step.continuous.speculative_contacts import add_speculative_contacts, find_flying
from hrpsim.engine.step.continuous.swept_motion import is_fast
from hrpsim.engine.step.scene.status import DONE, MORE_CANDIDATES, MORE_CONTACTS, NEEDS_KERNEL


@lazy_kernel(brings=("prepare_rows", "solve_rows"))
def find_contacts(s: Scene) -> int:
    """Find the contact points, and their impulses in the last step.

    Every world needs this kernel, so it is compiled in parallel with the step (announcement.py).

    Reads: collision, connections, continuous, counts, forest, kinematics, lazy_kernels, materials,
    momentum, q, search, settings, solver_choice, start, step_stats, work. Writes: collision,
    continuous, counts, failure, kinematics, momentum, q, search, step_stats, work.
    """
    search, counts = s.search[0], s.counts[0]
    settings, collision = s.settings[0], s.collision
    status = list_pairs(settings, search, s.failure[0], s.forest, s.kinematics, collision)
    if status == DONE and settings.continuous:
        status = _check_drift(s)
    if status != DONE:
        return status
    pairs, previous = search.candidate_count, counts.previous_count
    count = detect(settings, s.forest, s.kinematics, pairs, previous, s.lazy_kernels, collision)
    if count == NEEDS_KERNEL:
        return NEEDS_KERNEL
    if count + s.continuous.state[0].speculative_count > collision.contacts.shape[0]:
        s.failure[0].needed = count + s.continuous.state[0].speculative_count
        return MORE_CONTACTS
    counts.contact_count = count
    if s.continuous.state[0].ballistic or s.continuous.state[0].speculative_count > 0:
        status = add_speculative_contacts(s)
        if status != DONE:
            return status
    search.found_count = counts.contact_count
    counts.new_count = recall_impulses(counts, collision)
    return DONE


@inner_kernel
def list_pairs(
    settings: Settings,
    search: Search,
    failure: Failure,
    forest: Forest,
    kinematics: Records[Kinematics],
    collision: Collision,
) -> int:
    """List the pairs of shapes that may meet, unless the last list is still complete."""
    search.calm = 0
    # Impacts, and stages that change the poses, need the displacement of all shapes.
    if search.candidate_count >= 0 and not (settings.restitution or settings.staged):
        search.calm = keep_candidates(settings, forest, kinematics, collision)
        if search.calm:
            return DONE
    count = refresh_candidates(settings, forest, kinematics, search.candidate_count, collision)
    if count > collision.pairs.shape[0]:
        search.candidate_count, failure.needed = -1, count
        return MORE_CANDIDATES
    search.candidate_count = count
    return DONE


@inlined_kernel
def _check_drift(s: Scene) -> int:
    """Prevent fast shapes from passing through others before the contacts are found.

    The drift is the motion from the start of the step to the positions where the forces act.

    Returns:
        DONE, or the status with which the step ends.
    """
    fast = False
    if not s.search[0].calm:
        for number in s.collision.moving:
            fast = fast or is_fast(s.collision.shapes[number])
    if s.settings[0].restitution and (fast or s.continuous.state[0].ballistic):
        status = find_flying(s)
        if status != DONE:
            return status
    if not fast or s.settings[0].drift == 0.0:
        return DONE
    return hold_back_fast(s)


@lazy_kernel(brings=("move_on",))
def hold_back_fast(s: Scene) -> int:
    """Move fast trees back to the start of the step if they would pass through others.

    Poses and candidate pairs are then updated.

    Reads: collision, connections, continuous, counts, forest, kinematics, lazy_kernels, materials,
    momentum, q, search, settings, solver_choice, start, step_stats, work. Writes: collision,
    continuous, failure, kinematics, momentum, q, search, step_stats, work.
    """
    status = check_drift(s)
    if status != DONE or not s.continuous.state[0].start_force:
        return status
    update_poses(s.forest, s.q, s.kinematics)
    update_velocities(s.forest, s.work.velocity_middle, s.kinematics)
    settings, search, failure = s.settings[0], s.search[0], s.failure[0]
    return list_pairs(settings, search, failure, s.forest, s.kinematics, s.collision)


@lazy_kernel()
def match_contacts_again(s: Scene) -> int:
    """Match contacts with the contacts of the last step again, before a step is repeated.

    Reads: collision, counts. Writes: collision, counts.
    """
    s.counts[0].new_count = recall_impulses(s.counts[0], s.collision)
    return DONE
