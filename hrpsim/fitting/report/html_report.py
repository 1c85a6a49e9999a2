# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A page about a fit: one HTML file with the table of values, missing effects, and residuals."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping, Sequence
from html import escape
from io import BytesIO
from pathlib import Path

import numpy as np

from hrpsim.common.figures import new_figure, style
from hrpsim.common.resources import user_path
from hrpsim.fitting.report.missing_effects import Suspect
from hrpsim.fitting.report.verdict_table import VerdictRow
from hrpsim.fitting.result import FitResult, ResidualTrace

_SIGNALS = 12  # number of plotted signals of a recording, those with the largest residuals
_BEFORE, _AFTER, _RANGE = "#d1495b", "#1f6fb4", "#a9b1bd"
_STYLE = (
    "body{font:15px sans-serif;max-width:70em;margin:2em auto;padding:0 1em;color:#222}"
    "table{border-collapse:collapse}td,th{padding:.3em .8em;border-bottom:1px solid #ddd;"
    "text-align:right}td:first-child,th:first-child{text-align:left}img{max-width:100%}"
)


def write_report(
    path: str | Path,
    title: str,
    result: FitResult,
    rows: Sequence[VerdictRow],
    lacks: Sequence[Suspect] = (),
    advice: Sequence[str] = (),
) -> None:
    """Write the page about a fit. The file contains the figures and needs no network.

    Args:
        path: path of the page.
        title: title of the fit.
        result: result of the fit.
        rows: rows of the table.
        lacks: suspected missing effects. The page shows only significant effects.
        advice: sentences about motions that would determine more parameters.

    Raises:
        HrpsimError: matplotlib is not installed.
    """
    traces = sorted(result.traces, key=lambda trace: not trace.held_out)
    parts = [
        f"<h1>{escape(title)}</h1><p>{escape(result.verdict())}</p>",
        "<h2>Parameters</h2>",
        _table(
            ("parameter", "value", "95 % interval", "start", "unit", "remark"),
            [_cells(row) for row in rows],
        ),
        *(f"<p>{escape(text)}</p>" for text in advice),
        "<h2>Errors</h2>",
        _table(("root mean square", "before", "after"), _errors(result)),
        "<h2>What the model lacks</h2>",
        _missing_effects(lacks),
        *(_section(trace, result.units) for trace in traces),
    ]
    head = f'<meta charset="utf-8"><title>{escape(title)}</title><style>{_STYLE}</style>'
    body = "".join(parts)
    page = f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head><body>{body}</body></html>\n'
    user_path(path).write_text(page, encoding="utf-8")


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = ["".join(f"<th>{escape(cell)}</th>" for cell in head)]
    lines += ["".join(f"<td>{escape(cell)}</td>" for cell in row) for row in rows]
    return f"<table>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>"


def _cells(row: VerdictRow) -> tuple[str, ...]:
    known = np.isfinite([row.low, row.high]).all()
    interval = f"{row.low:.4g} to {row.high:.4g}" if known else "none"
    return (row.name, f"{row.value:.5g}", interval, f"{row.start:.5g}", row.unit, row.remark)


def _errors(result: FitResult) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for held_out, name in ((False, "fitted"), (True, "held out")):
        for kind, (before, after) in result.errors(held_out).items():
            label = f"{name}: {kind.replace('_', ' ')} [{result.units[kind]}]"
            rows.append((label, f"{before:.4g}", f"{after:.4g}"))
    return rows


def _missing_effects(lacks: Sequence[Suspect]) -> str:
    named = [lack for lack in lacks if lack.named]
    if not named:
        return "<p>No suspected effect explains the residuals.</p>"
    return f"<ul>{''.join(f'<li>{escape(suspect.text())}</li>' for suspect in named)}</ul>"


def _section(trace: ResidualTrace, units: Mapping[str, str]) -> str:
    suffix = ", held out" if trace.held_out else ""
    name = escape(f"Residuals of {trace.name}{suffix}")
    return f'<h2>{name}</h2><img alt="{name}" src="data:image/png;base64,{_picture(trace, units)}">'


def _picture(trace: ResidualTrace, units: Mapping[str, str]) -> str:
    """Return a picture of residuals against time, as base64."""
    sizes = np.sqrt(np.mean(trace.after**2, axis=0))
    columns = sorted(np.argsort(-sizes)[:_SIGNALS])
    figure = new_figure(11.0, 1.5 * len(columns) + 0.4, dpi=80.0)
    for row, k in enumerate(columns):
        axes = figure.add_subplot(len(columns), 1, row + 1)
        for name, colour, values in (
            ("before", _BEFORE, trace.before[:, k]),
            ("after", _AFTER, trace.after[:, k]),
        ):
            axes.plot(trace.time, values, ".", ms=2.0, color=colour, label=name)
        spread = 1.96 * sizes[k]
        axes.axhspan(-spread, spread, color=_RANGE, alpha=0.3, lw=0)
        axes.set_ylabel(f"[{units[trace.kinds[k]]}]")
        title = f"{trace.kinds[k]} of {trace.labels[k]}: predicted minus measured"
        axes.set_title(title.replace("_", " "), fontsize=8, loc="left")
        axes.title.set_parse_math(False)
        style(axes)
        if row == 0:
            axes.legend(fontsize=7, frameon=False, ncols=2)
    axes.set_xlabel("time [s]")
    stream = BytesIO()
    figure.savefig(stream, format="png", metadata={"Software": None})
    return b64encode(stream.getvalue()).decode("ascii")
