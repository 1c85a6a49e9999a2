# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The checksum `crc` of Unitree's messages.

The checksum is CRC-32/MPEG-2 (polynomial 0x04c11db7, start 0xffffffff) of the words of the
structure of C before `crc`. The highest bit of each little-endian word comes first. zlib reads the
lowest bit of each byte first, so zlib gets the reversed words, and the result is reversed too.
"""

from __future__ import annotations

import zlib

import numpy as np

_ALL_ONES = 0xFFFFFFFF
_REVERSED = np.array([int(f"{byte:08b}"[::-1], 2) for byte in range(256)], dtype=np.uint8)


def checksum(record: np.ndarray) -> int:
    """Return the checksum of a record () that ends with the field `crc`, without this field."""
    return checksum_of_words(record.tobytes()[:-4])


def checksum_of_words(data: bytes) -> int:
    """Return the checksum of whole little-endian words of 4 bytes."""
    words = np.frombuffer(data, dtype=np.uint8).reshape(-1, 4)
    reflected = zlib.crc32(_REVERSED[words[:, ::-1]].tobytes()) ^ _ALL_ONES
    return int(f"{reflected:032b}"[::-1], 2)
