# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The door to the viewer's page: who may come in, how many, and how much they may say.

Viser's server asks nobody who he is. It therefore listens where only this machine reaches it, and
this gate listens in its place: a foreign web page, a name that leads here by DNS rebinding, or
somebody without the token is turned away before anything of viser runs, and what is let through is
bounded in number, size and rate. It runs in a thread of its own and is slow to those who are many.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import socket
import threading

from hrpsim.errors import HrpsimError
from hrpsim.viewer.frames import Allowance, pass_messages
from hrpsim.viewer.handshake import BUSY, agreement, all_frames, farewell, frames_before_pong
from hrpsim.viewer.visitors import Request, Visitors, refusal

_MOST_CONNECTIONS = 64
_MOST_PAGES = 8  # that are shown the world at a time: each costs a share of every frame
_ARRIVALS, _ARRIVALS_AT_ONCE = 20.0, 60  # connections a second
_OPENINGS, _OPENINGS_AT_ONCE = 1.0, 16  # of pages a second: each is sent the whole scene
_MESSAGES, _MESSAGES_AT_ONCE = 120.0, 1000  # of all pages together, a second
_HEAD_SIZE = 16 * 1024  # [bytes]
_HEAD_TIME = 5.0  # [s] for the head of a request, or the answer to a ping, to come
_PIECE = 64 * 1024  # [bytes]
_BUFFER = 256 * 1024  # of a connection [bytes]: who does not read is soon sent nothing more
_PORTS = 1000  # that are tried, from the wanted one on
_HEAD_LINES = (
    "X-Frame-Options: DENY\r\nContent-Security-Policy: frame-ancestors 'none'\r\n"
    "Referrer-Policy: no-referrer\r\nX-Content-Type-Options: nosniff\r\n"
)


