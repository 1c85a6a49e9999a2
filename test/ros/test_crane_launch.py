# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""crane.launch.py: loaded by the real launch where there is one, else read."""

import ast
import importlib.util
import re
from pathlib import Path

import pytest

from evidence.crane.control import PARAMETERS as CRANE_PARAMETERS
from hrpsim.control import find_controller
from hrpsim.ros.base.parameters import SPECIFICATIONS
from hrpsim.ros.controller.controller_node import PARAMETERS

ROOT = Path(__file__).resolve().parents[2]
FILE = ROOT / "launch" / "crane.launch.py"


def test_what_it_names_exists():
    text = FILE.read_text()
    keys = {
        key.value
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Dict)
        for key in node.keys
    }
    names = {*SPECIFICATIONS, *PARAMETERS}
    assert keys - {"use_sim_time"} <= names
    assert set(re.findall(r'"(\w+):="', text)) <= set(CRANE_PARAMETERS)
    assert find_controller(re.search(r'"controller": "([^"]+)"', text)[1])
    assert all((ROOT / "config" / name).is_file() for name in re.findall(r"\w+\.yaml", text))


def test_real_launch_loads_it():
    pytest.importorskip("launch", reason="launch is not installed")
    pytest.importorskip("launch_ros", reason="launch_ros is not installed")
    specification = importlib.util.spec_from_file_location("hrpsim_launch", FILE)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    names = {a.name for a in module.generate_launch_description().get_launch_arguments()}
    assert {"grip", "acceleration", "joystick", "world_file"} <= names
