# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Actuators with a model in a step, solved by an active set.

The torque of an actuator with a model does not increase with the joint's velocity at the end of the
step (engine.actuators.gear). Limits, gear flanks and friction define states of the actuator. In
each state, the torque is linear in this velocity. The step first uses the state and the linear
torque at the velocity predicted from the last steps. If the solved motion belongs to another state,
the step solves the motion again with the other state.
"""

import math

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
from hrpsim.engine.actuators.records import Actuators
from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import (
    Actuator,
    ActuatorState,
    ActuatorStep,
    Articulated,
    Dof,
    Friction,
    Index,
    Records,
    Scene,
    Seconds,
    Settings,
    Work,
)
from hrpsim.engine.compile.lazy_kernels import lazy_kernel
from hrpsim.engine.constraints.rows import JOINT_FRICTION, LOWER_LIMIT
from hrpsim.engine.dynamics.joint_forces import BY_ROW, spring_inertia
from hrpsim.engine.kinematics.forest import Forest
from hrpsim.engine.step.scene.status import DONE

# Tolerance of the joint velocity for a wrong state, relative and absolute [rad/s].
_RELATIVE, _ABSOLUTE = 1e-9, 1e-12


@lazy_kernel(feature="actuators", brings=("drive_joints", "revise_drives", "store_drives"))
def begin_drives(s: Scene) -> int:
    """Find commands, limits and friction of the step, and linearise the actuators' torques.

    The torques are linearised about a predicted motion.

    Reads: actuators, control, forest, past_accelerations, q, settings, velocity, work.
    Writes: actuators, forest.
    """
    dt, drives = s.settings[0].time_step, s.actuators
    for number in range(drives.units.shape[0]):
        actuator, state = drives.units[number], drives.states[number]
        step_state = drives.steps[number]
        k = actuator.dof
        dof, command = s.forest.dofs[k], s.control[k]
        command_in_effect(actuator, state, drives.commands[number], command, dt, step_state.command)
        find_limits(actuator, state, _motor_inertia(actuator, dof), dt, step_state)
        step_state.joint_start = step_state.motor_start = s.velocity[k]
        step_state.middle, step_state.motor_end = (
            0.0,
            2.0 * s.work.velocity_middle[k] - s.velocity[k],
        )
        if actuator.two_mass:
            step_state.motor_start = state.motor_velocity
            step_state.middle = state.deflection + 0.5 * dt * (state.motor_velocity - s.velocity[k])
            step_state.dry = dry_friction(actuator, state.motor_velocity + 0.5 * state.motor_change)
            joint_end, step_state.motor_end = (
                step_state.motor_end,
                step_state.motor_start + state.motor_change,
            )
        else:
            joint_end = step_state.motor_end
        _correct_position(actuator, state, step_state, s.q[dof.q_index], dt)
        if actuator.two_mass:
            begin_gear(actuator, state, step_state, dt)
        _set_demand(actuator, step_state, dof, s.q[dof.q_index], dt)
        if actuator.has_losses:
            step_state.dry = dry_friction(actuator, s.work.velocity_middle[k])
            _begin_losses(actuator, state, step_state, s.past_accelerations[k, 0], dt)
            dof.friction = actuator.joint_friction + step_state.band
            continue
        linearise(actuator, step_state, joint_end)
        if (
            actuator.two_mass
        ):  # the predicted velocity results from the last step's torque, maybe on another flank
            end = step_state.joint_start + dt * s.past_accelerations[k, 0]
            momentum = state.moved_inertia * end - dt * state.torque
            settle(actuator, step_state, state.moved_inertia, momentum, dt)
        else:
            dof.friction = actuator.joint_friction + dry_friction(
                actuator, s.work.velocity_middle[k]
            )
    return DONE


@inlined_kernel
def _motor_inertia(actuator: Actuator, dof: Dof) -> float:
    """Return the smallest inertia that the motor moves."""
    if actuator.two_mass:
        return actuator.inertia
    if actuator.has_losses:
        return actuator.inertia + actuator.least_share * (dof.own_inertia - actuator.inertia)
    return dof.own_inertia


@inner_kernel
def _begin_losses(
    actuator: Actuator, state: ActuatorState, step_state: ActuatorStep, past: float, dt: Seconds
) -> None:
    """Predict the final velocity of a joint behind a rigid gear with losses. Linearise its torque.

    `past` is the acceleration of the joint in the last step [rad/s^2 or m/s^2].
    """
    begin_losses(actuator, step_state, dt)
    end = step_state.joint_start + dt * past
    momentum = state.moved_inertia * end - dt * state.load
    settle_losses(actuator, step_state, state.moved_inertia, momentum, dt, True)


@inlined_kernel
def _correct_position(
    actuator: Actuator, state: ActuatorState, step_state: ActuatorStep, position: float, dt: Seconds
) -> None:
    """Apply the gains to the position that the encoder reads, and add the integral term."""
    resolution = actuator.joint_resolution
    if actuator.motor_encoder:
        position, resolution = position + step_state.middle, actuator.motor_resolution
    command = step_state.command
    if resolution > 0.0:
        read = resolution * np.rint(position / resolution)
        command.constant -= command.kp * (read - position)
        position = read
    step_state.integral = state.integral
    if actuator.integral_gain > 0.0 and command.kp > 0.0:
        step_state.integral += dt * actuator.integral_gain * (command.target - position)
        step_state.integral = min(
            max(step_state.integral, -actuator.integral_limit), actuator.integral_limit
        )
        command.constant += 0.5 * (state.integral + step_state.integral)


@inner_kernel
def _set_demand(
    actuator: Actuator, step_state: ActuatorStep, dof: Dof, position: float, time_step: Seconds
) -> None:
    """Write the demand of the gains as a function of the velocities at the end of the step.

    Springs and dampers act implicitly, as in `hrpsim.engine.dynamics.joint_forces`.
    """
    kp, kd, dt = step_state.command.kp, step_state.command.kd, time_step
    inertia, damping = dof.own_inertia, dof.damping + kd
    rate, at_motor = step_state.joint_start, True
    if actuator.two_mass:
        inertia -= dof.rotor_inertia
        at_motor = actuator.motor_encoder != 0
        if at_motor:
            inertia, damping, rate = actuator.inertia, kd, step_state.motor_start
            position += step_state.middle
    elif actuator.has_losses:
        inertia, damping = _motor_inertia(actuator, dof), kd + actuator.viscous
    else:
        damping += actuator.viscous
    step_state.gain_weight = damper_weight(damping, inertia, dt)
    slope = 0.25 * dt * kp + kd * step_state.gain_weight  # of a spring_inertia, over dt
    step_state.demand = step_state.command.constant - kp * position - kd * rate + slope * rate
    step_state.of_motor = slope if at_motor else 0.0
    step_state.of_joint = 0.0 if at_motor else slope


@lazy_kernel()
def drive_joints(s: Scene) -> int:
    """Write effort and inertia of the joints that have an actuator with a model.

    The values replace the results of `joint_forces` in s.work: `effort` [Nm or N], `joint_inertia`
    and `actuator_inertia` [kg m^2 or kg].
    """
    dt, work = s.settings[0].time_step, s.work
    for number in range(s.actuators.units.shape[0]):
        actuator, step_state = s.actuators.units[number], s.actuators.steps[number]
        k = actuator.dof
        dof, rate = s.forest.dofs[k], s.velocity[k]
        if rate != step_state.joint_start:  # an impact
            _begin_again(s.actuators, number, dof, s.q[dof.q_index], rate, s.work.friction[k], dt)
        damping, inertia, weight = dof.damping, dof.own_inertia, step_state.gain_weight
        work.joint_inertia[k] = dof.rotor_inertia
        if actuator.two_mass or actuator.has_losses:
            inertia -= dof.rotor_inertia
            work.joint_inertia[k] = 0.0
            weight = damper_weight(damping, inertia, dt)
        else:
            damping += actuator.viscous
        passive = -dof.stiffness * (s.q[dof.q_index] - dof.rest) - damping * rate
        work.effort[k] = (
            passive + step_state.torque + step_state.slope * (rate - step_state.joint_end)
        )
        work.actuator_inertia[k] = -step_state.slope * dt
        work.joint_inertia[k] += work.actuator_inertia[k] + weight * damping * dt
        work.joint_inertia[k] += spring_inertia(dof.stiffness, dt)
    return DONE


@inner_kernel
def _begin_again(
    actuators: Actuators,
    number: Index,
    dof: Dof,
    position: float,
    rate: float,
    friction: Friction,
    dt: Seconds,
) -> None:
    """Linearise the torque again for a changed start velocity of the joint, as after an impact."""
    actuator, state = actuators.units[number], actuators.states[number]
    step_state = actuators.steps[number]
    joint_end = step_state.joint_end + rate - step_state.joint_start
    torque = step_state.torque - gear_friction(step_state, step_state.joint_end, 0.0)
    step_state.joint_start = rate
    if actuator.two_mass:
        begin_gear(actuator, state, step_state, dt)
    else:
        step_state.motor_start = rate
    _set_demand(actuator, step_state, dof, position, dt)
    if actuator.has_losses:
        begin_losses(actuator, step_state, dt)
        momentum = state.moved_inertia * joint_end - dt * torque
        settle_losses(actuator, step_state, state.moved_inertia, momentum, dt, False)
        _set_friction(actuator, step_state, dof, friction, momentum, dt)
        return
    linearise(actuator, step_state, joint_end)


@inner_kernel
def _set_friction(
    actuator: Actuator,
    step_state: ActuatorStep,
    dof: Dof,
    friction: Friction,
    momentum: float,
    dt: Seconds,
) -> None:
    """Write the friction row of a joint's gear, starting from the impulse that keeps it at rest."""
    dof.friction = actuator.joint_friction + step_state.band
    friction.mark = BY_ROW
    friction.impulse = -momentum - dt * step_state.centre


