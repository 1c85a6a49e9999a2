# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Code blocks of documentation pages, and what a comment before a block says that a test does.

    <!-- file: NAME -->      saved as NAME in the page's folder
    <!-- output -->          what the block before prints, to the letter
    <!-- status: N -->       run; the exit status of its last command is N
    <!-- parsed -->          not run: commands, options and parameters are looked up
    <!-- elsewhere: PATH --> not run here: the test at PATH runs it
    <!-- not run: WHY -->    not run

Without a comment, `python` runs in the page's own namespace, `sh` runs line by line, and yaml, xml
and text are only read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md"] + sorted(
    page
    for folder in ("tutorials", "howto")
    for page in (DOCS / folder).glob("*.md")
    if page.name != "index.md"
)
MARKS = ("file", "output", "status", "parsed", "elsewhere", "not run")
_BLOCK = re.compile(
    r"(?:^<!-- (?P<mark>[^>]*?) -->\n)?"
    r"^(?P<fence>`{3,})(?P<language>\w*)\n(?P<text>.*?)^(?P=fence)$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its text, and the mark before it with its argument."""

    language: str
    text: str
    mark: str
    argument: str
    line: int  # of the page, where the block begins

    def commands(self) -> list[str]:
        """Return the commands of a shell block, comments left out and long lines joined."""
        lines = self.text.replace("\\\n", " ").splitlines()
        lines = [re.sub(r"(^|\s+)#.*", "", line).strip() for line in lines]
        return [line for line in lines if line]


def blocks_of(page: Path) -> list[Block]:
    """Return the blocks of a page in their order; AssertionError for a mark that is none."""
    text = page.read_text(encoding="utf-8")
    found = []
    for match in _BLOCK.finditer(text):
        mark, _, argument = (match["mark"] or "").partition(": ")
        line = text.count("\n", 0, match.start("fence")) + 1
        assert mark in ("", *MARKS), f"{page}:{line}: {mark!r} is no mark"
        found.append(Block(match["language"], match["text"], mark, argument, line))
    return found
