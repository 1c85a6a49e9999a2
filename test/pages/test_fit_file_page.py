# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""docs/reference/fit_file.md has the entries that the code has."""

import re
from pathlib import Path

from hrpsim.fitting.fit_study import EXCITATION, OPTIONS, RECORDING, REQUIRED, UNKNOWN
from hrpsim.fitting.recordings.measured_motion import KINDS

TEXT = (Path(__file__).resolve().parents[2] / "docs/reference/fit_file.md").read_text("utf-8")


def first_column(heading):
    """Return the names in backquotes of the first column of the table below a heading."""
    section = TEXT.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (`.*?) \|", section, re.MULTILINE)
    return {name for row in rows for name in re.findall(r"`([^`]+)`", row)}


def test_the_entries_are_those_that_are_read():
    assert first_column("Entries") == {*OPTIONS, *REQUIRED}
    assert first_column("Recordings") == {"file", *RECORDING}
    assert first_column("Parameters") == {"start", *UNKNOWN}
    assert first_column("Excitation") == set(EXCITATION)
    assert all(kind in TEXT for kind in KINDS)
