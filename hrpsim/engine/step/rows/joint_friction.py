# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Prediction of dry joint friction, which saves constraint rows of joints.

The prediction is that friction acts as in the last step. A sliding joint has a friction effort of
known size and direction. A sticking joint is locked, which is the same as an infinite inertia. If a
sticking joint is at its limit, the limit may carry a part of the load. After one attempt at the
contacts, all predictions are checked. A sliding joint must still move in the same direction. A
locked joint must need no more effort than its friction. If a check fails, the prediction of that
joint is corrected, or the joint gets a row. The step is then solved again from the impulses found
so far. Otherwise the solution is completed, and all predictions are checked again. The result obeys
Coulomb's law of friction, as with rows.
"""

import math

from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import (
    Articulated,
    Connection,
    Contact,
    Control,
    Dof,
    Friction,
    Index,
    JointHold,
    JointParameters,
    Kinematics,
    Records,
    Scene,
    Settings,
    Vec3,
    Vector,
    Work,
)
from hrpsim.engine.compile.lazy_kernels import lazy_kernel
from hrpsim.engine.constraints.contact_rows import friction_impulses
from hrpsim.engine.constraints.joint_rows import FRICTION_PARAMETERS, LIMIT_PARAMETERS
from hrpsim.engine.constraints.rows import JOINT_FRICTION, LOWER_LIMIT, UPPER_LIMIT
from hrpsim.engine.constraints.solver_table import AUTO
from hrpsim.engine.dynamics.joint_forces import (
    BY_ROW,
    STICKS,
    damping_inertia,
    demand,
    limited,
    spring_inertia,
)
from hrpsim.engine.kinematics.forest import Forest
from hrpsim.engine.spatial.vector import dot_spatial
from hrpsim.model.system import FREE

_ROUNDING = 1e-9  # tolerance of a friction's bound, as a fraction of the bound
_AHEAD = 2.0  # number of steps in which a sliding joint must not stop
_NEAR = 1e-5  # distance to a limit above which the limit has no effect [rad or m]


@lazy_kernel(feature="joint_friction", brings=("revise_frictions", "start_from_found"))
def predict_frictions(s: Scene) -> int:
    """Predict for each joint with dry friction whether it slides, sticks or needs a row.

    A joint that sticks, with a speed within the tolerance, is set to rest. The kernel writes
    s.work.friction, and sets the velocity of sticking joints to zero.

    Returns:
        Number of predicted joints.
    """
    settings, frictions, predicted = s.settings[0], s.work.friction, 0
    _predict_alone(s)
    if settings.restitution:
        _unlock(s.forest, -1, frictions)  # friction has no effect in an impact
    for k in range(s.tendons.joints.shape[0]):
        body = s.forest.dofs[s.tendons.joints[k].dof_a].body
        _unlock(s.forest, s.forest.bodies[body].root, frictions)
    for c in range(s.connections.shape[0]):
        _unlock_connected(s.forest, s.connections[c], frictions)
    for c in range(s.counts[0].contact_count):
        _unlock_touching(s.forest, s.collision.contacts[c], frictions)
    for k in range(frictions.shape[0]):
        predicted += 1 if frictions[k].mark != BY_ROW else 0
        if frictions[k].mark == STICKS:
            s.velocity[k] = 0.0
    return predicted


@inlined_kernel
def _predict_alone(s: Scene) -> None:
    """Predict each joint as if all other joints were free of friction.

    The effort of a joint's actuator may have changed. This change is applied to the joint alone.
    """
    settings, frictions = s.settings[0], s.work.friction
    dt, tolerance = settings.time_step, settings.tolerance
    for index in range(s.forest.joints.shape[0]):
        k = s.forest.joints[index]
        if k >= frictions.shape[0]:
            break
        friction, impulses, rate = frictions[k], s.joint_impulses[k], s.velocity[k]
        friction.mark = BY_ROW
        friction.impulse = impulses[JOINT_FRICTION - LOWER_LIMIT]
        dof, own = s.forest.dofs[k], s.joint_parameters[k, FRICTION_PARAMETERS]
        if not (dof.friction > 0.0 and settings.horizon > 0.0):
            continue
        if not _may_be_predicted(dof, own, s.joint_holds[k]):
            continue
        friction.bound = min(dof.friction, own.force_limit)
        bound, position, actuator = dt * friction.bound, s.q[dof.q_index], s.control[k]
        demanded_effort = demand(actuator, position + actuator.ahead, rate)
        push = dt * (limited(demanded_effort, dof.effort_limit) - actuator.asked)
        limit = s.joint_parameters[k, LIMIT_PARAMETERS]
        if abs(rate) <= tolerance and actuator.limiting == 0:
            if _may_stick_at_limits(dof, limit, position, dt * tolerance, friction):
                friction.mark = _predicted_at_rest(impulses, push, friction, bound)
        if friction.mark == BY_ROW and not abs(friction.impulse) < (1.0 - _ROUNDING) * bound:
            past = s.past_accelerations[k, 0]
            friction.mark = _predicted_slip(
                settings, dof, actuator, friction.impulse, push, rate, past
            )


@inlined_kernel
def _predicted_at_rest(impulses: Vector, push: float, friction: Friction, bound: float) -> int:
    """Return STICKS, the direction of slip, or BY_ROW without a prediction.

    Args:
        impulses: impulses of the joint's rows in the last step [Nms or Ns].
        push: change of the impulse of the joint's actuator [Nms or Ns].
        friction: friction of the joint. `limit` is read.
        bound: largest impulse of friction [Nms or Ns].
    """
    impulse = impulses[JOINT_FRICTION - LOWER_LIMIT]
    holding_impulse = impulse + impulses[0] - impulses[UPPER_LIMIT - LOWER_LIMIT] - push
    if _holds(friction, holding_impulse, (1.0 - _ROUNDING) * bound):
        return STICKS
    if abs(impulse) < (1.0 - _ROUNDING) * bound:
        return -1 if holding_impulse > 0.0 else 1
    return BY_ROW


@inlined_kernel
def _predicted_slip(
    settings: Settings,
    dof: Dof,
    actuator: Control,
    impulse: float,
    push: float,
    rate: float,
    past: float,
) -> int:
    """Return the direction of slip of a joint, or BY_ROW if the joint may stop soon.

    Args:
        settings: settings of the world.
        dof: the joint.
        actuator: actuator of the joint.
        impulse: impulse of friction in the last step [Nms or Ns].
        push: change of the impulse of the joint's actuator [Nms or Ns].
        rate: velocity of the joint [rad/s or m/s].
        past: acceleration of the joint in the last step [rad/s^2 or m/s^2].
    """
    dt = settings.time_step
    inertia = dof.own_inertia + spring_inertia(dof.stiffness + actuator.kp, dt)
    inertia += damping_inertia(dof.damping + actuator.kd, dof.own_inertia, dt)
    direction, ahead = -1 if impulse > 0.0 else 1, rate + _AHEAD * dt * past
    slowest = min(direction * rate, direction * ahead, direction * (ahead + push / inertia))
    return direction if slowest >= -settings.tolerance else BY_ROW


@inlined_kernel
def _may_be_predicted(dof: Dof, own: JointParameters, hold: JointHold) -> bool:
    """Return whether a joint has rigid friction, only rows of limits, and no chosen solver."""
    if own.compliance > 0.0 or own.solver != AUTO:
        return False
    return not (hold.locked or hold.driven or dof.mimic_dof >= 0)


@inlined_kernel
def _may_stick_at_limits(
    dof: Dof, limit: JointParameters, position: float, closed: float, friction: Friction
) -> bool:
    """Return whether a joint at rest needs no rows of limits. Store the limit that it touches.

    A joint beyond a limit needs rows, and so does a joint with a compliant limit. A limit nearer
    than `closed` [rad or m] is touched.
    """
    below, above = position - dof.lower, dof.upper - position
    friction.limit = (1 if below <= closed else 0) - (1 if above <= closed else 0)
    if below > _NEAR and above > _NEAR:
        return True
    rigid = limit.damping_time < 0.0 and limit.solver == AUTO and math.isinf(limit.force_limit)
    return rigid and below >= -closed and above >= -closed and below + above > _NEAR


@inlined_kernel
def _holds(friction: Friction, impulse: float, bound: float) -> bool:
    """Return whether friction up to `bound`, with a touched limit, can give a joint an impulse."""
    return (friction.limit < 0 or impulse >= -bound) and (friction.limit > 0 or impulse <= bound)


@inlined_kernel
def _unlock_connected(forest: Forest, connection: Connection, frictions: Records[Friction]) -> None:
    """Unlock the joints of connected trees. With locked joints, a closed loop could not move."""
    if connection.body_a >= 0:
        _unlock(forest, forest.bodies[connection.body_a].root, frictions)
    if connection.body_b >= 0:
        _unlock(forest, forest.bodies[connection.body_b].root, frictions)


@inlined_kernel
def _unlock_touching(forest: Forest, contact: Contact, frictions: Records[Friction]) -> None:
    """Unlock a tree that touches itself, or a fixed-base tree that touches anything."""
    a, b = contact.body_a, contact.body_b
    root_a = forest.bodies[a].root if a >= 0 else -1
    root_b = forest.bodies[b].root if b >= 0 else -1
    if root_a >= 0 and (root_a == root_b or forest.bodies[root_a].joint_type != FREE):
        _unlock(forest, root_a, frictions)
    if root_b >= 0 and forest.bodies[root_b].joint_type != FREE:
        _unlock(forest, root_b, frictions)


@inner_kernel
def _unlock(forest: Forest, root: Index, frictions: Records[Friction]) -> None:
    """Give the locked joints of a tree rows, or those of all trees if `root` is -1."""
    for k in range(frictions.shape[0]):
        in_tree = root < 0 or forest.bodies[forest.dofs[k].body].root == root
        if in_tree and frictions[k].mark == STICKS:
            frictions[k].mark = BY_ROW


@lazy_kernel()
def revise_frictions(s: Scene) -> int:
    """Correct wrong predictions of dry friction. Return 1 if any was wrong, otherwise 0.

    A locked joint that needs more than its friction is predicted to slide. A sliding joint that
    stops or turns back gets a row. Each joint is therefore corrected at most twice.
    """
    settings, work, changed = s.settings[0], s.work, 0
    dt = settings.time_step
    for k in range(work.friction.shape[0]):
        friction = work.friction[k]
        if friction.mark == BY_ROW:
            continue
        bound = friction.bound * dt
        if friction.mark == STICKS:
            holding_impulse = dt * _holding_effort(
                settings.gravity, s.forest, s.kinematics, s.articulated, work, k
            )
            agrees = _holds(friction, holding_impulse, (1.0 + _ROUNDING) * bound)
            friction.impulse = min(max(holding_impulse, -bound), bound)
            friction.limit_impulse = (
                holding_impulse - friction.impulse if friction.limit != 0 else 0.0
            )
            # The joint begins to slide against its friction.
            broken = -1 if holding_impulse > 0.0 else 1
        else:
            friction.impulse, friction.limit_impulse = -friction.mark * bound, 0.0
            broken = BY_ROW
            rate = s.velocity[k] + dt * (work.dv[k] + work.change[k])
            agrees = friction.mark * rate >= -settings.tolerance
        if not agrees:
            friction.mark, changed = broken, 1
    return changed


@inlined_kernel
def _holding_effort(
    gravity: Vec3,
    forest: Forest,
    kinematics: Records[Kinematics],
    articulated: Records[Articulated],
    work: Work,
    k: Index,
) -> float:
    """Return the effort that keeps a locked joint at rest [Nm or N] (derivations.md, section 5)."""
    i = forest.dofs[k].body
    link, parent, S = articulated[i], forest.bodies[i].parent, kinematics[i].S
    effort = dot_spatial(S, link.p_A) - dot_spatial(S, link.constraint_wrench)
    effort -= work.effort[k] + work.constraint_effort[k]
    if parent < 0:
        for r in range(3):
            effort -= link.U[3 + r] * gravity[r]
        return effort
    above = articulated[parent]
    return effort + dot_spatial(link.U, above.a) + dot_spatial(link.U, above.delta_acceleration)


@lazy_kernel()
def start_from_found(s: Scene) -> int:
    """Set the warm start to the impulses just computed, before the step is solved again.

    Reads: collision, counts, rows, work. Writes: collision, work.
    """
    rows, contact_count = s.rows.rows, s.counts[0].contact_count
    for c in range(contact_count):
        contact = s.collision.contacts[c]
        normal, x, y = rows[3 * c], rows[3 * c + 1], rows[3 * c + 2]
        contact.impulse[0] = normal.impulse
        contact.impulse[1], contact.impulse[2] = friction_impulses(contact, normal, x, y)
    for number in range(3 * contact_count, s.counts[0].row_count):
        if rows[number].kind == JOINT_FRICTION:
            s.work.friction[rows[number].source].impulse = rows[number].impulse
    return 0


@inner_kernel
def forget_frictions(frictions: Records[Friction]) -> None:
    """Give every joint with friction a row: `mark` becomes BY_ROW."""
    for k in range(frictions.shape[0]):
        frictions[k].mark = BY_ROW
