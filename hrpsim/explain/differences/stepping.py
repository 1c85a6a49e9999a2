# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Differences in the time step, the integrator and the period of the PD control."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from hrpsim.engine.step.scene.integrators import INTEGRATORS
from hrpsim.explain.differences.difference import Change, Difference, There
from hrpsim.explain.runs.described_policy import rate_is_fixed
from hrpsim.explain.runs.subject import Subject

_MOST_STEPS = 20  # largest number of steps in a control period
_WHOLE = 1e-6  # tolerance of a whole number of steps
_PD_PERIODS = (0.001, 0.002, 0.005, 0.01, 0.02)  # [s]
_MOST_PARTS = 5  # largest number of parts into which another rate divides the time step


class TimeStep(Difference):
    """The time step of the simulation."""

    name = "time step"

    def known(self, here: Subject, there: There, feet: Sequence[str]) -> list[Change]:
        """Return the change to the reference's time step, if it divides the policy's period."""
        return self._to(here, [float(there.mujoco.opt.timestep)])

    def guesses(self, here: Subject, feet: Sequence[str]) -> list[Change]:
        """Return shorter and longer time steps that divide the policy's period."""
        present = here.world.time_step
        return self._to(here, [present / 4.0, present / 2.0, 2.0 * present, 4.0 * present])

    def _to(self, here: Subject, steps: Sequence[float]) -> list[Change]:
        present, result = here.world.time_step, []
        for step in steps:
            count = here.policy.period / step
            fits = abs(count - round(count)) < _WHOLE and 1 <= round(count) <= _MOST_STEPS
            if fits and abs(step - present) > _WHOLE * present:
                result.append(
                    self.change(f"{1e3 * present:g} -> {1e3 * step:g} ms", time_step=step)
                )
        return result

    def at_load(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the time step as an argument of `Case.load`."""
        return {"time_step": values["time_step"]}


class IntegratorDifference(Difference):
    """The integrator of the simulation."""

    name = "integrator"

    def known(self, here: Subject, there: There, feet: Sequence[str]) -> list[Change]:
        """Return the change to the integrator of the reference."""
        integrator = there.world.integrator
        return [
            change
            for change in self.guesses(here, feet)
            if change.values["integrator"] == integrator
        ]

    def guesses(self, here: Subject, feet: Sequence[str]) -> list[Change]:
        """Return the other integrators that support the robot's actuators."""
        present = here.world.integrator
        return [
            self.change(f"{present} -> {name}", integrator=name)
            for name, integrator in INTEGRATORS.items()
            if name != present and (integrator.is_implicit or not here.robot.fitted_actuators)
        ]

    def at_load(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the integrator as an argument of `Case.load`."""
        return {"integrator": values["integrator"]}


class PdPeriod(Difference):
    """The period of the PD control. Torques are constant between two evaluations."""

    name = "rate of the PD control"

    def known(self, here: Subject, there: There, feet: Sequence[str]) -> list[Change]:
        """Return the change to the reference's period."""
        return self._to(here, [there.period])

    def guesses(self, here: Subject, feet: Sequence[str]) -> list[Change]:
        """Return the time step, and longer periods up to the period of the policy."""
        return self._to(here, sorted({here.world.time_step, *_PD_PERIODS}))

    def _to(self, here: Subject, periods: Sequence[float]) -> list[Change]:
        policy, result = here.policy, []
        if rate_is_fixed(policy):
            return []
        for period in periods:
            count = round(policy.seconds / period)
            if count in (0, policy.decimation) or abs(count * period - policy.seconds) > _WHOLE:
                continue
            present, step = here.world.time_step, _fitting_step(here, count)
            text = f"every {1e3 * policy.period:g} -> {1e3 * period:g} ms"
            if step > (1.0 - _WHOLE) * present:
                result.append(self.change(text, count=count))
            elif step > (1.0 - _WHOLE) * present / _MOST_PARTS:
                text += f", with a time step of {1e3 * step:g} ms"
                result.append(self.change(text, count=count, time_step=step))
        return result

    def apply(self, subject: Subject, values: Mapping[str, Any], there: There | None) -> None:
        """Set the number of PD evaluations in one period of the policy."""
        subject.evaluate_pd(values["count"])

    def at_load(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return a shorter time step if the present step does not divide the PD period."""
        return {"time_step": values["time_step"]} if "time_step" in values else {}


def _fitting_step(here: Subject, count: int) -> float:
    """Return the longest time step that fits `count` PD evaluations [s].

    The result does not exceed the present time step.
    """
    tick = here.policy.seconds / math.lcm(here.policy.decimation, count)
    steps = tick / here.world.time_step
    if abs(steps - round(steps)) < _WHOLE and round(steps) >= 1:
        return here.world.time_step
    return tick / math.ceil(steps)
