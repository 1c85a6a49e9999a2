# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""First half of a semi-implicit step (drift), for trees that it would move through others.

The drift is the motion to the middle of the step, where contacts are detected. The drift uses the
velocity v at the start of the step. If this velocity is new, or if the shapes were distant, v was
never solved together with contacts. The drift may then lead shapes through each other. The forces
on these trees act at the start of the step instead. The trees move for the whole step of size dt
with the velocity v' at its end:

    v' = v + dt a(q, v),   q' = q + dt v' - dt^2/2 g.

Here q is the configuration, a the acceleration, g the gravitational acceleration, and ' marks the
end of the step. For these trees, the step is accurate to first order. The last term applies only to
trees in free fall, and not to trees that the world supports through contacts. All trees near such a
tree also return to the start of the step, because contacts need the poses at one time.
"""

from hrpsim.engine.collision.records import Collision
from hrpsim.engine.collision.relative_motion import mark_swift
from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import (
    Body,
    Connection,
    Counts,
    Index,
    Records,
    Row,
    Scene,
    Search,
    Shape,
)
from hrpsim.engine.compile.lazy_kernels import lazy_kernel
from hrpsim.engine.constraints.rows import Rows
from hrpsim.engine.dynamics.constraint_bodies import ConstraintBodies
from hrpsim.engine.step.continuous.records import ContinuousDetection
from hrpsim.engine.step.continuous.swept_motion import (
    MORE_QUERIES,
    QUERIES,
    bounce_in_flight,
    is_penalty,
    may_meet,
    meeting_of,
    root_of,
    too_far_apart,
)
from hrpsim.engine.step.motion.carry import carry_body
from hrpsim.engine.step.scene.status import DONE
from hrpsim.model.system import FIXED, FREE

# When the forces on a tree act: in the middle of the step; at its start, free or supported.
_IN_MIDDLE, _IN_AIR, _LEANS = range(3)

# Penetration allowed in the drift, as a share of the smaller thickness, if in contact before.
_SEEN = 2e-4


@inner_kernel
def hold_back(s: Scene) -> None:
    """Undo the drift of trees that it moves through others. Their entries of s.q become q_swept.

    The drift is the motion to mid-step. All trees that are near or connected to such a tree return
    to the start of the step as well. collision.motions must hold the motions of the drift.

    The kernel changes s.q, and sets `start_force` of each returned body and of the step. Forces
    then act on these bodies at the start of the step.
    """
    search = s.search[0]
    body_states, bodies = s.continuous.bodies, s.forest.bodies
    for i in range(body_states.shape[0]):
        body_states[i].start_force = _IN_MIDDLE
    queries_left = QUERIES + MORE_QUERIES * search.candidate_count
    for c in range(search.candidate_count):
        if _may_pass(s, c):
            fraction, queries_left = _drift_meeting(s, c, queries_left)
            if fraction < 1.0:
                for side in range(2):
                    shape = s.collision.shapes[s.collision.pairs[c, side]]
                    _hold(s.continuous, root_of(bodies, shape))
                s.continuous.state[0].start_force = 1
    if s.continuous.state[0].start_force:
        _return_to_start(s)


@inlined_kernel
def _return_to_start(s: Scene) -> None:
    """Return all marked trees to the start of the step, with all near and connected trees."""
    search, body_states, bodies = s.search[0], s.continuous.bodies, s.forest.bodies
    while _spread_to_near(search, bodies, s.collision, s.continuous) or _spread_to_connected(
        bodies, s.continuous, s.connections
    ):
        pass
    for i in range(bodies.shape[0]):
        if body_states[bodies[i].root].start_force:
            body_states[i].start_force = _IN_AIR
            j, joint = bodies[i].q_index, bodies[i].joint_type
            for r in range(j, j + (7 if joint == FREE else 0 if joint == FIXED else 1)):
                s.q[r] = s.continuous.q_swept[r]


@inlined_kernel
def _may_pass(s: Scene, c: int) -> bool:
    """Return whether the drift may lead the shapes of candidate pair c through each other."""
    bodies, continuous = s.forest.bodies, s.continuous
    a = s.collision.shapes[s.collision.pairs[c, 0]]
    b = s.collision.shapes[s.collision.pairs[c, 1]]
    if a.body >= 0 and b.body >= 0:
        mark_swift(s.settings[0], s.forest, s.kinematics, a, b)
    if not may_meet(bodies, s.collision, c) or bounce_in_flight(s.materials, continuous, a, b):
        return False
    return not (_is_held(bodies, continuous, a) and _is_held(bodies, continuous, b))


@inlined_kernel
def _drift_meeting(s: Scene, c: int, queries_left: int) -> tuple[float, int]:
    """Return the time of impact of candidate pair c in the drift, and the number of queries left.

    The time is a fraction of the drift, 1 for no impact. Shapes that were in contact may penetrate
    each other by a small fraction of the thickness. With penalty contacts the depth is not limited.
    """
    a, b = s.collision.pairs[c, 0], s.collision.pairs[c, 1]
    fraction, queries_left, cut = meeting_of(
        s.settings[0], s.step_stats[0], s.collision, c, 0.0, 0.0, queries_left
    )
    if fraction < 1.0 and not cut and _pressed(s.counts[0], s.collision, a, b):
        if is_penalty(s.solver_choice, s.collision.shapes[a], s.collision.shapes[b]):
            return 1.0, queries_left
        fraction, queries_left, _ = meeting_of(
            s.settings[0], s.step_stats[0], s.collision, c, _SEEN, _SEEN, queries_left
        )
    return fraction, queries_left


@inlined_kernel
def _is_held(bodies: Records[Body], continuous: ContinuousDetection, shape: Shape) -> bool:
    """Return whether forces on a shape's tree act at the start of the step, as for the world."""
    return shape.body < 0 or continuous.bodies[root_of(bodies, shape)].start_force != _IN_MIDDLE