@lazy_kernel()
def revise_drives(s: Scene) -> int:
    """Linearise the torque of each actuator about the solved motion.

    The acceleration of the motion is work.dv + work.change (nv,) [rad/s^2 or m/s^2].

    Returns:
        1 if the state of any actuator changed, otherwise 0.
    """
    changed, settings = 0, s.settings[0]
    dt = settings.time_step
    for number in range(s.actuators.units.shape[0]):
        actuator, step_state = s.actuators.units[number], s.actuators.steps[number]
        k = actuator.dof
        joint_end = s.velocity[k] + dt * (s.work.dv[k] + s.work.change[k])
        step = joint_end - step_state.joint_end
        if abs(step) * (1.0 + abs(step_state.motor_slope)) <= step_state.reach:
            continue
        if actuator.has_losses:
            moved = _moved_inertia(s.forest, s.articulated, s.work, k)
            dof, friction = s.forest.dofs[k], s.work.friction[k]
            revised = _revise_losses(settings, s.actuators, number, dof, friction, joint_end, moved)
            changed = max(changed, revised)
            continue
        linear, before = step_state.torque + step_state.slope * step, step_state.slope
        step_state.motor_end += step_state.motor_slope * step
        linearise(actuator, step_state, joint_end)
        inertia = s.forest.dofs[k].own_inertia - dt * min(before, step_state.slope)
        allowed = _RELATIVE * abs(joint_end) + _ABSOLUTE
        if abs(step_state.torque - linear) * dt <= allowed * inertia:
            step_state.torque = linear  # the torque that acted in the step
            continue
        changed = 1
        moved = _moved_inertia(s.forest, s.articulated, s.work, k)
        if moved > 0.0:
            settle(actuator, step_state, moved, moved * joint_end - dt * linear, dt)
    return changed


