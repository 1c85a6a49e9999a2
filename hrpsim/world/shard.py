# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A shard: the worlds of a batch that one thread advances, one after another."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Event
from typing import Any

import numpy as np

from hrpsim.common.errors import WorldError
from hrpsim.engine.compile.compiled import address_of, entry_point
from hrpsim.engine.compile.fields import Life, at, declared_fields, new_array, replaced
from hrpsim.engine.compile.reference import TupleReference
from hrpsim.engine.step.arrays import Scene
from hrpsim.engine.step.side_by_side import SPAN, TURN, advance_side_by_side
from hrpsim.engine.step.step import advance
from hrpsim.world.parts.scenes import Scenes
from hrpsim.world.parts.stepping import Stepping

_WORK = {path: field.fill for path, field in declared_fields(Scene) if field.life is Life.WORK}
_OWN = [(path, field.live) for path, field in declared_fields(Scene) if path not in _WORK]


class Stopped(Exception):
    """Raised in a thread of a batch after another thread has ended the call."""


class Shard:
    """Some worlds of a batch. Each world makes the same steps as outside of a batch.

    The worlds share working memory for most intermediate results, which therefore stays in the
    processor's cache.
    """

    def __init__(self, numbers: Sequence[int], steppings: Sequence[Stepping]) -> None:
        self._numbers, self._steppings = tuple(numbers), tuple(steppings)
        self._seen: list[TupleReference | None] = [None] * len(
            self._numbers
        )  # reference of each world
        self._references = self._seen.copy()  # the same references in shared memory
        self._work: dict[tuple, np.ndarray] = {}  # shared memory, by path and shape
        self._turns = np.zeros(len(self._numbers), TURN)
        self._memory = np.zeros((len(self._numbers), 1 + len(_OWN)), SPAN)  # not shared
        self._example: TupleReference | None = (
            None  # reference for which the machine code was compiled
        )
        self._address = 0
        self._run: Any = None
        self._settled = -1  # number of scene changes when all worlds were last ready

    def step(self, n: int, stop: Event) -> dict[int, WorldError]:
        """Advance all worlds by `n` steps. Return the errors of worlds that failed, by number.

        A world that fails stays at the start of the failed step. If `stop` is set, Stopped is
        raised. After Stopped, or after an exception from a signal, only some of the steps are done.
        """
        failures: dict[int, WorldError] = {}
        begun: list[Stepping] = []
        left = self._turns["left"]
        left[:] = 0
        try:
            steps_left = self._begin(n, begun, failures)
            while left.any() or self._next_chunk(steps_left, failures):
                if stop.is_set():
                    raise Stopped
                self._advance(failures)
        except BaseException:
            for stepping in begun:
                stepping.cut_call()
                stepping.end_pushes()
            raise
        finally:
            for stepping in begun:
                if n == 0:
                    stepping.end_pushes()
                stepping.end_call()
        return failures

    def _begin(
        self, n: int, begun: list[Stepping], failures: dict[int, WorldError]
    ) -> dict[int, int]:
        """Begin a call of `n` steps in each world. Store the steps of worlds without samplers.

        A sampler is a sensor with a rate of its own.

        Args:
            n: number of steps.
            begun: receives the stepping components of the worlds whose call has begun.
            failures: receives the errors, by the number of the world.

        Returns:
            steps of the worlds with samplers, by the index of the world.
        """
        left, steps_left = self._turns["left"], {}
        is_ready = self._settled == Scenes.changes
        for index, stepping in enumerate(self._steppings):
            try:
                stepping.begin_call()
                begun.append(stepping)
                if is_ready:
                    continue
                stepping.get_ready()
                stepping.lift()
                if stepping.has_samplers:
                    steps_left[index] = n
                else:
                    left[index] = n
            except WorldError as error:
                failures[self._numbers[index]] = error
        if is_ready:
            left[:] = [0 if number in failures else n for number in self._numbers]
        return steps_left

    def _next_chunk(self, rest: dict[int, int], failures: dict[int, WorldError]) -> bool:
        """Begin the steps up to the next sample of a sensor. Return whether any steps are left.

        `rest` has the remaining steps of each world with samplers, by the index of the world.
        """
        left = self._turns["left"]
        for index in list(rest):
            number, stepping = self._numbers[index], self._steppings[index]
            try:
                count = 0 if number in failures else stepping.begin_chunk(rest[index])
            except WorldError as error:
                failures[number], count = error, 0
                stepping.give_up_call()
                stepping.end_pushes()
            left[index] = count
            rest[index] -= count
            if count == 0:
                del rest[index]
        return bool(left.any())

    def _advance(self, failures: dict[int, WorldError]) -> None:
        """Do the remaining steps of all worlds, until steps end early. Serve their requests.

        failures: receives the errors, by the number of the world.
        """
        turns, left = self._turns, self._turns["left"]
        if self._settled != Scenes.changes:
            self._settle()
        turns["asks"] = 0
        if left.any():
            self._run(self._example, self._address, turns, self._memory)
        for index in np.flatnonzero(turns["asks"]).tolist():
            stepping, turn = self._steppings[index], turns[index]
            try:
                stepping.take(int(turn["status"]), int(turn["unmet"]), int(turn["by_newton"]))
            except WorldError as error:
                failures[self._numbers[index]] = error
                left[index] = 0
                stepping.give_up_call()
                stepping.end_pushes()

    def _settle(self) -> None:
        """Update the references to the scenes of the worlds that have steps left.

        In a world in which everything sleeps, only time advances. After one pass over all worlds,
        later calls skip the check until a scene changes.
        """
        changes, left = Scenes.changes, self._turns["left"]
        ready = 0
        for index in np.flatnonzero(left).tolist():
            stepping = self._steppings[index]
            reference = stepping.reference()
            if reference is None:
                stepping.let_time_pass(int(left[index]))
                left[index] = 0
                continue
            ready += not stepping.has_samplers
            if reference is not self._seen[index]:
                self._refer_to(index, reference)
        self._settled = changes if ready == len(self._steppings) else -1

    def _refer_to(self, index: int, seen: TupleReference) -> None:
        """Replace the reference to a world's scene by a reference to a new scene.

        index: index of the world. seen: reference to the new scene.
        """
        self._seen[index] = seen
        if self._example is None:
            self._example = seen
            self._address = address_of(advance, seen, 1)
            arguments = seen, self._address, self._turns, self._memory
            self._run = entry_point(advance_side_by_side, *arguments)
        elif seen.kind_for_kernels is not self._example.kind_for_kernels:
            raise TypeError("the scenes of a batch's worlds must have arrays of the same types")
        reference = TupleReference(replaced(seen.whole, self._shared_work(seen.whole)), seen)
        self._references[index] = reference
        self._turns["scene"][index] = reference.address
        spans = [(reference.address, reference.address + reference.nbytes)]
        for path, live in _OWN:
            own = at(seen.whole, path)
            used = own[: int(seen.whole.counts[live][0])] if live else own
            spans.append((own.ctypes.data, own.ctypes.data + used.nbytes))
        self._memory[index] = spans

    def _shared_work(self, scene: Scene) -> dict[str, np.ndarray]:
        """Return the memory for intermediate results of a scene, by path."""
        shared = {}
        for path, fill in _WORK.items():
            own = at(scene, path)
            key = path, own.shape
            if key not in self._work:
                self._work[key] = new_array(own.shape, own.dtype, fill)
            shared[path] = self._work[key]
        return shared
