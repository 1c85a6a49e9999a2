# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The viewer's gate: a proxy server of `websockets` in front of viser's server, in a thread.

viser's server does not check the origin of a request. The server therefore listens on an address
that is hidden from other machines. The gate refuses requests from a page of another site (Origin),
requests with a foreign host name (Host: DNS rebinding), and requests without the token. The gate
forwards all other requests.
"""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import ipaddress
import logging
import secrets
import socket
import sys
import threading
import time
from collections.abc import Coroutine
from typing import Any
from urllib.parse import parse_qs, urlsplit

from websockets.asyncio.client import connect
from websockets.asyncio.connection import Connection
from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

from hrpsim.common.errors import HrpsimError

_MOST_PAGES = 8  # largest number of pages at the same time, each takes time in every frame
_PAUSE = 0.008  # pause after each message of a page, about 80 per second during a drag [s]
_TIME_LIMIT = 5.0  # time for an answer of viser [s]
_CLOSE_TIME = 1.0  # time for answers of pages during closing [s]
_PORTS = 1000  # number of tried ports, from the requested port
_HEADERS = {
    "X-Frame-Options": "DENY",
    "Content-Security-Policy": "frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
_PERIOD = 1.0  # period between two lines [s, wall]
_LOGGERS = ("websockets.server", "asyncio")  # loggers of viser's server for errors of pages


class Gate:
    """Serve viser's page on `host` and `port`, or on the next free port.

    If `host` is a loopback address, requests with a loopback host name are accepted. Other requests
    must contain the token in the address or as a cookie.

    Args:
        host: the address to listen on.
        port: the port, 0 for any free port.
        inside: viser's own address (host, port).
        message_limit: largest message of a page [bytes].

    Raises:
        HrpsimError: no port is free, or `host` is not an address of this machine.
    """

    def __init__(
        self, host: str, port: int, inside: tuple[str, int], *, message_limit: int
    ) -> None:
        self.token = secrets.token_urlsafe(16)
        self._inside = inside
        self._message_limit = message_limit
        self._is_local = _is_loopback(host)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(
            target=self._loop.run_forever, name="viewer gate", daemon=True
        )
        self._thread.start()
        try:
            self._server: Server = self._run(self._listen(host, port))
        except BaseException:
            self._stop()
            raise
        self.port: int = self._server.sockets[0].getsockname()[1]

    def close(self) -> None:
        """Stop accepting connections, and close all connections."""
        self._run(self._end_connections())
        self._stop()

    def _run(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result()

    def _stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _listen(self, host: str, port: int) -> Server:
        cause: OSError | None = None
        for number in range(port, min(port + _PORTS, 65536)) if port else (0,):
            try:
                return await serve(
                    self._show,
                    host,
                    number,
                    process_request=self._answer,
                    select_subprotocol=lambda _, offered: next(iter(offered), None),
                    compression=None,
                    max_size=self._message_limit,
                )
            except OSError as error:
                cause = error
                if isinstance(error, socket.gaierror):
                    break
        raise HrpsimError(f"the viewer cannot listen on {host!r}, port {port}: {cause}") from cause

    async def _end_connections(self) -> None:
        """Close the pages. Do not wait for connections that have sent nothing."""
        self._server.close()
        await asyncio.wait([asyncio.create_task(self._server.wait_closed())], timeout=_CLOSE_TIME)
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    async def _answer(self, page: ServerConnection, request: Request) -> Response | None:
        """Return the response to a request. None opens a websocket."""
        if why := self._why_refused(request):
            return page.respond(403, f"hrpsim: {why}\n")
        if request.headers.get("Upgrade", "").lower() != "websocket":
            return await asyncio.to_thread(self._file, request)
        if len(page.server.connections) >= _MOST_PAGES:
            return page.respond(503, f"hrpsim: {_MOST_PAGES} pages are shown already. Close one\n")
        return None

    def _why_refused(self, request: Request) -> str:
        """Return the reason to refuse a request, or "" to accept. Raise for a malformed request."""
        host, origin = request.headers.get("Host", ""), request.headers.get("Origin")
        if origin not in (None, f"http://{host}", f"https://{host}"):
            return "a page of another site cannot use this viewer"
        if self._has_token(request):
            return ""
        if not self._is_local:
            return "the token is missing or wrong. Open the whole address that was printed"
        if not _is_loopback(urlsplit(f"//{host}").hostname or ""):
            return "the host name does not belong to this viewer. Open the address that was printed"
        return ""

    def _has_token(self, request: Request) -> bool:
        cookies = request.headers.get("Cookie", "").split("; ")
        tokens = [_token_in(request), *(cookie.partition("=")[2] for cookie in cookies)]
        return any(secrets.compare_digest(text.encode(), self.token.encode()) for text in tokens)

    def _file(self, request: Request) -> Response:
        """Return viser's response. Add the token as a cookie if the address had the token."""
        viser = http.client.HTTPConnection(*self._inside, timeout=_TIME_LIMIT)
        with contextlib.closing(viser):
            encoding = {"Accept-Encoding": request.headers.get("Accept-Encoding", "identity")}
            viser.request("GET", urlsplit(request.path).path, headers=encoding)
            answer = viser.getresponse()
            headers = Headers([*answer.getheaders(), *_HEADERS.items(), ("Connection", "close")])
            if _token_in(request) and self._has_token(request):
                cookie = f"hrpsim_viewer_{self.port}={self.token}"
                headers["Set-Cookie"] = f"{cookie}; Path=/; HttpOnly; SameSite=Strict"
            return Response(answer.status, answer.reason, headers, answer.read())

    async def _show(self, page: ServerConnection) -> None:
        """Forward messages between a page and viser until either disconnects."""
        host, port = self._inside
        async with connect(
            f"ws://{host}:{port}/",
            subprotocols=[page.subprotocol] if page.subprotocol else None,
            compression=None,
            max_size=None,
            ping_interval=None,
            proxy=None,
        ) as viser:
            await asyncio.gather(_pass_on(page, viser, _PAUSE), _pass_on(viser, page))


