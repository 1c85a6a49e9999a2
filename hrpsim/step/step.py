"""One step of a world, compiled: look, collide, move freely, constrain, sense, integrate.

Kernels get the scene by reference (hrpsim.jit.reference) and call it `s`.
"""

from __future__ import annotations

from hrpsim.clock import monotonic_seconds
from hrpsim.dynamics.joint_forces import advance_targets, revise_saturated
from hrpsim.jit.compiled import inlined_kernel, inner_kernel, kernel
from hrpsim.jit.late import (
    MOMENTUM,
    PROJECTION,
    RESTITUTION,
    RK4_STEP,
    SPIN,
    STRIKE,
    call_with_scene,
)
from hrpsim.sensors.sensing import keep_readings, sense
from hrpsim.spatial.vector import copy_vector
from hrpsim.step.contact_search import collide_shapes, place_bodies, recall
from hrpsim.step.impacts.impact_reach import forget_driven
from hrpsim.step.impacts.impact_times import look_at_motion
from hrpsim.step.impacts.passages import forget_passages
from hrpsim.step.impacts.strike import count_strike
from hrpsim.step.impacts.struck import forget_struck_impulses
from hrpsim.step.integrate import correct_positions, integrate_euler, within_limits
from hrpsim.step.motion.midpoint import drift_to_middle, forget_free_turning, remember_acceleration
from hrpsim.step.motion.motion import find_acceleration
from hrpsim.step.rest import disturb, rest
from hrpsim.step.restoring import keep_start, restore_start
from hrpsim.step.rows.constrain import constrain, plan_push, remember_impulses
from hrpsim.step.rows.prepare import prepare_rows
from hrpsim.step.rows.worst import keep_worst
from hrpsim.step.scene.scene import RK4, SEMI_IMPLICIT
from hrpsim.step.scene.status import DIVERGED, DONE, FALLS_ASLEEP, LOOK_FURTHER, RESOLVED

# An actuator at its limit may take others to theirs, and off them; so often that is looked at in a
# step, and in the second half of these times none is taken off.
_REVISIONS = 6

# A call of `advance` comes back after so long, so that Python can serve signals [s].
_PATIENCE = 0.05


@kernel
def advance(scene, steps):
    """Do up to `steps` steps, fewer if they take long; a step that fails leaves its start.

    Returns (steps done, status, how many of them did not converge). The steps done are counted in
    scene.clock as well: whatever becomes of the answer, state and time agree.
    """
    unmet = 0
    end = monotonic_seconds() + _PATIENCE if steps > 1 else 0.0
    for done in range(steps):
        scene.tally[0].passes = 0
        while True:
            status = step(scene)
            if status != LOOK_FURTHER:
                break
        if scene.tally[0].looks > 0:
            forget_driven(scene)
        if scene.tally[0].passage_count > 0 or scene.tally[0].flies:
            forget_passages(scene)
        if status != DONE and status != FALLS_ASLEEP:
            return done, status, unmet
        scene.clock[0] += 1
        if not scene.tally[0].converged:
            keep_worst(scene, unmet)
            unmet += 1
        scene.tally[0].due = status
        if status == FALLS_ASLEEP:
            return done + 1, status, unmet
        if steps > 1 and monotonic_seconds() > end:
            return done + 1, DONE, unmet
    return steps, DONE, unmet


@inner_kernel
def step(s):
    """Do one step; any status but DONE and FALLS_ASLEEP leaves the state as it was.

    LOOK_FURTHER asks for it again: contacts are then looked for further away.
    """
    look(s)
    status = collide_shapes(s)
    if status == DONE:
        status = find_motion(s)
    if status == DONE:
        status = disturb(s)
    if status == DONE:
        read_sensors(s)
        status = integrate(s)
    if status == DONE:
        remember(s)
        return rest(s)
    restore_start(s, status)
    return status