@inner_kernel
def _revise_losses(
    settings: Settings,
    actuators: Actuators,
    number: Index,
    dof: Dof,
    friction: Friction,
    joint_end: float,
    moved: float,
) -> int:
    """Linearise the torque of a rigid gear with losses about the solved motion.

    Args:
        settings: settings of the world.
        actuators: actuators of the world. The step state of one is written.
        number: index of the actuator.
        dof: the actuator's joint. `friction` is written.
        friction: dry friction of the joint, written.
        joint_end: velocity of the joint at the end of the step [rad/s or m/s].
        moved: inertia that the joint moves, without the actuator, 0 if locked [kg m^2 or kg].

    Returns:
        1 if the state of the actuator changed, otherwise 0.
    """
    actuator, state = actuators.units[number], actuators.states[number]
    step_state = actuators.steps[number]
    dt, tolerance = settings.time_step, settings.tolerance
    linear = step_state.torque + step_state.slope * (joint_end - step_state.joint_end)
    total = linear - gear_friction(step_state, joint_end, tolerance)
    leaves = leaves_band(actuator, step_state, joint_end, tolerance)
    linearise(actuator, step_state, joint_end)
    inertia = dof.own_inertia - dt * step_state.slope
    allowed = _RELATIVE * abs(joint_end) + _ABSOLUTE
    if not leaves and abs(step_state.torque - linear) * dt <= allowed * inertia:
        step_state.torque = linear
        return 0
    if abs(joint_end) > tolerance:
        total -= math.copysign(actuator.joint_friction, joint_end)
    moved = moved if moved > 0.0 else state.moved_inertia
    momentum = moved * joint_end - dt * total
    settle_losses(actuator, step_state, moved, momentum, dt, step_state.side != 0.0 and not leaves)
    _set_friction(actuator, step_state, dof, friction, momentum, dt)
    return 1


