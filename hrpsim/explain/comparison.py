# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The runs of a comparison, as a scenario of sweeps. The runs are executed in parallel."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from hrpsim.common.schema import integer, name
from hrpsim.explain.differences import DIFFERENCES
from hrpsim.explain.differences.difference import Change, There
from hrpsim.explain.gaps import channels
from hrpsim.explain.runs.case import Case, ExplainError, Start
from hrpsim.explain.runs.mujoco_reference import MujocoReference
from hrpsim.explain.runs.subject import Subject
from hrpsim.explain.runs.trace import Trace
from hrpsim.sweeps.cells import DONE
from hrpsim.sweeps.framework.design import Design
from hrpsim.sweeps.framework.scenario import Outcome, Parameter, Scenario
from hrpsim.sweeps.sweep import sweep

REFERENCE, UNCHANGED = "reference", "unchanged"
_WINDOWS = -1  # number for predictions in short windows instead of a start
_LEAST_SIZES = 0.1, 0.2  # least scales of velocities of the base and of joints [m/s, rad/s]
_MOST_STARTS = 1000
_MOST_WINDOWS = 75  # largest number of windows for predictions


class ComparedRun(NamedTuple):
    """The results of one run of the comparison."""

    fell_at: float  # [s], NaN without a fall
    motion: np.ndarray  # compared quantities (n, channels)
    forces: np.ndarray  # upward contact force on each link (n, links) [N]


@dataclass(frozen=True, eq=False)
class Comparison(Scenario):
    """Runs of a case with some changes, from several initial states.

    Args:
        case: the policy and its runs.
        changes: all changes that can be made.
        starts: initial states of the runs.
        trace: motion of the reference from the first initial state.
        there: file of the reference, if the reference is MuJoCo.
    """

    case: Case
    changes: tuple[Change, ...]
    starts: tuple[Start, ...]
    trace: Trace
    there: There | None

    @property
    def outcomes(self) -> Mapping[str, Outcome]:
        """The outcomes of a run. A prediction has only the outcome `miss`."""
        count, width, links = self._sizes()
        return {
            "fell_at": Outcome("s"),
            "miss": Outcome("", "error of predictions in short windows, from 0 to 1"),
            "motion": Outcome("", shape=(count, width)),
            "forces": Outcome("N", shape=(count, links)),
        }

    def _sizes(self) -> tuple[int, int, int]:
        robot = self.case.robot_in(self.case.load())
        width = 12 * (robot.model.base == "free") + len(robot.joint_names)
        return len(self.case.times()), width, len(robot.model.frames)

    def parameters(self) -> Mapping[str, Parameter]:
        """Return the parameters: the text of changes, such as "2+5", and the index of the start."""
        return {"changes": Parameter(name), "start": Parameter(integer(_WINDOWS, _MOST_STARTS))}

    def identity(self) -> Any:
        """Return the changes as the identity of the scenario. Results are not stored."""
        return [[change.difference, change.text] for change in self.changes]

    def run(self, values: Mapping[str, Any], seed: int) -> Mapping[str, Any]:
        """Run the policy once, or compute the prediction error. Return the outcomes."""
        count, width, links = self._sizes()
        empty = {
            "fell_at": math.nan,
            "miss": math.nan,
            "motion": np.full((count, width), np.nan),
            "forces": np.full((count, links), np.nan),
        }
        chosen, start = str(values["changes"]), int(values["start"])
        simulator, numbers = numbers_of(chosen)
        if start == _WINDOWS:
            return empty | {"miss": self._miss(numbers)}
        q, v = self.starts[start]
        if simulator == REFERENCE:
            trace = self._altered_reference(numbers).trace(q, v)
        else:
            trace = self.subject(numbers).run(q, v, self.case.duration)
        run = self.measured(trace)
        return empty | {"fell_at": run.fell_at, "motion": run.motion, "forces": run.forces}

    def measured(self, trace: Trace) -> ComparedRun:
        """Return the compared quantities of a trace."""
        robot = self.case.robot_in(self.case.load())
        sampled = trace.sampled(self.case.times())
        motion = channels(sampled, robot.model.base == "free", robot.joint_index.q)
        return ComparedRun(trace.fell_at, motion, sampled.forces)

    def subject(self, numbers: Iterable[int]) -> Subject:
        """Return the policy in hrpsim with the changes of these indices applied.

        Changes of the reference are left out.
        """
        chosen = [self.changes[k] for k in numbers if not self.changes[k].of_reference]
        at_load: dict[str, Any] = {}
        for change in chosen:
            at_load |= DIFFERENCES[change.difference].at_load(change.values)
        subject = Subject.of(self.case, at_load)
        for change in chosen:
            DIFFERENCES[change.difference].apply(subject, change.values, self.there)
        return subject

    def _altered_reference(self, numbers: Iterable[int]) -> MujocoReference:
        assert self.there is not None  # a recording cannot be run
        kinds = [DIFFERENCES[self.changes[k].difference] for k in numbers]

        def alter(model: Any) -> None:
            for kind in kinds:
                kind.apply_to_reference(model)

        return MujocoReference(self.case, self.there.mjcf, alter, self.there.period)

    def _miss(self, numbers: Sequence[int]) -> float:
        """Return the mean error of predicted velocities.

        Each error is divided by the standard deviation of the velocity in the reference, and
        clipped to 1.
        """
        subject, trace = self.subject(numbers), self.trace
        altered = [k for k in numbers if self.changes[k].of_reference]
        if altered:
            trace = self._altered_reference(altered).trace(*self.starts[0])
        predicted = subject.predict(trace, _MOST_WINDOWS)
        true = trace.sampled(subject.policy.seconds * np.arange(1, len(predicted) + 1)).v
        if not len(true):
            raise ExplainError(
                "the reference falls before the second evaluation of the policy, so nothing can be "
                "compared. Choose another start (--keyframe)"
            )
        sizes = np.maximum(true.std(axis=0), _LEAST_SIZES[1])
        if subject.robot.model.base == "free":
            sizes[:3] = np.maximum(true[:, :3].std(axis=0), _LEAST_SIZES[0])
        return float(np.mean(np.minimum(np.abs(predicted - true) / sizes, 1.0)))


