# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Pages are in plain English: they avoid idioms that a native reader would not expect there."""

import re

import pytest
from pages.blocks import DOCS, ROOT

IDIOMS = re.compile(
    r"\b(tells?|telling|told|whom|anew|beside|stands? in|go(es)? on|gone on)\b", re.I
)
# Written by programs, from texts of the code; and the past of the changelog.
OTHERS = "CHANGELOG", "benchmarks", "simbenchmark", "faults", "scene", "licences"
PAGES = [
    page
    for page in (*ROOT.glob("*.md"), *sorted(DOCS.rglob("*.md")))
    if page.stem not in OTHERS and page.parent.name != "verification"
]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_has_no_such_idioms(page):
    text = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.S)
    assert [match[0] for match in IDIOMS.finditer(text)] == []
