# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Falling heaps of 10 to 3000 cubes, at equal accuracy: hrpsim and MuJoCo."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from evidence.benchmarks.cases.piles import let_go, mujoco_cubes, our_cubes
from evidence.benchmarks.figures import draw_against_size
from evidence.benchmarks.results import Case, CaseResult, Claim, fit
from evidence.benchmarks.tables import number
from evidence.benchmarks.timing import Effort
from evidence.experiments.framework.engines import mujoco_module

COUNTS = (10, 30, 100, 300, 1000, 3000)
STEPS, TURN = 800, 25  # steps of a fall, steps of a turn
TIME_STEP = 1e-3  # [s]
LONGEST = 60.0  # processor time after which a fall is stopped in all engines [s]
ROUGH, FINE = "hrpsim, to 1e-2 m/s", "hrpsim, to 1e-8 m/s"
TOLERANCES = {ROUGH: 1.0, FINE: 1e-6}  # times 9.8e-3 m/s, the speed that gravity adds in a step
NEWTON, CG = "mujoco Newton", "mujoco CG"


@dataclass
class Fall:
    """The fall of a heap in one engine, divided into turns that are timed."""

    name: str
    step: Any
    deepest: Any
    world: Any = None  # hrpsim's world
    times: list[float] = field(default_factory=list)  # time of a step in each turn [s]
    depths: list[float] = field(default_factory=list)  # [m]
    residuals: list[float] = field(default_factory=list)  # after each turn [m/s]

    def turn(self, effort: Effort) -> None:
        """Make the steps of a turn, and time the steps."""
        begin = effort.clock()
        self.step(TURN)
        self.times.append((effort.clock() - begin) / TURN)
        self.depths.append(self.deepest())
        if self.world is not None:
            self.residuals.append(self.world.stats.residual)

    def row(self, count: int) -> list[str]:
        """Return the row of the table."""
        residual, failures = "", ""
        if self.world is not None:
            record = self.world.stats.since_reset
            residual = number(float(np.median(self.residuals)))
            failures = f"{record.unconverged} of {record.steps}"
        depth = number(1e3 * max(self.depths))
        return [
            str(count),
            self.name,
            f"{1e3 * np.mean(self.times):.3g}",
            depth,
            residual,
            failures,
        ]


def falls(count: int) -> list[Fall]:
    """Return the fall of `count` cubes in each engine, before the first step."""
    start, engines = let_go(count), []
    for name, tolerance in TOLERANCES.items():
        world = our_cubes(*start, TIME_STEP, tolerance=tolerance)
        world.step()
        engines.append(Fall(name, world.step, lambda w=world: w.stats.max_penetration, world))
    if (mujoco := mujoco_module()) is not None:
        for name in (NEWTON, CG):
            step, deepest, _ = mujoco_cubes(mujoco, *start, name.split()[1])
            step(1)
            engines.append(Fall(name, step, deepest))
    return engines


def run(result: CaseResult, effort: Effort) -> None:
    """Let each heap fall in all engines, turn by turn."""
    counts, rows = COUNTS[:2] if effort.quick else COUNTS, []
    times: dict[str, list[float]] = {}
    for count in counts:
        fallen = _fallen(count, effort)
        is_ours = {fall.name: fall.world is not None for fall in fallen}
        turns = {fall.name: np.array(fall.times) for fall in fallen}
        reference = fallen[-2].name if len(fallen) > len(TOLERANCES) else FINE
        result.note(f"heap of {count}", turns, reference, is_ours, {})
        mean = {name: float(np.mean(values)) for name, values in turns.items()}
        for name, value in mean.items():
            times.setdefault(name, []).append(value)
        rows += [fall.row(count) for fall in fallen]
        if NEWTON in mean:
            _add_claims(result, count, mean)
    _add_fits(result, counts, times)
    head = ["cubes", "engine", "ms a step", "penetration [mm]", "residual [m/s]", "missed"]
    result.extra.append((head, rows))
    result.notes += _NOTES


def _fallen(count: int, effort: Effort) -> list[Fall]:
    """Let a heap fall in all engines, turn by turn, until the slowest engine takes too long."""
    heaps = falls(count)
    for _ in range(STEPS // TURN):
        for fall in heaps:
            fall.turn(effort)
        if max(sum(fall.times) for fall in heaps) * TURN > LONGEST:
            break
    return heaps


def _add_claims(result: CaseResult, count: int, mean: dict[str, float]) -> None:
    for name, bound in ((ROUGH, 1.0), (FINE, 2.0)):
        ratio = mean[name] / min(mean[NEWTON], mean[CG])
        text = f"{count}, mean: {name} / the faster of mujoco's"
        result.claims.append(Claim(text, ratio, bound))


def _add_fits(result: CaseResult, counts, times: dict[str, list[float]]) -> None:
    for name, values in times.items():
        result.fits.append(fit(name, "cubes", counts, values, name in TOLERANCES))
        if name in TOLERANCES:
            result.claims.append(Claim(f"exponent, {name}", result.fits[-1].exponent, 1.1))


_NOTES = [
    f"cubes of 0.1 m let go above the floor, {STEPS} steps of 1 ms, or as many as the slowest "
    f"engine does in {LONGEST:g} s. Turns of {TURN} steps, engine by engine. The table has the "
    "mean of all steps",
    "penetration: the deepest at the end of a turn. MuJoCo's contacts are soft: its own "
    "penetration grows by 1e-5 m in a step where a contact closes at 1e-2 m/s",
]


def draw(result: CaseResult, figure) -> None:
    """Draw the time of a step against the number of cubes."""
    sizes = {f"heap of {count}": float(count) for count in COUNTS}
    draw_against_size(result, figure.subplots(), sizes, "cubes that fall")


CASE = Case("Heaps that fall", run, draw)
