# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Commands in effect: sampled at the drive's period, slewed, then delayed."""

from hrpsim.engine.compile.compiled import inlined_kernel

_ROUNDING = 1e-9  # of a period, within which a sample is due


@inlined_kernel
def command_in_effect(unit, state, stored, law, time_step, command_out):
    """Write the mean command of this step from the present and the stored commands.

    A delay is n + f steps. The part f of a step has the command given n + 1 steps before. The rest
    of the step has the command given n steps before.

    unit: actuator record.
    stored: commands of the last steps (slots,).
    law: present command of the controller.
    time_step: [s].
    """
    sample = state.sample
    if sample_due(unit, state, time_step):
        target = law.target_position - law.ahead
        if unit.slew_step > 0.0 and law.kp > 0.0:
            change = target - state.slewed
            target = state.slewed + 0.5 * min(max(change, -unit.slew_step), unit.slew_step)
        sample.constant = law.effort + law.kp * target + law.kd * law.target_velocity
        sample.kp, sample.kd, sample.target = law.kp, law.kd, target
    if unit.slots == 0:
        _copy(sample, command_out)
        return
    _copy(sample, stored[state.slot])
    newer_slot, older_slot = delayed_slots(state.slot, unit)
    part, newer, older = unit.delay_part, stored[newer_slot], stored[older_slot]
    command_out.constant = newer.constant + part * (older.constant - newer.constant)
    command_out.kp = newer.kp + part * (older.kp - newer.kp)
    command_out.kd = newer.kd + part * (older.kd - newer.kd)
    command_out.target = newer.target + part * (older.target - newer.target)


@inlined_kernel
def delayed_slots(slot, unit):
    """Return the two slots of a buffer between which a delay lies, the newer one first.

    Args:
        slot: slot of the present step.
        unit: record with the buffer's `slots` and with `delay_steps`.
    """
    newer = slot - unit.delay_steps
    newer = newer if newer >= 0 else newer + unit.slots
    return newer, newer - 1 if newer >= 1 else newer - 1 + unit.slots


@inlined_kernel
def sample_due(unit, state, time_step):
    """Return whether the drive samples the command at the start of this step."""
    return state.elapsed >= unit.period - _ROUNDING * time_step


@inlined_kernel
def count_step(unit, state, time_step):
    """Count a complete step."""
    due = sample_due(unit, state, time_step)
    if due and unit.slew_step > 0.0 and state.sample.kp > 0.0:
        state.slewed += 2.0 * (state.sample.target - state.slewed)
    if unit.period > 0.0:
        if due:
            left = max(state.elapsed - unit.period, 0.0)
            state.elapsed = left if left < unit.period else 0.0
        state.elapsed += time_step
    if unit.slots > 0:
        state.slot = state.slot + 1 if state.slot + 1 < unit.slots else 0


@inlined_kernel
def _copy(source, command_out):
    command_out.constant, command_out.target = source.constant, source.target
    command_out.kp, command_out.kd = source.kp, source.kd
