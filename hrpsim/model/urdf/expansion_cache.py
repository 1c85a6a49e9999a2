# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Files that xacro has expanded, kept on disk: xacro takes a fifth of a second for a robot.

What an expansion depends on is known after it only: it notes each file, folder, package and
variable that it has looked at, and what was there. Of expansions of one text with the same
arguments and limits, one is used again where all that is as it was noted. Files are compared by
their content and must be ones that may be read now. The notes are JSON in files with a checksum;
what is damaged or cannot be kept costs time only.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from hrpsim import limits
from hrpsim.jit.kernel_files import VARIABLE, read_whole, remove_oldest, write_whole

_KEPT = 200  # expansions, the last used
_LARGEST = 2_000_000  # of one [bytes]


class Looks(NamedTuple):
    """How to look again at what an expansion depended on; each returns what is compared.

    They raise whatever the expansion itself would raise.
    """

    file: Callable[[str], str]
    folder: Callable[[str], list[str]]
    package: Callable[[str], str]


class Expanded(NamedTuple):
    """A description in plain URDF, with what xacro had to say of it."""

    text: str
    notes: list[str]  # warnings
    asked: list[str]  # arguments that the description has


def key_of(text: str, path: Path, arguments: Mapping[str, str], version: str) -> str:
    """Return what tells apart expansions whose notes need not be compared."""
    bounds = {name: value for name, value in vars(limits).items() if name.startswith("XACRO_")}
    told = [text, str(path.absolute()), dict(arguments), version, _code(), bounds, limits.YAML_SIZE]
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:40]


@lru_cache(maxsize=1)
def _code() -> str:
    expands = [Path(__file__), *sorted(Path(__file__).parent.glob("xacro_*.py"))]
    return hashlib.sha256(b"".join(file.read_bytes() for file in expands)).hexdigest()


def digest_of(text: str) -> str:
    """Return what stands for the content of a file."""
    return hashlib.sha256(text.encode()).hexdigest()


class Trace:
    """What an expansion has looked at: kind and name, and what was found."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, str], Any] = {}
        self.is_repeatable = True

    def note(self, kind: str, name: str, found: Any) -> None:
        """Note a look at a file, folder, package or variable."""
        self._seen[kind, name] = found

    def not_repeatable(self) -> None:
        """Note a look at something else: the expansion is not kept."""
        self.is_repeatable = False

    def as_list(self) -> list[list[Any]]:
        """Return [kind, name, found] of each look, in order."""
        return [[kind, name, found] for (kind, name), found in self._seen.items()]


def recall(key: str, looks: Looks) -> Expanded | None:
    """Return an expansion that was kept, if all that it depends on is as it was."""
    path = _folder() / f"{key}.json"
    content = read_whole(path)
    if content is None:
        return None
    try:
        kept = json.loads(content)
        if not all(_look(looks, kind, name) == found for kind, name, found in kept["seen"]):
            return None
        expanded = Expanded(kept["text"], kept["notes"], kept["asked"])
    except Exception:  # what is missing now, or may not be read, the expansion is to tell
        return None
    with contextlib.suppress(OSError):
        os.utime(path)
    return expanded


def keep(key: str, expanded: Expanded, trace: Trace) -> None:
    """Keep an expansion for later processes, if it can be written."""
    content = json.dumps({**expanded._asdict(), "seen": trace.as_list()}).encode()
    if not trace.is_repeatable or len(content) > _LARGEST:
        return
    with contextlib.suppress(OSError):
        write_whole(_folder() / f"{key}.json", content)
        remove_oldest(_folder(), "*.json", _KEPT)


def variable(name: str) -> str | None:
    """Return a variable of the environment, None where there is none."""
    return os.environ.get(name)


def _look(looks: Looks, kind: str, name: str) -> Any:
    if kind == "variable":
        return variable(name)
    return getattr(looks, kind)(name)


def _folder() -> Path:
    given = os.environ.get(VARIABLE)
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return (Path(given) if given else Path(home) / "hrpsim") / "descriptions"
