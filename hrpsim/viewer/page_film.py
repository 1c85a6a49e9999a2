# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""One HTML file that plays a run in any browser, without a server or a network."""

from __future__ import annotations

from pathlib import Path

from hrpsim.viewer.drawing import SCENE, Drawing
from hrpsim.viewer.scene_server import aim_camera, start_server, stop_server

SUFFIX = ".html"
_RATE = 25.0  # rate of pictures in simulated time [Hz]


class PageFilm:
    """A page with the scene of a running world, used in the same way as `Film`.

    The page has the client of viser, the shapes, and the poses of links and arrows of forces at 25
    pictures a simulated second. A visitor moves the camera, pauses, and goes to any time.

    Args:
        world: the world.
        file: the .html.
        follow: robot that stays in the middle. By default the camera stays.

    Raises:
        HrpsimError: viser is not installed.
    """

    def __init__(self, world, file: str | Path, *, follow: str = "") -> None:
        self._world, self._path, self._next = world, Path(file), world.time
        self.pictures = 0
        self._server = start_server("a page")
        try:
            self._scene = self._server.scene.add_frame(SCENE, show_axes=False)
            self._drawing = Drawing(self._server, world)
            aim_camera(self._server, world, follow)
            self._entity = world.entities[follow] if follow else None
            self._first = None if self._entity is None else self._entity.q[:2].copy()
            self._recording = self._server.get_scene_serializer()
        except BaseException:
            stop_server(self._server)
            raise

    @property
    def left_out(self) -> list[str]:
        """Meshes that are not drawn, with the cause."""
        return self._drawing.left_out

    def look(self) -> None:
        """Add a picture of the world's present state, if one is due."""
        if self._world.time < self._next - 0.5 * self._world.time_step:
            return
        self._next += 1.0 / _RATE
        self.pictures += 1
        self._drawing.update()
        if self._entity is not None:
            self._scene.position = (*(self._first - self._entity.q[:2]), 0.0)
        self._recording.insert_sleep(1.0 / _RATE)

    def __enter__(self) -> PageFilm:
        return self

    def __exit__(self, kind, *_) -> None:
        try:
            if kind is None:
                self._path.write_text(self._recording.as_html(), encoding="utf-8")
        finally:
            stop_server(self._server)
