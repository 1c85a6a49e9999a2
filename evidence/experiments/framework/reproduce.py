# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""`hrpsim reproduce`: run experiments, print and write results, and set the exit status."""

import json
import math
import os
import platform
import re
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from evidence.experiments.framework.experiment import Experiment, Options, Result, Row, Value
from evidence.experiments.framework.measurements import MeasurementsAbsent
from hrpsim.common.errors import HrpsimError, unknown_name
from hrpsim.common.figures import new_figure, style
from hrpsim.common.progress import bar, show_line

_COLUMNS = ("", "unit", "source", "analytic", "hrpsim", "peer", "target", "met")
_SAYS = {True: "yes", False: "NO", None: ""}
_STUDIES = Path(__file__).parent.parent / "studies"
_FILE = re.compile(r"([er])(\d+)_\w+\.py")


@dataclass(frozen=True)
class Outcome:
    """One experiment's run: the result or the error, and the figure, if any.

    `skipped` names the missing measurements of an experiment that was not run.
    """

    experiment: Experiment
    result: Result
    seconds: float
    figure: Path | None = None
    error: str = ""
    skipped: str = ""

    @property
    def met(self) -> bool:
        """Whether the experiment was skipped, or ran without an error and missed no target."""
        return not self.error and self.result.met


def reproduce(
    names: list[str],
    folder: Path,
    *,
    options: Options | None = None,
    as_json: bool = False,
    markdown: Path | None = None,
    pages: Path | None = None,
) -> int:
    """Run the experiments `names`. Return 0 if no target is missed, else 1.

    An experiment is skipped if its measurements are missing. Tables, or JSON, are written to
    standard output. Raises HrpsimError for an unknown name, before anything runs.

    Args:
        names: names of experiments.
        folder: folder for the figures.
        options: options of the experiments.
        as_json: whether to print JSON instead of tables.
        markdown: file for all tables, or None.
        pages: folder for one page about each experiment, or None.
    """
    outcomes = []
    for outcome in run_all(find(names), options or Options(), folder):
        outcomes.append(outcome)
        print(as_text(outcome), end="\n\n", flush=True, file=sys.stderr if as_json else sys.stdout)
    if as_json:
        print(json.dumps(as_data(outcomes), indent=2))
    if markdown is not None:
        markdown.parent.mkdir(parents=True, exist_ok=True)
        markdown.write_text("\n".join(as_markdown(o, markdown.parent) for o in outcomes))
    if pages is not None:
        _write_pages(outcomes, pages)
    return 0 if all(outcome.met for outcome in outcomes) else 1


