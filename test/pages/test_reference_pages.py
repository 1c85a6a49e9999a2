# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Pages of docs/reference that say what code accepts say what it does accept."""

import importlib.util
import re
from pathlib import Path

from hrpsim import load_model
from hrpsim.model.extension import _READERS

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = ROOT / "docs" / "reference"


def test_the_page_of_the_command_line_is_that_of_the_commands():
    specification = importlib.util.spec_from_file_location("page", ROOT / "tools/command_line.py")
    tool = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(tool)
    page = (REFERENCE / "command_line.md").read_text(encoding="utf-8")
    assert page == tool.written(), "run tools/command_line.py"


def test_the_elements_of_descriptions_are_those_that_are_read():
    text = (REFERENCE / "robot_descriptions.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| (.+?) \| (.+?) \|", text, re.MULTILINE)
    assert [name for name, *_ in rows] == list(_READERS)
    for name, owner, _ in rows:
        assert all(word in owner for word in _READERS[name].owner.split(" or ")), name


def test_the_documented_description_is_read_whole():
    text = (REFERENCE / "robot_descriptions.md").read_text(encoding="utf-8")
    model = load_model(re.search(r"```xml\n(.*?)```", text, re.DOTALL)[1], base="fixed")
    assert model.gains == {"bush": (5000.0, 30.0)}
    assert model.system.stiffness.tolist() == [5e5]
    assert [sensor.name for sensor in model.sensors] == ["sole_sensor"]
    assert model.shapes[0].material == "rubber"
