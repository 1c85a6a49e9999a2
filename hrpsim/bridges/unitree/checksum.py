# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The checksum `crc` of Unitree's messages.

The checksum is CRC-32/MPEG-2 (polynomial 0x04c11db7, initial value 0xffffffff) of the words before
`crc` in the C structure. The most significant bit of each little-endian word is processed first.
zlib processes the least significant bit of each byte first. The words and the result are therefore
bit-reversed.
"""

from __future__ import annotations

import zlib

import numpy as np

_ALL_ONES = 0xFFFFFFFF
_REVERSED = np.array([int(f"{byte:08b}"[::-1], 2) for byte in range(256)], dtype=np.uint8)


def checksum(record: np.ndarray) -> int:
    """Return the checksum of a numpy record, shape (), excluding its last field `crc`."""
    return checksum_of_words(record.tobytes()[:-4])


def checksum_of_words(data: bytes) -> int:
    """Return the checksum of data that consist of little-endian words of 4 bytes."""
    words = np.frombuffer(data, dtype=np.uint8).reshape(-1, 4)
    reflected = zlib.crc32(_REVERSED[words[:, ::-1]].tobytes()) ^ _ALL_ONES
    return int(f"{reflected:032b}"[::-1], 2)
