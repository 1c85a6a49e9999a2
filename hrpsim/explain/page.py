# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Write an explanation as Markdown and as one self-contained HTML page, with figures."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from hrpsim.common.errors import HrpsimError
from hrpsim.common.figures import new_figure, style
from hrpsim.common.typed_values import check_arguments
from hrpsim.explain.explanation import Effect, Explanation, falls_of

_STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; color: #20242c; margin: 2em auto; max-width: 60em;
       padding: 0 1em; }
table { border-collapse: collapse; margin: 0.5em 0 1.5em; }
th, td { padding: 0.2em 0.8em; border-bottom: 1px solid #dfe3e8; text-align: right; }
th:first-child, td:first-child { text-align: left; }
img { max-width: 100%; }
"""
_THERE, _HERE, _REPAIRED = "#1f6f8b", "#b3261e", "#276b45"
_MOST_CHANNELS, _MOST_FEET, _MOST_BARS = 4, 4, 10
_HEAD = ("difference", "change", "explains", "of the gap", "of predictions", "falls")


class _Table(NamedTuple):
    head: Sequence[str]
    rows: Sequence[Sequence[str]]


class _Picture(NamedTuple):
    name: str
    caption: str
    png: bytes


def write_page(found: Explanation, folder: str | Path) -> tuple[Path, Path]:
    """Write index.html, explanation.md and the figures of explanation.md into a folder.

    If matplotlib is missing, the pages have no figures.

    Returns:
        The paths of the HTML and of the Markdown.

    Raises:
        HrpsimError: `found` or `folder` has the wrong type.
    """
    check_arguments(write_page, locals(), HrpsimError)
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    blocks = [*_blocks(found), *_pictures(found)]
    for picture in blocks:
        if isinstance(picture, _Picture):
            (folder / f"{picture.name}.png").write_bytes(picture.png)
    pages = folder / "index.html", folder / "explanation.md"
    pages[0].write_text(_html(blocks), encoding="utf-8")
    pages[1].write_text("\n\n".join(map(_markdown, blocks)) + "\n", encoding="utf-8")
    return pages


def summary(found: Explanation) -> list[str]:
    """Return the findings as a list of sentences."""
    starts, case = len(found.here), found.case
    lines = [
        f"{case.policy.name} falls in {falls_of(found.here)} of {starts} runs in hrpsim "
        f"({case.world.name}), and in {found.falls_there} of {found.samples} in {found.reference}."
    ]
    if not found.differs:
        return [*lines, "The two do not differ beyond the noise of either."]
    if found.parting is not None:
        time, channel, own, there = found.parting
        lines.append(
            f"The runs part after {time:.2f} s: {channel} is {own:.3g} in hrpsim and {there:.3g} "
            "in the reference."
        )
    if not found.ranked:
        return [*lines, "No known difference is between the two."]
    return lines + _causes(found)


def as_data(found: Explanation) -> dict[str, Any]:
    """Return the findings as data that can be written as JSON."""
    groups = tuple(found.yardstick.groups)
    return {
        "summary": summary(found),
        "differs": found.differs,
        "falls": {"here": falls_of(found.here), "there": found.falls_there},
        "starts": {"here": len(found.here), "there": found.samples},
        "parting": None if found.parting is None else found.parting._asdict(),
        "gap": dict(zip(groups, found.gap.tolist())),
        "noise": dict(zip(groups, found.noise.tolist())),
        "ranked": [_effect_data(effect) for effect in found.ranked],
        "together": [_effect_data(effect) for effect in found.together],
        "smallest": None if found.smallest is None else _effect_data(found.smallest),
        "remains": found.remains,
        "failures": found.failures,
    }


def _effect_data(effect: Effect) -> dict[str, Any]:
    return {
        "changes": [
            {"difference": change.difference, "text": change.text} for change in effect.changes
        ],
        "share": effect.share,
        "by_gap": effect.by_gap,
        "by_predictions": effect.by_predictions,
        "falls": effect.falls,
    }


def _causes(found: Explanation) -> list[str]:
    first, *others = found.ranked
    change = first.changes[0]
    lines = [
        f"The difference that explains most is {change.difference} ({change.text}): "
        f"{_percent(first.by_gap)} of the gap, {_percent(first.by_predictions)} of the error of "
        f"short predictions, and {first.falls} falls are left."
    ]
    if others:
        lines.append(f"Next: {others[0].changes[0].difference}, {_percent(others[0].share)}.")
    if found.smallest is None:
        lines.append("No tried change makes hrpsim behave like the reference.")
    else:
        changes = "; ".join(f"{each.difference}, {each.text}" for each in found.smallest.changes)
        lines.append(f"The smallest change that is enough: {changes}.")
    lines.append(f"{_percent(found.remains)} of the gap remains unexplained.")
    return lines


def _blocks(found: Explanation) -> list[Any]:
    blocks: list[Any] = ["# Why the policy behaves differently", *summary(found)]
    groups = found.yardstick.groups
    rows = [
        (name, f"{gap:.3f}", f"{noise:.3f}")
        for name, gap, noise in zip(groups, found.gap, found.noise)
    ]
    blocks += ["## Distance of the runs", _Table(("quantities", "gap", "noise"), rows)]
    if found.ranked:
        blocks += ["## One difference taken away", _Table(_HEAD, list(map(_row, found.ranked)))]
    if found.together:
        blocks += ["## Several taken away", _Table(_HEAD, list(map(_row, found.together)))]
    if found.failures:
        failed = [(name, why) for name, why in found.failures.items()]
        blocks += ["## Changes that could not be made", _Table(("change", "reason"), failed)]
    return blocks


def _row(effect: Effect) -> tuple[str, ...]:
    return (
        " + ".join(change.difference for change in effect.changes),
        "; ".join(change.text for change in effect.changes),
        _percent(effect.share),
        f"{_percent(effect.by_gap)} ± {_percent(effect.uncertainty)}",
        _percent(effect.by_predictions),
        f"{effect.falls} of {effect.starts}",
    )


def _percent(share: float) -> str:
    return f"{100.0 * share:.0f} %"


def _pictures(found: Explanation) -> list[_Picture]:
    try:
        drawn = figures(found)
    except HrpsimError:  # matplotlib is not installed
        return []
    pictures = []
    for name, (caption, figure) in drawn.items():
        buffer = io.BytesIO()
        figure.savefig(buffer, format="png", metadata={"Software": None})
        pictures.append(_Picture(name, caption, buffer.getvalue()))
    return pictures


def _markdown(block: Any) -> str:
    if isinstance(block, _Picture):
        return f"![{block.caption}]({block.name}.png)"
    if isinstance(block, _Table):
        rows = [block.head, ["---"] * len(block.head), *block.rows]
        cells = ([cell.replace("|", "\\|") for cell in row] for row in rows)
        return "\n".join(f"| {' | '.join(row)} |" for row in cells)
    return str(block)


def _html(blocks: Sequence[Any]) -> str:
    head = f'<meta charset="utf-8"><title>Explanation</title><style>{_STYLE}</style>'
    body = "\n".join(map(_html_of, blocks))
    return f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head><body>\n{body}\n</body></html>\n'


def _html_of(block: Any) -> str:
    if isinstance(block, _Picture):
        data = base64.b64encode(block.png).decode()
        caption = escape(block.caption)
        return f'<p><img alt="{caption}" src="data:image/png;base64,{data}"><br>{caption}</p>'
    if isinstance(block, _Table):
        lines = ["<table>", _html_row("th", block.head)]
        return "\n".join([*lines, *(_html_row("td", row) for row in block.rows), "</table>"])
    text = str(block)
    level = len(text) - len(text.lstrip("#"))
    tag = f"h{level}" if level else "p"
    return f"<{tag}>{escape(text.lstrip('# '))}</{tag}>"


def _html_row(tag: str, cells: Sequence[str]) -> str:
    return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"


def figures(found: Explanation) -> dict[str, tuple[str, Any]]:
    """Return matplotlib figures with captions, by short names.

    Raises HrpsimError if matplotlib is missing.
    """
    drawn = {
        "motion": ("The quantities that depart most, from the first start.", _motion(found)),
        "forces": ("Upward forces on the feet, from the first start.", _forces(found)),
    }
    if found.ranked:
        drawn["shares"] = ("Shares that each difference explains.", _shares(found))
    return {name: pair for name, pair in drawn.items() if pair[1] is not None}


def _courses(found: Explanation) -> list[tuple[str, str, Any]]:
    courses = [(found.reference, _THERE, found.there), ("hrpsim", _HERE, found.here)]
    if found.repaired:
        label = "hrpsim, with the smallest change" if found.smallest else "hrpsim, best of tried"
        courses.append((label, _REPAIRED, found.repaired))
    return courses


def _motion(found: Explanation) -> Any:
    names, sizes, _ = found.yardstick
    apart = np.abs(found.here[0].motion - found.there[0].motion) / sizes
    known = apart[~np.isnan(apart).any(axis=1)]
    order = np.argsort(-known.mean(axis=0)) if len(known) else np.arange(len(names))
    chosen = order[:_MOST_CHANNELS].tolist()
    figure, rows = _rows(len(chosen), 1.9)
    for axes, channel in zip(rows, chosen):
        for label, color, runs in _courses(found):
            axes.plot(found.times, runs[0].motion[:, channel], color=color, label=label, lw=1.3)
        if found.parting is not None:
            axes.axvline(found.parting.time, color="#7a7f87", lw=0.8, ls="--")
        axes.set_ylabel(names[channel], fontsize=8)
    _finish(rows)
    return figure


def _forces(found: Explanation) -> Any:
    feet = found.feet[:_MOST_FEET]
    if not feet:
        return None
    figure, rows = _rows(len(feet), 1.7)
    for axes, foot in zip(rows, feet):
        for label, color, runs in _courses(found):
            forces = runs[0].forces[:, found.links.index(foot)]
            axes.plot(found.times, forces, color=color, label=label, lw=1.1)
        axes.set_ylabel(f"{foot} [N]", fontsize=8)
    _finish(rows)
    return figure


def _rows(count: int, height: float) -> tuple[Any, list[Any]]:
    """Return a figure and `count` axes in one column, each `height` [inches] high."""
    figure = new_figure(9.0, height * count)
    rows = [figure.add_subplot(count, 1, row + 1) for row in range(count)]
    for axes in rows:
        style(axes)
    return figure, rows


def _finish(rows: list[Any]) -> None:
    rows[0].legend(fontsize=8, frameon=False, ncols=3)
    rows[-1].set_xlabel("time [s]")


def _shares(found: Explanation) -> Any:
    effects = found.ranked[:_MOST_BARS][::-1]
    figure = new_figure(9.0, 0.6 + 0.4 * len(effects))
    axes = figure.add_subplot()
    style(axes)
    at = np.arange(len(effects))
    axes.barh(
        at + 0.2, [effect.by_gap for effect in effects], 0.36, color=_THERE, label="of the gap"
    )
    predicted = [effect.by_predictions for effect in effects]
    axes.barh(at - 0.2, predicted, 0.36, color="#8fb8c6", label="of the error of predictions")
    axes.set_yticks(at, [effect.changes[0].difference for effect in effects], fontsize=8)
    axes.set_xlim(-0.3, 1.0)
    axes.legend(fontsize=8, frameon=False, loc="lower right")
    return figure
