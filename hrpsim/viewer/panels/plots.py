# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Plots of signals against time in a separate window. A plot stays until a visitor removes it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from hrpsim.viewer.panels.signals import OFFERED, History, signals_of
from hrpsim.viewer.panels.workbench import Panel, Workbench

MOST_PLOTS = 8  # each plot needs a message of some kilobytes five times per second
_OFFERED = (*OFFERED, "*joint_states.*", "*joint_commands.position.*", "energy.*", "*zmp.*")
_SPANS = {"5 s": 5.0, "10 s": 10.0, "30 s": 30.0}
_COLORS = ("#2b6cb0", "#c05621", "#2f855a", "#6b46c1", "#b83280", "#975a16", "#2c7a7b", "#c53030")
_TICK_WIDTH = 80  # width of the values beside the plot, with sign and all digits [pixels]
_WIDTH = 320.0  # width of the window [pixels]


@dataclass
class Plot:
    """A plot of one signal: the recorded values, and the elements of the page."""

    name: str
    history: History
    curve: Any
    label: Any
    remove: Any


class PlotsPanel(Panel):
    """Plots of the world's signals. `plots` are in the order of the page."""

    def __init__(self, desk: Workbench) -> None:
        super().__init__(desk)
        self.plots: list[Plot] = []
        self._signals = signals_of(desk.world, _OFFERED)
        names = tuple(self._signals)
        self._window = desk.gui.add_panel()
        self._tab = self._window.add_tab("Plots")
        self._window.float(x=15.0, y=-15.0, width=_WIDTH)
        self._window.minimize()  # otherwise the window hides the robot on a small page
        with self._tab:
            self.chosen = desk.gui.add_dropdown("Signal", names, initial_value=names[0])
            self.span = desk.gui.add_dropdown("Last", tuple(_SPANS), initial_value="10 s")
            self.add = desk.gui.add_button("Add plot")
        self.add.on_click(lambda _: desk.request(lambda: self.show(self.chosen.value)))
        self.span.on_update(lambda _: desk.request(self._use_span))
        self.show(names[0])

    def show(self, name: str) -> None:
        """Add a plot of a signal, unless the signal is unknown or already plotted.

        If there are already `MOST_PLOTS` plots, the oldest plot is removed.
        """
        if name not in self._signals or any(plot.name == name for plot in self.plots):
            return
        if len(self.plots) >= MOST_PLOTS:
            self.drop(self.plots[0].name)
        taken = {plot.curve.series[1]["stroke"] for plot in self.plots}
        color = next(c for c in _COLORS if c not in taken)
        gui = self._desk.gui
        with self._tab:
            label = gui.add_markdown(f"**{name}**".replace("_", "\\_").replace("*.", "\\*."))
            curve = gui.add_uplot(
                (np.zeros(1), np.zeros(1)),
                ({"label": "t [s]"}, {"label": name, "stroke": color, "width": 1.5}),
                scales={"x": {"time": False}},
                legend={"show": False},
                axes=({}, {"size": _TICK_WIDTH}),
                aspect=2.2,
            )
            remove = gui.add_button("Remove plot")
        remove.on_click(lambda _: self._desk.request(lambda: self.drop(name)))
        history = self._history(self._signals[name])
        self.plots.append(Plot(name, history, curve, label, remove))

    def drop(self, name: str) -> None:
        """Remove the plot of a signal, if there is one."""
        for plot in [plot for plot in self.plots if plot.name == name]:
            self.plots.remove(plot)
            for element in (plot.label, plot.curve, plot.remove):
                element.remove()

    def sample(self) -> None:
        """Add a sample to each plot."""
        for plot in self.plots:
            plot.history.add(self._desk.world.time)

    def update(self) -> None:
        """Redraw the curves if the world is playing."""
        if not self._desk.session.playing:
            return
        for plot in self.plots:
            times, values = plot.history.arrays()
            if len(times) > 1:
                plot.curve.data = (times, values)

    def rebuild(self) -> None:
        """Update the list of signals. Keep the plots of signals that still exist."""
        self._signals = signals_of(self._desk.world, _OFFERED)
        self.chosen.options = tuple(self._signals)
        for plot in tuple(self.plots):
            if plot.name in self._signals:
                plot.history = self._history(self._signals[plot.name])
            else:
                self.drop(plot.name)

    def _history(self, read: Callable[[], float]) -> History:
        return History(read, _SPANS.get(self.span.value, 10.0))

    def _use_span(self) -> None:
        for plot in self.plots:
            plot.history.duration = _SPANS.get(self.span.value, 10.0)
