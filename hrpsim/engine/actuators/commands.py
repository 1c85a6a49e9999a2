# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Commands in effect: sampled at the drive's period, slewed, then delayed."""

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
    """Write the mean command of this step from the present and the stored commands.

    A delay is n + f steps. The part f of a step has the command given n + 1 steps before. The rest
    of the step has the command given n steps before.

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
        target = command.target_position - command.ahead
        if actuator.slew_step > 0.0 and command.kp > 0.0:
            change = target - state.slewed
            target = state.slewed + 0.5 * min(max(change, -actuator.slew_step), actuator.slew_step)
        sample.constant = (
            command.effort + command.kp * target + command.kd * command.target_velocity
        )
        sample.kp, sample.kd, sample.target = command.kp, command.kd, target
    if actuator.slots == 0:
        _copy(sample, command_out)
        return
    _copy(sample, stored[state.slot])
    newer_slot, older_slot = delayed_slots(state.slot, actuator)
    part, newer, older = actuator.delay_part, stored[newer_slot], stored[older_slot]
    command_out.constant = newer.constant + part * (older.constant - newer.constant)
    command_out.kp = newer.kp + part * (older.kp - newer.kp)
    command_out.kd = newer.kd + part * (older.kd - newer.kd)
    command_out.target = newer.target + part * (older.target - newer.target)


@inlined_kernel
def present_share(actuator: Actuator) -> float:
    """Return the derivative of the command in effect by the present command, from 0 to 1 [1]."""
    return 0.0 if actuator.delay_steps > 0 else 1.0 - actuator.delay_part


@inlined_kernel
def command_rate(actuator, stored, slot, time_step: Seconds):
    """Return the derivative of the command's constant part by the delay [Nm/s or N/s].

    Args:
        actuator: record with a delay.
        stored: commands of the last steps (slots,).
        slot: slot of the present step.
        time_step: [s].
    """
    newer, older = delayed_slots(slot, actuator)
    return (stored[older].constant - stored[newer].constant) / time_step


@inlined_kernel
def delayed_slots(slot: Index, actuator: Actuator | Sensor) -> tuple[int, int]:
    """Return the two slots of a buffer between which a delay lies, the newer slot first.

    Args:
        slot: slot of the present step.
        actuator: record with the buffer's `slots` and with `delay_steps`.
    """
    newer = slot - actuator.delay_steps
    newer = newer if newer >= 0 else newer + actuator.slots
    return newer, newer - 1 if newer >= 1 else newer - 1 + actuator.slots


@inlined_kernel
def sample_due(actuator: Actuator, state: ActuatorState, time_step: Seconds) -> bool:
    """Return whether the drive samples the command at the start of this step."""
    return state.elapsed >= actuator.period - _ROUNDING * time_step


@inlined_kernel
def count_step(actuator: Actuator, state: ActuatorState, time_step: Seconds) -> None:
    """Advance the sampling clock and the slot of stored commands after a complete step.

    Args:
        actuator: constants of the actuator.
        state: state of the actuator. `slewed`, `elapsed` and `slot` are changed.
        time_step: [s].
    """
    due = sample_due(actuator, state, time_step)
    if due and actuator.slew_step > 0.0 and state.sample.kp > 0.0:
        state.slewed += 2.0 * (state.sample.target - state.slewed)
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
