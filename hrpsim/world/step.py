"""One step of a world, compiled: look, collide, move freely, constrain, sense, integrate.

Kernels get the scene by reference (hrpsim.reference) and call it `s`.
"""

from __future__ import annotations

from hrpsim.collision.candidates import refresh_candidates
from hrpsim.collision.contacts import detect, recall_impulses
from hrpsim.compiled import inlined_kernel, inner_kernel, kernel
from hrpsim.dynamics.joint_forces import advance_targets
from hrpsim.kinematics.forward import update_poses, update_velocities
from hrpsim.late import MOMENTUM, PROJECTION, RK4_STEP, STRIKE, call_with_scene
from hrpsim.sensors.sensing import sense
from hrpsim.spatial.vector import copy_vector
from hrpsim.world.constrain import constrain, plan_push, remember_impulses
from hrpsim.world.impact_times import stop_at_impacts
from hrpsim.world.integrate import all_finite, correct_positions, integrate_euler
from hrpsim.world.motion import find_acceleration
from hrpsim.world.prepare import prepare_rows
from hrpsim.world.rest import disturb, rest
from hrpsim.world.scene import RK4, SEMI_IMPLICIT
from hrpsim.world.status import (
    DIVERGED,
    DONE,
    FALLS_ASLEEP,
    MORE_CANDIDATES,
    MORE_CONTACTS,
    NEEDS_KERNEL,
)
from hrpsim.world.strike import count_strike


@kernel
def advance(scene, steps):
    """Do up to `steps` steps; return (steps done, status). A step that fails leaves its start."""
    for done in range(steps):
        status = step(scene)
        if status == FALLS_ASLEEP:
            return done + 1, status
        if status != DONE:
            return done, status
    return steps, DONE


@inner_kernel
def step(s):
    """Do one step; any status but DONE and FALLS_ASLEEP leaves the state as it was."""
    look(s)
    status = collide_shapes(s)
    if status == DONE:
        status = prepare_constraints(s)
    if status == DONE:
        constrain(s)
        status = disturb(s)
    if status == DONE:
        read_sensors(s)
        status = integrate(s)
    if status == DONE:
        remember_impulses(s)
        advance_targets(s.control)
        return rest(s)
    restore_start(s)
    return status


@inlined_kernel
def look(s):
    """Keep the start of the step, and find where everything is and how it moves."""
    copy_vector(s.q, s.work.q_start)
    copy_vector(s.velocity, s.work.velocity_start)
    update_poses(s.forest, s.q, s.kinematics)
    update_velocities(s.forest, s.velocity, s.kinematics)


@inlined_kernel
def collide_shapes(s):
    """Find the contact points, and what each pressed with in the last step."""
    settings, tally, collision = s.settings[0], s.tally[0], s.collision
    count = refresh_candidates(
        s.forest,
        s.kinematics,
        settings.contact_margin,
        settings.time_step,
        settings.skin,
        settings.continuous,
        tally.candidate_count,
        collision,
    )
    if count > collision.pairs.shape[0]:
        tally.candidate_count, tally.needed = -1, count
        return MORE_CANDIDATES
    tally.candidate_count = count
    count = detect(
        s.forest,
        s.kinematics,
        count,
        settings.contact_margin,
        settings.time_step,
        s.late,
        collision,
    )
    if count < 0:
        tally.needed = -1 - count
        return NEEDS_KERNEL
    if count > collision.contacts.shape[0]:
        tally.needed = count
        return MORE_CONTACTS
    tally.contact_count = count
    tally.new_count = recall_impulses(
        tally.previous_count, collision.previous, count, collision.contacts, tally.born_count
    )
    return DONE


@inlined_kernel
def prepare_constraints(s):
    """Find the motion without constraints, and the rows; in an rk4 step, after its impacts."""
    s.tally[0].struck = 0
    while True:
        status = move_freely(s)
        if status == DONE:
            status = prepare_rows(s)
        if status != DONE or s.settings[0].integrator != RK4 or s.tally[0].struck:
            return status
        if not call_with_scene(s, STRIKE, ()):
            return DONE


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
    if not all_finite(s.q, s.velocity):
        return DIVERGED
    status = DONE
    if s.settings[0].continuous:
        status = stop_at_impacts(s)
    if keeps_momentum and status == DONE:
        call_with_scene(s, MOMENTUM, (1,))
    return status


@inner_kernel
def restore_start(s):
    """Undo a step that failed."""
    copy_vector(s.work.q_start, s.q)
    copy_vector(s.work.velocity_start, s.velocity)
