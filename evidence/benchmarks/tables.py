# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Tables in Markdown that are also readable on a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from evidence.benchmarks.results import CaseResult, Measurement


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a table with aligned columns."""
    cells = [list(head), *[list(row) for row in rows]]
    widths = [max(len(row[k]) for row in cells) for k in range(len(head))]
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |"
        for row in cells
    ]
    rule = "|" + "|".join("-" * (width + 2) for width in widths) + "|"
    return [lines[0], rule, *lines[1:]]


def number(value) -> str:
    """Format a number with three digits. Other values are unchanged."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return str(value)
    if isinstance(value, int):
        return str(value)
    if value == 0.0:
        return "0"
    if not 1e-2 <= abs(value) < 1e7:
        return f"{value:.1e}"
    digits = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2
    return f"{value:.{digits}f}"


def _unique(values) -> list:
    return list(dict.fromkeys(values))


def _cell(result: CaseResult, one: Measurement | None, leader: Measurement | None) -> str:
    if one is None:
        return "-"
    times = one.times
    spread = 50.0 * (times["high"] - times["low"]) / times["median"]
    text = f"{number(result.scale * times['median'])} ±{spread:.0f}%"
    if leader is not None and leader is not one:
        text += f" ({number(one.ratio['median'] / leader.ratio['median'])})"
    return text


def time_table(result: CaseResult) -> list[str]:
    """Return a table of medians ± half the interquartile range in %, with ratios to hrpsim."""
    quantities = _unique(m.quantity for m in result.measurements)
    subjects = _unique(m.subject for m in result.measurements)
    leaders = {
        quantity: next((m for m in result.measurements if m.ours and m.quantity == quantity), None)
        for quantity in quantities
    }
    turned = len(quantities) > len(subjects)
    columns, rows = (subjects, quantities) if turned else (quantities, subjects)
    lines = []
    for row in rows:
        cells = [row]
        for column in columns:
            quantity, subject = (row, column) if turned else (column, row)
            cells.append(_cell(result, result.of(quantity, subject), leaders[quantity]))
        lines.append(cells)
    return table([f"[{result.unit}]", *columns], lines)


def exact_table(result: CaseResult) -> list[str]:
    """Return a table of each subject's largest error over all quantities."""
    measures = _unique(name for m in result.measurements for name in m.exact)
    if not measures:
        return []
    rows = []
    for subject in _unique(m.subject for m in result.measurements if m.exact):
        own = [m.exact for m in result.measurements if m.subject == subject]
        rows.append([subject, *(_worst([e[k] for e in own if k in e]) for k in measures)])
    return table(["largest error of the table above", *measures], rows)


def _worst(values: list) -> str:
    """Return the largest value if the values are numbers, or else all texts."""
    numbers = [value for value in values if isinstance(value, (int, float))]
    return number(max(numbers)) if numbers else ", ".join(_unique(values)) or "-"


def fit_table(result: CaseResult) -> list[str]:
    """Return a table of the fitted exponents."""
    if not result.fits:
        return []
    rows = [
        [f.subject, f.size, f"{f.sizes[0]:g} .. {f.sizes[-1]:g}", f"{f.exponent:.2f}"]
        for f in result.fits
    ]
    return table(["time ~ size^exponent", "size", "from .. to", "exponent"], rows)


def claim_table(result: CaseResult) -> list[str]:
    """Return a table of the claims, and whether each claim is satisfied."""
    if not result.claims:
        return []
    rows = [
        [
            claim.text,
            number(claim.value),
            f"{'>=' if claim.at_least else '<='} {number(claim.bound)}",
            "met" if claim.met else "**missed**",
        ]
        for claim in result.claims
    ]
    return table(["aim", "measured", "bound", ""], rows)


def case_lines(result: CaseResult) -> list[str]:
    """Return the section of a case: all tables, then the notes."""
    lines = [f"### {result.title} (`{result.name}`)", ""]
    if result.failed:
        return [*lines, f"Failed: {result.failed}", ""]
    extra = [table(head, rows) for head, rows in result.extra]
    parts = [time_table(result)] if result.measurements else []
    parts += [exact_table(result), *extra, fit_table(result), claim_table(result)]
    for part in parts:
        if part:
            lines += [*part, ""]
    if result.notes:
        lines += [f"- {note}" for note in result.notes] + [""]
    return lines
