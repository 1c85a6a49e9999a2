# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Which steps of a world did not converge, since its last call of `step` and since its reset."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from hrpsim.world.parts.results import Convergence


@dataclass
class Unmet:
    """Steps that did not converge: how many, their largest residual [m/s], the worst constraint.

    Beside them, in how many steps Newton's method solved an island.
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
        """Return what that is among so many steps."""
        return Convergence(steps, self.count, self.residual, self.worst, self.newton_steps)


class ConvergenceRecord:
    """The steps that did not converge: of the last call of `step`, and since the last reset."""

    def __init__(self):
        self.reset()

    def reset(self) -> None:
        """Let no step have been done."""
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
        """Let the last call be the one before where this one did no step."""
        if steps_done == self._steps_before:
            self._steps_before, self._in_call = before

    def add(self, count: int, residual: float, worst: Callable[[], str]) -> None:
        """Remember that steps did not converge, and what was worst of all while it has its name."""
        for unmet in (self._in_call, self._since_reset):
            unmet.add(count, residual, worst)

    def add_newton(self, count: int) -> None:
        """Remember that Newton's method took part in steps."""
        for unmet in (self._in_call, self._since_reset):
            unmet.newton_steps += count

    def of_last_call(self, steps_done: int) -> Convergence:
        """Return how the steps of the last call did, at so many steps since the reset."""
        return self._in_call.among(steps_done - self._steps_before)

    def since_reset(self, steps_done: int) -> Convergence:
        """Return how all of these steps did."""
        return self._since_reset.among(steps_done)

    def copy(self) -> tuple[int, Unmet, Unmet]:
        """Return what `recall` takes."""
        return self._steps_before, replace(self._in_call), replace(self._since_reset)

    def recall(self, kept: tuple[int, Unmet, Unmet]) -> None:
        """Let the counts be those of a copy."""
        self._steps_before = kept[0]
        self._in_call, self._since_reset = replace(kept[1]), replace(kept[2])
