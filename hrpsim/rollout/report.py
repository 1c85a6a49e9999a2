# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Write the outcomes of a rollout: a Markdown page with a picture, and a CSV with all runs."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from hrpsim.common.errors import HrpsimError
from hrpsim.common.figures import fill_between, new_figure, style
from hrpsim.common.resources import user_path
from hrpsim.sweeps.cells import DONE
from hrpsim.sweeps.statistics import levels, outcome_names, parameter_names, share, survival

_LINE, _BAND, _COMMAND = "#1f6f8b", "#8fb8c6", "#b3261e"
_SHOWN = ("velocity_error", "yaw_rate_error", "energy", "cost_of_transport", "largest_foot_force")
_SHOWN += ("largest_effort", "largest_tilt", "x", "y")
_QUANTILES = (0.05, 0.5, 0.95)
_PAGE, _TABLE, _PICTURE = "rollout.md", "worlds.csv", "rollout.png"
_FIGURE = 9.0, 6.5  # [inch]


def write_report(found: Any, folder: str | Path, seconds: float) -> Path:
    """Write rollout.md, rollout.png and worlds.csv into a folder.

    Without matplotlib the page has no picture.

    Args:
        found: the dataset of `rollout`.
        folder: output folder, which is created if necessary.
        seconds: time between two samples of the time series [s].

    Returns:
        The path of the page.
    """
    folder = user_path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / _TABLE).write_text(csv_of(found), encoding="utf-8")
    blocks = [f"# {found.attrs['title'][:1].upper()}{found.attrs['title'][1:]}", *summary(found)]
    try:
        figure = figure_of(found, seconds)
    except HrpsimError:  # no matplotlib
        figure = None
    if figure is not None:
        figure.savefig(folder / _PICTURE, metadata={"Software": None})
        blocks.append(f"![Standing, velocity, power and foot forces]({_PICTURE})")
    head = ["outcome", "unit", "mean", "5 %", "median", "95 %", "worst world"]
    blocks += ["## Outcomes", _markdown(head, outcome_rows(found))]
    if rows := parameter_rows(found):
        head = ["parameter", "value", "worlds", "fell", "95 % interval", "velocity error [m/s]"]
        blocks += ["## By parameter", _markdown(head, rows)]
    blocks.append(f"[All worlds]({_TABLE})")
    page = folder / _PAGE
    page.write_text("\n\n".join(blocks) + "\n", encoding="utf-8")
    return page


def summary(found: Any) -> list[str]:
    """Return sentences about falls, and about runs with an error."""
    done, fell = _done(found), _values(found, "fell")
    falls = share(fell[done])
    lines = [
        f"{falls.count} of {falls.total} runs fell: {_percent(falls.share)}, between "
        f"{_percent(falls.low)} and {_percent(falls.high)} with 95 % confidence."
    ]
    failed = np.flatnonzero(found["error"].values != "")
    if len(failed):
        first = int(failed[0])
        lines.append(
            f"{len(failed)} runs ended with an error. World {first}: {found['error'].values[first]}"
        )
    return lines


def outcome_rows(found: Any) -> list[list[str]]:
    """Return a row for each outcome: unit, mean, quantiles, and the world with the largest size."""
    done, rows = _done(found), []
    for name in _SHOWN:
        values = np.where(done, _values(found, name), np.nan)
        known = values[np.isfinite(values)]
        if not len(known):
            continue
        low, middle, high = np.quantile(known, _QUANTILES)
        worst = int(np.nanargmax(np.abs(values)))
        numbers = [f"{number:.3g}" for number in (known.mean(), low, middle, high)]
        rows.append([name, found[name].attrs.get("units", ""), *numbers, str(worst)])
    return rows


def parameter_rows(found: Any) -> list[list[str]]:
    """Return a row for each value, or range of values, of each varied parameter."""
    done, fell, error = _done(found), _values(found, "fell"), _values(found, "velocity_error")
    rows = []
    for name in parameter_names(found):
        parts = levels(found[name].values)
        for label, chosen in parts if len(parts) > 1 else []:
            falls, errors = share(fell[chosen & done]), error[chosen & done]
            errors = errors[np.isfinite(errors)]
            interval = f"{_percent(falls.low)} to {_percent(falls.high)}"
            mean = f"{errors.mean():.3g}" if len(errors) else ""
            rows.append([name, label, str(falls.total), str(falls.count), interval, mean])
    return rows


def csv_of(found: Any) -> str:
    """Return a table of all runs: number, seed, parameters, outcomes, error."""
    outcomes = outcome_names(found)
    names = ["seed", *parameter_names(found), *outcomes, "error"]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["world", *names])
    columns = [found[name].values.tolist() for name in names]
    writer.writerows([k, *row] for k, row in enumerate(zip(*columns)))
    return text.getvalue()


def figure_of(found: Any, seconds: float) -> Any:
    """Return a matplotlib figure: fraction of standing robots over time, and all time series.

    Args:
        found: the dataset of `rollout`. Only finished runs are drawn.
        seconds: time between two samples of the time series [s].
    """
    done = _done(found)
    figure = new_figure(*_FIGURE)
    axes = figure.subplots(2, 2)
    for panel in axes.flat:
        style(panel)
        panel.set_xlabel("time [s]")
    _draw_standing(axes[0, 0], found, done)
    for place, (name, label) in zip(
        axes.flat[1:],
        {
            "velocity_x": "forward velocity [m/s]",
            "power": "mechanical power [W]",
            "foot_force": "largest foot force / weight",
        }.items(),
    ):
        _draw_course(place, found[name].values[done], seconds, label)
    commands = found["command_x"].values[done]
    if len(commands):
        times = seconds * (1 + np.arange(commands.shape[1]))
        axes[0, 1].plot(times, _nan_quantile(commands, 0.5), color=_COMMAND, lw=1.0, ls="--")
    return figure


def _draw_standing(axes: Any, found: Any, done: np.ndarray) -> None:
    axes.set_ylim(-0.02, 1.02)
    axes.set_ylabel("probability of still standing")
    if done.any():
        curve = survival(_values(found, "time")[done], _values(found, "fell_at")[done])
        times = np.concatenate([[0.0], curve.times])
        low, high = [1.0, *curve.low], [1.0, *curve.high]
        fill_between(axes, times, low, high, step="post", color=_BAND, alpha=0.5)
        axes.step(times, [1.0, *curve.probability], where="post", color=_LINE)


def _draw_course(axes: Any, courses: np.ndarray, seconds: float, label: str) -> None:
    axes.set_ylabel(label)
    known = np.isfinite(courses).any(axis=0)
    if not known.any():
        return
    times = seconds * (1 + np.flatnonzero(known))
    low, middle, high = (_nan_quantile(courses[:, known], quantile) for quantile in _QUANTILES)
    fill_between(axes, times, low, high, color=_BAND, alpha=0.5)
    axes.plot(times, middle, color=_LINE, lw=1.3)


def _nan_quantile(courses: np.ndarray, quantile: float) -> np.ndarray:
    known = [column[np.isfinite(column)] for column in courses.T]
    return np.array([np.quantile(finite, quantile) if len(finite) else np.nan for finite in known])


def _markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows))


def _done(found: Any) -> np.ndarray:
    return found["status"].values == DONE


def _values(found: Any, name: str) -> np.ndarray:
    return found[name].values


def _percent(part: float) -> str:
    return f"{100.0 * part:.1f} %"
