# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Keep URDFs converted from MJCF files in the cache folder for later processes.

MuJoCo takes half a second to compile an MJCF with large meshes. Reading the result takes some
milliseconds. A kept text is valid as long as all files named in the MJCF are unchanged.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
from collections.abc import Callable
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from urllib.parse import unquote

from hrpsim.common.stored_files import read_whole, remove_oldest, write_whole
from hrpsim.engine.compile.kernel_folders import cache_for
from hrpsim.model.readers.mjcf.read import MjcfSource

Converted = tuple[str, tuple[str, ...]]  # the URDF, and what the MJCF had besides

_KEPT = 200  # texts, the most recently used
_URI = re.compile(r'"file://([^"]*)"')


def converted(text: str, path: Path, convert: Callable[[], Converted]) -> Converted:
    """Return the conversion of an MJCF, from `convert` now or from an earlier process."""
    key = _key_of(text, path)
    stored = folder() / f"{key}.mjcf.json"
    content = read_whole(stored) if key else None
    if content is not None:
        urdf, notes = json.loads(content)
        if all(Path(unquote(file)).is_file() for file in _URI.findall(urdf)):
            with contextlib.suppress(OSError):
                os.utime(stored)
            return urdf, tuple(notes)
    urdf, notes = convert()
    if key:
        with contextlib.suppress(OSError):
            write_whole(stored, json.dumps([urdf, notes]).encode())
            remove_oldest(stored.parent, "*.mjcf.json", _KEPT)
    return urdf, notes


@cache
def folder() -> Path:
    """Return the folder of the files. Each change of the code gives another folder."""
    return cache_for("model", "common/limits.py")


def _key_of(text: str, path: Path) -> str:
    """Return a hash of everything that the conversion depends on, or "" if a file is absent."""
    try:
        files = MjcfSource(text, path).files()
        if files is None:
            return ""
        digest = hashlib.sha256(version("mujoco").encode())
        for file in [path.resolve(), *files]:
            digest.update(f"{file} {file.stat().st_size}\n".encode("utf-8", "surrogateescape"))
            digest.update(hashlib.sha256(file.read_bytes()).digest())
    except (OSError, PackageNotFoundError):
        return ""
    return digest.hexdigest()[:40]
