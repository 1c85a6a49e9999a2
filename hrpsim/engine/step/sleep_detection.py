# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Detection of free bodies at rest, and of forces on sleeping bodies."""

import math

import numpy as np

from hrpsim.engine.collision.records import Collision
from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import (
    Body,
    Connection,
    Contact,
    Counts,
    Failure,
    Index,
    Island,
    IslandTree,
    Metres,
    Records,
    Rest,
    Scene,
    Settings,
    Vector,
)
from hrpsim.engine.compile.lazy_kernels import lazy_kernel
from hrpsim.engine.constraints.rows import Rows
from hrpsim.engine.step.scene.islands import join, representative_of
from hrpsim.engine.step.scene.status import DONE, FALLS_ASLEEP, WAKES

# A body is at rest in a step under two conditions. No point of the body moves faster than this
# multiple of the velocity tolerance, with corrections of penetration included. The constraints of
# the body's island converge. The body falls asleep after REST_TIME. With an acceleration above 2
# speeds / REST_TIME, it is never at rest for that long. The residual motion of a stack of bodies is
# some tens of tolerances.
REST_TOLERANCES = 100.0
REST_TIME = 0.5  # [s]
LARGEST_REST_SPEED = 1e-5  # [m/s]

# per body: state of rest of a free body; data of an island is at its representative
REST = np.dtype(
    [
        ("may_sleep", "i8"),  # whether it is a free body
        ("radius", "f8"),  # radius of the bounding sphere about the body's origin [m]
        ("rest_steps", "i8"),  # number of steps at rest so far
        ("keeps_awake", "i8"),  # whether any body keeps the island awake
        ("grounded", "i8"),  # whether fixed bodies support the island
        ("island", "i8"),  # representative of the island if it is due to sleep, otherwise -1
    ]
)


@inlined_kernel
def wake_touched(s: Scene) -> int:
    """Return whether an awake body loads a sleeping body.

    Returns:
        WAKES if a sleeping body is loaded. failure.needed is then the index of its shape.

    Reads: collision, counts, rows, step_stats. Writes: failure.
    """
    return (
        _find_pressed(s.counts[0], s.failure[0], s.collision, s.rows)
        if s.step_stats[0].asleep > 0
        else DONE
    )


@inner_kernel
def _find_pressed(counts: Counts, failure: Failure, collision: Collision, rows: Rows) -> int:
    """Return WAKES if a contact loads a sleeping body. failure.needed is then the body's shape."""
    for c in range(counts.contact_count):
        contact = collision.contacts[c]
        if contact.body_a >= 0 and contact.body_b >= 0:
            continue
        shape = contact.shape_a if contact.body_a < 0 else contact.shape_b
        pressed = rows.rows[3 * c].impulse > 0.0 or contact.impact_impulse[0] > 0.0
        if pressed and collision.shapes[shape].asleep:
            failure.needed = shape
            return WAKES
    return DONE


@inlined_kernel
def detect_rest(s: Scene) -> int:
    """Count the steps for which free bodies have been at rest.

    Returns:
        FALLS_ASLEEP if any island has been at rest long enough to sleep.

    Reads: collision, connections, counts, forest, islands, q, rests, settings, start, step_stats,
    velocity, wrenches. Writes: islands, rests.
    """
    if s.settings[0].rest_steps == 0 or not s.settings[0].sleep:
        return DONE
    return find_sleepers(s) if count_rest(s) else DONE


@lazy_kernel(feature="sleep")
def find_sleepers(s: Scene) -> int:
    """Write which bodies are in islands that fall asleep. Return FALLS_ASLEEP if there are any."""
    _join_what_presses(
        s.counts[0], s.forest.bodies, s.collision.contacts, s.connections, s.islands.trees, s.rests
    )
    return FALLS_ASLEEP if _choose_sleepers(s.settings[0], s.islands.trees, s.rests) else DONE


@inlined_kernel
def _distance_moved(q: Vector, before: Vector, k: Index, radius: Metres) -> float:
    """Return a bound on the distance that points of a free body moved in a step [m]."""
    went, turned = 0.0, 0.0
    for r in range(k, k + 3):
        went += (q[r] - before[r]) ** 2
    for r in range(k + 3, k + 7):
        turned += (q[r] - before[r]) ** 2
    return math.sqrt(went) + 2.0 * radius * math.sqrt(turned)


