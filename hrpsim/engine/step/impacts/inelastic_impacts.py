# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Inelastic impacts of an rk4 step: bodies that meet within the step collide at its start.

If the impulse of an impact acted as a force over the whole step, half of the approach would become
penetration. Therefore the velocities change first, under the same constraints. The forces of the
step are then computed for the motion after the change. Springs, including the springs of compliant
contacts and limits, give no impulse in zero time. In zero time bodies do not turn either. The rows
therefore ignore the change of contact velocity over the step (contact_bending).
"""

from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import (
    Articulated,
    Contact,
    Index,
    Kinematics,
    Records,
    Row,
    Scene,
    Settings,
    Vector,
    Work,
)
from hrpsim.engine.compile.lazy_kernels import lazy_kernel
from hrpsim.engine.constraints.contact_bending import bend_along, unbent_target
from hrpsim.engine.constraints.contact_history import ALL
from hrpsim.engine.constraints.contact_rows import friction_impulses
from hrpsim.engine.constraints.joint_rows import LIMIT_PARAMETERS
from hrpsim.engine.constraints.rows import VELOCITY_LIMIT
from hrpsim.engine.dynamics.articulated import wrench_response
from hrpsim.engine.kinematics.forest import Forest
from hrpsim.engine.kinematics.forward import update_velocities
from hrpsim.engine.spatial.vector import speed_along
from hrpsim.engine.step.impacts.records import Impacts
from hrpsim.engine.step.rows.constrain import solve_rows
from hrpsim.engine.step.rows.constraint_wrenches import (
    add_impact_impulse,
    add_wrench,
    clear_wrenches,
)
from hrpsim.engine.step.scene.records import WHOLE
from hrpsim.engine.step.scene.status import DONE, LARGEST_SPEED, RESOLVED


@lazy_kernel(feature="staged")
def resolve_inelastic_impacts(s: Scene) -> int:
    """Change s.velocity if a gap closes in this step.

    Returns:
        RESOLVED if the velocity changed, else DONE.

    Reads: articulated, collision, connections, constrained, counts, direct, forest, impacts,
    islands, joint_impact_impulses, joint_parameters, kinematics, newton, newton_part, q, rows,
    settings, step_stats, velocity, work.
    Writes: articulated, collision, connections, constrained, counts, direct, impacts, islands,
    joint_impact_impulses, kinematics, newton, newton_part, rows, step_stats, velocity, work.
    """
    if not anything_meets(s):
        return DONE
    status = jump(s)
    if status != DONE:
        return status
    update_velocities(s.forest, s.velocity, s.kinematics)
    return RESOLVED


@inner_kernel
def anything_meets(s: Scene) -> bool:
    """Return whether a rigid contact or limit closes in this step, faster than the threshold."""
    for c in range(s.counts[0].contact_count):
        if s.rows.rows[3 * c].compliance == 0.0 and _contact_meets(s, s.collision.contacts[c]):
            return True
    for index in range(s.forest.joints.shape[0]):
        k = s.forest.joints[index]
        if k >= s.forest.dofs.shape[0]:
            break
        if _limit_meets(s, k):
            return True
    return False


@inlined_kernel
def _contact_meets(s: Scene, contact: Contact) -> bool:
    """Return whether a contact closes in this step, faster than the threshold."""
    settings, approach = s.settings[0], 0.0
    if contact.body_a >= 0:
        approach += speed_along(s.kinematics[contact.body_a].v, contact.point_a, contact.normal)
    if contact.body_b >= 0:
        approach -= speed_along(s.kinematics[contact.body_b].v, contact.point_b, contact.normal)
    closes = contact.gap + contact.gap_offset + settings.time_step * approach <= 0.0
    return closes and approach < -settings.restitution_threshold


@inlined_kernel
def _limit_meets(s: Scene, k: Index) -> bool:
    """Return whether a joint reaches a rigid limit in this step, faster than the threshold."""
    settings, dof, rate = s.settings[0], s.forest.dofs[k], s.velocity[k]
    yields = s.joint_parameters[k, LIMIT_PARAMETERS].compliance > 0.0
    if yields or abs(rate) < settings.restitution_threshold:
        return False
    ahead = s.q[dof.q_index] + settings.time_step * rate
    return (rate < 0.0 and ahead <= dof.lower) or (rate > 0.0 and ahead >= dof.upper)


@inner_kernel
def jump(s: Scene) -> int:
    """Solve the rows for the impulses of the impacts, without the forces of the step."""
    counts = s.counts[0]
    rows = s.rows.rows
    for c in range(counts.contact_count):
        unbend(
            s.settings[0], s.collision.contacts[c], rows[3 * c], rows[3 * c + 1], rows[3 * c + 2]
        )
    for number in range(counts.row_count):
        row = rows[number]
        row.impulse = 0.0
        if row.compliance > 0.0:
            row.lower = row.upper = 0.0
            row.target = -LARGEST_SPEED
        elif row.kind == VELOCITY_LIMIT:
            row.upper = 0.0
    status = solve_rows(s, WHOLE)
    if status != DONE:
        return status
    clear_wrenches(s.articulated, s.work)
    for number in range(counts.row_count):
        row = rows[number]
        add_wrench(s.articulated, s.constrained, s.work, row, row.impulse)
        add_impact_impulse(s.joint_impact_impulses, s.connections, s.rows, number)
    for c in range(counts.contact_count):
        count_impulse(s.collision.contacts[c], rows[3 * c], rows[3 * c + 1], rows[3 * c + 2])
    change_velocity(s.forest, s.velocity, s.kinematics, s.articulated, s.impacts, s.work)
    return DONE


@inlined_kernel
def unbend(settings: Settings, contact: Contact, normal: Row, x: Row, y: Row) -> None:
    """Remove the curvature terms (contact_bending) from the targets of a contact's rows."""
    normal.target = unbent_target(contact, normal, settings.time_step)
    if contact.bends == ALL:
        x.target += bend_along(contact, x)
        y.target += bend_along(contact, y)


