# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The viewer's panel: the state of the run, the buttons, and a tab for each kind of control."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hrpsim.viewer.drawing import Drawing
from hrpsim.viewer.gate import page_faults
from hrpsim.viewer.panels.bodies import BodiesPanel
from hrpsim.viewer.panels.camera import CameraPanel
from hrpsim.viewer.panels.joints import JointsPanel
from hrpsim.viewer.panels.keyboard import KeyboardPanel
from hrpsim.viewer.panels.links import LinksPanel
from hrpsim.viewer.panels.plots import PlotsPanel
from hrpsim.viewer.panels.run import RunPanel
from hrpsim.viewer.panels.workbench import Panel, Workbench
from hrpsim.viewer.panels.worlds import WorldsPanel

_MOST_REQUESTS = 1000
_TEXT_PERIOD = 0.2  # period of updates of texts and plots [s, wall]
_HELP = (
    "Drag a body to pull it. Drag the background to turn the view, with the right button to shift "
    "it; the wheel zooms."
)


class Controls:
    """The panel on the page of a viser server.

    Threads of the server receive the user's requests. `process_requests` executes the requests in
    the caller's thread. `arrows` has the check boxes of each kind of arrow.

    Args:
        server: the viser server.
        session: the player of the world.
        drawing: the drawing of the world.
        scene: the viser frame that contains all drawn nodes.
        follow: the entity that cameras follow at first.
        worlds: world files that a page may load, by name.
    """

    def __init__(
        self,
        server: Any,
        session: Any,
        drawing: Drawing,
        scene: Any,
        follow: str = "",
        worlds: dict[str, Path] | None = None,
    ) -> None:
        self._requests: deque[Callable[[], None]] = deque(maxlen=_MOST_REQUESTS)
        self._last_text = 0.0
        gui = server.gui
        status = gui.add_markdown("")
        self.desk = desk = Workbench(server, session, drawing, scene, self.request, follow)
        self.run = RunPanel(desk, status)
        tabs = gui.add_tab_group()
        with tabs.add_tab("Camera"):
            self.camera = CameraPanel(desk)
            with gui.add_folder("Mouse and keys", expand_by_default=False):
                gui.add_markdown(_HELP)
                self.keyboard = KeyboardPanel(desk, self.run, self.camera)
        with tabs.add_tab("Links"):
            self.links = LinksPanel(desk)
        with tabs.add_tab("Joints"):
            self.joints = JointsPanel(desk)
        self.plots = PlotsPanel(desk)
        self.panels: list[Panel] = [self.run, self.camera, self.links, self.joints, self.plots]
        self.bodies = self.worlds = None
        if session.edits:
            self._add_edits(tabs, worlds)

    @property
    def status(self) -> Any:
        """The text with the time and the state."""
        return self.run.status

    @property
    def back(self) -> Any:
        """The slider that selects a recorded past time, or None if the session does not record."""
        return self.run.back

    @property
    def arrows(self) -> dict[str, Any]:
        """The check boxes of arrows: contact forces, sensor forces and torques, and links."""
        return self.links.shows

    @property
    def followed(self) -> str:
        """The name of the entity that cameras follow, or ""."""
        return self.desk.followed

    def process_requests(self) -> None:
        """Execute the requests since the last call.

        A request that fails is reported and skipped.
        """
        for _ in range(len(self._requests)):
            request = self._requests.popleft()
            try:
                request()
            except Exception as error:
                page_faults.note(error)

    def request(self, action: Callable[[], None]) -> None:
        """Queue `action` for `process_requests`, from any thread.

        The queue holds the latest 1000 requests. Older requests are dropped.
        """
        self._requests.append(action)

    def rebuild(self, drawing: Drawing) -> None:
        """Update the panel after robots or bodies were added or removed.

        drawing: the new drawing.
        """
        self.desk.drawing = drawing
        for panel in self.panels:
            panel.rebuild()

    def update(self) -> None:
        """Show the state of the run. Call this once per frame."""
        if self.desk.session.looking_back == 0.0:
            for panel in self.panels:
                panel.sample()
        wall_time = time.monotonic()
        if wall_time - self._last_text >= _TEXT_PERIOD:
            self._last_text = wall_time
            for panel in self.panels:
                panel.update()

    def _add_edits(self, tabs: Any, worlds: dict[str, Path] | None) -> None:
        with tabs.add_tab("Bodies"):
            self.bodies = BodiesPanel(self.desk)
            self.panels.append(self.bodies)
        if worlds:
            with tabs.add_tab("Worlds"):
                self.worlds = WorldsPanel(self.desk, worlds)
                self.panels.append(self.worlds)
