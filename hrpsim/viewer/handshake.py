# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""How a page comes in (RFC 6455): it asks for a websocket, and shows that it reads what it is sent.

To show the world to a page costs the most of all that a page can ask for: the whole scene once, and
then every frame. So the gate itself agrees to the websocket and sends a ping, which browsers answer
at once. Nothing of viser has run for a page before its pong is here.
"""

from __future__ import annotations

import base64
import hashlib
import secrets
import struct
from collections.abc import AsyncIterator

from hrpsim.viewer.frames import CLOSE, PONG, Frame, TooMuch, frame
from hrpsim.viewer.visitors import Request

BUSY = 1013  # close code: try again later
_PROTOCOL = "viser-v"  # how the protocols begin of which viser takes the first
_GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
_PING, _PING_SIZE = 0x89, 8
_EARLY = 100  # frames that a page may send before its pong


def agreement(request: Request) -> bytes:
    """Return the answer that opens a websocket, as viser would give it; ValueError for no key."""
    key = request.field("sec-websocket-key") or ""
    if len(base64.b64decode(key, validate=True)) != 16:
        raise ValueError(key)
    accepted = base64.b64encode(hashlib.sha1(key.encode() + _GUID).digest()).decode()
    lines = ["Upgrade: websocket", "Connection: Upgrade", f"Sec-WebSocket-Accept: {accepted}"]
    offered = (request.field("sec-websocket-protocol") or "").split(",")
    known = [name.strip() for name in offered if name.strip().startswith(_PROTOCOL)]
    lines += [f"Sec-WebSocket-Protocol: {name}" for name in known[:1]]
    return "\r\n".join(["HTTP/1.1 101 Switching Protocols", *lines, "", ""]).encode()


async def frames_before_pong(reader, writer, largest: int) -> list[Frame]:
    """Send a ping and return the frames that come before its pong.

    largest: what they may hold together [bytes]. Raises TooMuch for more than that.
    """
    word = secrets.token_bytes(_PING_SIZE)
    writer.write(bytes((_PING, _PING_SIZE)) + word)
    early: list[Frame] = []
    size = 0
    while True:
        one = await frame(reader, largest)
        if one.code == PONG and one.payload == word:
            return early
        early.append(one)
        size += len(one.payload)
        if one.code == CLOSE or len(early) > _EARLY or size > largest:
            raise TooMuch("a page that does not answer")


async def all_frames(early: list[Frame], reader, largest: int) -> AsyncIterator[Frame]:
    """Yield the frames that came before the pong, then those that come."""
    for one in early:
        yield one
    while True:
        yield await frame(reader, largest)


def farewell(code: int) -> bytes:
    """Return the frame that ends a websocket and says why."""
    return struct.pack("!BBH", 0x80 | CLOSE, 2, code)
