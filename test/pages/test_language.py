# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Pages and code are in plain English: they avoid idioms that a native reader would not expect."""

import re
import tokenize

import pytest
from pages.blocks import DOCS, ROOT

IDIOMS = re.compile(
    r"\b(tells?|telling|told|whom|anew|beside|stands? in|go(es)? on|gone on)\b", re.I
)
# Of docstrings and comments; `tell:` is a parameter in a list of arguments.
CODE_IDIOMS = re.compile(
    r"\b(tells?(?!:)|telling|told|whom|anew|stands? in|gone on with)\b|^\"\"\"Let ", re.I
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


@pytest.mark.parametrize(
    "file", sorted((ROOT / "hrpsim").rglob("*.py")), ids=lambda file: str(file.relative_to(ROOT))
)
def test_docstrings_and_comments_have_no_such_idioms(file):
    found = []
    with file.open("rb") as lines:
        for token in tokenize.tokenize(lines.readline):
            if token.type == tokenize.COMMENT or token.string.startswith(('"""', 'r"""')):
                text = re.sub(r"`[^`\n]*`", "", token.string)
                found += [(token.start[0], match[0]) for match in CODE_IDIOMS.finditer(text)]
    assert found == []
