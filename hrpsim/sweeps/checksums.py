# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Checksums of a store's files, stored in the attributes of the store (.zattrs).

The attribute `checksums` has the CRC-32 of every other file: one text for each folder, with eight
digits for each file in the order of names. The attribute `crc32` covers the file .zattrs itself.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from pathlib import Path

from hrpsim.common.foreign.file_bytes import read_bytes
from hrpsim.common.foreign.json_text import parse_json
from hrpsim.common.sealed_text import UNSEALED, seal_holds, sealed
from hrpsim.sweeps.framework.scenario import SweepError

CHECKSUMS, OWN = "checksums", "crc32"
_ATTRIBUTES = ".zattrs"
_MARK = b'"crc32": "'  # before the digits of .zattrs itself


def seal(store: Path) -> None:
    """Add the checksums to the attributes of a store that was just written."""
    file = store / _ATTRIBUTES
    metadata = json.loads(file.read_bytes())
    metadata[CHECKSUMS] = json.dumps({name: "".join(sums) for name, _, sums in _folders(store)})
    metadata[OWN] = UNSEALED.decode()
    file.write_bytes(sealed(json.dumps(metadata, indent=1).encode(), _MARK))


def damage(store: Path) -> tuple[list[str], bool]:
    """Check the checksums of a store.

    Stores of earlier versions have no checksums. Raises ValueError for unreadable files.

    Returns:
        (texts about files with wrong checksums, whether the store has checksums).
    """
    text = read_bytes(store / _ATTRIBUTES, SweepError, "STORE_SIZE")
    metadata, holds = parse_json(text), seal_holds(text, _MARK)
    if holds is None and CHECKSUMS not in metadata:
        return [], False
    if not holds:
        return [f"{_ATTRIBUTES}: the checksum does not match"], True
    there = {name: (files, sums) for name, files, sums in _folders(store)}
    problems = []
    for name, expected in parse_json(metadata[CHECKSUMS]).items():
        parts = [expected[k : k + 8] for k in range(0, len(expected), 8)]
        problems += _differences(name, *there.pop(name, ([], [])), parts)
    return problems + [f"{name} does not belong to the store" for name in there], True


def _differences(name: str, files: list[str], sums: list[str], expected: list[str]) -> list[str]:
    """Return texts about wrong checksums, or about a wrong number of files, in a folder."""
    if len(sums) != len(expected):
        return [f"{name or 'the group'} has {len(sums)} files of {len(expected)}"]
    where = f"{name}/" if name else ""
    changed = [file for file, own, other in zip(files, sums, expected) if own != other]
    return [f"{where}{file}: the checksum does not match" for file in changed]


def _folders(store: Path) -> Iterator[tuple[str, list[str], list[str]]]:
    """Yield each folder with a checksum for each file name."""
    for folder in sorted((store, *(path for path in store.rglob("*") if path.is_dir()))):
        name = "" if folder == store else str(folder.relative_to(store))
        files = sorted(
            path for path in folder.iterdir() if path.is_file() and path != store / _ATTRIBUTES
        )
        sums = [f"{zlib.crc32(read_bytes(path, SweepError, 'STORE_SIZE')):08x}" for path in files]
        yield name, [path.name for path in files], sums
