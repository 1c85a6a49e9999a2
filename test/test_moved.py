# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Modules that moved can still be imported by the names that the documents gave."""

import importlib
import re
import sys
from pathlib import Path

import pytest

from hrpsim.moved import GO_WITH, MOVED

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "deprecation.md"


@pytest.mark.parametrize("old", MOVED)
def test_an_old_name_is_the_module_that_moved_and_says_so(old):
    """Law: one module, whichever name; its specification stays that of the new name."""
    if MOVED[old] == "hrpsim.crane.joystick":
        pytest.importorskip("rclpy")
    sys.modules.pop(old, None)
    with pytest.warns(DeprecationWarning, match=f"{MOVED[old]} now.*hrpsim {GO_WITH}"):
        module = importlib.import_module(old)
    assert module is importlib.import_module(MOVED[old])
    assert module.__spec__.name == MOVED[old]


def test_what_never_was_is_not_found():
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("hrpsim.control.never_was")


def test_the_page_lists_all_that_is_on_its_way_out():
    """Law: each old name with its new one, and a version that is a major one yet to come."""
    rows = re.findall(r"^\| `(.+)` \| `(.+)` \| (\S+) \| (\S+) \|$", PAGE.read_text(), re.MULTILINE)
    assert {old: new for old, new, *_ in rows} == {
        **MOVED,
        "hrpsim check-urdf": "hrpsim check-model",
    }
    assert {goes for *_, goes in rows} == {GO_WITH} and GO_WITH.endswith(".0")
    version = re.search(r"<version>(\d+)", (PAGE.parents[2] / "package.xml").read_text())[1]
    assert int(GO_WITH.split(".")[0]) > int(version)
