# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Find when the runs of two simulators diverge, and which differences explain the gap.

The gap is the mean distance between runs in hrpsim and in the reference.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from hrpsim.explain.comparison import (
    REFERENCE,
    UNCHANGED,
    ComparedRun,
    Comparison,
    Runner,
    numbers_of,
    text_of,
)
from hrpsim.explain.differences import DIFFERENCES
from hrpsim.explain.differences.difference import Change, ComparedPair, There
from hrpsim.explain.gaps import Parting, Yardstick, chance_of_falls, noise_of, parting
from hrpsim.explain.runs.case import Case
from hrpsim.explain.runs.mujoco_reference import MujocoReference
from hrpsim.explain.runs.reference import Reference
from hrpsim.explain.runs.subject import Subject

_LEAST_LOAD = 0.02  # least mean load of a foot, as a fraction of the weight
_LEAST_GAP = 0.02  # least gap beyond the noise with explained fractions
_ENOUGH = 0.75  # fraction of the gap that the smallest change explains
_UNLIKELY = 0.05  # probability of equally unequal numbers of falls
_MOST_KINDS = 8  # largest number of differences in runs, chosen by predictions
_TOGETHER = 4  # largest number of differences removed together


_Set = tuple[int, ...]


class Effect(NamedTuple):
    """The remaining gap to the reference after some differences have been removed."""

    changes: tuple[Change, ...]
    starts: int
    falls: int  # falls of hrpsim's runs
    reference_falls: int  # falls of the reference's runs
    gap: np.ndarray  # mean distance from the reference, from 0 to 1 (groups,)
    uncertainty: float  # standard error of `by_gap` over the starts
    by_gap: float  # explained fraction of the gap beyond the noise
    by_predictions: float  # explained fraction of the error of predictions in short windows

    @property
    def share(self) -> float:
        """The explained fraction of the gap: the mean of `by_gap` and `by_predictions`."""
        return 0.5 * (self.by_gap + self.by_predictions)


@dataclass(frozen=True, eq=False)
class Explanation:
    """Why a policy behaves differently in hrpsim and in a reference.

    Args:
        case: the compared case.
        reference: label of the reference.
        times: times of the samples (n,) [s].
        yardstick: names and sizes of the compared quantities.
        links: names of the links in `Run.forces`.
        feet: links that press on the surroundings.
        there: runs of the reference, paired with the runs in `here`.
        samples: number of independent runs of the reference. A recording is one run.
        here: runs in hrpsim, without changes.
        noise: mean distance of runs from different starts, for each group of the yardstick
            (groups,). The larger value of the two simulators is used.
        gap: mean distance of the paired runs, for each group (groups,).
        parting: time and quantity of the divergence, or None if the distance stays within the
            noise.
        chance: probability that the numbers of falls differ at least this much, if both simulators
            have the same rate of falls.
    """

    case: Case
    reference: str
    times: np.ndarray
    yardstick: Yardstick
    links: tuple[str, ...]
    feet: tuple[str, ...]
    there: tuple[ComparedRun, ...]
    samples: int
    here: tuple[ComparedRun, ...]
    noise: np.ndarray
    gap: np.ndarray
    parting: Parting | None
    chance: float
    ranked: tuple[Effect, ...] = ()  # effects of single differences, the largest first
    together: tuple[Effect, ...] = ()  # effects of the first differences, one more in each
    smallest: Effect | None = None  # the least change with a sufficient effect
    repaired: tuple[ComparedRun, ...] = ()  # runs with the smallest change, or with the best change
    failures: dict[str, str] = field(default_factory=dict)  # errors, by the text of the change

    @property
    def falls_there(self) -> int:
        """The number of reference runs that fell."""
        return falls_of(self.there[: self.samples])

    @property
    def differs(self) -> bool:
        """Whether the runs, their spread or the rates of falls differ beyond the noise."""
        return self.parting is not None or self.chance < _UNLIKELY

    @property
    def remains(self) -> float:
        """The fraction of the gap that no tried change explains. NaN if the runs do not differ."""
        best = max((effect.by_gap for effect in (*self.ranked, *self.together)), default=np.nan)
        return 1.0 - min(best, 1.0)


def falls_of(runs: Sequence[ComparedRun]) -> int:
    """Return the number of runs that fell."""
    return sum(not np.isnan(run.fell_at) for run in runs)


def _both_runs(runner: Runner, plain: Comparison, there: There | None) -> dict[str, Any]:
    """Return the runs in hrpsim and of the reference. A recording is paired with every start."""
    if there is not None:
        return runner.runs([REFERENCE, UNCHANGED])
    return {
        **runner.runs([UNCHANGED]),
        REFERENCE: [plain.measured(plain.trace)] * len(plain.starts),
    }


