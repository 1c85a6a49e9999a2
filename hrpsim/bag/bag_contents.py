# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Unpack the contents of a bag's files within limits."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple

from hrpsim.common import limits
from hrpsim.common.errors import HrpsimError
from hrpsim.common.extras import missing_package
from hrpsim.common.foreign.file_bytes import open_file

ZSTD = b"\x28\xb5\x2f\xfd"  # first bytes of zstd's compressed data, different from CDR
_PART = 1 << 20  # bytes in each step of decompression


class BagTopic(NamedTuple):
    """A topic in a file of a bag."""

    topic: str
    type_name: str  # "package/msg/Name"
    definition: str | None  # text with the type and the types within it, None: not in the bag
    encoding: str  # encoding of the messages


class Stored(NamedTuple):
    """A stored message of a file."""

    channel: int
    time: int  # time of reception [ns]
    data: bytes


class Unpacking:
    """Unpacker of the parts of a file, with limits for each part and for the sum.

    A few bytes can expand to terabytes. A part may have at most BAG_CHUNK bytes. All parts together
    may have at most BAG_EXPANSION times the file's `size` [bytes], or BAG_UNPACKED if that is more.
    Larger parts raise ValueError.
    """

    def __init__(self, size: int) -> None:
        self._left = max(limits.BAG_UNPACKED, limits.BAG_EXPANSION * size)

    def unpack(self, data: bytes, compression: str, size: int | None = None) -> bytes:
        """Return `data` unpacked: `size` bytes, or fewer if the data end early."""
        if compression not in ("zstd", "lz4"):
            raise ValueError(f"compression {compression!r} is not known. Known: zstd, lz4")
        most = min(limits.BAG_CHUNK if size is None else size, self._left)
        if size is not None and size > min(limits.BAG_CHUNK, self._left):
            raise ValueError(
                f"unpacks to {size} bytes, more than a limit in hrpsim.common.limits "
                "(BAG_CHUNK or BAG_EXPANSION)"
            )
        unpacker = _unpacker(compression)
        try:
            result = unpacker.decompress(data, max_length=most + 1)
        except Exception as error:  # each library has other exceptions
            raise ValueError(str(error)) from error
        self._left -= len(result)
        if not unpacker.eof or len(result) > most:
            raise ValueError("the compressed data are incomplete or too large")
        return result

    def unpack_file(self, source: Path, target: Path) -> str:
        """Unpack a zstd file. Return the damage, or "" for an intact file."""
        unpacker = _unpacker("zstd")
        with open_file(source, HrpsimError, None) as packed, target.open("wb") as file:
            while not unpacker.eof:
                part = packed.read(_PART) if unpacker.needs_input else b""
                if unpacker.needs_input and not part:
                    return "the compressed data are incomplete"
                try:
                    content = unpacker.decompress(part, max_length=_PART)
                except Exception as error:
                    return str(error)
                self._left -= len(content)
                if self._left < 0:
                    return "unpacks to more than the limit BAG_EXPANSION in hrpsim.common.limits"
                file.write(content)
        return ""


def _unpacker(compression: str):
    try:
        if compression == "lz4":
            import lz4.frame

            return lz4.frame.LZ4FrameDecompressor()
        if sys.version_info >= (3, 14):
            from compression import zstd
        else:
            from backports import zstd
    except ModuleNotFoundError as error:
        raise missing_package(f"a bag packed by {compression}", error) from error
    return zstd.ZstdDecompressor()
