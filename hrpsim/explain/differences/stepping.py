# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Time step and integrator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hrpsim.engine.step.scene.integrators import INTEGRATORS
from hrpsim.explain.differences.difference import Change, Difference, There
from hrpsim.explain.runs.subject import Subject

_MOST_STEPS = 20  # largest number of steps in a control period
_WHOLE = 1e-6  # tolerance of a whole number of steps


class TimeStep(Difference):
    """The time step of the simulation."""

    name = "time step"

    def known(self, here: Subject, there: There, feet: Sequence[str]) -> list[Change]:
        """Return the change to the reference's step, if the policy's period is a multiple."""
        return self._to(here, [float(there.mujoco.opt.timestep)])

    def guesses(self, here: Subject, feet: Sequence[str]) -> list[Change]:
        """Return shorter and longer steps that fit the policy's period."""
        now = here.world.time_step
        return self._to(here, [now / 4.0, now / 2.0, 2.0 * now, 4.0 * now])

    def _to(self, here: Subject, steps: Sequence[float]) -> list[Change]:
        now, result = here.world.time_step, []
        for step in steps:
            count = here.policy.period / step
            fits = abs(count - round(count)) < _WHOLE and 1 <= round(count) <= _MOST_STEPS
            if fits and abs(step - now) > _WHOLE * now:
                result.append(self.change(f"{1e3 * now:g} -> {1e3 * step:g} ms", time_step=step))
        return result

    def at_load(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Load the world with the step."""
        return {"time_step": values["time_step"]}


class IntegratorDifference(Difference):
    """The integrator of the simulation."""

    name = "integrator"

    def known(self, here: Subject, there: There, feet: Sequence[str]) -> list[Change]:
        """Return the change to the integrator of the reference."""
        wanted = there.world.integrator
        return [one for one in self.guesses(here, feet) if one.values["integrator"] == wanted]

    def guesses(self, here: Subject, feet: Sequence[str]) -> list[Change]:
        """Return the other integrators that support the robot's actuators."""
        now = here.world.integrator
        return [
            self.change(f"{now} -> {name}", integrator=name)
            for name, one in INTEGRATORS.items()
            if name != now and (one.is_implicit or not here.robot.fitted_actuators)
        ]

    def at_load(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Load the world with the integrator."""
        return {"integrator": values["integrator"]}
