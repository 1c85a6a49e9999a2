# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Call the compiled step, and serve the requests of a step that ends early."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from hrpsim.common.arguments import MOST_STEPS
from hrpsim.common.errors import WorldError
from hrpsim.common.interrupts import uninterrupted
from hrpsim.common.values import whole_count
from hrpsim.engine.compile.announcement import announce_compilation, begin_beside, say_compiled
from hrpsim.engine.compile.compiled import entry_point
from hrpsim.engine.compile.lazy_kernels import KernelsAbsent
from hrpsim.engine.compile.reference import TupleReference
from hrpsim.engine.step.arrays import Scene
from hrpsim.engine.step.scene.status import DIVERGED, DONE, FALLS_ASLEEP, SINGULAR, TOO_STIFF, WAKES
from hrpsim.engine.step.step import advance
from hrpsim.world.arrays.change import grow
from hrpsim.world.parts.energy import warn_of_gains
from hrpsim.world.parts.failure import why_step_failed
from hrpsim.world.parts.part import Core, Part
from hrpsim.world.parts.results import Unmet

_MOST_AT_ONCE = 2**62
# Kernels of every step that are compiled on first use, and kernels that a second process compiles
# for a first step, in the order of use. The step and the kernels of robots are compiled in this
# process, because the step takes as long as those.
_ALWAYS_USED = ("find_contacts", "prepare_rows", "solve_rows")
_COMPILED_AHEAD = (*_ALWAYS_USED, "solve_displacement", "solve_by_newton_method")


def expect_steps() -> None:
    """Start to compile the kernels of a first step in a child process, if the cache has none.

    Kernels then compile while the program reads robots, which takes seconds the first time.
    """
    begin_beside(advance, _COMPILED_AHEAD)


def announce_steps() -> float | None:
    """Report that a first step compiles. Return the start time, or None if nothing compiles."""
    return announce_compilation(advance, _ALWAYS_USED, _COMPILED_AHEAD)