@inlined_kernel
def look(s):
    """Keep the start of the step, and find where everything is and how it moves."""
    keep_start(s)
    s.tally[0].impact_looks = s.tally[0].undrifted = 0
    if s.settings[0].integrator == SEMI_IMPLICIT:
        drift_to_middle(s)
    else:
        copy_vector(s.velocity, s.work.velocity_middle)
    place_bodies(s)


@inlined_kernel
def find_motion(s):
    """Find the motion of the step with its constraints.

    Once more, from the same start, where it takes actuators to their effort limits or off them.
    """
    revisions = 0
    while True:
        status = prepare_constraints(s)
        if status != DONE:
            return status
        status = constrain(s)
        if status != DONE:
            return status
        if s.tally[0].struck or revisions == _REVISIONS:
            return DONE  # what has struck does not do so again
        if not revise_actuators(s, 2 * revisions < _REVISIONS):
            return DONE
        recall(s)
        revisions += 1


@inlined_kernel
def revise_actuators(s, may_release):
    """See which actuators the motion found takes to their limits; return whether that is new."""
    settings = s.settings[0]
    if settings.integrator != SEMI_IMPLICIT:
        return False
    return revise_saturated(
        s.forest,
        s.control,
        s.q,
        s.velocity,
        s.work.dv,
        s.work.change,
        settings.time_step,
        may_release,
    )


@inlined_kernel
def prepare_constraints(s):
    """Find the motion without constraints, and the rows, after the impacts of the step.

    Where there is restitution, its impacts come first; in an rk4 step, all others come then.
    """
    tally = s.tally[0]
    if tally.struck:
        forget_struck_impulses(s)
    tally.struck = tally.impact_rounds = tally.impacts_left = 0
    bounces, lands = s.late[RESTITUTION] != 0, s.settings[0].integrator == RK4
    while True:
        status = move_freely(s)
        if status == DONE:
            status = prepare_rows(s)
        if status != DONE or tally.row_count == 0:
            return status
        if bounces:
            bounces = False
            status = call_with_scene(s, RESTITUTION, ())
            if status == LOOK_FURTHER:
                return status
            if status == RESOLVED:
                continue
        if not lands or not call_with_scene(s, STRIKE, ()):
            return DONE
        lands = False


@inlined_kernel
def move_freely(s):
    """Factorise the forest and find its acceleration without constraints."""
    settings = s.settings[0]
    horizon = settings.time_step if settings.integrator == SEMI_IMPLICIT else 0.0
    return find_acceleration(s, horizon)


@inlined_kernel
def read_sensors(s):
    """Read every sensor, impacts at the start of the step included."""
    count_strike(s)
    sense(s.kinematics, s.articulated, s.settings[0].gravity, s.sensors)


@inlined_kernel
def integrate(s):
    """Carry the state to the end of the step, then take back some of the penetration."""
    if s.settings[0].continuous:
        copy_vector(s.q, s.work.q_swept)
    keeps_momentum = s.late[MOMENTUM] != 0
    if keeps_momentum:
        call_with_scene(s, MOMENTUM, (0,))
    if s.settings[0].integrator == RK4:
        status = call_with_scene(s, RK4_STEP, ())
        if status != DONE:
            return status
    else:
        integrate_euler(s)
    if s.tally[0].row_count > 0:
        plan_push(s)
        correct_positions(s)
        if s.settings[0].projection:
            call_with_scene(s, PROJECTION, ())
    if not within_limits(s.q, s.velocity):
        return DIVERGED
    status = DONE
    if s.settings[0].continuous:
        status = look_at_motion(s)
    if keeps_momentum and s.tally[0].leaks and status == DONE:
        call_with_scene(s, MOMENTUM, (1,))
    return status


@inlined_kernel
def remember(s):
    """Keep what the next step and its readers need of a step that is done."""
    remember_impulses(s)
    remember_acceleration(s.work, s.past_accelerations)
    if s.late[SPIN] != 0:
        forget_free_turning(s.forest, s.past_accelerations)
    advance_targets(s.work.applied, s.control)
    keep_readings(s.sensors)
