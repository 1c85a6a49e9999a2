# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Play, pause, step and reset the world, choose the speed, and look back."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from hrpsim.viewer.panels.markdown import plain
from hrpsim.viewer.panels.workbench import Panel, Workbench

PLAY, PAUSE, STEP, RESET = "Play", "Pause", "Step", "Reset"
_SPEEDS = {"1/10": 0.1, "1/4": 0.25, "1/2": 0.5, "1": 1.0, "2": 2.0, "5": 5.0}


class RunPanel(Panel):
    """Buttons of the run. `status` shows the time and the state."""

    def __init__(self, desk: Workbench, status: Any) -> None:
        super().__init__(desk)
        gui, session = desk.gui, desk.session
        self.status = status
        self._last_text, self._last_time, self._frames = time.monotonic(), desk.world.time, 0
        self.actions: dict[str, Callable[[], None]] = {
            PLAY: session.play,
            PAUSE: session.pause,
            STEP: session.step,
            RESET: session.reset,
        }
        self.buttons = gui.add_button_group("Run", tuple(self.actions))
        self.buttons.on_click(lambda _: self.press(self.buttons.value))
        self.speed = gui.add_dropdown("Speed", tuple(_SPEEDS), initial_value="1")
        self.speed.on_update(lambda _: desk.request(self._use_speed))
        self.back: Any = None
        if session.keeps_past:
            self._add_past(gui)

    def press(self, name: str) -> None:
        """Queue the action of a button. Other names do nothing."""
        if name in self.actions:
            self._desk.request(self.actions[name])

    def toggle(self) -> None:
        """Pause a playing world, or play a paused world."""
        session = self._desk.session
        (session.pause if session.playing else session.play)()

    def change_speed(self, by: int) -> None:
        """Choose the next faster (`by` = 1) or slower (`by` = -1) speed of the list."""
        names = list(_SPEEDS)
        index = names.index(self.speed.value) + by
        self.speed.value = names[min(max(index, 0), len(names) - 1)]
        self._use_speed()

    def sample(self) -> None:
        """Count a frame to measure the displayed speed."""
        self._frames += 1

    def update(self) -> None:
        """Show the time, the state, and the duration of the recorded past."""
        session, wall_time = self._desk.session, time.monotonic()
        passed = max(wall_time - self._last_text, 1e-9)
        made = session.world.stats.since_reset
        state = self._state(passed)
        if made.unconverged:
            state += f", {made.unconverged} of {made.steps} steps not converged"
        self.status.content = f"**{session.world.time:.3f} s** &nbsp; {state}"
        if self.back is not None and session.looking_back == 0.0:
            if self.back.value != 0.0:
                self.back.value = 0.0
            self.back.max = max(0.1, round(session.recording.span, 1))
        self._last_text, self._last_time, self._frames = wall_time, session.world.time, 0

    def _state(self, passed: float) -> str:
        session = self._desk.session
        if session.problem:
            return f"stopped: {plain(session.problem)}"
        if session.looking_back > 0.0:
            return f"{session.looking_back:.2f} s ago"
        if session.playing:
            factor = (session.world.time - self._last_time) / passed
            return f"real-time factor {factor:.2f}, {self._frames / passed:.0f} frames/s"
        return "paused"

    def _use_speed(self) -> None:
        if self.speed.value in _SPEEDS:
            self._desk.session.speed = _SPEEDS[self.speed.value]

    def _add_past(self, gui: Any) -> None:
        desk, session = self._desk, self._desk.session
        self.back = gui.add_slider("Back [s]", min=0.0, max=1.0, step=0.01, initial_value=0.0)
        if session.motion.rewinds:
            resume = gui.add_button("Continue from here")
            resume.on_click(lambda _: desk.request(session.go_on_from_here))

        def look(event: Any) -> None:
            if event.client is not None:  # not when the program moves the slider
                desk.request(lambda: session.look_back(self.back.value))

        self.back.on_update(look)
