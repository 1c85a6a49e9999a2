# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Every example runs to its end, where it checks a law; notebooks hold no output."""

from __future__ import annotations

import ast
import json
import re
import runpy
from pathlib import Path

import pytest
from grouped import ros_group

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SCRIPTS = sorted(EXAMPLES.glob("*.py"))
NOTEBOOKS = sorted(EXAMPLES.glob("notebooks/*.ipynb"))
NEEDS = {
    "mujoco_names": "mujoco",
    "onnx_policy": "onnxruntime",
    "read_bag": "rosbags",
    "ros_client": "rclpy",
    "tsid_walking": "tsid",
}
LINES, HEAD = 60, 3  # of a script; of the copyright statement above it


def code_cells(notebook):
    """Return the texts of a notebook's code cells."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]


def asserts(code):
    """Return how many assertions a text of Python has."""
    return sum(isinstance(node, ast.Assert) for node in ast.walk(ast.parse(code)))


def one_at_a_time(script):
    """Return a script as a parameter; in a group where it runs ROS."""
    marks = [ros_group(script.stem)] if NEEDS.get(script.stem) == "rclpy" else []
    if script.stem == "throw":
        marks = [pytest.mark.long]  # it differentiates thousands of steps
    return pytest.param(script, marks=marks, id=script.stem)


@pytest.mark.quick_cases("[!w]*", "world_file")
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("script", [one_at_a_time(script) for script in SCRIPTS])
def test_a_script_runs_and_its_check_holds(script, monkeypatch, derivatives_in_python):
    if script.stem in NEEDS:
        pytest.importorskip(NEEDS[script.stem])
    monkeypatch.setenv("PYTHONPATH", str(EXAMPLES.parent), prepend=":")
    runpy.run_path(str(script), run_name="__main__")


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_cells_of_a_notebook_run_and_its_check_holds(notebook):
    pytest.importorskip("matplotlib").use("Agg")
    from matplotlib import pyplot

    names = {"__name__": "__main__"}
    try:
        for cell in code_cells(notebook):
            exec(compile(cell, str(notebook), "exec"), names)
    finally:
        pyplot.close("all")


def test_there_are_ten_scripts_and_three_notebooks_each_short_and_with_a_check():
    assert len(SCRIPTS) >= 10 and len(NOTEBOOKS) >= 3
    for script in SCRIPTS:
        text = script.read_text(encoding="utf-8")
        assert len(text.splitlines()) - HEAD < LINES and asserts(text) >= 1, script
    for notebook in NOTEBOOKS:
        assert asserts(code_cells(notebook)[-1]) >= 1, notebook


def test_notebooks_hold_no_output():
    for notebook in NOTEBOOKS:
        for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
            assert cell.get("outputs", []) == [] and cell.get("execution_count") is None, notebook


def test_the_index_names_every_example():
    text = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    named = re.findall(r"\]\(([\w/]+\.(?:py|ipynb))\)", text)
    assert sorted(named) == sorted(
        str(path.relative_to(EXAMPLES)) for path in (*SCRIPTS, *NOTEBOOKS)
    )
