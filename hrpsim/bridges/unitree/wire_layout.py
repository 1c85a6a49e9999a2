# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Messages of fixed size, as a C structure and as the bytes on the wire (plain CDR).

Both forms contain the same numbers. C aligns each structure to its largest number and pads the end.
CDR aligns each number by itself. Conversion between the forms is therefore a permutation of bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from hrpsim.common.errors import WorldError

ENCAPSULATION = b"\x00\x01\x00\x00"  # CDR, little-endian
_LITTLE_ENDIAN = (1, 7)  # plain CDR of versions 1 and 2, equal without numbers of 8 bytes
_HEADER_LENGTH = len(ENCAPSULATION)


class WireField(NamedTuple):
    """A field of a message: a number or a structure, or an array of these."""

    name: str
    kind: str | Sequence[WireField]  # numpy's name of a number type, or the fields of a structure
    count: int = 1  # 1 is not an array


class Layout:
    """The layout of one message in memory and on the wire.

    Args:
        name: type of the message, for errors.
        fields: fields in order.

    Attributes:
        dtype: numpy dtype of the C structure, little-endian.
        wire_size: length on the wire, without the encapsulation header [bytes].
    """

    def __init__(self, name: str, fields: Sequence[WireField]) -> None:
        self.name = name
        self.dtype = _structure(fields)
        in_c, on_wire, end = [], [], 0
        for offset, size in _numbers(self.dtype):
            start = -(-end // size) * size
            in_c += range(offset, offset + size)
            on_wire += range(start, start + size)
            end = start + size
        self.wire_size = end
        self._in_c, self._on_wire = np.array(in_c), np.array(on_wire) + _HEADER_LENGTH

    def empty(self) -> np.ndarray:
        """Return a numpy record with all numbers zero, shape ()."""
        return np.zeros((), dtype=self.dtype)

    def read(self, data: bytes) -> np.ndarray:
        """Parse a serialised message. Return a numpy record, shape ().

        Raises:
            WorldError: the message is too short or big-endian.
        """
        if len(data) < _HEADER_LENGTH + self.wire_size:
            raise WorldError(
                f"{self.name} has {len(data)} bytes instead of {_HEADER_LENGTH + self.wire_size}. "
                "Sender and receiver have different definitions of this type"
            )
        if data[1] not in _LITTLE_ENDIAN:
            raise WorldError(
                f"{self.name} has the encoding {data[:2].hex()}. Send it as little-endian CDR"
            )
        record = self.empty()
        _bytes_of(record)[self._in_c] = np.frombuffer(data, dtype=np.uint8)[self._on_wire]
        return record

    def write(self, record: np.ndarray) -> bytes:
        """Serialise a numpy record, shape ()."""
        data = np.zeros(_HEADER_LENGTH + self.wire_size, dtype=np.uint8)
        data[:_HEADER_LENGTH] = np.frombuffer(ENCAPSULATION, dtype=np.uint8)
        data[self._on_wire] = _bytes_of(record)[self._in_c]
        return data.tobytes()


def _structure(fields: Sequence[WireField]) -> np.dtype:
    items = []
    for name, kind, count in fields:
        of_one = np.dtype("<" + kind) if isinstance(kind, str) else _structure(kind)
        items.append((name, of_one) if count == 1 else (name, of_one, (count,)))
    return np.dtype(items, align=True)


def _numbers(dtype: np.dtype, start: int = 0) -> Iterator[tuple[int, int]]:
    """Yield offset and size of each number of a structure [bytes]."""
    if dtype.subdtype is not None:
        of_one, shape = dtype.subdtype
        for k in range(shape[0]):
            yield from _numbers(of_one, start + k * of_one.itemsize)
    elif dtype.fields is not None:
        for name in dtype.names or ():
            of_field, offset = dtype.fields[name][:2]
            yield from _numbers(of_field, start + offset)
    else:
        yield start, dtype.itemsize


def _bytes_of(record: np.ndarray) -> np.ndarray:
    return record.reshape(1).view(np.uint8)
