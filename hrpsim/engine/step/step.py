# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""One step of a world, compiled: kinematics, contacts, constraints, sensors, integration.

Kernels get the scene by reference (hrpsim.engine.compile.reference) and call it `s`.
"""

import math

from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel, kernel
from hrpsim.engine.compile.kernel_types import Collision
from hrpsim.engine.compile.numba_code import NumbaCode
from hrpsim.engine.constraints.displacement import asks_for_displacement
from hrpsim.engine.constraints.joint_rows import mark_full_brakes
from hrpsim.engine.constraints.rows import LOWER_LIMIT, VELOCITY_LIMIT
from hrpsim.engine.constraints.tendon_rows import remember_tendon_impulses
from hrpsim.engine.dynamics.first_order_forces import SYMMETRIC
from hrpsim.engine.dynamics.joint_forces import advance_targets, revise_limited
from hrpsim.engine.kinematics.forward import update_poses, update_velocities
from hrpsim.engine.sensors.sensing import keep_readings, sense
from hrpsim.engine.spatial.vector import copy_vector
from hrpsim.engine.step.arrays import Scene
from hrpsim.engine.step.audit.audit_energy import audit_energy
from hrpsim.engine.step.contact_search import find_contacts, match_contacts_again
from hrpsim.engine.step.continuous.fast_motion import check_motion
from hrpsim.engine.step.continuous.records import ContinuousDetection
from hrpsim.engine.step.continuous.speculative_contacts import forget_speculative_contacts
from hrpsim.engine.step.impacts.impact_island import forget_driven
from hrpsim.engine.step.impacts.impacts import resolve_impacts
from hrpsim.engine.step.impacts.inelastic_impacts import (
    count_impact_wrenches,
    resolve_inelastic_impacts,
)
from hrpsim.engine.step.impacts.records import Impacts
from hrpsim.engine.step.integrate import (
    integrate_euler,
    integrate_rk4,
    integrate_semi_implicit,
    within_limits,
)
from hrpsim.engine.step.motion.actuators import begin_drives, revise_drives, store_drives
from hrpsim.engine.step.motion.carry import move
from hrpsim.engine.step.motion.half_turns import drift_with_free_bodies
from hrpsim.engine.step.motion.midpoint import drift_to_middle, remember_acceleration
from hrpsim.engine.step.motion.momentum import keep_momentum
from hrpsim.engine.step.motion.rolling_energy import bound_rolling_energy
from hrpsim.engine.step.motion.stick_drift import remember_gaps
from hrpsim.engine.step.motion.unconstrained_motion import unconstrained_dynamics
from hrpsim.engine.step.position_projection import project_connections
from hrpsim.engine.step.restoring import restore_start, save_start
from hrpsim.engine.step.rows.constrain import (
    constrain,
    keep_worst,
    remember_impulses,
    solve_displacement,
)
from hrpsim.engine.step.rows.constraint_wrenches import forget_impact_impulses
from hrpsim.engine.step.rows.joint_friction import (
    forget_frictions,
    predict_frictions,
    revise_frictions,
    start_from_found,
)
from hrpsim.engine.step.rows.prepare_rows import prepare_rows, remember_turning_impulses
from hrpsim.engine.step.scene.integrators import EULER, SEMI_IMPLICIT, SYMPLECTIC
from hrpsim.engine.step.scene.records import FIRST_ATTEMPTS, REMAINDER, WHOLE
from hrpsim.engine.step.scene.status import (
    DIVERGED,
    DONE,
    FALLS_ASLEEP,
    NEEDS_KERNEL,
    RESOLVED,
    WIDER_SEARCH,
)
from hrpsim.engine.step.sleep_detection import detect_rest, wake_touched

monotonic_seconds = NumbaCode("hrpsim.engine.compile.intrinsics", "monotonic_seconds")

# Maximum number of revisions in a step. An actuator that reaches its limit may make others reach
# or leave theirs, and a joint that sticks or slides may make others slide or stick. In the second
# half of the revisions, no actuator leaves its limit. After the last, all friction has rows.
_REVISIONS = 6

# Time after which a call of `advance` returns, so that Python can handle signals [s].
LONGEST_CALL = 0.05


@kernel
def advance(scene: Scene, steps: int) -> tuple[int, int, int, int]:
    """Do up to `steps` steps, or fewer if the call takes long.

    A step that fails restores its start. The number of completed steps is also counted in
    scene.clock, so that state and time agree even if the result is lost.

    Returns:
        (number of steps, status, number of steps that did not converge, number of steps in which
        Newton's method solved an island).
    """
    unmet = by_newton = 0
    if scene.lazy_kernels[1].awaited != 0:
        return 0, NEEDS_KERNEL, unmet, by_newton
    end = monotonic_seconds() + LONGEST_CALL if steps > 1 else math.inf
    for done in range(steps):
        scene.continuous.state[0].passes = scene.impacts.state[0].updates = 0
        status = WIDER_SEARCH
        while status == WIDER_SEARCH:
            status = step(scene)
        forget_wider_search(scene.collision, scene.continuous, scene.impacts)
        if status != DONE and status != FALLS_ASLEEP:
            return done, status, unmet, by_newton
        scene.clock[0] += 1
        if not scene.step_stats[0].converged:
            counts, stats = scene.counts[0], scene.step_stats[0]
            keep_worst(counts, stats, scene.collision.contacts, scene.rows, scene.worst, unmet)
            unmet += 1
        by_newton += int(scene.step_stats[0].newton_islands > 0)
        scene.failure[0].due = status
        if status == FALLS_ASLEEP or monotonic_seconds() > end:
            return done + 1, status, unmet, by_newton
    return steps, DONE, unmet, by_newton


@inlined_kernel
def forget_wider_search(
    collision: Collision, continuous: ContinuousDetection, impacts: Impacts
) -> None:
    """Remove the contacts beyond the usual distance that a wider contact search added."""
    if impacts.state[0].wider_searches > 0:
        forget_driven(collision, impacts)
    if continuous.state[0].speculative_count > 0 or continuous.state[0].ballistic:
        forget_speculative_contacts(collision.shapes, continuous)


@inner_kernel
def step(s: Scene) -> int:
    """Do one step. With any status except DONE and FALLS_ASLEEP, the state does not change.

    If a stage returns WIDER_SEARCH, the step is repeated with a wider contact search.
    """
    begin_step(s)
    forward_kinematics(s)
    status = find_contacts(s)
    if status == DONE:
        status = solve_constraints(s)
    if status == DONE:
        status = wake_touched(s)
    if status == DONE:
        read_sensors(s)
        status = integrate(s)
    if status == DONE:
        store_for_next_step(s)
        if s.settings[0].audit:
            audit_energy(s)
        return detect_rest(s)
    restore_start(s, status)
    return status


@inlined_kernel
def begin_step(s: Scene) -> None:
    """Save the start of the step, which is restored if the step fails.

    Reads: connections, counts, impacts, joint_impact_impulses, q, step_stats, velocity.
    Writes: connections, continuous, impacts, start, step_stats.
    """
    save_start(s)
    s.step_stats[0].ccd_queries = s.step_stats[0].direct_work = 0
    s.continuous.state[0].start_force = 0


@inlined_kernel
def forward_kinematics(s: Scene) -> None:
    """Compute pose and velocity of every body at the time when the forces of the step act.

    Reads: connections, forest, kinematics, past_accelerations, q, settings, spins, velocity, work.
    Writes: kinematics, q, spins, velocity, work.
    """
    if s.settings[0].drift > 0.0:
        if s.settings[0].half_turns:
            drift_with_free_bodies(s)
        else:
            drift_to_middle(s)
    else:
        copy_vector(s.velocity, s.work.velocity_middle)
    update_poses(s.forest, s.q, s.kinematics)
    update_velocities(s.forest, s.work.velocity_middle, s.kinematics)


@inlined_kernel
def solve_constraints(s: Scene) -> int:
    """Solve the motion of the step with its constraints.

    The solution is repeated from the same start in two cases: actuators reach or leave a limit, or
    dry friction of joints does not act as predicted.
    """
    predicted = predict_joints(s)
    if predicted == NEEDS_KERNEL:
        return NEEDS_KERNEL
    revisions = 0
    while True:
        status, changed = solve_as_predicted(s, predicted)
        if status != DONE or s.impacts.state[0].had_impacts or revisions == _REVISIONS:
            return status  # the impacts of a step happen once
        if s.step_stats[0].converged or not changed:
            changed = revise_actuators(s, 2 * revisions < _REVISIONS) or changed
        if not changed:
            return DONE
        status = start_again(s, predicted)
        if status != DONE:
            return status
        revisions += 1
        if revisions == _REVISIONS:
            forget_frictions(s.work.friction)


@inlined_kernel
def predict_joints(s: Scene) -> int:
    """Predict the actuators and the dry friction of the step.

    Returns:
        The number of joints whose friction is predicted, or NEEDS_KERNEL.
    """
    s.counts[0].friction_revisions = 0
    if s.settings[0].actuators:
        begin_drives(s)
    return predict_frictions(s) if s.settings[0].joint_friction else 0


@inlined_kernel
def solve_as_predicted(s: Scene, predicted: int) -> tuple[int, bool]:
    """Solve the motion with the predicted dry friction of joints.

    Returns:
        (status, whether any friction does not act as predicted).
    """
    status = prepare_constraints(s)
    if status != DONE:
        return status, False
    return constrain_as_predicted(s) if predicted > 0 else (constrain(s, WHOLE), False)


@inlined_kernel
def start_again(s: Scene, predicted: int) -> int:
    """Prepare another solution of the step: match the contacts and predict the friction again."""
    status = match_contacts_again(s)
    if predicted > 0 and status == DONE:
        s.counts[0].friction_revisions += 1
        status = start_from_found(s)
    return status


@inlined_kernel
def constrain_as_predicted(s: Scene) -> tuple[int, bool]:
    """Compute the constraint forces, given the predicted dry friction of joints.

    Predictions are checked after a first attempt, because a wrong prediction may make a problem
    hard to solve.

    Returns:
        (status, whether any dry friction does not act as predicted).
    """
    status = constrain(s, FIRST_ATTEMPTS)
    if status != DONE:
        return status, False
    changed = revise_frictions(s) != 0
    if not changed and not s.step_stats[0].converged:
        status = constrain(s, REMAINDER)
        changed = status == DONE and revise_frictions(s) != 0
    return status, changed


@inlined_kernel
def revise_actuators(s: Scene, may_release: bool) -> bool:
    """Mark the actuators that reach a limit in the motion. Return whether any mark is new.

    Reads: actuators, articulated, control, counts, forest, q, rows, settings, velocity, work.
    Writes: actuators, control, forest, work.
    """
    counts = s.counts[0]
    settings = s.settings[0]
    implicit = settings.horizon > 0.0 and settings.damping == SYMMETRIC
    changed = revise_limited(
        s.forest, s.control, s.q, s.velocity, s.work, settings.time_step, implicit, may_release
    )
    if implicit:
        first = 3 * counts.contact_count + counts.connection_rows
        changed = mark_full_brakes(s.rows.rows, first, counts.row_count, s.control) or changed
    if settings.actuators:
        changed = revise_drives(s) != 0 or changed
    return changed


@inlined_kernel
def prepare_constraints(s: Scene) -> int:
    """Compute the motion without constraints, and the rows, after the impacts of the step.

    Impacts with restitution come first. In an rk4 step, all other impacts come next.
    """
    begin_impacts(s)
    bounces, lands = s.settings[0].restitution != 0, s.settings[0].staged != 0
    while True:
        status = unconstrained_dynamics(s)
        if status == DONE:
            status = prepare_rows(s)
        if status != DONE or s.counts[0].row_count == 0:
            return status
        if bounces:
            bounces = False
            status = resolve_impacts(s)
            if status == WIDER_SEARCH:
                return status
            if status == RESOLVED:
                forget_frictions(s.work.friction)
                continue
        if not lands:
            return DONE
        status = resolve_inelastic_impacts(s)
        if status != RESOLVED:
            return status
        lands = False


@inlined_kernel
def begin_impacts(s: Scene) -> None:
    """Reset the impacts at the start of a step."""
    stats = s.step_stats[0]
    if s.impacts.state[0].had_impacts:
        forget_impact_impulses(s.joint_impact_impulses, s.connections)
    s.impacts.state[0].had_impacts = stats.impact_rounds = 0
    stats.impacts_lowered = stats.impacts_left = 0


@inlined_kernel
def read_sensors(s: Scene) -> None:
    """Read all sensors. Readings include the impacts at the start of the step.

    Reads: articulated, impacts, kinematics, sensors, settings.
    Writes: articulated, sensors.
    """
    count_impact_wrenches(s.settings[0], s.articulated, s.impacts)
    sense(s.kinematics, s.articulated, s.settings[0].gravity, s.sensors)


@inlined_kernel
def integrate(s: Scene) -> int:
    """Integrate the state to the end of the step, then correct a fraction of the penetration.

    Reads: articulated, collision, connections, constrained, continuous, control, counts, direct,
    forest, impacts, islands, joint_holds, kinematics, materials, momentum, q, rk4, rows, search,
    settings, solver_choice, spins, start, step_stats, velocity, work, wrenches.
    Writes: articulated, collision, constrained, continuous, direct, failure, islands, kinematics,
    momentum, q, rk4, rows, search, step_stats, velocity, work.
    """
    settings = s.settings[0]
    if settings.continuous:
        copy_vector(s.q, s.continuous.q_swept)
    leaks = keep_momentum(s, 0) if settings.floating_trees else 0
    status = move_by_integrator(s)
    if status == DONE and s.counts[0].row_count > 0:
        status = correct_positions(s)
        if settings.stage_turns:
            bound_rolling_energy(s)
    if status != DONE:
        return status
    if not within_limits(s.q, s.velocity):
        return DIVERGED
    if settings.continuous:
        status = check_motion(s)
    if leaks and status == DONE:
        keep_momentum(s, 1)
    return status


@inlined_kernel
def move_by_integrator(s: Scene) -> int:
    """Integrate the state to the end of the step by the chosen integrator. Return a status."""
    integrator = s.settings[0].integrator
    if integrator == SEMI_IMPLICIT:
        integrate_semi_implicit(s)
    elif integrator == EULER or integrator == SYMPLECTIC:
        integrate_euler(s)
    else:
        return integrate_rk4(s)
    return DONE


@inlined_kernel
def correct_positions(s: Scene) -> int:
    """Correct a fraction of the rows' position errors by a displacement at constant velocity.

    Returns:
        DONE, or the status of the array that is too small.
    """
    settings, counts, rows = s.settings[0], s.counts[0], s.rows
    if asks_for_displacement(rows.rows, counts.contact_count, counts.row_count):
        status = solve_displacement(s)
        if status != DONE:
            return status
        move(s.forest, s.work.correction_velocity, settings.time_step, s.q)
        if settings.staged:
            remember_gaps(settings, counts, s.collision.contacts, s.constrained, rows)
    return project_connections(s) if settings.projection else DONE


@inlined_kernel
def store_for_next_step(s: Scene) -> None:
    """Store the results of a complete step for the next step and for users.

    Reads: actuators, articulated, collision, connections, control, counts, forest, joint_impulses,
    past_accelerations, past_readings, q, rows, sensors, settings, tendons, velocity, work.
    Writes: actuators, collision, connections, control, counts, joint_impulses, past_accelerations,
    past_readings, sensors, tendons.
    """
    if s.settings[0].turning_friction:
        remember_turning_impulses(s)
    remember_impulses(
        s.counts[0], s.forest, s.work.friction, s.joint_impulses, s.collision, s.connections, s.rows
    )
    remember_acceleration(s.work, s.past_accelerations)
    impulses, dt = s.joint_impulses[:, VELOCITY_LIMIT - LOWER_LIMIT], s.settings[0].time_step
    advance_targets(s.forest, s.velocity, impulses, dt, s.work.applied, s.control)
    if s.settings[0].actuators:
        store_drives(s)
    if s.settings[0].tendons:
        remember_tendon_impulses(s.rows.rows, s.tendons)
    keep_readings(s.sensors, s.past_readings)