def explain(
    case: Case,
    reference: Reference,
    executor: Executor,
    tell: Callable[[str], Any] = lambda text: None,
) -> Explanation:
    """Compare a policy in hrpsim with a reference, and rank the differences that explain the gap.

    Args:
        case: the policy, the world of hrpsim and the runs.
        reference: MuJoCo or a recording.
        executor: executes the runs, such as a pool of processes.
        tell: called with a text at each stage.

    Raises:
        ExplainError: the policy and the reference cannot be compared.
        HrpsimError: a file cannot be read, or a run fails.
    """
    case = replace(case, duration=min(case.duration, reference.duration))
    first = reference.start or case.first_start()
    starts = tuple(case.start(k, first) for k in range(case.starts))
    trace = reference.trace(*first)
    there = None
    if isinstance(reference, MujocoReference):
        there = There(reference.mjcf, reference.period)
    subject = Subject.of(case, {})
    tell(f"runs from {len(starts)} starts in both")
    plain = Comparison(case, (), starts, trace, there)
    runner = Runner(plain, executor)
    runs = _both_runs(runner, plain, there)
    samples = len(starts) if reference.start is None else 1
    result = _compared(case, reference.label, samples, subject, runs)
    if not result.differs:
        return result
    pair = ComparedPair(subject, there, result.feet)
    changes = tuple(change for kind in DIFFERENCES.values() for change in kind.changes(pair))
    if not changes:
        return result
    return _Ranking(
        Comparison(case, changes, starts, trace, there), executor, result, tell
    ).ranked()


def _compared(
    case: Case, reference: str, samples: int, here: Subject, runs: dict[str, list[ComparedRun]]
) -> Explanation:
    """Return an explanation with the distance of the runs. Differences are not ranked yet."""
    links = tuple(here.robot.model.frames)
    motions = {text: np.array([run.motion for run in own]) for text, own in runs.items()}
    is_free, joints = here.robot.model.base == "free", here.robot.joint_names
    yardstick = Yardstick.of(is_free, joints, motions[REFERENCE])
    falls = falls_of(runs[UNCHANGED]), falls_of(runs[REFERENCE][:samples])
    noise = np.max([noise_of(yardstick, own).mean(axis=0) for own in motions.values()], axis=0)
    weight = 9.8 * here.robot.model.mass
    loads = np.maximum(*(_mean_loads(runs[text], len(links)) for text in (REFERENCE, UNCHANGED)))
    return Explanation(
        case=case,
        reference=reference,
        times=case.times(),
        yardstick=yardstick,
        links=links,
        feet=tuple(np.array(links)[loads > _LEAST_LOAD * weight].tolist()),
        there=tuple(runs[REFERENCE]),
        samples=samples,
        here=tuple(runs[UNCHANGED]),
        noise=noise,
        gap=_gaps(yardstick, runs[UNCHANGED], runs[REFERENCE]).mean(axis=0),
        parting=parting(
            yardstick,
            case.times(),
            motions[UNCHANGED],
            motions[REFERENCE],
            is_recorded=samples == 1,
        ),
        chance=chance_of_falls(*falls, len(runs[UNCHANGED]), samples),
    )


def _mean_loads(runs: Sequence[ComparedRun], count: int) -> np.ndarray:
    forces = np.concatenate([run.forces for run in runs])
    known = forces[~np.isnan(forces).any(axis=1)]
    return known.mean(axis=0) if len(known) else np.zeros(count)


def _gaps(
    yardstick: Yardstick, here: Sequence[ComparedRun], there: Sequence[ComparedRun]
) -> np.ndarray:
    """Return the mean distance of each pair of runs in each group (starts, groups)."""
    pairs = zip(here, there, strict=True)
    return np.array([yardstick.distances(a.motion, b.motion).mean(axis=0) for a, b in pairs])


