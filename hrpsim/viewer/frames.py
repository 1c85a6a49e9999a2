# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Messages of a page on their way to viser (RFC 6455): sound, not too large and not too many.

What viser cannot have asked for is left out: bytes that are no message, numbers that are not
finite, files to upload, and the wish to show the world through a public relay.
"""

from __future__ import annotations

import asyncio
import math
import struct
import time
from collections.abc import AsyncIterator
from typing import NamedTuple

import msgspec

_RATE, _AT_ONCE = 100.0, 400  # messages a second: a page that is dragged about sends some 80
_BYTES, _BYTES_AT_ONCE = 2.0e6, 8.0e6  # a second, or one of the largest messages
_MOST_JUNK = 20  # messages, until a page is not listened to any more
_UNASKED = ("FileTransfer", "ShareUrl")  # how the names of messages begin that nobody may send
_CONTINUATION, _BINARY, CLOSE, PONG = 0x0, 0x2, 0x8, 0xA
_DEEPEST = 20


class TooMuch(ValueError):
    """A page that breaks the rules of websockets or the limits here."""


class Frame(NamedTuple):
    """A frame of a websocket."""

    final: bool  # whether it is a message's last
    code: int  # its kind
    payload: bytes


class Allowance:
    """What may be spent: `rate` a second, and `at_once` after a rest."""

    def __init__(self, rate: float, at_once: float):
        self._rate, self._most = rate, at_once
        self._left, self._seen = at_once, time.monotonic()

    async def spend(self, amount: float) -> None:
        """Wait until the amount may be spent, and spend it."""
        now = time.monotonic()
        self._left = min(self._most, self._left + (now - self._seen) * self._rate) - amount
        self._seen = now
        if self._left < 0.0:
            await asyncio.sleep(-self._left / self._rate)


async def pass_messages(
    frames: AsyncIterator[Frame], writer, largest: int, of_all: Allowance
) -> None:
    """Pass the frames of a page on to viser until it leaves.

    of_all: what all pages may send together. Raises TooMuch for a message of more than `largest`
    bytes, and for a page that sends junk.
    """
    messages = Allowance(_RATE, _AT_ONCE)
    volume = Allowance(max(_BYTES, largest), max(_BYTES_AT_ONCE, largest))
    parts: list[bytes] = []
    junk = size = 0
    async for final, code, payload in frames:
        await messages.spend(1)
        await of_all.spend(1)
        await volume.spend(len(payload))
        if code >= CLOSE:
            writer.write(_packed(code, payload))
            continue
        size += len(payload)
        if size > largest or (code == _CONTINUATION) != bool(parts):
            raise TooMuch("a message that is too large or out of order")
        parts.append(payload)
        if not final:
            continue
        message = b"".join(parts)
        parts, size = [], 0
        if is_sound(message):
            writer.write(_packed(_BINARY, message))
            await writer.drain()
        else:
            junk += 1
            if junk > _MOST_JUNK:
                raise TooMuch("what it sends are no messages")


def is_sound(message: bytes) -> bool:
    """Return whether bytes are a message that a page may send to viser."""
    try:
        content = msgspec.msgpack.decode(message)
    except (ValueError, RecursionError):
        return False
    if not isinstance(content, dict) or not isinstance(content.get("type"), str):
        return False
    return not content["type"].startswith(_UNASKED) and _is_finite(content)


def _is_finite(value, depth: int = 0) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, dict):
        value = value.values()
    elif not isinstance(value, list):
        return True
    return depth < _DEEPEST and all(_is_finite(item, depth + 1) for item in value)


async def frame(reader, largest: int) -> Frame:
    """Return the next frame of a page; TooMuch for one that is none or too large."""
    first, second = await reader.readexactly(2)
    size = second & 0x7F
    if size == 126:
        (size,) = struct.unpack("!H", await reader.readexactly(2))
    elif size == 127:
        (size,) = struct.unpack("!Q", await reader.readexactly(8))
    code = first & 0x0F
    if not second & 0x80 or first & 0x70 or size > (125 if code >= CLOSE else largest):
        raise TooMuch("a frame that is too large, or not of RFC 6455")
    key = await reader.readexactly(4)
    return Frame(bool(first & 0x80), code, _unmasked(await reader.readexactly(size), key))


def _unmasked(payload: bytes, key: bytes) -> bytes:
    keys = (key * (len(payload) // 4 + 1))[: len(payload)]
    number = int.from_bytes(payload, "big") ^ int.from_bytes(keys, "big")
    return number.to_bytes(len(payload), "big")


def _packed(code: int, payload: bytes) -> bytes:
    """Return a frame of a client, its mask zero."""
    size = len(payload)
    if size < 126:
        head = struct.pack("!BB", 0x80 | code, 0x80 | size)
    elif size < 65536:
        head = struct.pack("!BBH", 0x80 | code, 0xFE, size)
    else:
        head = struct.pack("!BBQ", 0x80 | code, 0xFF, size)
    return head + b"\0\0\0\0" + payload
