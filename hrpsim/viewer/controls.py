# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The viewer's panel: run, look back, and choose the drawings and plots."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

import numpy as np

from hrpsim.viewer.drawing import Drawing
from hrpsim.viewer.gate import page_faults
from hrpsim.viewer.markdown import plain
from hrpsim.viewer.session import Session
from hrpsim.viewer.signals import History, moves_freely, signals_of

_SPEEDS = {"1/10": 0.1, "1/4": 0.25, "1/2": 0.5, "1": 1.0, "2": 2.0, "5": 5.0}
_NOBODY = "nobody"
_MOST_REQUESTS = 1000
_TEXT_PERIOD = 0.2  # between updates of texts and plots [s, wall]
_PLOT_COLOR = "#2b6cb0"
_TICK_WIDTH = 80  # of the values beside the plot, with sign and all digits [pixels]
_HELP = (
    "Drag a body to pull it. Drag the background to turn the view, with the right button to shift "
    "it; the wheel zooms."
)


class Controls:
    """Buttons and sliders of a viser server.

    The user's requests arrive in threads of the server. `process_requests` carries out the requests
    in the caller's thread. `arrows` has the check boxes of each kind of arrow.
    """

    def __init__(self, server, session: Session, drawing: Drawing, follow: str = "") -> None:
        self._session = session
        self.drawing = drawing
        self._requests: deque[Callable[[], None]] = deque(maxlen=_MOST_REQUESTS)
        self._last_text = 0.0
        self._last_time, self._frames = session.world.time, 0
        gui = server.gui
        self.status = gui.add_markdown("")
        gui.add_markdown(_HELP)
        self._add_run(gui)
        self.back = None
        if session.keeps_past:
            self._add_past(gui)
        self.followed = follow  # the entity that cameras follow, or ""
        self._add_camera(gui)
        self._add_arrows(gui)
        self._add_plot(gui)

    def process_requests(self) -> None:
        """Carry out the requests since the last call. Failing requests are reported and skipped."""
        for _ in range(len(self._requests)):
            request = self._requests.popleft()
            try:
                request()
            except Exception as error:
                page_faults.note(error)

    def request(self, action: Callable[[], None]) -> None:
        """Queue `deed` for `process_requests`, from any thread. Only the latest 1000 are kept."""
        self._requests.append(action)

    def update(self) -> None:
        """Show the state of the run. Call this once per frame."""
        self._frames += 1
        if self._session.looking_back == 0.0:
            self._history.add(self._session.world.time)
        now = time.monotonic()
        passed = now - self._last_text
        if passed >= _TEXT_PERIOD:
            self._show_texts(passed)
            self._last_text, self._frames = now, 0
            self._last_time = self._session.world.time

    def _add_run(self, gui) -> None:
        session = self._session
        with gui.add_folder("Run"):
            self.play = gui.add_button("Play")
            self.pause = gui.add_button("Pause")
            self.step = gui.add_button("Step")
            self.reset = gui.add_button("Reset")
            speed = gui.add_dropdown("Speed", tuple(_SPEEDS), initial_value="1")
        for button, action in (
            (self.play, session.play),
            (self.pause, session.pause),
            (self.step, session.step),
            (self.reset, session.reset),
        ):
            button.on_click(lambda _, action=action: self.request(action))
        speed.on_update(
            lambda _: self.request(lambda: setattr(session, "speed", _SPEEDS[speed.value]))
        )

    def _add_past(self, gui) -> None:
        session = self._session
        with gui.add_folder("Look back"):
            self.back = gui.add_slider("Back [s]", min=0.0, max=1.0, step=0.01, initial_value=0.0)
            if session.motion.rewinds:
                resume = gui.add_button("Continue from here")
                resume.on_click(lambda _: self.request(session.go_on_from_here))

        def look(event) -> None:
            if event.client is not None:  # not when the program moves the slider
                self.request(lambda: session.look_back(self.back.value))

        self.back.on_update(look)

    def _add_camera(self, gui) -> None:
        names = [n for n, e in self._session.world.entities.items() if moves_freely(e)]
        if not names:
            return
        with gui.add_folder("Camera"):
            chosen = gui.add_dropdown(
                "Follow", (_NOBODY, *names), initial_value=self.followed or _NOBODY
            )

        def follow() -> None:
            self.followed = "" if chosen.value == _NOBODY else chosen.value

        chosen.on_update(lambda _: self.request(follow))

    def _add_arrows(self, gui) -> None:
        with gui.add_folder("Arrows"):
            self.arrows = {
                "contacts": gui.add_checkbox("Contact forces", True),
                "forces": gui.add_checkbox("Sensor forces", True),
                "torques": gui.add_checkbox("Sensor torques", True),
            }
            clear = gui.add_checkbox("See through", False)
        clear.on_update(lambda _: self.request(lambda: self.drawing.see_through(clear.value)))
        for kind, box in self.arrows.items():
            box.on_update(
                lambda _, kind=kind, box=box: self.request(
                    lambda: self.drawing.shows.__setitem__(kind, box.value)
                )
            )

    def _add_plot(self, gui) -> None:
        signals = signals_of(self._session.world)
        names = tuple(signals)
        with gui.add_folder("Plot"):
            chosen = gui.add_dropdown("Signal", names, initial_value=names[0])
            self._plot = gui.add_uplot(
                (np.zeros(1), np.zeros(1)),
                ({"label": "t [s]"}, {"label": "value", "stroke": _PLOT_COLOR, "width": 1.5}),
                scales={"x": {"time": False}},
                legend={"show": False},
                axes=({}, {"size": _TICK_WIDTH}),
                aspect=1.8,
            )
        self._history = History(signals[names[0]])

        def choose() -> None:
            self._history = History(signals[chosen.value])

        chosen.on_update(lambda _: self.request(choose))

    def _show_texts(self, passed: float) -> None:
        session = self._session
        shown = session.world.time
        if session.problem:
            state = f"stopped: {plain(session.problem)}"
        elif session.looking_back > 0.0:
            state = f"{session.looking_back:.2f} s ago"
        elif session.playing:
            factor = (shown - self._last_time) / passed
            state = f"real-time factor {factor:.2f}, {self._frames / passed:.0f} frames/s"
        else:
            state = "paused"
        made = session.world.stats.since_reset
        if made.unconverged:
            state += f", {made.unconverged} of {made.steps} steps not converged"
        self.status.content = f"**{shown:.3f} s** &nbsp; {state}"
        if self.back is not None and session.looking_back == 0.0:
            if self.back.value != 0.0:
                self.back.value = 0.0
            self.back.max = max(0.1, round(session.recording.span, 1))
        times, values = self._history.arrays()
        if session.playing and len(times) > 1:
            self._plot.data = (times, values)