async def _pass_on(source: Connection, target: Connection, pause: float = 0.0) -> None:
    """Forward messages until `source` disconnects, then close `target`.

    Wait while buffers are full.
    """
    with contextlib.suppress(ConnectionClosed):
        async for message in source:
            await target.send(message)
            await asyncio.sleep(pause)
    await target.close()


def _is_loopback(host: str) -> bool:
    """Return whether a host is a loopback address or name."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _token_in(request: Request) -> str:
    return parse_qs(urlsplit(request.path).query).get("token", [""])[0]


class PageFaults(logging.Filter):
    """Counts errors in the connections to pages, and logs at most one line per second.

    Call `install` once.
    """

    def __init__(self) -> None:
        super().__init__()
        self.count = 0
        self._next = 0.0

    def install(self) -> None:
        """Filter the loggers of viser's server."""
        for name in _LOGGERS:
            logging.getLogger(name).addFilter(self)

    def note(self, error: BaseException) -> None:
        """Count an error. Log the error unless another error was logged within the last second."""
        self.count += 1
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + _PERIOD
            cause = f"{type(error).__name__}: {str(error)[:200]}"
            line = f"hrpsim: viewer: what a page sent was left out ({cause}); {self.count} so far"
            print(line, file=sys.stderr, flush=True)

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether other handlers receive a record.

        Records about pages are logged here instead.
        """
        error = record.exc_info[1] if record.exc_info else None
        if error is None or not (record.name == _LOGGERS[0] or _is_viser_error(error)):
            return True
        if not type(error).__name__.startswith("ConnectionClosed"):  # the page only disconnected
            self.note(error)
        return False


def _is_viser_error(error: BaseException) -> bool:
    frame = error.__traceback__
    while frame is not None:
        if frame.tb_frame.f_globals.get("__name__", "").partition(".")[0] == "viser":
            return True
        frame = frame.tb_next
    return False


page_faults = PageFaults()
