# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A writer of bags whose MCAP chunks have checksums. Needs rosbags."""

from __future__ import annotations

import struct
import zlib

from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.rosbag2.storage_mcap import McapWriter

_CHECKSUM = struct.Struct("<I")
_CHECKSUM_AT = 1 + 8 + 3 * 8  # in a chunk: after kind, length, two times and the unpacked size


class _CheckedMcap(McapWriter):
    """Adds a checksum to each chunk. Damage is then found even if the end of the file is lost."""

    def close_chunk(self) -> None:
        checksum, begin = zlib.crc32(self.chunk.bio.getvalue()), self.bio.tell()
        super().close_chunk()
        end = self.bio.tell()
        self.bio.seek(begin + _CHECKSUM_AT)
        self.bio.write(_CHECKSUM.pack(checksum))
        self.bio.seek(end)


class CheckedWriter(Writer):
    """A writer of bags whose chunks have checksums."""

    STORAGE_PLUGINS = {**Writer.STORAGE_PLUGINS, StoragePlugin.MCAP: _CheckedMcap}