class _Ranking:
    """Ranks differences by removing them one by one and together.

    A set of differences is a tuple of indices of changes.
    """

    def __init__(
        self,
        comparison: Comparison,
        executor: Executor,
        found: Explanation,
        tell: Callable[[str], Any],
    ) -> None:
        self._runner, self._changes = Runner(comparison, executor), comparison.changes
        self._result, self._tell = found, tell
        self._gaps = _gaps(found.yardstick, found.here, found.there)
        self._runs = {UNCHANGED: list(found.here), REFERENCE: list(found.there)}
        self._misses: dict[str, float] = {}

    def ranked(self) -> Explanation:
        """Return the explanation with ranked differences."""
        single = [(k,) for k in range(len(self._changes))]
        self._tell(f"predictions with {len(single)} changes")
        self._misses = self._runner.misses([UNCHANGED, *map(text_of, single)])
        best = self._best_of_each(single)
        self._tell(f"runs with {len(best)} differences taken away one by one")
        effects = self._sorted(self._effects(best))
        order = [numbers[0] for numbers in effects]
        most = min(_TOGETHER, len(order))
        self._tell(f"runs with up to {most} differences taken away together")
        together = self._effects([tuple(order[:count]) for count in range(2, most + 1)])
        smallest = self._smallest(effects | together)
        best_set = smallest or next(iter(self._sorted(effects | together)), ())
        return replace(
            self._result,
            ranked=tuple(effects.values()),
            together=tuple(together.values()),
            smallest=self._effects([smallest])[smallest] if smallest else None,
            repaired=tuple(self._runs[self._sides(best_set)[0]]),
            failures=self._failures(),
        )

    @staticmethod
    def _sorted(effects: dict[_Set, Effect]) -> dict[_Set, Effect]:
        return dict(sorted(effects.items(), key=lambda one: -one[1].share))

    def _failures(self) -> dict[str, str]:
        result = {}
        for text, why in self._runner.failures.items():
            changes = [self._changes[k] for k in numbers_of(text)[1]]
            result[" and ".join(f"{change.difference}, {change.text}" for change in changes)] = why
        return result

    def _best_of_each(self, single: Sequence[_Set]) -> list[_Set]:
        """Return the best change of each kind, for the kinds with the smallest errors."""
        best: dict[str, _Set] = {}
        known = [numbers for numbers in single if text_of(numbers) in self._misses]
        for numbers in sorted(known, key=lambda one: self._misses[text_of(one)]):
            best.setdefault(self._changes[numbers[0]].difference, numbers)
        return list(best.values())[:_MOST_KINDS]

    def _sides(self, numbers: _Set) -> tuple[str, str]:
        """Split a set into the texts of the run in hrpsim and of the run of the reference."""
        there = [k for k in numbers if self._changes[k].of_reference]
        return text_of([k for k in numbers if k not in there]), text_of(there, REFERENCE)

    def _effects(self, chosen: Sequence[_Set]) -> dict[_Set, Effect]:
        """Return the effect of each set. Sets whose runs fail are left out."""
        sides = dict.fromkeys(chain(*map(self._sides, chosen)))
        if fresh := [text for text in sides if text not in self._runs]:
            self._runs |= self._runner.runs(fresh)
        if fresh := [text for text in map(text_of, chosen) if text not in self._misses]:
            self._misses |= self._runner.misses(fresh)
        return {
            numbers: self._effect(numbers)
            for numbers in chosen
            if text_of(numbers) in self._misses
            and all(text in self._runs for text in self._sides(numbers))
        }

    def _effect(self, numbers: _Set) -> Effect:
        result = self._result
        own_runs, there = (self._runs[text] for text in self._sides(numbers))
        gaps = _gaps(result.yardstick, own_runs, there)
        room = np.maximum(result.gap - result.noise, 0.0)
        left = np.maximum(gaps.mean(axis=0) - result.noise, 0.0)
        by_gap, uncertainty = 0.0, 0.0
        if room.sum() > _LEAST_GAP:
            by_gap = 1.0 - left.sum() / room.sum()
            each = (self._gaps - gaps)[:, room > 0.0].sum(axis=1) / room.sum()
            uncertainty = float(each.std() / np.sqrt(len(each)))
        plain, miss = self._misses[UNCHANGED], self._misses[text_of(numbers)]
        return Effect(
            changes=tuple(self._changes[k] for k in numbers),
            starts=len(own_runs),
            falls=falls_of(own_runs),
            reference_falls=falls_of(there[: result.samples]),
            gap=gaps.mean(axis=0),
            uncertainty=uncertainty,
            by_gap=float(np.clip(by_gap, -1.0, 1.0)),
            by_predictions=float(np.clip((plain - miss) / max(plain, 1e-9), -1.0, 1.0)),
        )

    def _smallest(self, effects: dict[_Set, Effect]) -> _Set:
        """Return the smallest set that explains enough, without superfluous differences.

        The result is empty if no set explains enough.
        """
        enough = [
            numbers for numbers, effect in effects.items() if self._is_enough(numbers, effect)
        ]
        if not enough:
            return ()
        numbers = min(enough, key=len)
        while len(numbers) > 1:
            fewer = [tuple(k for k in numbers if k != left) for left in numbers]
            sufficient = {k: v for k, v in self._effects(fewer).items() if self._is_enough(k, v)}
            if not sufficient:
                break
            numbers = next(iter(self._sorted(sufficient)))
        return numbers

    def _is_enough(self, numbers: _Set, effect: Effect) -> bool:
        """Return whether hrpsim behaves like the reference after a set of changes.

        Falls must be as rare as in the reference. The runs must not diverge, or most of the gap
        must be explained.
        """
        falls = effect.falls, effect.reference_falls
        if chance_of_falls(*falls, effect.starts, self._result.samples) < _UNLIKELY:
            return False
        own_motion, there = (
            np.array([run.motion for run in self._runs[side]]) for side in self._sides(numbers)
        )
        result = self._result
        apart = parting(
            result.yardstick, result.times, own_motion, there, is_recorded=result.samples == 1
        )
        return apart is None or effect.by_gap >= _ENOUGH
