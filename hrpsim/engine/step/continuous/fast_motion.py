# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Continuous collision detection in a step, for shapes fast enough to pass through others.

Contacts are found up to a distance of a fraction of a shape's thickness. A fast shape moves
farther in one step. The solved motion is therefore searched for the first time of impact
(engine.collision.time_of_impact). On an impact, the step begins again with speculative contacts
(.speculative_contacts). Their impulses conserve momentum, and the trees move for the whole step.
If these contacts do not suffice, the trees that meet stop relative to each other (.standstill).
The drift, which comes before contacts are found, is checked separately (.drift).
"""

import math

import numpy as np

from hrpsim.engine.collision.candidates import list_candidates, place_centers
from hrpsim.engine.collision.records import Collision
from hrpsim.engine.collision.relative_motion import FAST
from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import (
    Body,
    Failure,
    Index,
    Kinematics,
    Records,
    Scene,
    Search,
    Settings,
    Vector,
)
from hrpsim.engine.compile.lazy_kernels import lazy_kernel
from hrpsim.engine.kinematics.ball_joint import find_ball_turn
from hrpsim.engine.kinematics.forest import Forest
from hrpsim.engine.kinematics.forward import update_poses, update_velocities
from hrpsim.engine.spatial.vector import copy_vector
from hrpsim.engine.step.continuous.drift import hold_back
from hrpsim.engine.step.continuous.speculative_contacts import list_speculative_contacts
from hrpsim.engine.step.continuous.standstill import carry
from hrpsim.engine.step.continuous.swept_motion import MORE_QUERIES, QUERIES, find_sweeps, is_fast
from hrpsim.engine.step.scene.status import DONE, MORE_CANDIDATES, RESOLVED, WIDER_SEARCH
from hrpsim.model.system import FIXED, FREE

# Maximum number of passes of a step with more and more speculative contacts.
_PASSES = 24


@inlined_kernel
def check_drift(s: Scene) -> int:
    """Move trees back to the start of the step if their drift passes through others."""
    copy_vector(s.start.q, s.continuous.q_swept)
    return let_nothing_pass(s, 0)


@inlined_kernel
def check_motion(s: Scene) -> int:
    """Check the motion from continuous.q_swept, and prevent shapes from passing through others.

    Returns:
        WIDER_SEARCH if the step must be repeated with more contacts, else DONE.
    """
    return (
        let_nothing_pass(s, 1)
        if _anything_fast(
            s.settings[0], s.search[0], s.forest, s.velocity, s.kinematics, s.collision
        )
        else DONE
    )


@lazy_kernel(np.int64)
def let_nothing_pass(s: Scene, solved: int) -> int:
    """Prevent shapes from passing through others in the drift or in the solved motion.

    Args:
        s: the scene.
        solved: 0 for the drift to the middle of the step, 1 for the motion from the solver.
    """
    copy_vector(s.q, s.continuous.q_carried)
    find_sweeps(s, s.continuous.q_swept, s.continuous.q_carried)
    status = _widen_search(s.settings[0], s.search[0], s.failure[0], s.collision)
    if status != DONE:
        return status
    if not solved:
        hold_back(s)
        return DONE
    queries_left = QUERIES + MORE_QUERIES * s.search[0].candidate_count
    _find_way(s.forest, s.continuous.q_swept, s.q, s.continuous.carried)
    if s.settings[0].order > 1 and s.continuous.state[0].passes < _PASSES:
        update_poses(s.forest, s.continuous.q_swept, s.kinematics)
        update_velocities(s.forest, s.continuous.carried, s.kinematics)
        queries_left, status = list_speculative_contacts(s, queries_left)
        if status == WIDER_SEARCH:
            s.continuous.state[0].passes += 1
        if status != RESOLVED:
            return status
    carry(s, queries_left)
    return DONE


@inlined_kernel
def _anything_fast(
    settings: Settings,
    search: Search,
    forest: Forest,
    velocity: Vector,
    kinematics: Records[Kinematics],
    collision: Collision,
) -> bool:
    """Return whether a shape is fast. Velocities that impacts give to free bodies count."""
    shapes, moving = collision.shapes, collision.moving
    dt = settings.time_step
    if search.calm:
        if not _any_body_fast(settings, forest.bodies, velocity, collision):
            return False
        place_centers(settings, forest, kinematics, collision)
    fast = False
    for k in range(moving.shape[0]):
        shape = shapes[moving[k]]
        body = forest.bodies[shape.body]
        if body.joint_type == FREE:
            p = shape.placement_p
            arm = math.sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]) + shape.radius
            shape.travel = max(shape.travel, dt * _fastest(velocity, body.v_index, arm))
        fast = fast or is_fast(shape)
    return fast


@inlined_kernel
def _any_body_fast(
    settings: Settings, bodies: Records[Body], velocity: Vector, collision: Collision
) -> bool:
    """Return whether a shape of a free body may be fast. Velocities from impacts count."""
    body_bounds = collision.body_bounds
    for k in range(body_bounds.shape[0]):
        carrying = body_bounds[k]
        body = bodies[carrying.body]
        if body.joint_type != FREE:
            continue
        fastest = _fastest(velocity, body.v_index, carrying.extent)
        if settings.time_step * fastest > FAST * carrying.thickness:
            return True
    return False


@inlined_kernel
def _fastest(velocity: Vector, v: int, arm: float) -> float:
    """Return a bound on the speed of a free body's points within `arm` [m] of its origin [m/s].

    The body's entries of `velocity` begin at `v`.
    """
    turning = velocity[v] ** 2 + velocity[v + 1] ** 2 + velocity[v + 2] ** 2
    going = velocity[v + 3] ** 2 + velocity[v + 4] ** 2 + velocity[v + 5] ** 2
    return math.sqrt(going) + arm * math.sqrt(turning)


@inner_kernel
def _find_way(forest: Forest, start: Vector, end: Vector, way_out: Vector) -> None:
    """Write the velocity that moves one configuration to another in unit time.

    Args:
        forest: constants of the bodies and joints.
        start: configuration at the start (nq,).
        end: configuration at the end (nq,).
        way_out: velocity (nv,) in kernels' layout, per unit time, written.
    """
    for i in range(forest.bodies.shape[0]):
        body = forest.bodies[i]
        k, j = body.v_index, body.q_index
        if body.joint_type == FREE:
            for r in range(3):
                way_out[k + 3 + r] = end[j + r] - start[j + r]
            _find_turn(start, end, j + 3, way_out, k)
        elif body.ball != 0:
            if body.ball == 1:
                find_ball_turn(start, end, j, way_out, k)
        elif body.joint_type != FIXED:
            way_out[k] = end[j] - start[j]


@inner_kernel
def _find_turn(start: Vector, end: Vector, at: Index, way_out: Vector, k: Index) -> None:
    """Write the shortest rotation vector between two unit quaternions [rad].

    Args:
        start: configuration at the start (nq,).
        end: configuration at the end (nq,).
        at: index of the quaternion in both configurations.
        way_out: velocity (nv,), of which the rotation vector is written.
        k: index of the rotation vector in `way_out`.
    """
    a, b, c, d = start[at], start[at + 1], start[at + 2], start[at + 3]
    x, y, z, w = end[at], end[at + 1], end[at + 2], end[at + 3]
    # end times the conjugate of start
    cosine = w * d + x * a + y * b + z * c
    u = -w * a + x * d - y * c + z * b
    v = -w * b + x * c + y * d - z * a
    n = -w * c - x * b + y * a + z * d
    sine = math.sqrt(u * u + v * v + n * n)
    scale = 2.0
    if sine > 1e-9:
        scale = 2.0 * math.atan2(sine, abs(cosine)) / sine
    if cosine < 0.0:
        scale = -scale
    way_out[k], way_out[k + 1], way_out[k + 2] = scale * u, scale * v, scale * n


@inner_kernel
def _widen_search(
    settings: Settings, search: Search, failure: Failure, collision: Collision
) -> int:
    """List the candidate pairs again if impacts move a shape farther than the list permits.

    Returns:
        DONE, or MORE_CANDIDATES if the list is too small.
    """
    shapes = collision.shapes
    beyond = False
    for k in range(shapes.shape[0]):
        shape = shapes[k]
        square = 0.0
        for r in range(3):
            square += (shape.center[r] - shape.listed_center[r]) ** 2
        left = shape.listed_slack - settings.contact_margin - math.sqrt(square)
        beyond = beyond or (shape.body >= 0 and shape.travel > left)
    if not beyond:
        return DONE
    count = list_candidates(settings.contact_margin, settings.skin, collision)
    if count > collision.pairs.shape[0]:
        search.candidate_count, failure.needed = -1, count
        return MORE_CANDIDATES
    search.candidate_count = count
    return DONE
