# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Submit runs to an engine and collect the results, even if processes of the engine end."""

from __future__ import annotations

import pickle
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from itertools import islice
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple

from hrpsim.common.errors import HrpsimError
from hrpsim.sweeps.cells import FAILED, REFUSED, Cell, Result, cut, problem_of_scenario, run_cells
from hrpsim.sweeps.framework.scenario import Scenario, SweepError

_LOOK = 0.5  # period of progress reports and of checks for signals [s]
_MOST_REFUSALS = 50  # largest number of refusals of a run, by processes with other arithmetic
_MOST_LOSSES = 3  # largest number of ended processes with only this run
# Errors in sending or receiving a scenario, because runs themselves raise no errors: a part of it
# is missing, or cannot be sent.
_NOT_ARRIVED = (ImportError, AttributeError, TypeError, pickle.PickleError, HrpsimError)
_DEATHS = ("KilledWorker",)  # errors of Dask that report an ended process
_WHERE = "a function has to be in a module or a file that they can import"


class _Task(NamedTuple):
    cells: tuple[Cell, ...]
    losses: int = 0
    refusals: int = 0


class Driver:
    """Submit runs to executors from `make`, and yield the results.

    A task has `per_task` runs. At most `in_flight` tasks are submitted at a time.
    """

    def __init__(
        self,
        scenario: Scenario,
        expected: dict[str, str] | None,
        make: Callable[[], Executor],
        mended: bool,
        in_flight: int,
        per_task: int,
    ) -> None:
        self._scenario, self._expected = scenario, expected
        self._sent = _pickled(scenario) if mended else b""
        self._make, self._mended = make, mended
        self._in_flight, self._per_task = in_flight, per_task
        self._executor = make()
        self._pending: dict[Future, _Task] = {}
        self._ended: SimpleQueue = SimpleQueue()
        self._jobs: list[Any] = []  # futures without callbacks, such as submitit's
        self._waiting: deque[_Task] = deque()  # to run before new ones
        self._suspects: deque[_Task] = deque()  # running at the failure of the pool
        self._has_arrived = False  # whether a process of the engine has received the scenario
        self.refused_by: set[str] = set()

    def results(self, cells: Iterable[Cell], report: Callable[[], Any]) -> Iterator[list[Result]]:
        """Yield results in the order of completion. `report` is called every half second.

        Unfinished tasks are cancelled if the caller stops early. Raises SweepError if the engine
        has ended, or if all processes compute different bits than the process that began the sweep.
        """
        fresh = iter(cells)
        try:
            while True:
                self._fill(fresh)
                if not self._pending:
                    return
                try:
                    future = self._ended.get(timeout=_LOOK)
                except Empty:
                    self._look_at_jobs()
                    report()
                    continue
                task = self._pending.pop(future, None)
                if task is not None:
                    results = self._taken(future, task)
                    if results:
                        yield results
                report()
        finally:
            for future in self._pending:
                future.cancel()

    def _fill(self, fresh: Iterator[Cell]) -> None:
        """Submit tasks. A run suspected of ending its process is submitted alone."""
        while len(self._pending) < self._in_flight:
            if self._suspects:
                if self._pending:
                    return
                task = self._suspects.popleft()
            elif self._waiting:
                task = self._waiting.popleft()
            else:
                chosen = tuple(islice(fresh, self._per_task))
                if not chosen:
                    return
                task = _Task(chosen)
            self._submit(task)

    def _submit(self, task: _Task) -> None:
        try:
            future = self._executor.submit(run_cells, self._scenario, task.cells, self._expected)
        except BrokenExecutor as error:
            self._suspects.append(task)
            self._mend(error)
            return
        except RuntimeError as error:
            raise SweepError(f"the engine accepts no more cells: {error}") from error
        self._pending[future] = task
        if hasattr(future, "add_done_callback"):
            future.add_done_callback(self._ended.put)
        else:
            self._jobs.append(future)

    def _look_at_jobs(self) -> None:
        """Find finished jobs of executors that do not notify the driver."""
        for job in [job for job in self._jobs if job.done()]:
            self._jobs.remove(job)
            self._ended.put(job)

    def _taken(self, future: Future, task: _Task) -> list[Result]:
        try:
            results = future.result()
        except BrokenExecutor as error:
            return self._lost(task, error, alone=not self._pending)
        except CancelledError as error:
            raise SweepError("the engine dropped its cells: did its scheduler end?") from error
        except Exception as error:  # errors of the engine
            kind, text = type(error).__name__, " ".join(str(error).split())
            died = self._has_arrived or kind in _DEATHS
            if isinstance(error, _NOT_ARRIVED) or not died:
                return self._refused(task, f"{kind}: {text}")
            return self._lost(task, error, alone=True)
        refused = [result for result in results if result.status == REFUSED]
        if refused:
            return self._refused(task, refused[0].error, paused=True)
        self._has_arrived = True
        return results

    def _refused(self, task: _Task, why: str, paused: bool = False) -> list[Result]:
        """Requeue a task that a process refused because its fingerprint differs.

        After too many refusals of a task, the method raises SweepError. The limit is low as long as
        no process has done a run, so that a sweep without suitable processes ends soon.

        paused: whether the process paused before the refusal. The limit is then high.
        """
        self.refused_by.add(why)
        if task.refusals >= (_MOST_REFUSALS if self._has_arrived or paused else _MOST_LOSSES):
            reasons = " | ".join(sorted(self.refused_by))
            raise SweepError(
                f"no process can run the cells as at the start of the sweep. Reasons: {reasons}"
            )
        self._waiting.append(task._replace(refusals=task.refusals + 1))
        return []

    def _check_arrival(self) -> None:
        """Raise SweepError if the pool's processes cannot read the scenario, or cannot start.

        Both cases look the same as a run that ends its process.
        """
        for _ in range(_MOST_LOSSES):
            try:
                problem = self._executor.submit(problem_of_scenario, self._sent).result()
            except BrokenExecutor:
                self._executor = self._make()
                continue
            if problem:
                reason = "other processes cannot read the scenario"
                raise SweepError(f"{reason}: {problem}. {_WHERE}")
            self._has_arrived = True
            return
        raise SweepError(
            "the processes of the pool end at their start. Each process reads the program again. "
            'Put the sweep in a file under `if __name__ == "__main__":`'
        )

    def _lost(self, task: _Task, error: Exception, alone: bool) -> list[Result]:
        """Requeue or fail a task whose process ended before the task was done."""
        losses = task.losses + alone
        if losses >= _MOST_LOSSES:
            text = f"its process ended {losses} times: {type(error).__name__}: {error}"
            self._mend(error, broken=isinstance(error, BrokenExecutor))
            if len(task.cells) > 1:
                self._suspects.extend(_Task((cell,)) for cell in task.cells)
                return []
            return [Result(task.cells[0].number, FAILED, {}, cut(text))]
        task = task._replace(losses=losses)
        if isinstance(error, BrokenExecutor):
            self._suspects.append(task)
            self._mend(error)
        else:
            self._waiting.append(task)
        return []

    def _mend(self, error: Exception, broken: bool = True) -> None:
        """Replace a broken pool. The pending tasks of the broken pool become suspects."""
        if not broken:
            return
        if not self._mended:
            raise SweepError(f"the engine has failed and cannot restart: {error}") from error
        for future, task in list(self._pending.items()):
            if not (future.done() and not future.cancelled() and future.exception() is None):
                del self._pending[future]
                self._suspects.append(task)
        self._executor = self._make()
        if not self._has_arrived:
            self._check_arrival()


def _pickled(scenario: Scenario) -> bytes:
    """Return the pickled scenario. Raises SweepError on failure, because the pool would hang."""
    try:
        return pickle.dumps(scenario)
    except _NOT_ARRIVED as error:
        raise SweepError(
            f"the scenario cannot be sent to other processes: {error}. {_WHERE}"
        ) from error