@inlined_kernel
def _hold(continuous: ContinuousDetection, root: Index) -> bool:
    """Mark a tree for forces at the start of the step. Return whether the tree was unmarked."""
    if root < 0 or continuous.bodies[root].start_force:
        return False
    continuous.bodies[root].start_force = _IN_AIR
    return True


@inner_kernel
def _pressed(counts: Counts, collision: Collision, number_a: Index, number_b: Index) -> bool:
    """Return whether a contact of two shapes had a force in the last step.

    The last step solved this contact with the shapes' velocities, to first order in the rotation.
    """
    for k in range(counts.previous_count):
        contact = collision.previous[k]
        if contact.shape_a == number_a and contact.shape_b == number_b and contact.warm[0] > 0.0:
            return True
    return False


@inner_kernel
def _spread_to_near(
    search: Search, bodies: Records[Body], collision: Collision, continuous: ContinuousDetection
) -> bool:
    """Mark trees near trees with start-of-step forces. Return whether any tree was unmarked."""
    result = False
    for c in range(search.candidate_count):
        a = collision.shapes[collision.pairs[c, 0]]
        b = collision.shapes[collision.pairs[c, 1]]
        if (
            a.body < 0
            or b.body < 0
            or _is_held(bodies, continuous, a) == _is_held(bodies, continuous, b)
            or too_far_apart(collision, c)
        ):
            continue
        result = True
        _hold(continuous, root_of(bodies, a))
        _hold(continuous, root_of(bodies, b))
    return result


@inner_kernel
def _spread_to_connected(
    bodies: Records[Body], continuous: ContinuousDetection, connections: Records[Connection]
) -> bool:
    """Mark trees connected to trees with start-of-step forces. Return whether any was unmarked."""
    result = False
    for k in range(connections.shape[0]):
        a, b = connections[k].body_a, connections[k].body_b
        if a < 0 or b < 0:
            continue
        root_a, root_b = bodies[a].root, bodies[b].root
        anchor_a, anchor_b = (
            continuous.bodies[root_a].start_force,
            continuous.bodies[root_b].start_force,
        )
        if (anchor_a != 0) != (anchor_b != 0):
            result = True
            _hold(continuous, root_a)
            _hold(continuous, root_b)
    return result


@inlined_kernel
def takes_start_force(continuous: ContinuousDetection, body: Index) -> bool:
    """Return whether the forces on a body act at the start of a semi-implicit step."""
    return (
        continuous.state[0].start_force != 0
        and body >= 0
        and continuous.bodies[body].start_force != _IN_MIDDLE
    )


@lazy_kernel()
def move_on(s: Scene) -> int:
    """Move all trees from the configuration s.q, where the forces act, to the end of the step.

    Trees whose forces act at the start move for the whole step, other trees for half a step.
    """
    _find_leaning(s.counts[0], s.forest.bodies, s.constrained, s.rows, s.continuous)
    dt, g, velocity, q = s.settings[0].time_step, s.settings[0].gravity, s.velocity, s.q
    for i in range(s.forest.bodies.shape[0]):
        body, body_state = s.forest.bodies[i], s.continuous.bodies[i]
        duration = 0.5 * dt if body_state.start_force == _IN_MIDDLE else dt
        carry_body(body, velocity, duration, q)
        if body.joint_type == FREE and body_state.start_force == _IN_AIR:
            for r in range(3):
                q[body.q_index + r] -= 0.5 * dt * dt * g[r]
    return DONE


@inner_kernel
def _find_leaning(
    counts: Counts,
    bodies: Records[Body],
    constrained: ConstraintBodies,
    rows: Rows,
    continuous: ContinuousDetection,
) -> None:
    """Mark trees with start-of-step forces that the world supports, also through other trees."""
    body_states = continuous.bodies
    for i in range(body_states.shape[0]):
        if body_states[i].start_force and bodies[bodies[i].root].joint_type != FREE:
            body_states[i].start_force = _LEANS
    any_marked = True
    while any_marked:
        any_marked = False
        for number in range(counts.row_count):
            row = rows.rows[number]
            if row.impulse != 0.0 and constrained.bodies[row.constrained_a].dof < 0:
                any_marked = _lean_on_each_other(bodies, constrained, continuous, row) or any_marked


@inlined_kernel
def _lean_on_each_other(
    bodies: Records[Body], constrained: ConstraintBodies, continuous: ContinuousDetection, row: Row
) -> bool:
    """Mark the trees that the world supports through a row. Return whether any was unmarked."""
    body_states = continuous.bodies
    a = constrained.bodies[row.constrained_a].body
    b = constrained.bodies[row.constrained_b].body if row.constrained_b >= 0 else -1
    if b < 0:
        return _lean(bodies, continuous, bodies[a].root)
    if body_states[a].start_force != _LEANS and body_states[b].start_force != _LEANS:
        return False
    first = _lean(bodies, continuous, bodies[a].root)
    return _lean(bodies, continuous, bodies[b].root) or first


@inlined_kernel
def _lean(bodies: Records[Body], continuous: ContinuousDetection, root: Index) -> bool:
    """Mark a tree with start-of-step forces as supported. Return whether the tree was unmarked."""
    body_states = continuous.bodies
    if body_states[root].start_force != _IN_AIR:
        return False
    for i in range(root, body_states.shape[0]):
        if bodies[i].root != root:
            break
        body_states[i].start_force = _LEANS
    return True
