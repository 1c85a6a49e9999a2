# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Messages of fixed layout, serialised once. Each publication overwrites stamps and numbers.

A typed TFMessage of 37 transforms takes about 200 us to publish from Python, because every field is
converted. The serialised form always has the same layout, so the offsets of the stamps and of the
float64 fields suffice. One publication then costs a few microseconds.

The offsets are found by search. The middleware serialises a message with unique marks in these
fields, and the marks are searched in the result.
"""

from __future__ import annotations

import struct
from collections.abc import Callable

import numpy as np
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.publisher import Publisher
from rclpy.serialization import deserialize_message, serialize_message

from hrpsim.ros.base.stamps import Stamp

_HEADER_LENGTH = 4  # CDR encapsulation, excluded from the alignment
_STAMP = struct.Struct("=iI")
_STAMP_MARK = Stamp(0x2B5E1D07, 0x13C5A91B)
_FIRST_NUMBER_MARK = 3.0e15  # integers up to 2**53 are exact in float64


class SerializedTemplate:
    """Publishes one message repeatedly with new stamps and numbers.

    `fill(message, stamp, numbers)` writes a builtin_interfaces/Time `stamp` and the sequence
    `numbers` of `count` floats into a typed message. `fill` defines the order of `numbers` in
    `publish`. `fill` is called once, with distinct values that show the position of each number.
    """

    def __init__(
        self, publisher: Publisher, message, fill: Callable[..., None], count: int
    ) -> None:
        # Not `publisher.publish`: its checks take as much time as all of this.
        self._handle = publisher.handle
        self._sent = getattr(publisher, "sent", [0])
        self.numbers = np.zeros(count)  # filled by the caller before `publish`
        marks = _FIRST_NUMBER_MARK + np.arange(count)
        fill(message, _STAMP_MARK.to_message(), [float(mark) for mark in marks])
        serialized = np.frombuffer(_serialized(message), dtype=np.uint8)

        storage = np.zeros(len(serialized) + _HEADER_LENGTH, dtype=np.uint8)
        self._buffer = storage[_HEADER_LENGTH:]  # the body is then also aligned in memory
        self._buffer[:] = serialized
        body = storage[2 * _HEADER_LENGTH :]
        self._bytes = memoryview(body)
        self._floats = body[: len(body) // 8 * 8].view(np.float64)
        self._stamp_offsets = _offsets_of_stamps(body[: len(body) // 4 * 4].view(np.uint32))
        self._number_indices = _indices_of_numbers(self._floats, marks)

    @property
    def is_heard(self) -> bool:
        """Whether the topic has a subscription."""
        return self._handle.get_subscription_count() > 0

    def publish(self, stamp: Stamp) -> None:
        """Publish the message with `stamp` in every header and the present `numbers`."""
        for offset in self._stamp_offsets:
            _STAMP.pack_into(self._bytes, offset, *stamp)
        self._floats[self._number_indices] = self.numbers
        self._handle.publish_raw(self._buffer.tobytes())
        self._sent[0] += 1


def _serialized(message) -> bytes:
    """Return the message as a publisher sends the message, without trailing bytes.

    serialize_message counts padding before the numbers of empty arrays, although the padding is not
    written. Up to 7 undefined bytes follow for each array. Strict readers of bags (rosbags) reject
    such bytes.
    """
    data = serialize_message(message)
    while _is_whole(shorter := data[:-1], type(message)):
        data = shorter
    return data


def _is_whole(data: bytes, message_type: type) -> bool:
    try:
        deserialize_message(data, message_type)
    except rclpy_implementation.RMWError:
        return False
    return True


def _offsets_of_stamps(words: np.ndarray) -> list[int]:
    is_stamp = (words[:-1] == _STAMP_MARK.seconds) & (words[1:] == _STAMP_MARK.nanoseconds)
    return (4 * np.flatnonzero(is_stamp)).tolist()


def _indices_of_numbers(floats: np.ndarray, marks: np.ndarray) -> np.ndarray:
    """Return the first index of each mark. Undefined bytes after the end may repeat a mark."""
    indices = np.flatnonzero(np.isin(floats, marks))
    unique, first = np.unique(floats[indices], return_index=True)
    indices = indices[first]
    if not np.array_equal(unique, marks):
        raise RuntimeError(
            f"{len(indices)} of {len(marks)} numbers found in the serialised message: "
            "the middleware does not use plain CDR with 8-byte alignment"
        )
    return indices
