# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Read a step, and differentiate its equations of motion and contact forces.

docs/explanation/linearization_equations.md, "Dynamics", has the equations. hrpsim.derivatives.room
defines the symbols and the coordinates.
"""

import math

from hrpsim.derivatives.body_motions import body_jacobians, derivatives_in_world, jacobian_rates
from hrpsim.derivatives.free_turns import start_from_free_turns
from hrpsim.derivatives.motion_derivatives import factorise_mass
from hrpsim.derivatives.room import BY_Q, BY_VELOCITY, MASS, DerivativeArrays
from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel, kernel
from hrpsim.engine.compile.kernel_types import Collision, Index, Matrix, Vec3, Vec6, Vector
from hrpsim.engine.kinematics.forest import Forest
from hrpsim.engine.kinematics.forward import update_poses, update_velocities
from hrpsim.engine.spatial.vector import copy_vector
from hrpsim.engine.step.arrays import Scene
from hrpsim.engine.step.motion.carry import move
from hrpsim.engine.step.motion.half_turns import turns_freely
from hrpsim.model.system import FREE

_LOCKED = 1e30  # inertia of a joint that its dry friction locks [kg or kg m^2]


@kernel
def read_step(s: Scene, w: DerivativeArrays) -> tuple[int, int, int, int]:
    """Copy the step's velocities and impulses to `w`, and number the coordinates of the rows.

    The coordinates are explained in hrpsim.derivatives.room. If `w` is too small for the rows or
    contacts, the kernel writes nothing.

    Returns:
        (number of coordinates, number of rows, number of contacts, number of rows of connections).
    """
    rows, contacts = s.counts[0].row_count, s.counts[0].contact_count
    between = s.counts[0].connection_rows
    if rows > w.local.shape[0] or contacts > w.found.shape[0]:
        return 0, rows, contacts, between
    _read_motion(s, w)
    return _number_coordinates(s, w), rows, contacts, between


@inner_kernel
def _read_motion(s: Scene, w: DerivativeArrays) -> None:
    """Copy velocities, accelerations and impulses of the step to `w`."""
    h, work = s.settings[0].time_step, s.work
    start_from_free_turns(s, w)
    for k in range(w.velocity.shape[0]):
        locked = math.isinf(work.joint_inertia[k])
        w.velocity[k] = 0.0 if locked else w.start_velocity[k]
        w.end_velocity[k] = w.velocity[k] + h * (work.dv[k] + work.change[k])
        w.middle_velocity[k] = w.smooth_velocity[k] = work.velocity_middle[k]
        w.acceleration[k] = (w.end_velocity[k] - w.velocity[k]) / h
        w.correction[k] = work.correction_velocity[k]
        w.space.rotor_inertia[k] = 0.0 if locked else work.joint_inertia[k]
        w.dof_at[k] = -1
    for r in range(s.counts[0].row_count):
        w.impulses[r] = s.rows.rows[r].impulse
    move(s.forest, w.start_velocity, 0.5 * h, w.q)
    for i in range(s.forest.bodies.shape[0]):
        if turns_freely(s.forest, i):  # velocity products take no part in its motion
            k = s.forest.bodies[i].v_index
            w.smooth_velocity[k : k + 6] = 0.0


@inner_kernel
def _number_coordinates(s: Scene, w: DerivativeArrays) -> int:
    """Number the coordinates on which rows depend: six for each body and one for each joint.

    Return the number of coordinates.
    """
    n, counts = s.forest.bodies.shape[0], s.counts[0]
    w.body_at[:] = -1
    for c in range(counts.contact_count):
        contact = s.collision.contacts[c]
        w.body_at[contact.body_a] = w.body_at[contact.body_b] = 0
    for c in range(s.connections.shape[0]):
        connection = s.connections[c]
        if connection.enabled:
            w.body_at[connection.body_a] = w.body_at[connection.body_b] = 0
    m = 0
    w.body_at[n] = -1
    for i in range(n):
        if w.body_at[i] == 0:
            w.bodies[m // 6], w.body_at[i] = i, m
            m += 6
    for r in range(3 * counts.contact_count + counts.connection_rows, counts.row_count):
        row = s.rows.rows[r]
        w.dof_at[row.source] = 0
        if row.at_b >= 0:
            w.dof_at[s.forest.dofs[row.source].mimic_dof] = 0
    for k in range(w.dof_at.shape[0]):
        if w.dof_at[k] == 0:
            w.dof_at[k] = m
            m += 1
    return m


@inner_kernel
def write_balance(s: Scene, w: DerivativeArrays, columns: Matrix) -> None:
    """Linearise the momentum balance: M dv' - F^T dl = A dq + B dv, and write A, B and M.

    v and v' are the velocities before and after the step, q is the configuration at mid-step, l are
    the impulses of the rows, and F their directions. `add_force_turns` adds to A the change of
    contact forces with the motion of the contacts. hrpsim.derivatives.body_motions treats free
    bodies that rotate by the midpoint rule.

    Args:
        s: scene after the step.
        w: work arrays, after `read_step`. `balance` (3, nv, nv) gets A, B and M. `limits` (2, nv)
            gets the distances of actuators from their limits of effort and velocity [m/s or rad/s].
            `space` gets the factors of M.
        columns: work array (nv, 3 nv or more).
    """
    h, nv = s.settings[0].time_step, w.velocity.shape[0]
    write_wrenches(s, w, 1.0 / h)
    for i in range(s.forest.bodies.shape[0]):
        for r in range(6):
            w.space.articulated[i].external[r] += s.articulated[i].external[r]
    by_q, by_velocity, mass = w.balance[BY_Q], w.balance[BY_VELOCITY], w.balance[MASS]
    gravity = s.settings[0].gravity
    derivatives_in_world(
        w.space, w.q, w.smooth_velocity, w.acceleration, gravity, columns, w.balance
    )
    for i in range(nv):
        for j in range(nv):
            by_q[i, j] *= -h
            by_velocity[i, j] = mass[i, j] - h * by_velocity[i, j]
    for k in range(nv):
        dof, control = s.forest.dofs[k], s.control[k]
        follows = 1.0 if control.saturated == 0 else 0.0
        by_q[k, k] -= h * (dof.stiffness + follows * control.kp)
        by_velocity[k, k] -= h * (dof.damping + follows * control.kd)
        _find_limits(s, w, k, h / mass[k, k])
        if math.isinf(s.work.joint_inertia[k]):
            for j in range(nv):
                mass[k, j] = mass[j, k] = 0.0
            mass[k, k] = _LOCKED
    _add_actuators(s, w)
    for i in range(nv):
        copy_vector(mass[i], w.space.factor[i])
    factorise_mass(w.space.above, w.space.factor)


@inlined_kernel
def _add_actuators(s: Scene, w: DerivativeArrays) -> None:
    """Add gains and viscous friction of actuators with a model to `balance`.

    The distances of these actuators from their effort limits are written to `limits`.
    """
    h, by_q, by_velocity = s.settings[0].time_step, w.balance[BY_Q], w.balance[BY_VELOCITY]
    for number in range(s.actuators.units.shape[0]):
        actuator, step_state = s.actuators.units[number], s.actuators.steps[number]
        k = actuator.dof
        by_q[k, k] -= h * (step_state.command.kp - s.control[k].kp)
        by_velocity[k, k] -= h * (actuator.viscous + step_state.command.kd - s.control[k].kd)
        if not math.isinf(s.work.joint_inertia[k]):
            w.limits[0, k] = step_state.reach


@inlined_kernel
def _find_limits(s: Scene, w: DerivativeArrays, k: Index, inverse_mass: float) -> None:
    """Write the distances of actuator `k` from its effort and velocity limits [m/s or rad/s]."""
    dof, control, limits, work = s.forest.dofs[k], s.control[k], w.limits, s.work
    limits[0, k] = limits[1, k] = math.inf
    if dof.q_index < 0 or math.isinf(work.joint_inertia[k]):
        return
    effort = control.effort + control.kd * (control.target_velocity - w.velocity[k])
    effort += control.kp * (control.target_position - w.q[dof.q_index] - control.ahead)
    change = (w.end_velocity[k] - w.velocity[k]) / s.settings[0].time_step
    effort -= work.actuator_inertia[k] * change
    limits[0, k] = abs(abs(effort) - dof.effort_limit) * inverse_mass
    if control.limiting == 0:  # its row says how far it is
        limits[1, k] = abs(abs(w.end_velocity[k]) - dof.velocity_limit)


@inner_kernel
def write_wrenches(s: Scene, w: DerivativeArrays, scale: float) -> None:
    """Write the impulses of contacts, times `scale`, as external forces on bodies.

    Args:
        s: scene after the step.
        w: DerivativeArrays. `external` (6,) of w.space.articulated is written.
        scale: 1 for impulses [Nms, Ns], 1 / time step [1/s] for forces [Nm, N].
    """
    for i in range(s.forest.bodies.shape[0]):
        for r in range(6):
            w.space.articulated[i].external[r] = 0.0
    for number in range(3 * s.counts[0].contact_count):
        row, impulse = s.rows.rows[number], scale * w.impulses[number]
        if row.constrained_a >= 0:
            i = s.constrained.bodies[row.constrained_a].body
            for r in range(6):
                w.space.articulated[i].external[r] += impulse * row.J_a[r]
        if row.constrained_b >= 0 and row.at_b >= 0:
            i = s.constrained.bodies[row.constrained_b].body
            for r in range(6):
                w.space.articulated[i].external[r] += impulse * row.J_b[r]


@inner_kernel
def count_bodies(w: DerivativeArrays) -> int:
    """Return the number of bodies with coordinates."""
    count = 0
    for i in range(w.bodies.shape[0]):
        count += 1 if w.body_at[i] >= 0 else 0
    return count


@inner_kernel
def write_coordinates(forest: Forest, w: DerivativeArrays, nb: int) -> None:
    """Write the poses in mid-step, the Jacobian Z of bodies, and the derivative of Z v'.

    The derivative is with respect to q. The kernel writes `poses`, `moved`, `Z` (m, nv) and `rates`
    (m, nv) of w.

    nb: number of bodies with coordinates.
    """
    nv = w.velocity.shape[0]
    for poses in (w.poses, w.moved):
        update_poses(forest, w.q, poses)
        update_velocities(forest, w.middle_velocity, poses)
    bodies = w.bodies[:nb]
    body_jacobians(forest, w.poses, bodies, w.Z[: 6 * nb])
    write_rates(w, w.end_velocity, nb, w.rates)
    for k in range(nv):
        if w.dof_at[k] >= 0:
            w.Z[w.dof_at[k], :] = w.rates[w.dof_at[k], :] = 0.0
            w.start_rates[w.dof_at[k], :] = 0.0
            w.Z[w.dof_at[k], k] = 1.0


@inner_kernel
def write_rates(w: DerivativeArrays, velocity: Vector, body_count: int, rates_out: Matrix) -> None:
    """Write the derivative of the coordinates z = Z v with respect to q at constant v.

    Args:
        w: DerivativeArrays, after `write_coordinates`.
        velocity: v (nv,) [rad/s, m/s], kernels' layout.
        body_count: number of bodies with coordinates.
        rates_out: derivative (6 body_count or more, nv), written.
    """
    rates, bodies, forest = rates_out[: 6 * body_count], w.bodies[:body_count], w.space.forest
    jacobian_rates(forest, w.space.kinematics, velocity, bodies, rates)


@inner_kernel
def write_twists(w: DerivativeArrays, velocity: Vector, m: int, kind: int) -> None:
    """Write the coordinates z = Z v of a velocity v.

    Args:
        w: DerivativeArrays. Row `kind` of `twists` (3, m) [rad/s, m/s] is written.
        velocity: v (nv,) [rad/s, m/s], kernels' layout.
        m: number of coordinates.
        kind: AT_START, AT_END or OTHER.
    """
    for j in range(m):
        total = 0.0
        for k in range(velocity.shape[0]):
            total += w.Z[j, k] * velocity[k]
        w.twists[kind, j] = total


@inner_kernel
def add_force_turns(
    s: Scene, w: DerivativeArrays, m: int, by_q_out: Matrix, linear_out: Matrix
) -> None:
    """Add the derivative of the generalised contact impulse F' l with respect to q at constant l.

    `write_balance` treats contact forces as fixed to their bodies. In fact, the forces keep their
    direction in the world, and move with contact point and normal. This kernel adds the difference.

    Args:
        s: scene after the step.
        w: DerivativeArrays, after `write_contact_rows`.
        m: number of coordinates.
        by_q_out: derivative with respect to q (nv, nv), changed.
        linear_out: derivative of the total contact impulse on each floating tree (nv, nv), written
            at the rows of the bases' linear velocities.
    """
    nv = w.velocity.shape[0]
    w.turning[:, :m, :m] = 0.0
    for c in range(s.counts[0].contact_count):
        _turn_forces(s.collision, w, c)
    for part in range(2):
        for i in range(m):
            out = w.turned[i]
            out[:] = 0.0
            for j in range(m):
                if w.turning[part, i, j] != 0.0:
                    for k in range(nv):
                        out[k] += w.turning[part, i, j] * w.Z[j, k]
        if part == 0:
            _add_from_coordinates(w, m, by_q_out)
    _sum_over_trees(s.forest, w, linear_out)


@inlined_kernel
def _add_from_coordinates(w: DerivativeArrays, m: int, by_q_out: Matrix) -> None:
    """Add Z' times the derivatives w.turned (m, nv) of the contact forces to by_q_out."""
    for i in range(m):
        for r in range(by_q_out.shape[0]):
            if w.Z[i, r] != 0.0:
                for k in range(by_q_out.shape[1]):
                    by_q_out[r, k] += w.Z[i, r] * w.turned[i, k]


