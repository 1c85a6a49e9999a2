# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Actuators with a model in a step: an active set, in the same way as saturation.

Each actuator is a torque on its joint that does not increase with the joint's velocity at the end
of the step (engine.actuators.gear). Within a state of limits, flanks and friction the torque is
linear. The step takes the torque linear about the velocity predicted from the last steps. If the
motion found belongs to another state, the motion is found again with that state.
"""

import math
from typing import Any

import numpy as np

from hrpsim.engine.actuators.commands import command_in_effect, count_step
from hrpsim.engine.actuators.gear import begin_gear, dry_friction, linearise, relax_twist, settle
from hrpsim.engine.actuators.lossy_gear import (
    begin_losses,
    gear_friction,
    leaves_band,
    settle_losses,
)
from hrpsim.engine.actuators.motor import damper_weight, find_limits, heat
from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.lazy_kernels import lazy_kernel
from hrpsim.engine.constraints.rows import JOINT_FRICTION, LOWER_LIMIT
from hrpsim.engine.dynamics.joint_forces import BY_ROW, spring_inertia
from hrpsim.engine.step.scene.status import DONE

# Change of the joint's velocity, relative and absolute [rad/s], that a wrong state may cause.
_RELATIVE, _ABSOLUTE = 1e-9, 1e-12


def has_actuators(scene: Any) -> bool:
    """Return whether a joint has an actuator with a model."""
    return len(scene.actuators.units) > 0


@lazy_kernel(used=has_actuators, brings=("drive_joints", "revise_drives", "store_drives"))
def begin_drives(s):
    """Find commands, limits and friction of the step, and each torque about a predicted motion.

    Reads: actuators, control, forest, past_accelerations, q, settings, velocity, work.
    Writes: actuators, forest.
    """
    dt, drives = s.settings[0].time_step, s.actuators
    for number in range(drives.units.shape[0]):
        unit, state, now = (drives.units[number], drives.states[number], drives.steps[number])
        k = unit.dof
        dof, law = s.forest.dofs[k], s.control[k]
        command_in_effect(unit, state, drives.commands[number], law, dt, now.command)
        find_limits(unit, state, _motor_inertia(unit, dof), dt, now)
        now.joint_start = now.motor_start = s.velocity[k]
        now.middle, now.motor_end = 0.0, 2.0 * s.work.velocity_middle[k] - s.velocity[k]
        if unit.two_mass:
            now.motor_start = state.motor_velocity
            now.middle = state.deflection + 0.5 * dt * (state.motor_velocity - s.velocity[k])
            now.dry = dry_friction(unit, state.motor_velocity + 0.5 * state.motor_change)
            joint_end, now.motor_end = now.motor_end, now.motor_start + state.motor_change
        else:
            joint_end = now.motor_end
        _correct_position(s, unit, state, now, dof)
        if unit.two_mass:
            begin_gear(unit, state, now, dt)
        _set_demand(unit, now, dof, s.q[dof.q_index], dt)
        if unit.has_losses:
            _begin_losses(s, unit, state, now, dof)
            continue
        linearise(unit, now, joint_end)
        if unit.two_mass:  # the velocity belongs to the last step's torque, maybe of another flank
            end = now.joint_start + dt * s.past_accelerations[k, 0]
            momentum = state.moved_inertia * end - dt * state.torque
            settle(unit, now, state.moved_inertia, momentum, dt)
        else:
            dof.friction = unit.joint_friction + dry_friction(unit, s.work.velocity_middle[k])
    return DONE


@inlined_kernel
def _motor_inertia(unit, dof):
    """Return the least inertia that the motor moves."""
    if unit.two_mass:
        return unit.inertia
    if unit.has_losses:
        return unit.inertia + unit.least_share * (dof.own_inertia - unit.inertia)
    return dof.own_inertia


@inner_kernel
def _begin_losses(s, unit, state, now, dof):
    """Predict the motion of a joint behind a rigid gear with losses, and the torque about it."""
    dt, k = s.settings[0].time_step, unit.dof
    now.dry = dry_friction(unit, s.work.velocity_middle[k])
    begin_losses(unit, now, dt)
    end = now.joint_start + dt * s.past_accelerations[k, 0]
    momentum = state.moved_inertia * end - dt * state.load
    settle_losses(unit, now, state.moved_inertia, momentum, dt, True)
    dof.friction = unit.joint_friction + now.band


@inlined_kernel
def _correct_position(s, unit, state, now, dof):
    """Make the gains act on the position that the encoder reads, and add the integral of it."""
    position, resolution = s.q[dof.q_index], unit.joint_resolution
    if unit.motor_encoder:
        position, resolution = position + now.middle, unit.motor_resolution
    command = now.command
    if resolution > 0.0:
        read = resolution * np.rint(position / resolution)
        command.constant -= command.kp * (read - position)
        position = read
    now.integral = state.integral
    if unit.integral_gain > 0.0 and command.kp > 0.0:
        now.integral += s.settings[0].time_step * unit.integral_gain * (command.target - position)
        now.integral = min(max(now.integral, -unit.integral_limit), unit.integral_limit)
        command.constant += 0.5 * (state.integral + now.integral)


@inner_kernel
def _set_demand(unit, now, dof, position, time_step):
    """Write the gains' demand as a function of the velocities at the end of the step.

    Springs and dampers act implicitly, as in `hrpsim.engine.dynamics.joint_forces`.
    """
    kp, kd, dt = now.command.kp, now.command.kd, time_step
    inertia, damping = dof.own_inertia, dof.damping + kd
    rate, at_motor = now.joint_start, True
    if unit.two_mass:
        inertia -= dof.rotor_inertia
        at_motor = unit.motor_encoder != 0
        if at_motor:
            inertia, damping, rate = unit.inertia, kd, now.motor_start
            position += now.middle
    elif unit.has_losses:
        inertia, damping = _motor_inertia(unit, dof), kd + unit.viscous
    else:
        damping += unit.viscous
    now.gain_weight = damper_weight(damping, inertia, dt)
    slope = 0.25 * dt * kp + kd * now.gain_weight  # of a spring_inertia, over dt
    now.demand = now.command.constant - kp * position - kd * rate + slope * rate
    now.of_motor = slope if at_motor else 0.0
    now.of_joint = 0.0 if at_motor else slope


@lazy_kernel()
def drive_joints(s):
    """Write effort and inertia of the joints with such actuators, in place of `joint_forces`."""
    dt, work = s.settings[0].time_step, s.work
    for number in range(s.actuators.units.shape[0]):
        unit, now = s.actuators.units[number], s.actuators.steps[number]
        k = unit.dof
        dof, rate = s.forest.dofs[k], s.velocity[k]
        if rate != now.joint_start:  # an impact
            _begin_again(s, number, dof, rate)
        damping, inertia, weight = dof.damping, dof.own_inertia, now.gain_weight
        work.joint_inertia[k] = dof.rotor_inertia
        if unit.two_mass or unit.has_losses:
            inertia -= dof.rotor_inertia
            work.joint_inertia[k] = 0.0
            weight = damper_weight(damping, inertia, dt)
        else:
            damping += unit.viscous
        passive = -dof.stiffness * (s.q[dof.q_index] - dof.rest) - damping * rate
        work.effort[k] = passive + now.torque + now.slope * (rate - now.joint_end)
        work.actuator_inertia[k] = -now.slope * dt
        work.joint_inertia[k] += work.actuator_inertia[k] + weight * damping * dt
        work.joint_inertia[k] += spring_inertia(dof.stiffness, dt)
    return DONE


@inner_kernel
def _begin_again(s, number, dof, rate):
    """Find the torque again where the joint starts the step with another velocity."""
    unit, state = s.actuators.units[number], s.actuators.states[number]
    now, dt = s.actuators.steps[number], s.settings[0].time_step
    joint_end = now.joint_end + rate - now.joint_start
    torque = now.torque - gear_friction(now, now.joint_end, 0.0)
    now.joint_start = rate
    if unit.two_mass:
        begin_gear(unit, state, now, dt)
    else:
        now.motor_start = rate
    _set_demand(unit, now, dof, s.q[dof.q_index], dt)
    if unit.has_losses:
        begin_losses(unit, now, dt)
        momentum = state.moved_inertia * joint_end - dt * torque
        settle_losses(unit, now, state.moved_inertia, momentum, dt, False)
        _set_friction(s, unit, now, momentum)
        return
    linearise(unit, now, joint_end)


@inner_kernel
def _set_friction(s, unit, now, momentum):
    """Give a joint the row of its gear's band, starting from the impulse that holds it at rest."""
    friction = s.work.friction[unit.dof]
    s.forest.dofs[unit.dof].friction = unit.joint_friction + now.band
    friction.mark = BY_ROW
    friction.impulse = -momentum - s.settings[0].time_step * now.centre


