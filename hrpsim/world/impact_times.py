"""What moves so fast that it would pass through something stops where it first touches.

The trees of the shapes that hit keep their velocities and do only a part of the step's motion, up
to the touch; contacts take over in the next step. Time is lost for them, never a collision.
"""

from __future__ import annotations

import math

from hrpsim.collision.candidates import FAST, list_candidates, place_centers
from hrpsim.collision.contacts import place_shape
from hrpsim.collision.time_of_impact import find_turn, time_of_impact
from hrpsim.compiled import inlined_kernel, inner_kernel, late_kernel
from hrpsim.kinematics.forward import update_poses
from hrpsim.late import IMPACTS, RESTITUTION, call_with_scene
from hrpsim.model.geometry import MESH, PLANE
from hrpsim.model.system import FIXED, FREE
from hrpsim.world.scene import RK4
from hrpsim.world.status import DONE, MORE_CANDIDATES, NEEDS_KERNEL

_PASSES = 4  # over the pairs: a tree that stops may come to lie in the way of another

# Looks at pairs of shapes in one search through a step: so many, and more for each pair. One at a
# mesh counts for many. What is left when they are used up stays where it began.
_LOOKS, _MORE_LOOKS, _OF_MESH = 16_384, 64, 64


@inlined_kernel
def stop_at_impacts(s):
    """Take back the part of the motion from work.q_swept that would lead through something."""
    return stop_fast(s, 1) if _anything_fast(s) else DONE


@inlined_kernel
def stop_fast(s, held):
    """The same, where something is fast; `held` says whether contacts have acted on the motion."""
    if s.late[IMPACTS] == 0:
        s.tally[0].needed = IMPACTS
        return NEEDS_KERNEL
    return call_with_scene(s, IMPACTS, (held,))


@inlined_kernel
def needs_every_shape(s):
    """Return whether impacts, or stages that move the poses on, need the travel of all shapes."""
    return s.late[RESTITUTION] != 0 or s.settings[0].integrator == RK4


@inlined_kernel
def any_fast(collision):
    """Return whether a shape is fast, as candidates were listed."""
    fast = False
    for k in range(collision.moving.shape[0]):
        fast = fast or is_fast(collision.shapes[collision.moving[k]])
    return fast


@late_kernel
def stop_all(s, held):
    """Stop what passes through something, if anything does."""
    status = _look_further(s)
    if status != DONE:
        return status
    _find_motions(s)
    for i in range(s.work.held.shape[0]):
        s.work.held[i].until = 1.0
    looks = _LOOKS + _MORE_LOOKS * s.tally[0].candidate_count
    for _ in range(_PASSES):
        stopped, looks = _stop_pairs(s, held, looks)
        if not stopped:
            break
    _go_back(s)
    return DONE


@inlined_kernel
def _anything_fast(s):
    """Return whether a shape is fast, the step's impacts on free bodies included."""
    shapes, moving, settings = s.collision.shapes, s.collision.moving, s.settings[0]
    velocity, dt = s.velocity, settings.time_step
    if s.tally[0].calm:
        if not _any_carrier_fast(s):
            return False
        margin, continuous = settings.contact_margin, settings.continuous
        place_centers(s.forest, s.kinematics, margin, dt, continuous, s.collision)
    fast = False
    for k in range(moving.shape[0]):
        shape = shapes[moving[k]]
        body = s.forest.bodies[shape.body]
        if body.joint_type == FREE:
            v, p = body.v_index, shape.placement_p
            arm = math.sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]) + shape.radius
            turning = velocity[v] ** 2 + velocity[v + 1] ** 2 + velocity[v + 2] ** 2
            going = velocity[v + 3] ** 2 + velocity[v + 4] ** 2 + velocity[v + 5] ** 2
            shape.travel = max(shape.travel, dt * (math.sqrt(going) + arm * math.sqrt(turning)))
        fast = fast or is_fast(shape)
    return fast


@inlined_kernel
def _any_carrier_fast(s):
    """Return whether a shape on a free body may be fast, the step's impacts included."""
    carriers, velocity = s.collision.carriers, s.velocity
    for k in range(carriers.shape[0]):
        carrier = carriers[k]
        body = s.forest.bodies[carrier.body]
        if body.joint_type != FREE:
            continue
        v = body.v_index
        turning = velocity[v] ** 2 + velocity[v + 1] ** 2 + velocity[v + 2] ** 2
        going = velocity[v + 3] ** 2 + velocity[v + 4] ** 2 + velocity[v + 5] ** 2
        travel = s.settings[0].time_step * (math.sqrt(going) + carrier.extent * math.sqrt(turning))
        if travel > FAST * carrier.thickness:
            return True
    return False


