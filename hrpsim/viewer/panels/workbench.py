# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Objects shared by the tabs of the panel: page, session, drawing, and queued requests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hrpsim.common.errors import HrpsimError
from hrpsim.viewer.panels.markdown import plain


class Workbench:
    """The objects that every tab of the panel uses.

    `followed` is the entity that cameras follow, or "". `answer` is the text of the page that shows
    errors.

    Args:
        server: the viser server.
        session: the player of the world.
        drawing: the drawing of the world. Replaced when the world is redrawn.
        scene: the viser frame that contains all drawn nodes.
        request: queues an action for the thread of the world.
        follow: the entity that cameras follow at first.
    """

    def __init__(
        self,
        server: Any,
        session: Any,
        drawing: Any,
        scene: Any,
        request: Callable[[Callable[[], None]], None],
        follow: str = "",
    ) -> None:
        self.server, self.session, self.drawing, self.scene = server, session, drawing, scene
        self.followed = follow
        self._request = request
        self.answer = server.gui.add_markdown("", visible=False)

    @property
    def gui(self) -> Any:
        """The elements of the page."""
        return self.server.gui

    @property
    def world(self) -> Any:
        """The world that the page shows."""
        return self.session.world

    def request(self, action: Callable[[], object]) -> None:
        """Queue an action of a page, from any thread.

        If the action fails, the page shows the reason.
        """

        def act() -> None:
            try:
                action()
            except HrpsimError as error:
                self.tell(f"refused: {error}")
            else:
                self.tell("")

        self._request(act)

    def tell(self, text: str) -> None:
        """Show a text below the state of the run. An empty text removes the line."""
        if text != "" or self.answer.visible:
            self.answer.content, self.answer.visible = plain(text), bool(text)


class Panel:
    """Base class of the tabs of the panel."""

    def __init__(self, desk: Workbench) -> None:
        self._desk = desk

    def sample(self) -> None:
        """Record the world's state. Called in each frame, unless the page shows the past."""

    def update(self) -> None:
        """Show the world's state. Called five times a second."""

    def rebuild(self) -> None:
        """Update lists of contents. Called after robots or bodies were added or removed."""


def bounded(slider: Any) -> float:
    """Return the value of a slider, clipped to its bounds. NaN gives the lower bound."""
    return float(min(max(slider.min, slider.value), slider.max))


def place_of(vector: Any, farthest: float) -> np.ndarray:
    """Check a position received from a page, and return an array (3,) [m].

    Raises:
        HrpsimError: a coordinate is not finite or exceeds `farthest` [m].
    """
    place = np.asarray(vector, dtype=np.float64)
    if place.shape != (3,) or not (np.abs(place) <= farthest).all():
        raise HrpsimError(
            f"a position must have three coordinates of at most {farthest:g} m, got {vector}"
        )
    return place
