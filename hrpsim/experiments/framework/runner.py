# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Runs experiments one after the other, and saves their figures."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from hrpsim.errors import HrpsimError
from hrpsim.experiments.framework.experiment import Experiment, Options, Result
from hrpsim.experiments.framework.measurements import MeasurementsAbsent
from hrpsim.figures import new_figure


@dataclass(frozen=True)
class Outcome:
    """One experiment's run: its result, or the error that ended it; the figure, if there is one.

    `skipped` says which measurements an experiment lacks that did not run.
    """

    experiment: Experiment
    result: Result
    seconds: float
    figure: Path | None = None
    error: str = ""
    skipped: str = ""

    @property
    def met(self) -> bool:
        """Whether it ran to its end, or was skipped, and missed no target."""
        return not self.error and self.result.met


def run_all(experiments: list[Experiment], options: Options, folder: Path) -> Iterator[Outcome]:
    """Run experiments in turn, figures into `folder`; one that fails ends only itself."""
    for experiment in experiments:
        begin = time.perf_counter()
        try:
            result = experiment.run(options)
        except MeasurementsAbsent as error:
            yield Outcome(experiment, Result(), 0.0, skipped=str(error))
            continue
        except HrpsimError as error:
            took = time.perf_counter() - begin
            yield Outcome(experiment, Result(), took, error=f"{type(error).__name__}: {error}")
            continue
        took = time.perf_counter() - begin
        yield Outcome(experiment, result, took, save_figure(experiment, result, folder))


def save_figure(experiment: Experiment, result: Result, folder: Path) -> Path | None:
    """Draw the figure to folder/e7.png; return its path, or None without matplotlib."""
    try:
        figure = new_figure(9.0, 4.2)
    except HrpsimError as error:
        result.notes.append(f"no figure: {error}")
        return None
    experiment.draw(result, figure)
    for axes in figure.axes:
        axes.grid(color="#e3e5e8", lw=0.8)
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
    path = folder / f"{experiment.name.lower()}.png"
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Software": None})
    return path
