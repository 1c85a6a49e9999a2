# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Dry friction of joints without rows, where it acts as in the last step.

A joint that slides has a friction of known size and direction: an effort. A joint that sticks is
locked: it sees an infinite inertia. The step is solved with both, then each prediction is checked:
a sliding joint must still move in its direction, a locked one must need no more than its friction.
Where a check fails the joint has a row, and the step is solved again; the result obeys Coulomb's
law as with rows alone.
"""

from __future__ import annotations

from hrpsim.constraints.joint_rows import FRICTION_PARAMETERS, near_lower_limit, near_upper_limit
from hrpsim.constraints.rows import JOINT_FRICTION, LOWER_LIMIT
from hrpsim.constraints.solver_table import AUTO
from hrpsim.dynamics.joint_forces import BY_ROW, STICKS
from hrpsim.jit.compiled import inlined_kernel, inner_kernel
from hrpsim.jit.lazy_kernels import lazy_kernel
from hrpsim.model.system import FREE
from hrpsim.spatial.vector import dot_spatial
from hrpsim.step.scene.contents import has_joint_friction
from hrpsim.step.scene.records import SEMI_IMPLICIT

_ROUNDING = 1e-9  # share of its bound by which a friction is not beyond it
_STICKS_BELOW = 0.95  # share of the bound up to which a joint that stuck is predicted to stick
_AHEAD = 2.0  # steps for which a sliding joint must not be about to stop


@lazy_kernel(used=has_joint_friction, brings=("revise_frictions",))
def predict_frictions(s):
    """Predict for each joint with dry friction whether it slides or sticks, or give it a row.

    A joint that sticks, with a speed within the tolerance, is at rest from here on.
    """
    settings, frictions = s.settings[0], s.work.friction
    for place in range(s.forest.joints.shape[0]):
        k = s.forest.joints[place]
        if k >= frictions.shape[0]:
            break
        frictions[k].mark = BY_ROW
        if s.forest.dofs[k].friction > 0.0 and settings.integrator == SEMI_IMPLICIT:
            frictions[k].mark = _predicted(s, k, settings)
    if s.lazy_kernels[0].resolve_impacts != 0:
        _unlock(s.forest, -1, frictions)  # friction has no effect in an impact
    for c in range(s.connections.shape[0]):
        _unlock_connected(s.forest, s.connections[c], frictions)
    for c in range(s.counts[0].contact_count):
        _unlock_touching(s.forest, s.collision.contacts[c], frictions)
    for k in range(frictions.shape[0]):
        if frictions[k].mark == STICKS:
            s.velocity[k] = 0.0
    return 0


@inlined_kernel
def _predicted(s, k, settings):
    """Return how the friction of a joint acts if it does as in the last step."""
    dof, own = s.forest.dofs[k], s.joint_parameters[k, FRICTION_PARAMETERS]
    if own.compliance > 0.0 or own.solver != AUTO or s.joint_holds[k].locked:
        return BY_ROW
    if s.joint_holds[k].driven or dof.mimic_dof >= 0:
        return BY_ROW
    dt, rate, impulses = settings.time_step, s.velocity[k], s.joint_impulses[k]
    friction, impulse = s.work.friction[k], impulses[JOINT_FRICTION - LOWER_LIMIT]
    friction.bound = min(dof.friction, own.force_limit)
    bound = dt * friction.bound
    if abs(impulse) >= (1.0 - _ROUNDING) * bound:
        ahead = rate + _AHEAD * dt * s.past_accelerations[k, 0]
        if impulse * rate < 0.0 and ahead * rate > 0.0:
            return 1 if rate > 0.0 else -1
        return BY_ROW
    if abs(rate) > settings.tolerance or abs(impulse) > _STICKS_BELOW * bound:
        return BY_ROW
    position, limiting = s.q[dof.q_index], s.control[k].limiting != 0
    if limiting or near_lower_limit(dof, position, rate, dt, impulses):
        return BY_ROW
    return BY_ROW if near_upper_limit(dof, position, rate, dt, impulses) else STICKS


@inlined_kernel
def _unlock_connected(forest, connection, frictions):
    """Give the joints of connected trees rows: a locked loop has no motion left."""
    if connection.body_a >= 0:
        _unlock(forest, forest.bodies[connection.body_a].root, frictions)
    if connection.body_b >= 0:
        _unlock(forest, forest.bodies[connection.body_b].root, frictions)


@inlined_kernel
def _unlock_touching(forest, contact, frictions):
    """Unlock a tree that touches itself, or anything if it is fixed: nothing might move there."""
    a, b = contact.body_a, contact.body_b
    root_a = forest.bodies[a].root if a >= 0 else -1
    root_b = forest.bodies[b].root if b >= 0 else -1
    if root_a >= 0 and (root_a == root_b or forest.bodies[root_a].joint_type != FREE):
        _unlock(forest, root_a, frictions)
    if root_b >= 0 and forest.bodies[root_b].joint_type != FREE:
        _unlock(forest, root_b, frictions)


@inner_kernel
def _unlock(forest, root, frictions):
    """Give the locked joints of a tree, -1 for all trees, rows."""
    for k in range(frictions.shape[0]):
        in_tree = root < 0 or forest.bodies[forest.dofs[k].body].root == root
        if in_tree and frictions[k].mark == STICKS:
            frictions[k].mark = BY_ROW


@lazy_kernel()
def revise_frictions(s):
    """Give joints whose prediction fails rows; return 1 if there are any, else 0."""
    settings, work, changed = s.settings[0], s.work, 0
    dt = settings.time_step
    for k in range(work.friction.shape[0]):
        friction = work.friction[k]
        if friction.mark == BY_ROW:
            continue
        bound = friction.bound * dt
        if friction.mark == STICKS:
            friction.impulse = dt * _holding_effort(s, k)
            agrees = abs(friction.impulse) <= (1.0 + _ROUNDING) * bound
        else:
            friction.impulse = -friction.mark * bound
            rate = s.velocity[k] + dt * (work.dv[k] + work.change[k])
            agrees = friction.mark * rate >= -settings.tolerance
        if not agrees:
            friction.mark, changed = BY_ROW, 1
    return changed


@inlined_kernel
def _holding_effort(s, k):
    """Return the effort that keeps a locked joint at rest [Nm or N]: derivations.md, section 5."""
    i = s.forest.dofs[k].body
    here, parent, S = s.articulated[i], s.forest.bodies[i].parent, s.kinematics[i].S
    effort = dot_spatial(S, here.p_A) - dot_spatial(S, here.constraint_wrench)
    effort -= s.work.effort[k] + s.work.constraint_effort[k]
    if parent < 0:
        gravity = s.settings[0].gravity
        for r in range(3):
            effort -= here.U[3 + r] * gravity[r]
        return effort
    above = s.articulated[parent]
    return effort + dot_spatial(here.U, above.a) + dot_spatial(here.U, above.delta_acceleration)


@inner_kernel
def forget_frictions(frictions):
    """Give every joint with friction a row."""
    for k in range(frictions.shape[0]):
        frictions[k].mark = BY_ROW