@inner_kernel
def _sum_over_trees(forest: Forest, w: DerivativeArrays, linear_out: Matrix) -> None:
    """Sum the derivatives of the contact forces over each floating tree, in its base's rows."""
    nv = linear_out.shape[0]
    linear_out[:, :] = 0.0
    for i in range(forest.bodies.shape[0]):
        at, root = w.body_at[i], forest.bodies[forest.bodies[i].root]
        if at >= 0 and root.joint_type == FREE:
            for r in range(3):
                for k in range(nv):
                    linear_out[root.v_index + 3 + r, k] += w.turned[at + 3 + r, k]


@inlined_kernel
def _write_force_turn(l_n: float, n: Vec3, force: Vec3, geometry: Vector, turned_out: Vec6) -> None:
    """Write the derivatives of a contact's impulse (3) and of its point (3).

    Args:
        l_n: normal impulse [Ns].
        n: normal.
        force: impulse of the contact (3,) [Ns].
        geometry: derivatives of point (3) and normal (3) with respect to one motion.
        turned_out: derivatives of the impulse, then of the point (6,), written.
    """
    along = 0.0
    for r in range(3):
        along += (force[r] - l_n * n[r]) * geometry[3 + r]
    for r in range(3):
        turned_out[r] = l_n * geometry[3 + r] - n[r] * along
        turned_out[3 + r] = geometry[r]