@lazy_kernel()
def revise_drives(s):
    """Take each actuator linear about the motion found; return 1 if a state changed, otherwise 0.

    The acceleration of the motion is work.dv + work.change.
    """
    changed, dt = 0, s.settings[0].time_step
    for number in range(s.actuators.units.shape[0]):
        unit, now = s.actuators.units[number], s.actuators.steps[number]
        k = unit.dof
        joint_end = s.velocity[k] + dt * (s.work.dv[k] + s.work.change[k])
        step = joint_end - now.joint_end
        if abs(step) * (1.0 + abs(now.motor_slope)) <= now.reach:
            continue
        if unit.has_losses:
            changed = max(changed, _revise_losses(s, number, joint_end))
            continue
        linear, before = now.torque + now.slope * step, now.slope
        now.motor_end += now.motor_slope * step
        linearise(unit, now, joint_end)
        inertia = s.forest.dofs[k].own_inertia - dt * min(before, now.slope)
        allowed = _RELATIVE * abs(joint_end) + _ABSOLUTE
        if abs(now.torque - linear) * dt <= allowed * inertia:
            now.torque = linear  # what acted in the step
            continue
        changed = 1
        moved = _moved_inertia(s, k)
        if moved > 0.0:
            settle(unit, now, moved, moved * joint_end - dt * linear, dt)
    return changed