@inner_kernel
def count_impulse(contact: Contact, normal: Row, x: Row, y: Row) -> None:
    """Add the impulses of a contact's rows to its impact impulses."""
    along_x, along_y = friction_impulses(contact, normal, x, y)
    contact.impact_impulse[0] += normal.impulse
    contact.impact_impulse[1] += along_x
    contact.impact_impulse[2] += along_y


@inner_kernel
def change_velocity(
    forest: Forest,
    velocity: Vector,
    kinematics: Records[Kinematics],
    articulated: Records[Articulated],
    impacts: Impacts,
    work: Work,
) -> None:
    """Apply the accumulated impulses on bodies and joints to the velocity."""
    again = impacts.state[0].had_impacts
    wrench_response(forest, kinematics, articulated, work.constraint_effort, work.change)
    for k in range(velocity.shape[0]):
        velocity[k] += work.change[k]
    for i in range(articulated.shape[0]):
        link, own = articulated[i], impacts.bodies[i]
        for r in range(6):
            wrench, motion = link.constraint_wrench[r], link.delta_acceleration[r]
            own.wrench[r] = wrench + (own.wrench[r] if again else 0.0)
            own.motion[r] = motion + (own.motion[r] if again else 0.0)
    impacts.state[0].had_impacts = 1


@inlined_kernel
def count_impact_wrenches(
    settings: Settings, articulated: Records[Articulated], impacts: Impacts
) -> None:
    """Add the mean force and acceleration of the impacts to the sensors' readings."""
    if not impacts.state[0].had_impacts:
        return
    rate = 1.0 / settings.time_step
    for i in range(articulated.shape[0]):
        link, body_impacts = articulated[i], impacts.bodies[i]
        for r in range(6):
            link.constraint_wrench[r] += rate * body_impacts.wrench[r]
            link.delta_acceleration[r] += rate * body_impacts.motion[r]
