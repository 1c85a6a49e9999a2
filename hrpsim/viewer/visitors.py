# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Whom the viewer lets in: by the name he calls it, the page he comes from, the token he has."""

from __future__ import annotations

import hmac
import ipaddress
from dataclasses import dataclass
from http import HTTPStatus
from urllib.parse import parse_qs, urlsplit

_LOOPBACK_NAMES = ("localhost", "127.0.0.1", "::1")
_WORDS = {
    "name": "this viewer is not called so; open the address that was printed",
    "page": "a page of another site cannot use this viewer",
    "token": "the token is missing or wrong; open the whole address that was printed",
}


@dataclass(frozen=True)
class Request:
    """The head of an HTTP request."""

    target: str  # path and query
    lines: tuple[tuple[str, str], ...]  # names in small letters, values

    @classmethod
    def parse(cls, head: bytes) -> Request:
        """Return a request; ValueError for what is none that a browser would make."""
        first, *lines = head.decode("latin-1").rstrip("\r\n").split("\r\n")
        method, target, version = first.split(" ")
        if method != "GET" or not target.startswith("/") or not version.startswith("HTTP/1."):
            raise ValueError(first)
        fields = []
        for line in lines:
            name, separator, value = line.partition(":")
            if not separator or not name or name != name.strip():
                raise ValueError(line)
            fields.append((name.lower(), value.strip()))
        return cls(target, tuple(fields))

    @property
    def is_websocket(self) -> bool:
        """Whether it asks for a websocket."""
        return (self.field("upgrade") or "").lower() == "websocket"

    def field(self, name: str) -> str | None:
        """Return a field of the head, or None; ValueError where it stands there twice."""
        values = [value for field, value in self.lines if field == name]
        if len(values) > 1:
            raise ValueError(f"{name} twice")
        return values[0] if values else None

    def to_bytes(self) -> bytes:
        """Return the request as viser is to see it: without query and cookies."""
        path = self.target.partition("?")[0]
        kept = [f"{n}: {v}" for n, v in self.lines if n not in ("cookie", "connection", "upgrade")]
        if self.is_websocket:  # viser looks for this very word
            kept += ["Connection: Upgrade", "Upgrade: websocket"]
        else:
            kept.append("Connection: close")
        return "\r\n".join([f"GET {path} HTTP/1.1", *kept, "", ""]).encode("latin-1")


class Visitors:
    """Tells whom a viewer on `host` and `port` serves.

    The page that a request comes from (Origin), where a browser tells it, must be the viewer's own.
    Whoever has the token may come in. So may who calls the viewer by a name of the loopback
    address, if that is where it listens: then he is on this machine, and no name of a foreign site
    has led him here.
    """

    def __init__(self, host: str, port: int, token: str):
        self._token = token
        self._cookie = f"hrpsim_viewer_{port}"
        self._only_here = is_loopback(host)

    def refuse(self, request: Request) -> bytes | None:
        """Return what to answer to a request that is not served; None for one that is."""
        host, origin = request.field("host"), request.field("origin")
        if not host:
            return refusal(400, _WORDS["name"])
        own = [f"{scheme}://{host}".lower() for scheme in ("http", "https")]
        if origin is not None and origin.lower() not in own:
            return refusal(403, _WORDS["page"])
        if self._has_token(request):
            return None
        if not self._only_here:
            return refusal(403, _WORDS["token"])
        return None if _name_of(host) in _LOOPBACK_NAMES else refusal(403, _WORDS["name"])

    def cookie_line(self, request: Request) -> str:
        """Return the line that lets a browser keep a token that it has shown in the address."""
        if not self._is_token(_token_in(request.target)):
            return ""
        return f"Set-Cookie: {self._cookie}={self._token}; Path=/; HttpOnly; SameSite=Strict\r\n"

    def _has_token(self, request: Request) -> bool:
        cookies = (request.field("cookie") or "").split(";")
        pairs = [cookie.strip().partition("=") for cookie in cookies]
        kept = [value for name, _, value in pairs if name == self._cookie]
        return any(map(self._is_token, [_token_in(request.target), *kept]))

    def _is_token(self, text: str) -> bool:
        return hmac.compare_digest(text.encode(), self._token.encode())


def is_loopback(host: str) -> bool:
    """Return whether only this machine reaches an address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def refusal(status: int, text: str) -> bytes:
    """Return an HTTP response that says why there is no other one."""
    body = f"hrpsim: {text}\n".encode()
    head = (
        f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\nContent-Type: text/plain\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    return head.encode() + body


def _token_in(target: str) -> str:
    return parse_qs(urlsplit(target).query).get("token", [""])[0]


def _name_of(host: str) -> str:
    """Return the name in a Host field, without the port."""
    return (urlsplit(f"//{host}").hostname or "").lower()
