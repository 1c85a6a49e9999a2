# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Standstill: trees that would penetrate each other stop relative to each other.

This is the last resort if speculative contacts do not suffice. Trees move from meeting to meeting.
Trees that meet form a cluster. Until the end of the step, the cluster moves with the velocity of
its centre of mass. A cluster that includes the world does not move. The velocities of the trees do
not change. Momentum, the centre of mass and angular momentum are therefore conserved. Only the
relative motion of the rest of the step is lost. Each meeting joins two clusters, so there are fewer
meetings than trees.
"""

from hrpsim.engine.collision.records import Collision
from hrpsim.engine.collision.time_of_impact import STRIDE, TOUCH
from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import (
    Body,
    Connection,
    Index,
    Mat3,
    Records,
    Scene,
    Search,
    Seconds,
    Settings,
    Shape,
    StepStats,
    Subtree,
    Vector,
    Work,
)
from hrpsim.engine.dynamics.tree_momentum import tree_momentum
from hrpsim.engine.kinematics.forest import Forest
from hrpsim.engine.spatial.rotation import rotated
from hrpsim.engine.spatial.vector import copy_vector
from hrpsim.engine.step.continuous.records import ContinuousDetection
from hrpsim.engine.step.continuous.swept_motion import both_fly, find_sweeps, may_meet, meeting_of
from hrpsim.engine.step.motion.carry import carry_body
from hrpsim.model.system import FIXED, FREE

_WORLD = -1


@inner_kernel
def carry(s: Scene, queries_left: int) -> None:
    """Move all trees from q_swept for the rest of the step with the velocity `carried`.

    The kernel writes s.q. If no queries are left, pairs stop at the present configuration.

    Args:
        s: the scene.
        queries_left: number of distance queries left.
    """
    continuous, bodies, collision = s.continuous, s.forest.bodies, s.collision
    settings, stats, search = s.settings[0], s.step_stats[0], s.search[0]
    body_states = continuous.bodies
    for i in range(body_states.shape[0]):
        state = body_states[i]
        state.cluster, state.since, state.stopped = bodies[i].root, 0.0, 0
    time = 0.0
    for _ in range(body_states.shape[0] + 1):
        _place(bodies, continuous, time, continuous.q_carried)
        _place(bodies, continuous, 1.0, s.q)
        find_sweeps(s, continuous.q_carried, s.q)
        fraction, pair, queries_left = _first_meeting(
            settings, stats, search, bodies, collision, continuous, queries_left
        )
        if pair < 0:
            break
        time += fraction * (1.0 - time)
        _place(bodies, continuous, time, continuous.q_carried)
        a, b = collision.pairs[pair, 0], collision.pairs[pair, 1]
        shapes = collision.shapes
        _join(
            bodies,
            continuous,
            _cluster_of(shapes, continuous, a),
            _cluster_of(shapes, continuous, b),
        )
        while _join_connected(bodies, continuous, s.connections):
            pass
        cluster, subtrees = _cluster_of(shapes, continuous, a), s.momentum.subtrees
        _go_together(s.forest, s.q, subtrees, continuous, s.work, cluster, time)


@inner_kernel
def _place(
    bodies: Records[Body], continuous: ContinuousDetection, time: Seconds, q_out: Vector
) -> None:
    """Write the configuration of all trees at a time, as a fraction of the motion."""
    start, velocity = continuous.q_swept, continuous.carried
    copy_vector(start, q_out)
    for i in range(bodies.shape[0]):
        body = bodies[i]
        duration = time - continuous.bodies[body.root].since
        carry_body(body, velocity, duration, q_out)


@inner_kernel
def _first_meeting(
    settings: Settings,
    stats: StepStats,
    search: Search,
    bodies: Records[Body],
    collision: Collision,
    continuous: ContinuousDetection,
    queries_left: int,
) -> tuple[float, int, int]:
    """Find the next meeting of two clusters.

    Returns:
        (fraction of the remaining time, index of the candidate pair or -1 for no meeting, number of
        queries left).
    """
    earliest, first = 1.0, -1
    for c in range(search.candidate_count):
        number_a, number_b = collision.pairs[c, 0], collision.pairs[c, 1]
        a, b = collision.shapes[number_a], collision.shapes[number_b]
        if not may_meet(bodies, collision, c) or _cluster_of(
            collision.shapes, continuous, number_a
        ) == _cluster_of(collision.shapes, continuous, number_b):
            continue
        if both_fly(continuous, a, b):
            continue
        fraction, queries_left, _ = meeting_of(
            settings, stats, collision, c, TOUCH, STRIDE, queries_left
        )
        if fraction < earliest:
            earliest, first = fraction, c
    return earliest, first, queries_left


@inlined_kernel
def _cluster_of(shapes: Records[Shape], continuous: ContinuousDetection, number: Index) -> int:
    """Return the cluster of the tree that a shape belongs to."""
    return _cluster_of_body(continuous, shapes[number].body)


@inlined_kernel
def _cluster_of_body(continuous: ContinuousDetection, body: Index) -> int:
    """Return the cluster of the tree of a body."""
    return continuous.bodies[body].cluster if body >= 0 else _WORLD


@inner_kernel
def _join(bodies: Records[Body], continuous: ContinuousDetection, a: int, b: int) -> None:
    """Join two clusters to one cluster, and mark its bodies as stopped.

    If a tree of the cluster is fixed to the world, the world's cluster is the result.
    """
    body_states = continuous.bodies
    placed = min(a, b)
    for i in range(body_states.shape[0]):
        if body_states[i].cluster == a or body_states[i].cluster == b:
            body_states[i].stopped = 1
            if bodies[bodies[i].root].joint_type != FREE:
                placed = _WORLD
    for i in range(body_states.shape[0]):
        if body_states[i].cluster == a or body_states[i].cluster == b:
            body_states[i].cluster = placed


@inner_kernel
def _join_connected(
    bodies: Records[Body], continuous: ContinuousDetection, connections: Records[Connection]
) -> bool:
    """Stop the trees that are connected to stopped trees. Return whether any tree newly stops."""
    result = False
    for k in range(connections.shape[0]):
        body_a, body_b = connections[k].body_a, connections[k].body_b
        a, b = _cluster_of_body(continuous, body_a), _cluster_of_body(continuous, body_b)
        if a != b and (_has_stopped(continuous, body_a) or _has_stopped(continuous, body_b)):
            _join(bodies, continuous, a, b)
            result = True
    return result


@inlined_kernel
def _has_stopped(continuous: ContinuousDetection, body: Index) -> bool:
    """Return whether a body is in a cluster that stopped. False for the world."""
    return body >= 0 and continuous.bodies[body].stopped != 0


@inner_kernel
def _go_together(
    forest: Forest,
    q: Vector,
    subtrees: Records[Subtree],
    continuous: ContinuousDetection,
    work: Work,
    cluster: Index,
    now: float,
) -> None:
    """Move a cluster's trees from q_carried on with the velocity of the cluster's centre of mass.

    The displacement of the trees from q_carried to s.q gives this velocity.
    """
    body_states, bodies, way = continuous.bodies, forest.bodies, work.directions[0]
    mass, left = 0.0, 1.0 - now
    for r in range(3):
        way[r] = 0.0
    if cluster != _WORLD and left > 0.0:
        for i in range(body_states.shape[0]):
            if body_states[i].cluster == cluster and bodies[i].root == i:
                q_carried = continuous.q_carried
                mass += _add_way(
                    forest, subtrees, continuous, work.directions, i, q_carried, -1.0, way
                )
                _add_way(forest, subtrees, continuous, work.directions, i, q, 1.0, way)
        for r in range(3):
            way[r] /= mass * left
    for i in range(body_states.shape[0]):
        if body_states[i].cluster == cluster:
            body_states[i].since = now
            _set_going(continuous, bodies[i], way)


@inner_kernel
def _add_way(
    forest: Forest,
    subtrees: Records[Subtree],
    continuous: ContinuousDetection,
    directions: Mat3,
    root: Index,
    q: Vector,
    sign: float,
    way: Vector,
) -> float:
    """Add `sign` times mass times centre of mass of a free tree to `way`.

    Args:
        forest: constants of the bodies and joints.
        subtrees: work, mass and centre of mass of each subtree.
        continuous: state of continuous collision detection.
        directions: work (3, 3).
        root: root body of the tree.
        q: configuration (nq,).
        sign: factor of the term.
        way: sum (3,) [kg m], changed.

    Returns:
        The mass of the tree [kg].
    """
    subtree, moment = subtrees[root], directions[1]
    tree_momentum(forest, q, continuous.carried, root, subtrees, moment)
    j, h = forest.bodies[root].q_index, subtree.moment
    hx, hy, hz = rotated(q[j + 3], q[j + 4], q[j + 5], q[j + 6], h[0], h[1], h[2])
    way[0] += sign * (subtree.mass * q[j] + hx)
    way[1] += sign * (subtree.mass * q[j + 1] + hy)
    way[2] += sign * (subtree.mass * q[j + 2] + hz)
    return subtree.mass


@inlined_kernel
def _set_going(continuous: ContinuousDetection, body: Body, velocity: Vector) -> None:
    """Move a body from q_carried on with its tree's velocity (3,), with joints at rest."""
    k, j = body.v_index, body.q_index
    if body.joint_type == FREE:
        for r in range(7):
            continuous.q_swept[j + r] = continuous.q_carried[j + r]
        for r in range(3):
            continuous.carried[k + r], continuous.carried[k + 3 + r] = 0.0, velocity[r]
    elif body.joint_type != FIXED:
        continuous.q_swept[j], continuous.carried[k] = continuous.q_carried[j], 0.0
