# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Texts that contain a checksum, such as the metadata of stores and bags."""

from __future__ import annotations

import zlib

UNSEALED = b"0" * 8  # in place of the digits, while the checksum is computed


def sealed(text: bytes, mark: bytes) -> bytes:
    """Return a text with the checksum after the last `mark`, in place of UNSEALED."""
    head, _, tail = text.rpartition(mark + UNSEALED)
    return head + mark + _digits(text) + tail


def seal_holds(text: bytes, mark: bytes) -> bool | None:
    """Return whether the checksum in a text is right, or None without a checksum."""
    head, separator, tail = text.rpartition(mark)
    if not separator:
        return None
    return tail[:8] == _digits(head + mark + UNSEALED + tail[8:])


def _digits(text: bytes) -> bytes:
    return b"%08x" % zlib.crc32(text)
