# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A running world in a browser: the server, the main loop, and dragging by users."""

from __future__ import annotations

import socket
import time
from pathlib import Path

import numpy as np

from hrpsim.common.errors import HrpsimError
from hrpsim.common.typed_values import check_arguments
from hrpsim.viewer.gate import page_faults
from hrpsim.viewer.panels.worlds import world_files
from hrpsim.viewer.scene_server import (
    LOOPBACK,
    aim_camera,
    require_viser,
    start_server,
    stop_server,
)
from hrpsim.viewer.session import Session, TimeAdvance, require_world

DEFAULT_PORT = 8080
_EVERYWHERE = ("0.0.0.0", "::", "")
_MESSAGE_LIMIT = 1_000_000  # largest message of a page [bytes]
_FRAME = 1.0 / 40.0  # [s, wall]
_PICTURES = 120.0  # largest rate to all pages together, pictures take time of this process
_LINE_COLOR = (250, 170, 30)


class Viewer:
    """Serve a world at `url` and play the world in the thread that calls `run`.

    Args:
        world: the world.
        motion: advances time. The default steps the world.
        session: the state of the player. The default is a new session.
        host: the address to listen on. From another machine the page opens only with the token in
            `url`.
        port: the port, 0 for any free port. If the port is taken, the next free port is used.
        message_limit: largest message of a page [bytes].
        follow: the entity that cameras follow until a visitor chooses another.
        worlds: a folder. A page may load the world files that are in the folder at the start.

    Raises:
        HrpsimError: viser is not installed, the address cannot be used, or the folder has no world
            file.
    """

    def __init__(
        self,
        world,
        motion: TimeAdvance | None = None,
        *,
        session=None,
        host: str = LOOPBACK,
        port: int = DEFAULT_PORT,
        message_limit: int = _MESSAGE_LIMIT,
        follow: str = "",
        worlds: Path | None = None,
    ) -> None:
        check_arguments(Viewer.__init__, locals(), HrpsimError)
        require_viser("the viewer")
        if session is None:
            require_world(world, "the viewer")
        files = None if worlds is None else world_files(worlds)
        from hrpsim.viewer.controls import Controls
        from hrpsim.viewer.drawing import SCENE, Drawing
        from hrpsim.viewer.gate import Gate

        page_faults.install()
        self.session = session or Session(world, motion)
        self.server = start_server("the viewer")
        inside = self.server.get_host(), self.server.get_port()
        self.host = host
        try:
            self.gate = Gate(host, port, inside, message_limit=message_limit)
        except BaseException:
            self.server.stop()
            raise
        self.scene = self.server.scene.add_frame(SCENE, show_axes=False)
        self.drawing = Drawing(self.server, world)
        self._drawn = tuple(world.entities)
        self.controls = Controls(self.server, self.session, self.drawing, self.scene, follow, files)
        self.frame_count = 0
        self._next_picture = 0.0  # [s, wall]
        self.panels: list = []  # other objects, updated once per frame
        self._line = None
        self._followed_to: np.ndarray | None = None
        self._visited = False
        self._let_drag()
        aim_camera(self.server, world)

    @property
    def url(self) -> str:
        """Address of the page, with the token."""
        host = socket.gethostname() if self.host in _EVERYWHERE else self.host
        host = f"[{host}]" if ":" in host else host
        return f"http://{host}:{self.gate.port}/?token={self.gate.token}"

    @property
    def left_out(self) -> list[str]:
        """Meshes that are not drawn, with the cause."""
        return self.drawing.left_out

    def run(self, duration: float = float("inf")) -> None:
        """Serve for `duration` [s, wall time], or until the process is interrupted.

        The world is paused until a page is opened for the first time.
        """
        self.server.on_client_connect(lambda _: self.controls.request(self._welcome))
        end = time.monotonic() + duration
        while time.monotonic() < end:
            self.turn()

    def turn(self) -> None:
        """Process requests, make the due steps, draw, and sleep until the next frame is due."""
        begin = time.monotonic()
        self.show()
        time.sleep(max(0.0, begin + _FRAME - time.monotonic()))

    def show(self) -> None:
        """Process the page's requests, make the due steps, and draw the world."""
        self.frame_count += 1
        self.controls.process_requests()
        self.session.frame(_FRAME)
        wall_time = time.monotonic()
        if wall_time < self._next_picture:
            return
        pages = len(self.server.get_clients())
        self._next_picture = wall_time + pages / _PICTURES - 0.1 * _FRAME
        try:
            self._draw()
        except Exception as error:  # for example, a page may send an invalid camera
            page_faults.note(error)

    def _draw(self) -> None:
        with self.server.atomic():
            world = self.session.world
            if self.drawing.world is not world or self._drawn != tuple(world.entities):
                self._redraw()
            self.drawing.update()
            self._follow()
            self._draw_spring()
            self.controls.update()
            for panel in self.panels:
                panel.update()

    def _welcome(self) -> None:
        if not self._visited:
            self._visited = True
            self.session.play()

    def stop(self) -> None:
        """Close the page."""
        self.gate.close()
        stop_server(self.server)

    def _redraw(self) -> None:
        """Draw added robots and bodies, and remove the nodes of removed robots and bodies.

        If the session has another world, redraw everything.
        """
        world, before = self.session.world, self.drawing.world
        self.drawing.remove()
        self.drawing = self.drawing.redrawn(world)
        self._drawn = tuple(world.entities)
        self._let_drag()
        self.controls.rebuild(self.drawing)
        if world is not before:
            aim_camera(self.server, world)
            for client in self.server.get_clients().values():
                self.controls.camera.look_from(client, "home")

    def _follow(self) -> None:
        """Move the scene so that the followed entity stays at the same place on every page.

        The cameras do not move, because a page reports its camera late or not at all.
        """
        entity = self.session.world.entities.get(self.controls.followed)
        position = None if entity is None else entity.q[:3].copy()
        if position is not None and self._followed_to is not None:
            self.scene.position = self.scene.position + self._followed_to - position
        self._followed_to = position

    def _let_drag(self) -> None:
        for entity, link, node in self.drawing.parts:
            # A coroutine, because viser only then preserves the order of calls.
            async def drag(event, entity=entity, link=link) -> None:
                start = np.array(event.start_position) - self.scene.position
                target = np.array(event.end_position) - self.scene.position
                if event.phase == "start":
                    self.controls.request(lambda: self.session.grab(entity, link, start))
                if event.phase == "end":
                    self.controls.request(self.session.release)
                else:
                    self.controls.request(lambda: self.session.drag_to(target))

            node.on_drag("left")(drag)

    def _draw_spring(self) -> None:
        grip = self.session.grip
        if grip is None:
            if self._line is not None:
                self._line.remove()
                self._line = None
            return
        points = np.array([[grip.point, grip.target]], dtype=np.float32)
        if self._line is None:
            self._line = self.server.scene.add_line_segments(
                f"{self.scene.name}/spring", points, _LINE_COLOR, thickness=0.01
            )
        else:
            self._line.points = points
