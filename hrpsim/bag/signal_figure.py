# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Draw recorded signals against time, with one panel for each field and a common axis of time."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from hrpsim.bag.signal_log import SignalLog, TopicSignals
from hrpsim.bag.signal_types import SignalField
from hrpsim.common import figures
from hrpsim.common.errors import HrpsimError

_MOST_PANELS = 16
_MOST_NAMED = 12  # largest number of lines of a panel in the legend
_WIDTH, _HEIGHT = 9.6, 2.1  # of a panel [inch]
_COLORS = ("#0b6fa4", "#d1611b", "#2a8a5c", "#6a3d9a", "#b8860b", "#444b54")
_STYLES = ("-", "--", ":", "-.")


def draw_signals(
    log: SignalLog, picture: str | Path, begin: float | None = None, end: float | None = None
) -> None:
    """Draw all signals of a log into a file.

    Args:
        log: the signals, such as a `part` of a log.
        picture: file to write, such as a PNG.
        begin: first time [s]. The default is the first sample.
        end: last time [s]. The default is the last sample.

    Raises:
        HrpsimError: there is nothing to draw, or too much for one figure, or matplotlib is missing.
    """
    panels = [(topic, field) for topic in log.topics.values() for field in topic.fields]
    if len(panels) > _MOST_PANELS:
        raise HrpsimError(
            f"{len(panels)} fields are too many for one figure. Name at most {_MOST_PANELS}"
        )
    low, high = _span(log, begin, end)
    figure = figures.new_figure(_WIDTH, 0.9 + _HEIGHT * len(panels), dpi=120.0)
    all_axes = figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
    for axes, (topic, field) in zip(all_axes, panels):
        _draw_panel(axes, topic, field, (low, high))
    all_axes[-1].set_xlabel("simulated time [s]")
    all_axes[-1].set_xlim(low, high if high > low else low + 1.0)
    picture = Path(picture)
    picture.parent.mkdir(parents=True, exist_ok=True)
    try:
        figure.savefig(picture)
    except ValueError as error:  # a suffix of no image format
        raise HrpsimError(f"{picture}: {error}") from error


def _draw_panel(axes, topic: TopicSignals, field: SignalField, span: tuple[float, float]) -> None:
    """Draw the lines of a field, with title, unit and names."""
    signal = topic.field(field.name)
    assert signal is not None
    in_span = (topic.time >= span[0]) & (topic.time <= span[1])
    for k, values in enumerate(signal[1][in_span].T):
        look = {"color": _COLORS[k % len(_COLORS)], "ls": _STYLES[k // len(_COLORS) % 4]}
        label = field.labels[k] if field.labels else None
        axes.plot(topic.time[in_span], values, lw=1.1, label=label, **look)
    figures.style(axes)
    axes.set_ylabel(f"[{field.unit}]" if field.unit else "")
    axes.ticklabel_format(useOffset=False)
    own = field.columns(topic.topic)
    title = own[0] if len(own) == 1 else f"{topic.topic}.{field.name}"
    axes.set_title(title, loc="left", fontsize="medium", fontweight="bold")
    _name_lines(axes, field, f"in {topic.frame}" if topic.frame else "")


def _span(log: SignalLog, begin: float | None, end: float | None) -> tuple[float, float]:
    """Return first and last time to draw [s]. Raises HrpsimError if no sample is between them."""
    times = [topic.time for topic in log.topics.values() if len(topic.time)]
    if not times:
        raise HrpsimError("the recording has no samples to draw")
    first, last = min(time[0] for time in times), max(time[-1] for time in times)
    low, high = first if begin is None else begin, last if end is None else end
    if not any(np.any((time >= low) & (time <= high)) for time in times):
        there = f"the recording has {first:g} to {last:g} s"
        raise HrpsimError(f"no sample is between {low:g} and {high:g} s: {there}")
    return float(low), float(high)


def _name_lines(axes, field, frame: str) -> None:
    """Label the lines beside the axes, or give their number. `frame` is the name of the frame."""
    if 1 < field.width <= _MOST_NAMED:
        place = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.02), "frameon": False}
        columns = 1 if field.width <= 8 else 2
        legend = axes.legend(fontsize="x-small", ncol=columns, title=frame or None, **place)
        legend.get_title().set_fontsize("x-small")
        return
    count = f"{field.width} lines" if field.width > 1 else ""
    axes.set_title(", ".join(filter(None, (count, frame))), loc="right", fontsize="small")
