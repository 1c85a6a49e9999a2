# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""docs/reference/study_file.md has the entries, kinds and outcomes that the code has."""

import re
from pathlib import Path

import pytest

from hrpsim.common.schema import first_mistake
from hrpsim.sweeps.cells import STATUS
from hrpsim.sweeps.framework.design import KINDS, METHODS
from hrpsim.sweeps.study_file import OF_FUNCTIONS, OF_WORLDS, STUDY_FILE
from hrpsim.sweeps.worlds.world_paths import FRICTION, ROBOT_FACTORS
from hrpsim.sweeps.worlds.world_run import (
    ENTITY_OUTCOMES,
    ROBOT_OUTCOMES,
    WALK_OUTCOMES,
    WORLD_OUTCOMES,
)

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "study_file.md"
TEXT = PAGE.read_text(encoding="utf-8")


def first_column(heading):
    """Return the names in backquotes of the first column of the tables below a heading."""
    section = TEXT.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (`.*?) \|", section, re.MULTILINE)
    return [name for row in rows for name in re.findall(r"`([^`]+)`", row)]


def test_the_entries_are_those_that_are_read():
    told = set(first_column("Entries"))
    assert told == {"title", "find", "seed", "design", *OF_WORLDS, *OF_FUNCTIONS}
    _, _, mistake = first_mistake(STUDY_FILE, {"design": {}, "unknown": 1})
    assert all(name in mistake for name in ("title", "design"))


def test_designs_and_kinds_are_those_that_are_read():
    names = first_column("Designs")
    assert names == ["method", "count", "repeat", "parameters", "table", *KINDS]
    (methods,) = re.findall(r"^\| `method` \| name \| (.*) \|", TEXT, re.MULTILINE)
    assert tuple(re.sub(r" \(default\)", "", methods).split(", ")) == METHODS


@pytest.mark.parametrize("outcomes", [WORLD_OUTCOMES, ROBOT_OUTCOMES, WALK_OUTCOMES])
def test_every_outcome_is_told(outcomes):
    assert set(outcomes) <= set(first_column("Outcomes"))


def test_outcomes_of_entities_factors_and_friction_are_told():
    assert {name.removeprefix("ENTITY.") for name in first_column("Outcomes")} >= set(
        ENTITY_OUTCOMES
    )
    paths = {path.rpartition(".")[2] for path in first_column("Parameters by path")}
    assert paths >= {*ROBOT_FACTORS, *FRICTION}
    for code, name in STATUS.items():
        assert f"{code} {name}" in TEXT
