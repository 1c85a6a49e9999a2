# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Keyboard shortcuts of the page. viser's camera uses W A S D Q E and the arrow keys."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hrpsim.viewer.panels.camera import MOST_BOOKMARKS, CameraPanel
from hrpsim.viewer.panels.run import RESET, STEP, RunPanel
from hrpsim.viewer.panels.workbench import Panel, Workbench

_OF_VISER = (
    ("W A S D Q E", "move the camera"),
    ("arrows", "turn the camera"),
    ("Ctrl+K or Cmd+K", "all commands"),
)


class KeyboardPanel(Panel):
    """Keyboard shortcuts, with a table of all keys. `commands` maps keys to viser's commands."""

    def __init__(self, desk: Workbench, run: RunPanel, camera: CameraPanel) -> None:
        super().__init__(desk)
        self.commands: dict[str, Any] = {}
        self._lines: list[tuple[str, str]] = []
        self._add("space", "play or pause", lambda _: desk.request(run.toggle))
        self._add("N", "one step", lambda _: run.press(STEP))
        self._add("backspace", "reset", lambda _: run.press(RESET))
        self._add("X", "faster", lambda _: desk.request(lambda: run.change_speed(1)))
        self._add("Z", "slower", lambda _: desk.request(lambda: run.change_speed(-1)))
        self._add("V", "follow the next body", lambda _: desk.request(camera.follow_next))
        self._add("H", "camera home", lambda event: camera.look_from(event.client, "home"))
        self._add("B", "bookmark the view", lambda event: camera.bookmark(event.client))
        for number in range(1, MOST_BOOKMARKS + 1):
            self._add_bookmark(camera, str(number))
        self._lines.append(("1 to 9", "camera to a bookmark"))
        rows = [f"| {key} | {does} |" for key, does in (*self._lines, *_OF_VISER)]
        desk.gui.add_markdown("\n".join(["| key | effect |", "| --- | --- |", *rows]))

    def _add(self, key: str, does: str, action: Callable[[Any], None]) -> None:
        self._bind(key, does, action)
        self._lines.append((key, does))

    def _add_bookmark(self, camera: CameraPanel, name: str) -> None:
        self._bind(name, f"camera to bookmark {name}", lambda event: camera.go(event.client, name))

    def _bind(self, key: str, does: str, action: Callable[[Any], None]) -> None:
        command = self._desk.gui.add_command(does.capitalize(), hotkey=key)
        command.on_trigger(action)
        self.commands[key] = command
