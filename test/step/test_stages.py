# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Each stage of the step says truly which arrays of the scene it reads and writes."""

import ast
import re
from pathlib import Path

import pytest
from step import scene_page
from step.effects import STAGES, arrays, effects_of, find_function, parts


def declared(function: ast.FunctionDef, what: str) -> set[str]:
    """Return the arrays that a docstring lists after "Reads:" or "Writes:"."""
    found = re.search(rf"{what}: ([^.]*)\.", ast.get_docstring(function))
    return set(re.split(r",\s+", found.group(1))) if found else set()


@pytest.mark.parametrize("stage", STAGES)
def test_a_stage_says_what_it_reads_and_writes(stage):
    module, function = find_function(f"hrpsim.engine.step.{STAGES[stage]}", stage)
    found = effects_of(module, stage)
    assert declared(function, "Reads") == parts(arrays(found.reads))
    assert declared(function, "Writes") == parts(arrays(found.writes))


def test_the_page_of_the_arrays_is_up_to_date():
    page = Path(__file__).resolve().parents[2] / "docs" / "reference" / "scene.md"
    assert page.read_text(encoding="utf-8") == scene_page.page()


def test_only_the_last_stages_write_the_state():
    """Positions and velocities change where a step begins, at impacts, and where it ends."""
    writers = {
        name
        for name, module in STAGES.items()
        if {"q", "velocity"} & arrays(effects_of(f"hrpsim.engine.step.{module}", name).writes)
    }
    assert writers == {
        "forward_kinematics",  # drifts to the middle of the step
        "find_contacts",  # goes back to its start where something fast would pass
        "resolve_impacts",
        "resolve_inelastic_impacts",
        "integrate",
        "restore_start",
    }
