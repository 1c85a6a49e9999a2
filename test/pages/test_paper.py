# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The paper-style page says what the measured pages say, and cites what it lists."""

import re

from pages.blocks import DOCS

PAGE = DOCS / "explanation" / "paper.md"
TEXT = PAGE.read_text(encoding="utf-8")


def test_figures_are_those_of_the_measured_pages():
    """Law: each figure stands, to the digit, in a cell of the page that it links to."""
    rows = re.findall(r"^\| (.+) \| (\S+) \| \[.+\]\((\S+)\) \|$", TEXT, re.MULTILINE)
    assert len(rows) > 10
    for what, figure, page in rows:
        lines = (PAGE.parent / page).read_text(encoding="utf-8").splitlines()
        cells = {part for line in lines if line[:1] == "|" for part in re.split(r"[| ]+", line)}
        assert figure in cells, (what, figure)


def test_it_has_the_parts_of_such_a_paper():
    parts = re.findall(r"^## (.+)$", TEXT, re.MULTILINE)
    wanted = ("Summary", "Statement of need", "State of the field", "Validation", "References")
    assert [part for part in wanted if part not in parts] == []


def test_what_is_cited_is_listed_and_what_is_listed_cited():
    body, listed = TEXT.split("## References")
    names = [line[2:].split(",")[0] for line in listed.strip().splitlines()]
    cited = {
        re.split(r" et al| and |, | \d", entry.strip())[0]
        for group in re.findall(r"\[([^\]]*\d{4})\](?!\()", body)
        for entry in group.split(";")
    }
    cited |= set(re.findall(r"([A-Z]\w+(?: [A-Z]\w+)?) et al\. \[\d{4}\]", body))
    cited.discard("")
    assert {re.sub(r"^\d{4}$", "", name) for name in cited} - {""} == set(names)