@inner_kernel
def is_fast(shape):
    """Return whether a shape moves by a good part of its thickness in the step."""
    return shape.body >= 0 and shape.travel > FAST * shape.thickness


@inner_kernel
def _find_motions(s):
    """Write how every shape moves, in the world, from work.q_swept to s.q."""
    motions, shapes = s.collision.motions, s.collision.shapes
    nowhere = s.work.directions[0]
    for r in range(3):
        nowhere[r] = 0.0
    update_poses(s.forest, s.work.q_swept, s.kinematics)
    for k in range(shapes.shape[0]):
        motion = motions[k]
        place_shape(s.forest, s.kinematics, shapes[k], nowhere, motion.R_start, motion.p_start)
    update_poses(s.forest, s.q, s.kinematics)
    for k in range(shapes.shape[0]):
        motion = motions[k]
        place_shape(s.forest, s.kinematics, shapes[k], nowhere, motion.R_end, motion.p_end)
        motion.angle = find_turn(motion.R_start, motion.R_end, motion.axis)


@inner_kernel
def _look_further(s):
    """Make the candidate list anew if the step's impacts carry a shape beyond it."""
    shapes, settings, tally = s.collision.shapes, s.settings[0], s.tally[0]
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
    count = list_candidates(settings.contact_margin, settings.skin, s.collision)
    if count > s.collision.pairs.shape[0]:
        tally.candidate_count, tally.needed = -1, count
        return MORE_CANDIDATES
    tally.candidate_count = count
    return DONE


@inner_kernel
def _stop_pairs(s, held_by_contacts, looks):
    """Stop fast trees at their earliest impact.

    Returns whether any stops earlier than before, and how many of the `looks` at pairs are left.
    """
    shapes, held, tally = s.collision.shapes, s.work.held, s.tally[0]
    stopped = False
    for c in range(tally.candidate_count):
        number_a, number_b = s.collision.pairs[c, 0], s.collision.pairs[c, 1]
        a, b = shapes[number_a], shapes[number_b]
        fast_a, fast_b = is_fast(a), is_fast(b)
        if min(a.kind, b.kind) == PLANE or not (fast_a or fast_b):
            continue
        root_a = s.forest.bodies[a.body].root if a.body >= 0 else -1
        root_b = s.forest.bodies[b.body].root if b.body >= 0 else -1
        if root_a == root_b or _stay_apart(a, b):
            continue
        until_a = held[root_a].until if root_a >= 0 else 1.0
        until_b = held[root_b].until if root_b >= 0 else 1.0
        cost = _OF_MESH if a.kind == MESH or b.kind == MESH else 1
        fraction, looked, cut = time_of_impact(
            s.collision.pairs[c], until_a, until_b, held_by_contacts, looks // cost, s.collision
        )
        looks = max(looks - cost * looked, 0)
        tally.impact_looks += looked
        tally.impacts_cut += 1 if cut else 0
        if fast_a and fraction < until_a:
            held[root_a].until = fraction
            stopped = True
        if fast_b and fraction < until_b:
            held[root_b].until = fraction
            stopped = True
    return stopped, looks


@inner_kernel
def _stay_apart(a, b):
    """Return whether two shapes are too far apart to meet in this step."""
    square = 0.0
    for r in range(3):
        square += (a.center[r] - b.center[r]) ** 2
    near = a.radius + b.radius + 1.5 * (a.travel + b.travel)
    return square > near * near


@inner_kernel
def _go_back(s):
    """Let every tree do the part of its motion that it may."""
    q, start = s.q, s.work.q_swept
    for i in range(s.forest.bodies.shape[0]):
        body = s.forest.bodies[i]
        part = s.work.held[body.root].until
        if not part < 1.0:
            continue
        j = body.q_index
        if body.joint_type == FREE:
            for r in range(3):
                q[j + r] = start[j + r] + part * (q[j + r] - start[j + r])
            _turn_back(start, q, j + 3, part)
        elif body.joint_type != FIXED:
            q[j] = start[j] + part * (q[j] - start[j])


@inner_kernel
def _turn_back(start, q, at, part):
    """Turn the quaternion q[at:at+4] back to a part of the way that it came from `start`."""
    cosine = 0.0
    for r in range(4):
        cosine += start[at + r] * q[at + r]
    sign = -1.0 if cosine < 0.0 else 1.0
    angle = math.acos(min(sign * cosine, 1.0))
    before, after = 1.0 - part, part
    if angle > 1e-6:
        scale = 1.0 / math.sin(angle)
        before, after = scale * math.sin(before * angle), scale * math.sin(after * angle)
    for r in range(4):
        q[at + r] = before * start[at + r] + sign * after * q[at + r]