class Stepping(Part):
    """Component of a world that advances time. `hrpsim.world.shard` calls the same methods."""

    def __init__(self, core: Core) -> None:
        super().__init__(core)
        self._reference: TupleReference | None = (
            None  # reference to the scene of the last compiled step
        )
        self._raw: tuple[Scene, list] | None = None  # a scene, its state, and memory for saving it
        self._run: Any = None  # the step without checks of the arguments
        self._was_cut = False  # whether a signal interrupted the last call of `step`
        self._before: tuple[int, Unmet] | None = None  # the present call in the convergence record

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the machine code of the step, which belongs to this process."""
        return self.__dict__ | {"_run": None, "_reference": None, "_raw": None}

    def step(self, n: int = 1) -> None:
        """Advance by `n` steps (see `World.step`)."""
        if not (type(n) is int and n >= 0):
            n = whole_count("the number of steps", n, 0)
        if n > MOST_STEPS:
            raise WorldError(f"the number of steps must be at most {MOST_STEPS}, got {n:.3g}")
        announced = announce_steps() if self._run is None else None
        self.begin_call()
        try:
            self.get_ready()
            self.lift()
            self.advance(n)
        except (WorldError, KernelsAbsent):
            self.give_up_call()
            raise
        except BaseException:
            self.cut_call()
            raise
        finally:
            self.end_pushes()
            self.end_call()
            if announced is not None:
                say_compiled(announced)
        if self._contents.audited:
            self.warn_of_gains(stacklevel=5)

    @contextmanager
    def tried_step(self, tolerance: float) -> Iterator[Scene]:
        """Do a step, yield the scene after the step, and undo the step.

        tolerance: accuracy of the step [m/s], used if stricter than the world's tolerance.
        """
        self._contents.refuse_while_stepping()
        self.get_ready()
        scene, start = self._scenes.present, self._save()
        settings = self._contents.settings
        settings["tolerance"] = min(float(settings["tolerance"][0]), tolerance)
        try:
            done = 0
            while not done:
                done, status, *_ = self._do(self.reference(), 1)
                if not done:
                    self._serve(status)
            yield self._scenes.present
        finally:
            if self._scenes.present is not scene:  # its capacity was increased
                lasting = self._scenes.raw_lasting()
                start = [(row[0][: len(saved)], saved) for row, (_, saved) in zip(lasting, start)]
            for array, saved in start:
                array[...] = saved
            self._scenes.present.search["candidate_count"] = -1

    def _save(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Copy the state of the scene. Return the arrays of the state, each with the copy."""
        if self._raw is None or self._raw[0] is not self._scenes.present:
            lasting = self._scenes.raw_lasting()
            self._raw = self._scenes.present, [(*row, np.empty_like(row[0])) for row in lasting]
        scene, start = self._raw[0], []
        for array, live, size, saved in self._raw[1]:
            if live:
                end = size * int(scene.counts[live][0])
                array, saved = array[:end], saved[:end]
            saved[...] = array
            start.append((array, saved))
        return start

    # -- a call of `step` -----------------------------------------------------------------------

    def begin_call(self) -> None:
        """Begin a call of `step`. Raises WorldError if another thread is in a call."""
        contents = self._contents
        if contents.is_stepping:
            contents.refuse_while_stepping()
        self._before = self._convergence.begin_call(contents.clock.item())
        contents.is_stepping = True

    def give_up_call(self) -> None:
        """Discard the call if it completed no step, after a step that failed."""
        self._convergence.give_up_call(int(self._contents.clock[0]), self._before)

    def cut_call(self) -> None:
        """Record that an exception ended the call.

        The last step may have left a request, such as more memory. The next call serves the
        request.
        """
        self._was_cut = True
        self._scenes.present = self._scenes.present  # a batch then checks the world again

    def end_pushes(self) -> None:
        """Clear the wrenches of users (`apply_wrench`) at the end of this call."""
        if self._scenes.present is not None:
            self._scenes.present.counts["wrench_count"] = 0

    def end_call(self) -> None:
        """End a call of `step`, so that other threads may step the world."""
        self._contents.is_stepping = False

    def warn_of_gains(self, stacklevel: int) -> None:
        """Warn of bodies that gained energy, in a world with an energy audit."""
        contents, scene = self._contents, self._scenes.present
        warn_of_gains(scene, contents.entities, contents.integrator, stacklevel)

    # -- steps ----------------------------------------------------------------------------------

    def get_ready(self) -> None:
        """Make the scene, and serve a request that an interrupted call has left."""
        scene = self._scenes.scene
        if self._was_cut:
            self._was_cut = False
            if scene.failure["due"][0] == FALLS_ASLEEP:
                with uninterrupted():
                    self._serve(FALLS_ASLEEP)

    def lift(self) -> None:
        """Apply the gravity compensation forces of the models' links during this call."""
        for robot in self._contents.robots.values():
            for body, point, mass in robot.model.lifts:
                force = -mass * self._contents.settings["gravity"][0]
                self._scenes.add_wrench(robot.first_body + body, point, force, (0.0, 0.0, 0.0))

    def advance(self, left: int) -> None:
        """Do `left` steps, with a pause at each measurement of a sensor."""
        contents = self._contents
        samples = bool(contents.samplers or contents.watchers)
        if samples:
            contents.sample()
        while left > 0:
            reference = self.reference()
            count = min(left, _MOST_AT_ONCE)
            if samples:
                count = min(count, contents.steps_to_sample(count))
            if reference is None:
                self.let_time_pass(count)
                left -= count
            else:
                done, status, unmet, by_newton = self._do(reference, count)
                left -= done
                if status or unmet or by_newton:
                    self.take(status, unmet, by_newton)
            if samples:
                contents.sample()

    @property
    def has_samplers(self) -> bool:
        """Whether any sensor or watcher has a rate of its own."""
        return self._contents.pauses

    def begin_chunk(self, left: int) -> int:
        """Take the sensor samples that are due now.

        Returns:
            The number of steps until the next sample, at most `left`.
        """
        self._contents.sample()
        return min(left, self._contents.steps_to_sample(left))

    def reference(self) -> TupleReference | None:
        """Return the arguments of the compiled step, or None if everything sleeps."""
        scene = self._scenes.present
        if self._sleep.any_asleep:
            if self._sleep.nothing_moves:
                return None
            scene = self._sleep.awake_scene()
        if self._reference is None or scene is not self._reference.whole:
            self._refer_to(scene)
        return self._reference

    def let_time_pass(self, steps: int) -> None:
        """Advance time by a number of steps in a world in which everything sleeps."""
        self._contents.clock[0] += steps

    def take(self, status: int, unmet: int, by_newton: int) -> None:
        """Process the result of the compiled step: serve its request, or raise WorldError."""
        if by_newton:
            self._convergence.add_newton(by_newton)
        if unmet:
            worst = self._scenes.present.worst[1]
            residual, naming = float(worst["residual"]), self._scenes.naming
            self._convergence.add(unmet, residual, lambda: naming().name_of(worst))
        if status != DONE:
            with uninterrupted():
                self._serve(status)

    def _do(self, reference: TupleReference | None, count: int) -> tuple[int, int, int, int]:
        """Call the compiled step for `count` steps. Return the result of `advance`."""
        if self._run is None:
            self._run = entry_point(advance, reference, count)
        return self._run(reference, count)

    def _refer_to(self, scene: Scene) -> None:
        previous, self._reference = self._reference, TupleReference(scene, self._reference)
        if previous is None or self._reference.kind_for_kernels is not previous.kind_for_kernels:
            self._run = None

    def _serve(self, status: int) -> None:
        """Serve the request of a step that ended with `status`.

        Raises WorldError if there is no request.
        """
        scene, contents = self._scenes.present, self._contents
        if status in (SINGULAR, DIVERGED, TOO_STIFF):
            naming, time = self._scenes.naming(), int(contents.clock[0]) * contents.time_step
            raise WorldError(why_step_failed(scene, contents.entities, naming, status, time))
        if status == FALLS_ASLEEP:
            self._sleep.fall_asleep()
            scene.failure["due"] = DONE
        elif status == WAKES:
            self._sleep.wake_shape(int(scene.failure["needed"][0]))
        else:
            self._scenes.present = grow(scene, status)
