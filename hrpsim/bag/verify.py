# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Check a bag: the checksums of its files, their structure, and every message."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from hrpsim.bag.reader import BagError, Metadata, StoredBag, timed_messages


class Checked(NamedTuple):
    """The result of a check."""

    problems: list[str]
    unchecked: list[str]  # what no checksum covers
    messages: int


def verify_bag(bag: Path) -> Checked:
    """Return what is damaged in a bag, and what no checksum covers.

    Args:
        bag: folder or file.

    Raises:
        BagError: for a path that is no bag.
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
    counts = Metadata(bag).counts() if bag.is_dir() else None
    for topic, count in (counts or {}).items():
        if (found := stored.counts.get(topic, 0)) != count:
            problems.append(f"{topic} has {found} messages of {count}")
    return Checked(problems, unchecked, stored.count)


def _why_unreadable(bag: Path, topic: str) -> str:
    """Read all messages of a topic. Return what fails, or ""."""
    try:
        for _ in timed_messages(bag, topic):
            pass
    except BagError as error:
        return str(error)
    return ""
