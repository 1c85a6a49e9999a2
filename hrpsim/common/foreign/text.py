# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Read text files in UTF-8."""

from pathlib import Path

from hrpsim.common import limits
from hrpsim.common.errors import HrpsimError
from hrpsim.common.foreign.file_bytes import read_bytes

_ENDS = "\n\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"  # of lines, for `str.splitlines`


def read_text(path: Path, error: type[HrpsimError], limit: str, what: str = "file") -> str:
    """Return the UTF-8 text of a file. All lines end in line feeds.

    Args:
        path: name of the file.
        error: class of the error.
        limit: name of the constant of `limits` that bounds the file's size.
        what: the file's purpose, for the message.

    Raises:
        error: the file cannot be read, is not a regular file, is larger, has more lines, or is not
            UTF-8.
    """
    data = read_bytes(path, error, limit, what)
    try:
        text = data.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as cause:
        line = data.count(b"\n", 0, cause.start) + 1
        raise error(
            f"{path}:{line}: not UTF-8: byte 0x{data[cause.start]:02x} at offset {cause.start}. "
            "Save the file as UTF-8"
        ) from cause
    most = limits.TEXT_LINES
    if len(text) > most and sum(map(text.count, _ENDS)) > most:
        raise error(f"{path}: {limits.excess('TEXT_LINES', 'lines')}")
    return text