@inlined_kernel
def _moved_inertia(
    forest: Forest, articulated: Records[Articulated], work: Work, k: Index
) -> float:
    """Return the inertia that a joint moves without its actuator. 0 if the joint is locked."""
    inverse = articulated[forest.dofs[k].body].D_inverse
    return 1.0 / inverse - work.actuator_inertia[k] if inverse > 0.0 else 0.0


@lazy_kernel()
def store_drives(s: Scene) -> int:
    """Store the state of motors and gears, and temperatures, at the end of a complete step.

    The kernel writes the states of actuators, and `applied` [Nm or N] of s.control.
    """
    dt, drives = s.settings[0].time_step, s.actuators
    for number in range(drives.units.shape[0]):
        actuator, state = drives.units[number], drives.states[number]
        step_state = drives.steps[number]
        k = actuator.dof
        step = s.velocity[k] - step_state.joint_end
        state.torque = step_state.torque + step_state.slope * step
        if actuator.has_losses:
            friction = s.joint_impulses[k, JOINT_FRICTION - LOWER_LIMIT] / dt
            _store_losses(actuator, state, step_state, friction)
        s.control[k].applied = state.torque
        state.motor_torque = step_state.motor_torque + step_state.motor_torque_slope * step
        motor_end = step_state.motor_end + step_state.motor_slope * step
        if actuator.two_mass:
            state.deflection = step_state.middle + 0.5 * dt * (motor_end - s.velocity[k])
            state.twist = relax_twist(actuator, state)
            state.motor_change = motor_end - state.motor_velocity
        if actuator.two_mass or actuator.has_losses:
            moved = _moved_inertia(s.forest, s.articulated, s.work, k)
            if moved > 0.0:
                state.moved_inertia = moved
        state.motor_velocity, state.integral = motor_end, step_state.integral
        if actuator.has_heat:
            heat(actuator, state)
        count_step(actuator, state, s.control[k], s.q[s.forest.dofs[k].q_index], dt)
    return DONE


@inlined_kernel
def _store_losses(
    actuator: Actuator, state: ActuatorState, step_state: ActuatorStep, friction: float
) -> None:
    """Store the load of a rigid gear with losses, and add the gear's friction to the torque.

    `friction` is the effort of the joint's friction row [Nm or N].
    """
    state.load = state.torque + friction
    if step_state.band > 0.0:
        state.torque += friction * step_state.band / (step_state.band + actuator.joint_friction)