@inner_kernel
def _revise_losses(s, number, joint_end):
    """Do the same for a rigid gear with losses."""
    unit, state = s.actuators.units[number], s.actuators.states[number]
    now, settings, k = s.actuators.steps[number], s.settings[0], unit.dof
    dt, tolerance = settings.time_step, settings.tolerance
    linear = now.torque + now.slope * (joint_end - now.joint_end)
    total = linear - gear_friction(now, joint_end, tolerance)
    leaves = leaves_band(unit, now, joint_end, tolerance)
    linearise(unit, now, joint_end)
    inertia = s.forest.dofs[k].own_inertia - dt * now.slope
    allowed = _RELATIVE * abs(joint_end) + _ABSOLUTE
    if not leaves and abs(now.torque - linear) * dt <= allowed * inertia:
        now.torque = linear
        return 0
    if abs(joint_end) > tolerance:
        total -= math.copysign(unit.joint_friction, joint_end)
    moved = _moved_inertia(s, k)
    moved = moved if moved > 0.0 else state.moved_inertia
    momentum = moved * joint_end - dt * total
    settle_losses(unit, now, moved, momentum, dt, now.side != 0.0 and not leaves)
    _set_friction(s, unit, now, momentum)
    return 1


@inlined_kernel
def _moved_inertia(s, k):
    """Return the inertia that a joint moves besides its actuator's, or 0 if the joint is locked."""
    inverse = s.articulated[s.forest.dofs[k].body].D_inverse
    return 1.0 / inverse - s.work.actuator_inertia[k] if inverse > 0.0 else 0.0


@lazy_kernel()
def store_drives(s):
    """Store the motors, gears and temperatures at the end of a complete step."""
    dt, drives = s.settings[0].time_step, s.actuators
    for number in range(drives.units.shape[0]):
        unit, state, now = (drives.units[number], drives.states[number], drives.steps[number])
        k = unit.dof
        step = s.velocity[k] - now.joint_end
        state.torque = now.torque + now.slope * step
        if unit.has_losses:
            _store_losses(s, unit, state, now)
        s.control[k].applied = state.torque
        state.motor_torque = now.motor_torque + now.motor_torque_slope * step
        motor_end = now.motor_end + now.motor_slope * step
        if unit.two_mass:
            state.deflection = now.middle + 0.5 * dt * (motor_end - s.velocity[k])
            state.twist = relax_twist(unit, state)
            state.motor_change = motor_end - state.motor_velocity
            moved = _moved_inertia(s, k)
            if moved > 0.0:
                state.moved_inertia = moved
        state.motor_velocity, state.integral = motor_end, now.integral
        if unit.has_heat:
            heat(unit, state)
        count_step(unit, state, dt)
    return DONE


@inlined_kernel
def _store_losses(s, unit, state, now):
    """Store the load of a rigid gear with losses, and the row's part of the gear's torque."""
    k = unit.dof
    friction = s.joint_impulses[k, JOINT_FRICTION - LOWER_LIMIT] / s.settings[0].time_step
    state.load = state.torque + friction
    if now.band > 0.0:
        state.torque += friction * now.band / (now.band + unit.joint_friction)
    moved = _moved_inertia(s, k)
    if moved > 0.0:
        state.moved_inertia = moved
