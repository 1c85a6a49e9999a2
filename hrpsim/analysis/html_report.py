# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Write a report on analysed motions as one self-contained HTML page."""

import base64
import io
from collections.abc import Sequence
from html import escape

from hrpsim.analysis.motion_figures import overview
from hrpsim.analysis.summary import AnalysedMotion, as_data, phase_spans
from hrpsim.common.errors import HrpsimError

_STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; color: #20242c; margin: 2em auto; max-width: 70em;
       padding: 0 1em; }
h1, h2, h3 { font-weight: 600; line-height: 1.2; }
table { border-collapse: collapse; margin: 0.5em 0 1.5em; }
th, td { padding: 0.2em 0.8em; border-bottom: 1px solid #dfe3e8; text-align: right; }
th:first-child, td:first-child { text-align: left; }
img { max-width: 100%; }
.over { color: #b3261e; font-weight: 600; }
.fine { color: #276b45; }
"""


def as_html(results: Sequence[AnalysedMotion]) -> str:
    """Return the report as one HTML page, which needs no other files or addresses.

    Without matplotlib the page has tables only, and a note about the missing figures.
    """
    names = ", ".join(result.motion.source for result in results)
    parts = [
        "<!DOCTYPE html>",
        '<html lang="en"><head><meta charset="utf-8">',
        f"<title>Inverse dynamics of {escape(names)}</title>",
        f"<style>{_STYLE}</style></head><body>",
        "<h1>Inverse dynamics</h1>",
    ]
    for result in results:
        parts += _section(result)
    return "\n".join([*parts, "</body></html>", ""])


def _section(result: AnalysedMotion) -> list[str]:
    data = as_data(result)
    count = len(result.violations)
    verdict = (
        f'<span class="over">{count} violation{"s" * (count != 1)}</span>'
        if count
        else '<span class="fine">no violations</span>'
    )
    return [
        f"<h2>{escape(result.motion.source)}</h2>",
        f"<p>{escape(data['robot'])}, {data['samples']} samples from {data['begin']:g} to "
        f"{data['end']:g} s: {verdict}. Wrench of several fixed links: "
        f"{escape(data['split'].replace('_', ' '))}.</p>",
        _picture(result),
        *_violations(result),
        f"<h3>Fixed links ({data['fixed_links']['from']})</h3>",
        _table(
            ("links", "from [s]", "to [s]"),
            [
                (" + ".join(phase.links), f"{begin:.3f}", f"{end:.3f}")
                for begin, end, phase in phase_spans(result)
            ],
        ),
        "<h3>Joints</h3>",
        _joints(data),
    ]


def _picture(result: AnalysedMotion) -> str:
    try:
        figure = overview(result)
    except HrpsimError as error:
        return f"<p>No figures: {escape(str(error))}.</p>"
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", metadata={"Software": None})
    text = base64.b64encode(buffer.getvalue()).decode()
    return f'<img alt="Motion, ZMP, forces and torques" src="data:image/png;base64,{text}">'


def _violations(result: AnalysedMotion) -> list[str]:
    if not result.violations:
        return []
    rows = []
    for v in result.violations:
        times = [f"{time:.3f}" for time in (v.begin, v.end, v.worst_time)]
        worst, limit = (f"{value:.4g} {v.unit}" for value in (v.worst, v.limit))
        rows.append([f"{v.kind} of {v.name}", *times[:2], worst, times[2], limit])
    head = ("what", "from [s]", "to [s]", "worst", "at [s]", "limit")
    return ["<h3>Violations</h3>", _table(head, rows)]


def _joints(data) -> str:
    rows = []
    for row in data["joints"].values():
        limit, fastest = row["torque_limit"], row["velocity_limit"]
        torque, at, rate = (row[name] for name in ("torque", "torque_time", "velocity"))
        percentage = f"{100 * abs(torque) / limit:.1f}" if limit else "-"
        limits = [f"{bound:g}" if bound else "-" for bound in (limit, fastest)]
        cells = [row["joint"], f"{torque:.2f}", f"{at:.3f}", limits[0], percentage, f"{rate:.3f}"]
        rows.append([*cells, limits[1], f"{row['lowest']:.3f}", f"{row['highest']:.3f}"])
    head = ("joint", "torque", "at [s]", "limit", "%", "rate", "limit", "lowest", "highest")
    return _table(head, rows)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = ["<table>", "<tr>" + "".join(f"<th>{escape(x)}</th>" for x in head) + "</tr>"]
    lines += ["<tr>" + "".join(f"<td>{escape(x)}</td>" for x in row) + "</tr>" for row in rows]
    return "\n".join([*lines, "</table>"])
