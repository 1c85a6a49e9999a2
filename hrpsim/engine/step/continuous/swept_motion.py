# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Motion of shapes over a step, and times of impact of candidate pairs."""

import math

from hrpsim.engine.collision.contacts import place_shape
from hrpsim.engine.collision.records import Collision
from hrpsim.engine.collision.relative_motion import FAST
from hrpsim.engine.collision.time_of_impact import find_turn, first_closing, way_bound
from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import (
    Body,
    Index,
    IndexTable,
    MaterialPair,
    Records,
    Scene,
    Settings,
    Shape,
    ShapeMotion,
    StepStats,
    Vector,
)
from hrpsim.engine.constraints.solver_table import PENALTY
from hrpsim.engine.kinematics.forest import Forest
from hrpsim.engine.kinematics.forward import update_poses
from hrpsim.engine.step.continuous.records import ContinuousDetection
from hrpsim.engine.step.motion.half_turns import turns_freely
from hrpsim.model.shapes.geometry import MESH, PLANE, SPHERE

# Limit of CCD queries in one search of a step: a constant, and a number for each pair. A query of
# a mesh counts as several. Beyond the limit, the remaining pairs stay at the start pose.
QUERIES, MORE_QUERIES, _OF_MESH = 16_384, 64, 64

# Added to the gap of contacts that have effect only if impacts have exact times [m].
FAR = 1e9


@inlined_kernel
def is_fast(shape: Shape) -> bool:
    """Return whether a shape moves by more than a fixed fraction of its thickness in the step."""
    return shape.body >= 0 and shape.travel > FAST * shape.thickness


@inner_kernel
def find_sweeps(s: Scene, start: Vector, end: Vector) -> None:
    """Write the motion of every shape in the world between two configurations.

    Args:
        s: the scene. collision.motions is written.
        start: configuration at the start (nq,).
        end: configuration at the end (nq,).
    """
    forest, kinematics, nowhere = s.forest, s.kinematics, s.work.directions[0]
    motions, shapes = s.collision.motions, s.collision.shapes
    for r in range(3):
        nowhere[r] = 0.0
    update_poses(forest, start, kinematics)
    for k in range(shapes.shape[0]):
        motion = motions[k]
        place_shape(forest, kinematics, shapes[k], nowhere, motion.R_start, motion.p_start)
    update_poses(forest, end, kinematics)
    for k in range(shapes.shape[0]):
        motion, shape = motions[k], shapes[k]
        if shape.body < 0:
            _stay(motion)
            continue
        place_shape(forest, kinematics, shape, nowhere, motion.R_end, motion.p_end)
        motion.angle = find_turn(motion.R_start, motion.R_end, motion.axis)
        square = 0.0
        for r in range(3):
            square += (motion.p_end[r] - motion.p_start[r]) ** 2
        shape.travel = max(shape.travel, math.sqrt(square) + motion.angle * shape.radius)


@inlined_kernel
def _stay(motion: ShapeMotion) -> None:
    """Set the end pose of a motion to the start pose."""
    motion.angle = 0.0
    for r in range(3):
        motion.axis[r], motion.p_end[r] = (1.0 if r == 2 else 0.0), motion.p_start[r]
        for c in range(3):
            motion.R_end[r, c] = motion.R_start[r, c]


@inlined_kernel
def may_meet(bodies: Records[Body], collision: Collision, c: int) -> bool:
    """Return whether a candidate pair needs a query of continuous collision detection.

    The query is needed for fast and near shapes of different trees. Planes need no query, because a
    plane has no far side.

    Args:
        bodies: BODY records.
        collision: shapes and candidate pairs.
        c: index of the candidate pair.
    """
    a, b = collision.shapes[collision.pairs[c, 0]], collision.shapes[collision.pairs[c, 1]]
    if min(a.kind, b.kind) == PLANE or not (is_fast(a) or is_fast(b)):
        return False
    return root_of(bodies, a) != root_of(bodies, b) and _is_fast_and_near(collision, c)


