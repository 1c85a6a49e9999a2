"""Many copies of a world that step side by side, for studies over states, parameters, commands."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from hrpsim.errors import StateError, WorldError
from hrpsim.world.world import World

_SHARES = 4  # of the worlds that each thread takes one after another: some steps take longer


class Batch:
    """`count` independent copies of a world, in its present state.

    They differ by what is done to each of `worlds`: states, commands, friction, solvers. Stepped
    together they take the same steps, bit for bit, as each would by itself. The compiled step needs
    no lock of Python's, so `threads` (one a processor by default) work at once; the more steps a
    call, the less time goes to Python. Raises WorldError for a count or threads below 1.
    """

    def __init__(self, world: World, count: int, threads: int | None = None):
        threads = (os.cpu_count() or 1) if threads is None else threads
        for what, value in {"count": count, "threads": threads}.items():
            if value < 1 or value != int(value):
                raise WorldError(f"{what} of a batch must be a whole number >= 1, got {value!r}")
        self.worlds: tuple[World, ...] = tuple(world.copy() for _ in range(int(count)))
        self._pool = ThreadPoolExecutor(min(int(threads), int(count)), "hrpsim-batch")
        size = -(-len(self.worlds) // (_SHARES * min(int(threads), int(count))))
        self._shares = [range(k, min(k + size, count)) for k in range(0, count, size)]

    def __len__(self) -> int:
        return len(self.worlds)

    def __enter__(self) -> Batch:
        return self

    def __exit__(self, *exception) -> None:
        self.close()

    def close(self) -> None:
        """Let the threads end; the worlds stay as they are."""
        self._pool.shutdown()

    def step(self, n: int = 1) -> None:
        """Advance every world by `n` steps.

        Where steps cannot be done the others are advanced all the same; then WorldError names the
        worlds that failed, each kept at the start of the step that it could not do.
        """
        failures = dict(
            f for share in self._pool.map(self._step_share(n), self._shares) for f in share
        )
        if failures:
            first = next(iter(failures))
            raise WorldError(
                f"{len(failures)} of {len(self)} worlds could not be stepped: "
                f"{', '.join(map(str, failures))}; world {first}: {failures[first]}"
            )

    def _step_share(self, n: int) -> Callable:
        def step(share: range) -> list[tuple[int, WorldError]]:
            failures = []
            for k in share:
                try:
                    self.worlds[k].step(n)
                except WorldError as error:
                    failures.append((k, error))
            return failures

        return step

    def map(self, function: Callable[[World, int], Any]) -> list:
        """Return function(world, number) of every world, several at a time, in their order.

        For whatever takes more than steps: a controller that walks each world, say.
        """

        def apply(share: range) -> list:
            return [function(self.worlds[k], k) for k in share]

        return [result for share in self._pool.map(apply, self._shares) for result in share]

    def q(self, name: str) -> np.ndarray:
        """Return the configurations (count, nq) of the robots or bodies called `name`."""
        return np.array([world.entities[name].q for world in self.worlds])

    def v(self, name: str) -> np.ndarray:
        """Return the velocities (count, nv) of the robots or bodies called `name`."""
        return np.array([world.entities[name].v for world in self.worlds])

    def command(self, name: str, names=None, over: float = 0.0, **values) -> None:
        """Command the robots called `name`, as `Robot.command` does, each with its own row.

        positions, velocities, efforts: (count, joints). StateError on any other number of rows.
        """
        rows = {what: np.asarray(array) for what, array in values.items() if array is not None}
        for what, array in rows.items():
            if array.ndim != 2 or len(array) != len(self):
                raise StateError(
                    f"{what} of {len(self)} worlds must have shape ({len(self)}, joints), "
                    f"got {array.shape}"
                )
        for k, world in enumerate(self.worlds):
            one = {what: array[k] for what, array in rows.items()}
            world.robots[name].command(names=names, over=over, **one)