class Gate:
    """Listens on `host` and `port`, or the next free port, and leads to `inside` (host, port).

    message_limit: largest message of a page [bytes]. Raises HrpsimError where no port is free or
    `host` is no address of this machine.
    """

    def __init__(self, host: str, port: int, inside: tuple[str, int], *, message_limit: int):
        self.token = secrets.token_urlsafe(16)
        self._inside = inside
        self._message_limit = message_limit
        self._socket = _listening(host, port)
        self.port: int = self._socket.getsockname()[1]
        self._visitors = Visitors(host, self.port, self.token)
        self._pages = 0
        self._openings = Allowance(_OPENINGS, _OPENINGS_AT_ONCE)
        self._messages = Allowance(_MESSAGES, _MESSAGES_AT_ONCE)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="viewer gate", daemon=True)
        self._thread.start()

    @property
    def page_count(self) -> int:
        """How many pages are shown the world now."""
        return self._pages

    def close(self) -> None:
        """Let nobody in any more and end all connections."""
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._task.cancel)
        self._thread.join(timeout=2.0)
        self._socket.close()

    def _run(self) -> None:
        self._task = self._loop.create_task(self._receive())
        with contextlib.suppress(asyncio.CancelledError):
            self._loop.run_until_complete(self._task)
        self._loop.close()

    async def _receive(self) -> None:
        """Take connections, no faster than they are allowed to come: the rest waits outside."""
        arrivals = Allowance(_ARRIVALS, _ARRIVALS_AT_ONCE)
        visits: set[asyncio.Task] = set()
        try:
            while True:
                await arrivals.spend(1)
                try:
                    connection, _ = await self._loop.sock_accept(self._socket)
                except OSError:  # gone again, or no descriptor left
                    await asyncio.sleep(0.1)
                    continue
                if len(visits) >= _MOST_CONNECTIONS:
                    connection.close()
                    continue
                visit = self._loop.create_task(self._visit(connection))
                visits.add(visit)
                visit.add_done_callback(visits.discard)
        finally:
            for visit in visits:
                visit.cancel()
            await asyncio.gather(*visits, return_exceptions=True)

    async def _visit(self, connection: socket.socket) -> None:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _BUFFER)
        reader, writer = await asyncio.open_connection(sock=connection, limit=_HEAD_SIZE)
        try:
            await self._answer(reader, writer)
        except (OSError, EOFError, ValueError, TimeoutError, asyncio.TimeoutError):
            pass  # it left, or said what no browser says
        except asyncio.LimitOverrunError:
            writer.write(refusal(431, "the head of the request is too large"))
        finally:
            with contextlib.suppress(OSError, asyncio.CancelledError):
                writer.close()

    async def _answer(self, reader, writer) -> None:
        head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), _HEAD_TIME)
        request = Request.parse(head)
        refused = self._visitors.refuse(request)
        if refused is None and request.is_websocket and self._pages >= _MOST_PAGES:
            refused = refusal(503, f"{_MOST_PAGES} pages are shown already; close one of them")
        if refused is not None:
            writer.write(refused)
            await asyncio.wait_for(writer.drain(), _HEAD_TIME)
            return
        if request.is_websocket:
            await self._open_page(request, reader, writer)
        else:
            await self._send_file(request, writer)

    async def _open_page(self, request: Request, reader, writer) -> None:
        """Show the world to a page once it has answered, if there is a place for it."""
        writer.write(agreement(request))
        waited_for = frames_before_pong(reader, writer, self._message_limit)
        early = await asyncio.wait_for(waited_for, _HEAD_TIME)
        await self._openings.spend(1)
        if self._pages >= _MOST_PAGES:
            writer.write(farewell(BUSY))
            return
        self._pages += 1
        try:
            await self._show(request, all_frames(early, reader, self._message_limit), writer)
        finally:
            self._pages -= 1

    async def _go_inside(self):
        way = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        try:
            way.setblocking(False)
            way.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _BUFFER)
            await self._loop.sock_connect(way, self._inside)
            return await asyncio.open_connection(sock=way, limit=_HEAD_SIZE)
        except BaseException:
            way.close()
            raise

    async def _show(self, request: Request, frames, writer) -> None:
        """Pass messages both ways until one of the two ends it."""
        inside_reader, inside_writer = await self._go_inside()
        inside_writer.write(request.to_bytes())
        head = await asyncio.wait_for(inside_reader.readuntil(b"\r\n\r\n"), _HEAD_TIME)
        if not head.startswith(b"HTTP/1.1 101 "):
            inside_writer.close()
            return
        limit, all_messages = self._message_limit, self._messages
        ways = [
            asyncio.ensure_future(pass_messages(frames, inside_writer, limit, all_messages)),
            asyncio.ensure_future(_pass_on(inside_reader, writer)),
        ]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)
            inside_writer.close()

    async def _send_file(self, request: Request, writer) -> None:
        """Pass on what viser answers to a GET, with the token as a cookie where it was shown."""
        inside_reader, inside_writer = await self._go_inside()
        try:
            inside_writer.write(request.to_bytes())
            head = await asyncio.wait_for(inside_reader.readuntil(b"\r\n\r\n"), _HEAD_TIME)
            lines = _HEAD_LINES + self._visitors.cookie_line(request)
            writer.write(head[:-2] + lines.encode() + b"\r\n")
            await _pass_on(inside_reader, writer)
        finally:
            inside_writer.close()


async def _pass_on(reader, writer) -> None:
    while piece := await reader.read(_PIECE):
        writer.write(piece)
        await writer.drain()


def _listening(host: str, port: int) -> socket.socket:
    """Return a socket that listens on the first free port from `port` on; 0: any."""
    cause: OSError | None = None
    for number in range(port, min(port + _PORTS, 65536)) if port else (0,):
        try:
            family = socket.getaddrinfo(host, number, type=socket.SOCK_STREAM)[0][0]
            listening = socket.create_server((host, number), family=family, backlog=128)
            listening.setblocking(False)
            return listening
        except OSError as error:
            cause = error
            if isinstance(error, socket.gaierror):
                break
    raise HrpsimError(f"the viewer cannot listen on {host!r}, port {port}: {cause}") from cause