@inlined_kernel
def _speed_of(velocity: Vector, v: Index, radius: Metres) -> float:
    """Return a bound on the speed of points of a free body [m/s]."""
    turning, going = 0.0, 0.0
    for r in range(v, v + 3):
        turning += velocity[r] ** 2
        going += velocity[r + 3] ** 2
    return math.sqrt(going) + radius * math.sqrt(turning)


@lazy_kernel(feature="sleep")
def count_rest(s: Scene) -> int:
    """Count the steps at rest of free bodies. Return whether any body has rested long enough."""
    settings, rests, bodies = s.settings[0], s.rests, s.forest.bodies
    q, velocity, before = s.q, s.velocity, s.start.q
    speed = min(REST_TOLERANCES * settings.tolerance, LARGEST_REST_SPEED)
    limit = speed * settings.time_step
    due = 0
    for i in range(rests.shape[0]):
        rest = rests[i]
        if not rest.may_sleep:
            continue
        moved = _distance_moved(q, before, bodies[i].q_index, rest.radius)
        moves = _speed_of(velocity, bodies[i].v_index, rest.radius)
        rest.rest_steps = rest.rest_steps + 1 if moved <= limit and moves <= speed else 0
        if rest.rest_steps >= settings.rest_steps:
            due = 1
    for k in range(s.counts[0].wrench_count):
        rests[bodies[s.wrenches[k].body].root].rest_steps = 0
    if not s.step_stats[0].converged:
        _keep_unconverged_awake(s.islands.trees, s.islands.ranges, rests)
    return due


@inlined_kernel
def _keep_unconverged_awake(
    trees: Records[IslandTree], islands: Records[Island], rests: Records[Rest]
) -> None:
    """Reset the time at rest of bodies whose islands did not converge in this step."""
    for i in range(rests.shape[0]):
        number = trees[representative_of(trees, i)].number
        if number >= 0 and not islands[number].converged:
            rests[i].rest_steps = 0


@inlined_kernel
def _join_what_presses(
    counts: Counts,
    bodies: Records[Body],
    contacts: Records[Contact],
    connections: Records[Connection],
    trees: Records[IslandTree],
    rests: Records[Rest],
) -> None:
    """Join trees with loaded contacts or connections between them.

    Trees that the world supports are marked.
    """
    for i in range(trees.shape[0]):
        trees[i].representative = bodies[i].root
        rests[i].grounded = 0
        rests[i].keeps_awake = 0
    for c in range(counts.contact_count):
        contact = contacts[c]
        force = contact.impulse
        if force[0] != 0.0 or force[1] != 0.0 or force[2] != 0.0:
            _hold_together(bodies, trees, rests, contact.body_a, contact.body_b)
    for c in range(connections.shape[0]):
        if connections[c].enabled:
            _hold_together(bodies, trees, rests, connections[c].body_a, connections[c].body_b)


@inlined_kernel
def _hold_together(
    bodies: Records[Body], trees: Records[IslandTree], rests: Records[Rest], a: int, b: int
) -> None:
    """Join the trees of two bodies. If one body is the world, mark the other as supported."""
    if a >= 0 and b >= 0:
        join(trees, bodies[a].root, bodies[b].root)
    else:
        rests[bodies[max(a, b)].root].grounded = 1


@inlined_kernel
def _choose_sleepers(settings: Settings, trees: Records[IslandTree], rests: Records[Rest]) -> bool:
    """Write the island with which each free body falls asleep, -1 for none.

    All bodies of the island must have been at rest for long enough, and the world must support the
    island. Floating bodies may drift at any low speed, and therefore do not sleep.

    Returns:
        Whether any body falls asleep.
    """
    required_steps = settings.rest_steps
    for i in range(trees.shape[0]):
        rest, of_island = rests[i], rests[representative_of(trees, i)]
        of_island.grounded = of_island.grounded or rest.grounded
        if not rest.may_sleep or rest.rest_steps < required_steps:
            of_island.keeps_awake = 1
    result = False
    for i in range(trees.shape[0]):
        representative = representative_of(trees, i)
        sleeps = rests[representative].grounded != 0 and rests[representative].keeps_awake == 0
        rests[i].island = representative if sleeps else -1
        result = result or sleeps
    return result