@inlined_kernel
def _own_changes(force: Vec3, moment: Vec3, r: int, axis: int) -> tuple[float, float]:
    """Return the derivatives of entry `r` of moment and force if the pushed body moves.

    axis: 0 to 2 for a rotation, 3 to 5 for a displacement of the body.
    """
    if axis < 3:
        return _cross_entry(moment, r, axis), _cross_entry(force, r, axis)
    return _cross_entry(force, r, axis - 3), 0.0


@inner_kernel
def _turn_forces(collision: Collision, w: DerivativeArrays, c: int) -> None:
    """Add the derivatives of a contact's wrenches to w.turning.

    A contact exerts a wrench on each of two bodies. Each wrench is differentiated with respect to
    the motion of each body.
    """
    contact, local, directions = collision.contacts[c], w.local[3 * c], w.directions[c]
    force, moment, turned = w.motion[:3], w.motion[3:], w.turns[0]
    l_n, l_1, l_2 = w.impulses[3 * c], w.impulses[3 * c + 1], w.impulses[3 * c + 2]
    n = directions[0]
    for r in range(3):
        force[r] = l_n * n[r] + l_1 * directions[1, r] + l_2 * directions[2, r]
    for end in range(2):
        at, sign = local.at[end], 1.0 - 2.0 * end
        if at < 0:
            continue
        p = contact.point_a if end == 0 else contact.point_b
        _write_cross(p, force, moment)
        for e in range(12):
            if local.at[e // 6] < 0:
                continue
            j, geometry, axis = local.at[e // 6] + e % 6, w.geometry[c, e // 6], e % 6
            _write_force_turn(l_n, n, force, geometry[:, axis], turned)
            own = e // 6 == end
            for r in range(3):
                y, z = (r + 1) % 3, (r + 2) % 3
                angular = p[y] * turned[z] - p[z] * turned[y]
                angular -= force[y] * turned[3 + z] - force[z] * turned[3 + y]
                linear = turned[r]
                w.turning[1, at + 3 + r, j] += sign * linear
                if own:
                    by_moment, by_force = _own_changes(force, moment, r, axis)
                    angular, linear = angular + by_moment, linear + by_force
                w.turning[0, at + r, j] += sign * angular
                w.turning[0, at + 3 + r, j] += sign * linear


@inlined_kernel
def _write_cross(a: Vec3, b: Vector, out: Vector) -> None:
    for r in range(3):
        y, z = (r + 1) % 3, (r + 2) % 3
        out[r] = a[y] * b[z] - a[z] * b[y]


@inlined_kernel
def _cross_entry(v: Vector, r: int, k: Index) -> float:
    """Return entry (r, k) of the cross product matrix of v."""
    if r == k:
        return 0.0
    return v[(r + 2) % 3] * -1.0 if k == (r + 1) % 3 else v[(r + 1) % 3]
