# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The part of a batch that reads states and commands robots, many worlds in one call."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from hrpsim.world.batch_arguments import BatchArguments
from hrpsim.world.batch_commands import BatchCommands
from hrpsim.world.batch_states import BatchStates


class BatchMotion(BatchArguments):
    """States and commands of the robots or bodies of one name."""

    _states: dict[str, BatchStates]
    _commands: dict[str, BatchCommands]

    def q(
        self,
        name: str,
        out: np.ndarray | None = None,
        worlds: Sequence[int] | np.ndarray | None = None,
    ) -> np.ndarray:
        """Return the configurations (count, nq) of the robots or bodies called `name`.

        One kernel gathers them. The array is contiguous: torch and jax take it by `__dlpack__`
        without a copy, and see what the next call writes into the same `out`.

        Args:
            name: of the robots or bodies.
            out: array (count, nq) of float64 that is filled and returned; a new one by default.
            worlds: numbers, or a truth value for each world; all by default. Only their rows are
                written; other rows of a new array are NaN.

        Raises:
            StateError: `out` does not fit, or the robots have different numbers of joints.
            WorldError: for a world that does not exist.
        """
        return self._states_of(name).q(out, self._numbers_of(worlds))

    def v(
        self,
        name: str,
        out: np.ndarray | None = None,
        worlds: Sequence[int] | np.ndarray | None = None,
    ) -> np.ndarray:
        """Return the velocities (count, nv) of the robots or bodies called `name`, as `q` does.

        Args:
            name: of the robots or bodies.
            out: array (count, nv) of float64 that is filled and returned; a new one by default.
            worlds: as for `q`.
        """
        return self._states_of(name).v(out, self._numbers_of(worlds))

    def _numbers_of(self, worlds: Sequence[int] | np.ndarray | None) -> list[int] | None:
        return None if worlds is None else self.numbers(worlds)

    def _states_of(self, name: str) -> BatchStates:
        """Return where the states of the robots or bodies called `name` are."""
        if name not in self._states:
            self._states[name] = BatchStates(self.worlds, "entities", name)
        return self._states[name]

    def command(
        self,
        name: str,
        names: str | Sequence[str] | None = None,
        over: float = 0.0,
        *,
        worlds: Sequence[int] | np.ndarray | None = None,
        **values: ArrayLike | None,
    ) -> None:
        """Command the robots called `name`, as `Robot.command` does, each with its own row.

        One kernel writes the rows of positions, velocities and efforts. An array of float64 is not
        copied, nor is one of torch or jax that offers its memory by `__dlpack__`.

        Args:
            name: of the robots.
            names: joints, in the order of the columns; all by default.
            over: time [s] over which position targets change.
            worlds: numbers, or a truth value for each world, of those that are commanded, each with
                its row of the values; all by default.
            **values: positions, velocities, efforts, each (count, joints); kp and kd likewise.

        Raises:
            StateError: for any other number of rows, or a row that a robot refuses; of positions,
                velocities and efforts no row is written then.
            WorldError: for a world that does not exist.
        """
        rows = {what: self._rows(what, v) for what, v in values.items() if v is not None}
        chosen = self._numbers_of(worlds)
        if name not in self._commands:
            self._commands[name] = BatchCommands(self.worlds, "robots", name)
        commands = self._commands[name]
        if commands.accepts(rows, len(commands.indices(names))):
            floats = {k: np.ascontiguousarray(v, dtype=np.float64) for k, v in rows.items()}
            commands.command(floats, names, over, chosen)
            return
        robots = self._called("robots", name)
        for k in range(len(self)) if chosen is None else chosen:
            one = {what: array[k] for what, array in rows.items()}
            robots[k].command(names=names, over=over, **one)