def numbers_of(text: str) -> tuple[str, list[int]]:
    """Parse the text of a combination of changes, such as "unchanged", "2+5" or "reference+5".

    Returns:
        (simulator that runs, UNCHANGED or REFERENCE, indices of the changes).
    """
    simulator, *words = text.split("+")
    if simulator not in (REFERENCE, UNCHANGED):
        simulator, words = UNCHANGED, text.split("+")
    return simulator, [int(number) for number in words]


def text_of(numbers: Iterable[int], side: str = UNCHANGED) -> str:
    """Return the text of a simulator with changes, the inverse of `numbers_of`."""
    words = [str(number) for number in numbers]
    if side == REFERENCE:
        return "+".join([REFERENCE, *words])
    return "+".join(words) or UNCHANGED


class Runner:
    """Executes the runs of a comparison.

    Args:
        comparison: the runs.
        executor: executor of the runs.
    """

    def __init__(self, comparison: Comparison, executor: Executor) -> None:
        self.comparison, self._executor = comparison, executor
        self.failures: dict[str, str] = {}  # errors, by change

    def runs(self, chosen: Sequence[str]) -> dict[str, list[ComparedRun]]:
        """Run each set of changes from all initial states. Return the runs by set of changes.

        Sets whose runs fail are left out, and `failures` names the sets.

        Raises:
            ExplainError: a run without changes fails, or a run of the reference.
        """
        starts = range(len(self.comparison.starts))
        table = self._sweep([(text, start) for text in chosen for start in starts])
        grouped: dict[str, list[ComparedRun]] = {}
        names = ("fell_at", "motion", "forces")
        for text, *parts in zip(self._names(table), *(table[part].values for part in names)):
            if text not in self.failures:
                grouped.setdefault(text, []).append(ComparedRun(*parts))
        return grouped

    def misses(self, chosen: Sequence[str]) -> dict[str, float]:
        """Return the prediction error in short windows for each set of changes.

        Sets whose predictions fail are left out.
        """
        table = self._sweep([(text, _WINDOWS) for text in chosen])
        misses = dict(zip(self._names(table), table["miss"].values.tolist()))
        return {text: miss for text, miss in misses.items() if text not in self.failures}

    @staticmethod
    def _names(found: Any) -> list[str]:
        return found["changes"].values.tolist()

    def _sweep(self, rows: Sequence[tuple[str, int]]) -> Any:
        table = [{"changes": text, "start": start} for text, start in rows]
        result = sweep(self.comparison, Design(method="table", rows=table), self._executor)
        failed = result["status"].values != DONE
        for text, why in zip(result["changes"].values[failed], result["error"].values[failed]):
            if text in (REFERENCE, UNCHANGED):
                raise ExplainError(f"a run fails ({text}): {why}")
            self.failures.setdefault(str(text), str(why))
        return result
