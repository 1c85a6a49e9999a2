# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Record the steps that did not converge, since the last call of `step` and since the reset."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from hrpsim.world.parts.results import Convergence


@dataclass
class Unmet:
    """Steps that did not converge: how many, their largest residual [m/s], the worst constraint.

    Also in how many steps Newton's method solved an island.
    """

    count: int = 0
    residual: float = 0.0
    worst: str = ""
    newton_steps: int = 0

    def add(self, count: int, residual: float, worst: Callable[[], str]) -> None:
        """Add steps with their largest residual; `worst` finds the constraint when it is needed."""
        if not self.count or residual > self.residual:
            self.residual, self.worst = residual, worst()
        self.count += count

    def among(self, steps: int) -> Convergence:
        """Return the statistics over so many steps."""
        return Convergence(steps, self.count, self.residual, self.worst, self.newton_steps)


class ConvergenceRecord:
    """The steps that did not converge: of the last call of `step`, and since the last reset."""

    def __init__(self):
        self.reset()

    def reset(self) -> None:
        """Clear the record."""
        self._steps_before = 0  # the last call
        self._in_call, self._since_reset = Unmet(), Unmet()

    def begin_call(self, steps_done: int) -> tuple[int, Unmet]:
        """Begin a call of `step`; return what `give_up_call` takes, should no step be done."""
        before = self._steps_before, self._in_call
        self._steps_before = steps_done
        if self._in_call.count or self._in_call.newton_steps:
            self._in_call = Unmet()
        return before

    def give_up_call(self, steps_done: int, before: tuple[int, Unmet]) -> None:
        """Restore the record of the previous call if this one did no step."""
        if steps_done == self._steps_before:
            self._steps_before, self._in_call = before

    def add(self, count: int, residual: float, worst: Callable[[], str]) -> None:
        """Record steps that did not converge, and the worst constraint while its name is valid."""
        for unmet in (self._in_call, self._since_reset):
            unmet.add(count, residual, worst)

    def add_newton(self, count: int) -> None:
        """Record that Newton's method took part in steps."""
        for unmet in (self._in_call, self._since_reset):
            unmet.newton_steps += count

    def of_last_call(self, steps_done: int) -> Convergence:
        """Return the convergence of the last call, at so many steps since the reset."""
        return self._in_call.among(steps_done - self._steps_before)

    def since_reset(self, steps_done: int) -> Convergence:
        """Return the convergence of all these steps."""
        return self._since_reset.among(steps_done)

    def copy(self) -> tuple[int, Unmet, Unmet]:
        """Return what `recall` takes."""
        return self._steps_before, replace(self._in_call), replace(self._since_reset)

    def recall(self, kept: tuple[int, Unmet, Unmet]) -> None:
        """Set the counts to those of a copy."""
        self._steps_before = kept[0]
        self._in_call, self._since_reset = replace(kept[1]), replace(kept[2])
