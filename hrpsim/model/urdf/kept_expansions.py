# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Expansions of xacro, stored on disk: xacro takes a fifth of a second for a robot.

An expansion is stored with hashes of the files that it included and with the packages that it
found, and used again while all of them are the same. One that may depend on more (YAML files,
variables, files named by a pattern) is not stored. What is damaged or cannot be written costs time
only.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from hrpsim.jit.kernel_files import VARIABLE, read_whole, remove_oldest, write_whole
from hrpsim.model.urdf.resources import Resources

_STORED = 200  # expansions, the last used
_DEPENDS_ON_MORE = re.compile(r"load_yaml|\$\((env|optenv|cwd|eval)\b|filename\s*=[^>]*[*?[]")


class Expansion(NamedTuple):
    """A description in plain URDF and what it was made from."""

    text: str
    asked: list[str]  # arguments that the description has
    included: list[str]  # files
    packages: dict[str, str]  # folder by name of each package that $(find) found


def key_of(text: str, path: Path, arguments: Mapping[str, str], version: str) -> str:
    """Return the key of expansions of one text, at one place, with the same arguments."""
    of = [text, str(path.absolute()), dict(arguments), version]
    return hashlib.sha256(json.dumps(of, sort_keys=True).encode()).hexdigest()[:40]


def recall(key: str, resources: Resources) -> Expansion | None:
    """Return a stored expansion if the files and packages that it used are as they were."""
    path = _folder() / f"{key}.json"
    content = read_whole(path) if key else None
    if content is None:
        return None
    try:
        stored = json.loads(content)
        expansion = Expansion(**stored["expansion"])
        same = [_hash_of(name) for name in expansion.included] == stored["hashes"] and all(
            str(resources.packages(name)[0]) == folder
            for name, folder in expansion.packages.items()
        )
    except (OSError, ValueError, KeyError, TypeError, IndexError):
        return None
    with contextlib.suppress(OSError):
        os.utime(path)
    return expansion if same else None


def keep(key: str, text: str, expansion: Expansion) -> None:
    """Store what became of `text`, unless the key is "" or it may depend on more than is known."""
    with contextlib.suppress(OSError, ValueError):
        files = [Path(name) for name in expansion.included]
        read = [text, *(file.read_text(encoding="utf-8") for file in files)]
        if not key or any(map(_DEPENDS_ON_MORE.search, read)):
            return
        hashes = [_hash_of(name) for name in expansion.included]
        content = json.dumps({"expansion": expansion._asdict(), "hashes": hashes}).encode()
        write_whole(_folder() / f"{key}.json", content)
        remove_oldest(_folder(), "*.json", _STORED)


def _hash_of(file: str) -> str:
    return hashlib.sha256(Path(file).read_bytes()).hexdigest()


def _folder() -> Path:
    given = os.environ.get(VARIABLE)
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return (Path(given) if given else Path(home) / "hrpsim") / "descriptions"
