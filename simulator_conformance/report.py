# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The examination as tables: lines for a terminal, Markdown for a page, data for JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from simulator_conformance.examination import Row

_ALWAYS = "(every simulator)"


def line_of(row: Row) -> str:
    """Return a row in one line."""
    why = f": {row.detail}" if row.detail else ""
    codes = f" [{row.codes}]" if row.codes else ""
    return f"{row.verdict:11} {row.interface:21} {row.feature or _ALWAYS:25} {row.law}{codes}{why}"


def summary_of(rows: Sequence[Row]) -> str:
    """Return how many laws passed, failed, are not claimed and could not be tested."""
    counts = Counter(row.verdict for row in rows)
    return ", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items()))


def markdown_of(rows: Sequence[Row]) -> str:
    """Return a table of Markdown."""
    lines = ["| interface | feature | law | result code | verdict |", "| --- " * 5 + "|"]
    for row in rows:
        verdict = f"{row.verdict}: {row.detail}" if row.detail else row.verdict
        cells = (f"`{row.interface}`", row.feature, row.law, row.codes, verdict)
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def data_of(rows: Sequence[Row]) -> list[dict[str, str]]:
    """Return the table as JSON data."""
    return [row._asdict() for row in rows]
