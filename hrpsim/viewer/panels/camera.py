# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Cameras of the pages: the followed entity, views from each side, and bookmarks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hrpsim.viewer.panels.signals import middle_of, moves_freely
from hrpsim.viewer.panels.workbench import Panel, Workbench

NOBODY = "nobody"
MOST_BOOKMARKS = 9  # keys 1 to 9
# Camera positions relative to the middle, for objects within 1 m [m].
_SIDES = {
    "home": (2.2, 2.4, 0.8),
    "front": (3.2, 0.0, 0.3),
    "left": (0.0, 3.2, 0.3),
    "top": (0.01, 0.0, 3.6),
}


@dataclass(frozen=True)
class Bookmark:
    """A camera's position and target point [m] in the scene, and its upward direction."""

    position: np.ndarray
    look_at: np.ndarray
    up: np.ndarray


class CameraPanel(Panel):
    """A tab to follow an entity, look from a side, and return to a bookmark.

    The camera of each page moves independently. `bookmarks` has the bookmarks of all pages, by
    name. A bookmark is a pose relative to the followed entity, because the scene moves instead of
    the camera.
    """

    def __init__(self, desk: Workbench) -> None:
        super().__init__(desk)
        self.bookmarks: dict[str, Bookmark] = {}
        gui = desk.gui
        self.follow = gui.add_dropdown(
            "Follow", self._entities(), initial_value=desk.followed or NOBODY
        )
        self.follow.on_update(lambda _: desk.request(self._use_followed))
        self.sides = gui.add_button_group("View from", tuple(_SIDES))
        self.sides.on_click(lambda event: self.look_from(event.client, self.sides.value))
        self.keep = gui.add_button("Bookmark this view")
        self.keep.on_click(lambda event: self.bookmark(event.client))
        self.chosen = gui.add_button_group("Bookmarks", ("none",), visible=False)
        self.chosen.on_click(lambda event: self.go(event.client, self.chosen.value))

    def rebuild(self) -> None:
        """Update the list of entities that can be followed."""
        names = self._entities()
        if self._desk.followed not in names:
            self._desk.followed = ""
        if tuple(self.follow.options) != names:
            self.follow.options = names
            self.follow.value = self._desk.followed or NOBODY

    def follow_next(self) -> None:
        """Follow the next entity of the list."""
        names = self._entities()
        index = names.index(self._desk.followed or NOBODY)
        self.follow.value = names[(index + 1) % len(names)]
        self._use_followed()

    def look_from(self, client: Any, side: str) -> None:
        """Place a page's camera on a side of the followed entity, or of all moving bodies."""
        if client is None or side not in _SIDES:
            return

        def look() -> None:
            desk = self._desk
            middle, reach = middle_of(desk.world, desk.followed)
            middle = middle + desk.scene.position
            place = middle + reach * np.array(_SIDES[side])
            _aim(client, Bookmark(place, middle, np.array([0.0, 0.0, 1.0])))

        self._desk.request(look)

    def bookmark(self, client: Any) -> None:
        """Store the camera of a page under the next number.

        If there are nine bookmarks, the ninth is replaced.
        """
        if client is None:
            return
        camera = client.camera
        seen = camera.position.copy(), camera.look_at.copy(), camera.up_direction.copy()
        self._desk.request(lambda: self._store(Bookmark(*seen)))

    def _store(self, view: Bookmark) -> None:
        number = min(len(self.bookmarks) + 1, MOST_BOOKMARKS)
        self.bookmarks[str(number)] = view
        self.chosen.remove()
        self.chosen = self._desk.gui.add_button_group(
            "Bookmarks", tuple(self.bookmarks), order=self.chosen.order
        )
        self.chosen.on_click(lambda event: self.go(event.client, self.chosen.value))

    def go(self, client: Any, name: str) -> None:
        """Move the camera of a page to the bookmark `name`. Unknown names have no effect."""
        if client is not None and name in self.bookmarks:
            _aim(client, self.bookmarks[name])

    def _entities(self) -> tuple[str, ...]:
        entities = self._desk.world.entities.items()
        return NOBODY, *(name for name, entity in entities if moves_freely(entity))

    def _use_followed(self) -> None:
        chosen = self.follow.value
        self._desk.followed = chosen if chosen in self._desk.world.entities else ""


def _aim(client: Any, view: Bookmark) -> None:
    with client.atomic():
        client.camera.up_direction = view.up
        client.camera.position = view.position
        client.camera.look_at = view.look_at
