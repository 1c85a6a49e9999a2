# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Commands in effect: sampled at the drive's period, slewed or integrated, filtered, delayed."""

from hrpsim.engine.compile.compiled import inlined_kernel
from hrpsim.engine.compile.kernel_types import (
    Actuator,
    ActuatorState,
    Command,
    Control,
    Index,
    Records,
    Seconds,
    Sensor,
)
from hrpsim.engine.dynamics.joint_forces import VELOCITIES

_ROUNDING = 1e-9  # of a period, within which a sample is due


@inlined_kernel
def command_in_effect(
    actuator: Actuator,
    state: ActuatorState,
    stored: Records[Command],
    command: Control,
    time_step: Seconds,
    command_out: Command,
) -> None:
    """Write the command in effect: the mean over this step of the delayed commands.

    A delay is n + f steps, with a whole number n. During the fraction f of the step, the command of
    n + 1 steps before acts. During the remaining fraction, the command of n steps before acts.

    Args:
        actuator: constants of the actuator.
        state: state of the actuator. `sample` is written when a sample is due.
        stored: commands of the last steps (slots,). The slot of the present step is written.
        command: present command of the controller.
        time_step: [s].
        command_out: command in effect, written.
    """
    sample = state.sample
    if sample_due(actuator, state, time_step):
        kp, target = command.kp, command.target_position - command.ahead
        if actuator.slew_step > 0.0 and kp > 0.0:
            change = target - state.slewed
            target = state.slewed + 0.5 * min(max(change, -actuator.slew_step), actuator.slew_step)
        elif integrates(actuator, command):
            kp, change = actuator.velocity_integral_gain, command.target_velocity
            change *= max(actuator.period, time_step)
            target = state.integrated + 0.5 * (_bounded(actuator, state, change) - state.integrated)
        sample.constant = command.effort + kp * target + command.kd * command.target_velocity
        sample.kp, sample.kd, sample.target = kp, command.kd, target
    _copy(sample, command_out)
    if actuator.lag > 0.0:
        effort = sample.constant - sample.kp * sample.target
        effort += actuator.lag * (state.filtered_effort - effort)
        command_out.target += actuator.lag * (state.filtered_target - sample.target)
        command_out.constant = effort + sample.kp * command_out.target
    if actuator.slots == 0:
        return
    _copy(command_out, stored[state.slot])
    newer_slot, older_slot = delayed_slots(state.slot, actuator)
    part, newer, older = actuator.delay_part, stored[newer_slot], stored[older_slot]
    command_out.constant = newer.constant + part * (older.constant - newer.constant)
    command_out.kp = newer.kp + part * (older.kp - newer.kp)
    command_out.kd = newer.kd + part * (older.kd - newer.kd)
    command_out.target = newer.target + part * (older.target - newer.target)


@inlined_kernel
def present_share(actuator: Actuator) -> float:
    """Return the weight of the present command in the command in effect, from 0 to 1.

    The command in effect is a weighted mean of the present command and of stored commands.
    """
    return 0.0 if actuator.delay_steps > 0 else 1.0 - actuator.delay_part


@inlined_kernel
def command_rate(actuator, stored, slot, time_step: Seconds):
    """Return the change of the command in effect per second of additional delay [Nm/s or N/s].

    Only the field `constant` of the stored commands is used.

    Args:
        actuator: record of an actuator or sensor with a delay.
        stored: commands of the last steps (slots,).
        slot: slot of the present step.
        time_step: [s].
    """
    newer, older = delayed_slots(slot, actuator)
    return (stored[older].constant - stored[newer].constant) / time_step


@inlined_kernel
def delayed_slots(slot: Index, actuator: Actuator | Sensor) -> tuple[int, int]:
    """Return the slots of the two stored values that are nearest in time to a delay.

    Args:
        slot: slot of the present step.
        actuator: record with the buffer's `slots` and with `delay_steps`.

    Returns:
        (slot of the newer value, slot of the older value).
    """
    newer = slot - actuator.delay_steps
    newer = newer if newer >= 0 else newer + actuator.slots
    return newer, newer - 1 if newer >= 1 else newer - 1 + actuator.slots


@inlined_kernel
def sample_due(actuator: Actuator, state: ActuatorState, time_step: Seconds) -> bool:
    """Return whether the drive samples the command at the start of this step."""
    return state.elapsed >= actuator.period - _ROUNDING * time_step


@inlined_kernel
def integrates(actuator: Actuator, command: Control) -> bool:
    """Return whether an actuator integrates the commanded velocity."""
    is_velocity = command.given & VELOCITIES != 0 and command.kp == 0.0
    return actuator.velocity_integral_gain > 0.0 and is_velocity


@inlined_kernel
def _bounded(actuator: Actuator, state: ActuatorState, change: float) -> float:
    """Return the integral of the commanded velocity plus `change`, clamped to its bounds [rad]."""
    end = max(state.integrated + change, actuator.velocity_integral_lower)
    return min(end, actuator.velocity_integral_upper)


@inlined_kernel
def count_step(
    actuator: Actuator, state: ActuatorState, command: Control, position: float, time_step: Seconds
) -> None:
    """Advance the sampling clock, filter, and slot of stored commands after a complete step.

    Args:
        actuator: constants of the actuator.
        state: state of the actuator. `slewed`, `integrated`, `filtered_effort`, `filtered_target`,
            `elapsed` and `slot` are changed.
        command: present command of the controller.
        position: position of the joint at the end of the step [rad or m].
        time_step: [s].
    """
    due, sample = sample_due(actuator, state, time_step), state.sample
    if due and actuator.slew_step > 0.0 and sample.kp > 0.0:
        state.slewed += 2.0 * (sample.target - state.slewed)
    if not integrates(actuator, command):
        state.integrated = position
    elif due:
        state.integrated += 2.0 * (sample.target - state.integrated)
    if actuator.lag > 0.0:
        effort = sample.constant - sample.kp * sample.target
        state.filtered_effort = effort + actuator.decay * (state.filtered_effort - effort)
        state.filtered_target = sample.target + actuator.decay * (
            state.filtered_target - sample.target
        )
    _advance_clock(actuator, state, due, time_step)


@inlined_kernel
def _advance_clock(actuator: Actuator, state: ActuatorState, due: bool, time_step: Seconds) -> None:
    """Advance the time since the last sample, and the slot of stored commands."""
    if actuator.period > 0.0:
        if due:
            left = max(state.elapsed - actuator.period, 0.0)
            state.elapsed = left if left < actuator.period else 0.0
        state.elapsed += time_step
    if actuator.slots > 0:
        state.slot = state.slot + 1 if state.slot + 1 < actuator.slots else 0


@inlined_kernel
def _copy(source: Command, command_out: Command) -> None:
    command_out.constant, command_out.target = source.constant, source.target
    command_out.kp, command_out.kd = source.kp, source.kd
