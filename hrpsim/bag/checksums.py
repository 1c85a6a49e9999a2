# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Checksums of a bag that hrpsim recorded, in the custom data of metadata.yaml.

`checksums` has the CRC-32 of the bag's file, `crc32` of metadata.yaml itself. Bags of other
programs have neither.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from pathlib import Path

from hrpsim.common.errors import HrpsimError
from hrpsim.common.foreign.file_bytes import open_file
from hrpsim.common.sealed_text import UNSEALED, seal_holds, sealed

CHECKSUMS, OWN = "checksums", "crc32"  # keys in the custom data
_MARK = b"crc32: '"  # before the digits of metadata.yaml itself
_PART = 1 << 20  # bytes that are read at once


def announce(file: str, note: Callable[[str, str], object]) -> None:
    """Write placeholders of the checksums into a bag's custom data.

    `seal` replaces the placeholders when the bag is closed.

    Args:
        file: name of the bag's file of messages.
        note: function (key, value) that adds an entry to the custom data.
    """
    note(CHECKSUMS, f"{file} {UNSEALED.decode()}")
    note(OWN, UNSEALED.decode())


def seal(bag: Path, file: str) -> None:
    """Write the checksums of a closed bag. Raises OSError."""
    metadata, name = bag / "metadata.yaml", file.encode()
    digits = checksum(bag / file).encode()
    text = metadata.read_bytes().replace(name + b" " + UNSEALED, name + b" " + digits)
    part = metadata.with_suffix(".yaml.tmp")
    part.write_bytes(sealed(text, _MARK))
    part.replace(metadata)


def is_intact(metadata: bytes) -> bool | None:
    """Return whether the checksum of metadata.yaml is right, or None without a checksum."""
    return seal_holds(metadata, _MARK)


def checksum(path: Path) -> str:
    """Return the CRC-32 of a file as eight digits."""
    result = 0
    with open_file(path, HrpsimError, None) as file:
        while part := file.read(_PART):
            result = zlib.crc32(part, result)
    return f"{result:08x}"
