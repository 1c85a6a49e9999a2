# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Check a bag: checksums and structure of the files, and every message."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from hrpsim.bag.metadata import BagError, Metadata
from hrpsim.bag.reader import StoredBag, timed_messages


class Checked(NamedTuple):
    """The result of a check: damage, parts without a checksum, and the number of messages."""

    problems: list[str]
    unchecked: list[str]  # files without a checksum
    messages: int


def _lost_messages(bag: Path, counts: Mapping[str, int]) -> list[str]:
    """Return texts about topics whose number of messages differs from metadata.yaml."""
    return [
        f"{topic} has {counts.get(topic, 0)} messages of {count}"
        for topic, count in (Metadata(bag).counts() or {}).items()
        if counts.get(topic, 0) != count
    ]


def verify_bag(bag: Path) -> Checked:
    """Return the damaged parts of a bag, and the parts without a checksum.

    Args:
        bag: folder or file.

    Raises:
        BagError: for a path that is not a bag.
    """
    if not bag.exists():
        raise BagError(f"there is no bag {str(bag)!r}")
    stored = StoredBag(bag)
    problems = [stored.missing] if stored.missing else []
    unchecked = []
    for file in stored.files:
        problems += [f"{file.path.name}: {text}" for text in file.problems()]
        if not stored.has_checksums and (text := file.unchecked()):
            unchecked.append(f"{file.path.name}: {text}")
    problems += filter(None, (_why_unreadable(bag, topic) for topic in stored.channels))
    problems += _lost_messages(bag, stored.counts) if bag.is_dir() else []
    return Checked(problems, unchecked, stored.count)


def _why_unreadable(bag: Path, topic: str) -> str:
    """Read all messages of a topic. Return the error as text, or ""."""
    try:
        for _ in timed_messages(bag, topic):
            pass
    except BagError as error:
        return str(error)
    return ""