def _write_pages(outcomes: list[Outcome], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for outcome in outcomes:
        if not outcome.skipped:
            page = folder / f"{outcome.experiment.name.lower()}.md"
            page.write_text(as_page(outcome, folder))


def available() -> dict[str, str]:
    """Return the module of each experiment by name: E1, E2, ..., then R1, R2, ...."""
    files = (match for path in _STUDIES.iterdir() if (match := _FILE.match(path.name)))
    numbered = sorted((match[1].upper(), int(match[2]), match[0][:-3]) for match in files)
    return {f"{kind}{n}": f"evidence.experiments.studies.{module}" for kind, n, module in numbered}


def find(names: list[str]) -> list[Experiment]:
    """Return the experiments with these names ("E7", "e7", or "all"), without duplicates.

    Raises HrpsimError, with the existing names, for an unknown name.
    """
    modules = available()
    keys: list[str] = []
    for name in names:
        if name.lower() == "all":
            keys += modules
        elif name.upper() in modules:
            keys.append(name.upper())
        else:
            raise HrpsimError(unknown_name("experiment", name, [*modules, "all"], limit=20))
    return [import_module(modules[name]).EXPERIMENT for name in dict.fromkeys(keys)]


def shown(value: Value) -> str:
    """Format a value with five digits, three digits if tiny or huge. None becomes "-"."""
    if value is None:
        return "-"
    if isinstance(value, bool) or not isinstance(value, float):
        return str(value)
    if value != 0.0 and math.isfinite(value) and not 1e-3 <= abs(value) < 1e6:
        return f"{value:.2e}"
    return f"{value:.5g}"


def _cells(row: Row) -> tuple[str, ...]:
    values = (row.source, row.analytic, row.ours, row.peer)
    target = row.target.text if row.target else ""
    return (row.what, row.unit or "-", *map(shown, values), target, _SAYS[row.met])


def _heading(outcome: Outcome) -> str:
    return f"{outcome.experiment.name}: {outcome.experiment.title}"


def _verdict(outcome: Outcome) -> str:
    if outcome.error:
        return f"failed: {outcome.error}"
    if outcome.skipped:
        return f"skipped: {outcome.skipped}"
    judged = [row for row in outcome.result.rows if row.target]
    unmet = sum(not row.met for row in judged)
    return f"{len(judged) - unmet} of {len(judged)} targets met, {outcome.seconds:.1f} s"


def as_text(outcome: Outcome) -> str:
    """Format an experiment's rows and notes as an aligned table for a terminal."""
    lines = [_heading(outcome), f"  source: {outcome.experiment.source}"]
    if outcome.skipped:
        return "\n".join([*lines, f"  {_verdict(outcome)}"])
    lines.append(f"  peer:   {outcome.result.peer}")
    table = [_COLUMNS, *map(_cells, outcome.result.rows)]
    widths = [max(len(cells[k]) for cells in table) for k in range(len(_COLUMNS))]
    for cells in table:
        padded = [
            cell.rjust(width) if 2 <= k <= 5 else cell.ljust(width)
            for k, (cell, width) in enumerate(zip(cells, widths))
        ]
        lines.append("  " + "  ".join(padded).rstrip())
    lines += [f"  note: {note}" for note in outcome.result.notes]
    if outcome.figure:
        lines.append(f"  figure: {outcome.figure}")
    lines.append(f"  {_verdict(outcome)}")
    return "\n".join(lines)


def as_markdown(outcome: Outcome, folder: Path) -> str:
    """Format an experiment as a section of a page in `folder`, with a link to the figure."""
    lines = [f"### {_heading(outcome)}", ""]
    if outcome.skipped:
        return "\n".join([*lines, f"{_verdict(outcome)}.", ""])
    lines.append(f"Source: {outcome.experiment.source}. Peer: {outcome.result.peer}.")
    lines += ["", f"| {' | '.join(_COLUMNS)} |", "| --- " * len(_COLUMNS) + "|"]
    for row in outcome.result.rows:
        cells = [cell.replace("|", r"\|") for cell in _cells(row)]
        lines.append(f"| {' | '.join(cells)} |")
    lines += ["", *(f"- {note}" for note in outcome.result.notes)]
    if outcome.figure:
        link = Path(os.path.relpath(outcome.figure, folder)).as_posix()
        lines += ["", f"![Figure {outcome.experiment.name}]({link})"]
    return "\n".join([*lines, "", f"{_verdict(outcome)}.", ""])


def as_page(outcome: Outcome, folder: Path) -> str:
    """Format an experiment as a page in `folder`. The page verification.md is one level up."""
    _, section = as_markdown(outcome, folder).split("\n", 1)
    command = f"hrpsim reproduce {outcome.experiment.name}"
    columns = "[Columns](../verification.md#columns)"
    return f"# {_heading(outcome)}\n\nMeasured by `{command}`. {columns}.\n{section}"


def as_data(outcomes: list[Outcome]) -> dict[str, Any]:
    """Return the data for --json: whether all targets are met, versions, and all rows."""
    return {
        "met": all(outcome.met for outcome in outcomes),
        "versions": versions(),
        "experiments": [_experiment_data(outcome) for outcome in outcomes],
    }


def _experiment_data(outcome: Outcome) -> dict[str, Any]:
    experiment, result = outcome.experiment, outcome.result
    return {
        "name": experiment.name,
        "title": experiment.title,
        "source": experiment.source,
        "peer": result.peer,
        "met": outcome.met,
        "error": outcome.error or None,
        "skipped": outcome.skipped or None,
        "seconds": round(outcome.seconds, 3),
        "figure": str(outcome.figure) if outcome.figure else None,
        "notes": result.notes,
        "rows": [_row_data(row) for row in result.rows],
    }


def _row_data(row: Row) -> dict[str, Any]:
    values = {name: _plain(getattr(row, name)) for name in ("source", "analytic", "ours", "peer")}
    target = row.target.text if row.target else None
    return {"what": row.what, "unit": row.unit, **values, "target": target, "met": row.met}


def _plain(value: Value) -> Value:
    """Convert a value for JSON: infinities and NaN to text, numpy's numbers to Python's."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        return int(value)
    return float(value) if math.isfinite(value) else str(float(value))


def versions() -> dict[str, str | None]:
    """Return the versions of the used packages, None for packages that are not installed."""
    version_of: dict[str, str | None] = {"python": platform.python_version()}
    for name in ("hrpsim", "numba", "numpy", "mujoco", "matplotlib"):
        try:
            version_of[name] = version(name)
        except PackageNotFoundError:
            version_of[name] = None
    return version_of


def run_all(experiments: list[Experiment], options: Options, folder: Path) -> Iterator[Outcome]:
    """Run experiments in order, with figures in `folder`. An error ends only its experiment."""
    for number, experiment in enumerate(experiments):
        done = f"{bar(number / len(experiments))} {number} of {len(experiments)} experiments done"
        show_line(f"hrpsim: reproducing {done}, now {experiment.name}: {experiment.title}")
        begin, result, failure = time.perf_counter(), Result(), {}
        try:
            result = experiment.run(options)
        except MeasurementsAbsent as error:
            failure = {"skipped": str(error)}
        except HrpsimError as error:
            failure = {"error": f"{type(error).__name__}: {error}"}
        took = time.perf_counter() - begin
        figure = None if failure else save_figure(experiment, result, folder)
        show_line("")
        yield Outcome(experiment, result, took, figure, **failure)


def save_figure(experiment: Experiment, result: Result, folder: Path) -> Path | None:
    """Draw the figure to folder/e7.png. Return the path, or None without matplotlib.

    Axes with labelled artists receive a legend, unless `draw` has added one.
    """
    try:
        figure = new_figure(9.0, 4.2)
    except HrpsimError as error:
        result.notes.append(f"no figure: {error}")
        return None
    experiment.draw(result, figure)
    for axes in figure.axes:
        style(axes)
        if axes.get_legend() is None and axes.get_legend_handles_labels()[0]:
            axes.legend(fontsize=7, frameon=False)
    path = folder / f"{experiment.name.lower()}.png"
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Software": None})
    return path
