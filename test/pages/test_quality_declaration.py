# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""QUALITY_DECLARATION.md says what is so: its links lead somewhere, its claims hold."""

import re
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "QUALITY_DECLARATION.md").read_text()
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in TEXT.splitlines()
    if re.match(r"\| \d", line)
]
MET = {row[0]: row[2] == "yes" for row in ROWS}
STATEMENT = re.compile(
    r"(#!.*\n)?# Copyright \d{4} hrpsim developers\n# SPDX-License-Identifier: Apache-2\.0\n"
)


def test_every_item_says_yes_or_no_and_what_shows_it():
    assert {row[2] for row in ROWS} == {"yes", "no"}
    for item, _, _, shown in ROWS:
        linked = re.findall(r"\]\(([^)]+)\)", shown)
        assert linked, item
        assert all((ROOT / path).is_file() for path in linked), item


def test_what_is_met_is_shown_by_a_test():
    """Law: each claim is one that the tests would see broken."""
    claims = {item: shown for item, _, met, shown in ROWS if met == "yes"}
    assert [item for item, shown in claims.items() if "](test/" not in shown] == []


def test_the_readme_links_to_it():
    assert MET["3.v"] and "(QUALITY_DECLARATION.md)" in (ROOT / "README.md").read_text()


def test_what_can_be_compared_is_so():
    """Law: no claim outlives what it is about, and none is missing once it could be made."""
    package = ElementTree.parse(ROOT / "package.xml").getroot()
    assert MET["1.ii"] == (int(package.findtext("version").split(".")[0]) >= 1)
    assert MET["1.i"] == ("Semantic Versioning" in (ROOT / "CHANGELOG.md").read_text())
    licence = (ROOT / "LICENSE").read_text()
    assert MET["3.iii"] == (package.findtext("license") == "Apache-2.0" and "Apache" in licence)
    assert MET["7.i"] == ("## Reporting" in (ROOT / "SECURITY.md").read_text())


def test_copyright_statements_are_where_they_are_claimed():
    try:
        listed = subprocess.run(
            ["git", "ls-files", "*.py"], cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout.split()
    except (OSError, subprocess.CalledProcessError):
        listed = []
    if not listed:
        pytest.skip("no git repository to list the source files of")
    lacking = [path for path in listed if not STATEMENT.match((ROOT / path).read_text())]
    assert MET["3.iv"] == (not lacking), lacking


def test_level_three_is_claimed_when_nothing_is_missing():
    assert ("**Level 3 is not claimed yet**" in TEXT) == (not all(MET.values()))