@inner_kernel
def _is_fast_and_near(collision: Collision, c: int) -> bool:
    """Return whether the relative motion of a candidate pair is fast, and the shapes may meet."""
    number_a, number_b = collision.pairs[c, 0], collision.pairs[c, 1]
    a, b = collision.shapes[number_a], collision.shapes[number_b]
    way = a.travel + b.travel
    if a.body >= 0 and b.body >= 0:
        way = way_bound(a, b, collision.motions[number_a], collision.motions[number_b])
        swift = a.swift != 0 and b.swift != 0
        if not swift and way <= FAST * min(a.thickness, b.thickness):
            return False
    return not _are_apart(a, b, way)


@inlined_kernel
def root_of(bodies: Records[Body], shape: Shape) -> int:
    """Return the root of the tree to which a shape belongs, -1 for the world."""
    return bodies[shape.body].root if shape.body >= 0 else -1


@inner_kernel
def too_far_apart(collision: Collision, c: int) -> bool:
    """Return whether the shapes of candidate pair c are too far apart to meet in this step.

    collision.motions must be the motions of half a step.
    """
    number_a, number_b = collision.pairs[c, 0], collision.pairs[c, 1]
    a, b = collision.shapes[number_a], collision.shapes[number_b]
    way = way_bound(a, b, collision.motions[number_a], collision.motions[number_b])
    return _are_apart(a, b, 2.0 * way)


@inlined_kernel
def _are_apart(a: Shape, b: Shape, way: float) -> bool:
    """Return whether two shapes cannot meet with a relative displacement of at most `way` [m]."""
    square = 0.0
    for r in range(3):
        square += (a.center[r] - b.center[r]) ** 2
    near = a.radius + b.radius + 1.5 * way
    return square > near * near


@inner_kernel
def meeting_of(
    settings: Settings,
    stats: StepStats,
    collision: Collision,
    c: int,
    free_share: float,
    held_share: float,
    queries_left: int,
) -> tuple[float, int, bool]:
    """Find the time of impact of a candidate pair.

    Shapes may penetrate by a fraction of the thinner shape's thickness, and always by the slop.

    Args:
        settings: settings of the step.
        stats: statistics of the step. `ccd_queries` and `impacts_cut` are changed.
        collision: shapes, motions and candidate pairs.
        c: index of the candidate pair.
        free_share: fraction of the thickness for shapes that are apart at the start.
        held_share: fraction of the thickness for shapes that touch at the start.
        queries_left: number of distance queries left.

    Returns:
        (time as a fraction of the motion or 1 for no impact, number of queries left, whether the
        search stopped at its limit).
    """
    a, b = collision.shapes[collision.pairs[c, 0]], collision.shapes[collision.pairs[c, 1]]
    thickness, slop = min(a.thickness, b.thickness), settings.slop
    depth, held_depth = max(free_share * thickness, slop), max(held_share * thickness, slop)
    cost = _OF_MESH if a.kind == MESH or b.kind == MESH else 1
    fraction, queries, cut = first_closing(
        collision.pairs[c], depth, held_depth, queries_left // cost, collision
    )
    stats.ccd_queries += queries
    stats.impacts_cut += 1 if cut else 0
    return fraction, max(queries_left - cost * queries, 0), cut


@inlined_kernel
def is_penalty(solver_choice: IndexTable, a: Shape, b: Shape) -> bool:
    """Return whether the contacts of two shapes are penalty contacts."""
    return solver_choice[a.solver_class, b.solver_class] == PENALTY


@inlined_kernel
def is_ballistic(forest: Forest, body: Index, shape: Shape) -> bool:
    """Return whether a shape is a ball about the origin of a free body, or belongs to the world.

    Sleeping and awake bodies are treated alike.
    """
    if body < 0:
        return not shape.asleep or shape.kind == SPHERE
    p = shape.placement_p
    return shape.kind == SPHERE and p[0] == p[1] == p[2] == 0.0 and turns_freely(forest, body)


@inlined_kernel
def both_fly(continuous: ContinuousDetection, a: Shape, b: Shape) -> bool:
    """Return whether impacts between two ballistic shapes are solved at their exact times."""
    return continuous.state[0].ballistic != 0 and a.ballistic > 0 and b.ballistic > 0


@inlined_kernel
def bounce_in_flight(
    materials: Records[MaterialPair], continuous: ContinuousDetection, a: Shape, b: Shape
) -> bool:
    """Return whether an impact of two shapes is solved at its exact time and has restitution."""
    return both_fly(continuous, a, b) and materials[a.material, b.material].restitution > 0.0
