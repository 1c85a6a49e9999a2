# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The launch files: loaded by the real launch where there is one, else read."""

import ast
import importlib.util
import re
from pathlib import Path

import pytest

from hrpsim.commands.walk import BUSH_SETS, PATTERNS
from hrpsim.ros.base.parameters import SPECIFICATIONS
from hrpsim.ros.controller.controller_node import PARAMETERS

ROOT = Path(__file__).resolve().parents[2]
SHARED = ROOT / "launch" / "hrpsim_launch.py"
NAMES = ("stand", "walking_demo", "ros2_control", "crane")
PROGRAMS = {"hrpsim_node", "hrpsim_controller", "wrench_recorder"}
PARTS = ("humanoid_launch", "simulation", "controller", "recorder", "rviz")  # of the shared file


@pytest.fixture(scope="module", params=NAMES)
def file(request):
    return ROOT / "launch" / f"{request.param}.launch.py"


@pytest.fixture(scope="module")
def trees(file):
    return trees_of(file)


def trees_of(file):
    """The syntax trees of a file and of the shared parts it uses."""
    shared = {
        node.name: node
        for node in ast.parse(SHARED.read_text()).body
        if isinstance(node, ast.FunctionDef) and node.name in PARTS
    }
    trees = [ast.parse(file.read_text())]
    for tree in trees:
        used = {node.func.id for node in calls_in(tree)} & set(shared)
        trees += [shared.pop(name) for name in sorted(used)]
    return trees


@pytest.fixture(scope="module")
def calls(trees):
    return calls_of(trees)


def calls_of(trees):
    """All calls: (function, keywords, constants)."""
    found = []
    for node in [call for tree in trees for call in calls_in(tree)]:
        keywords = {k.arg: constant(k.value) for k in node.keywords}
        found.append((node.func.id, keywords, [constant(value) for value in node.args]))
    return found


def calls_in(tree):
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return [node for node in nodes if isinstance(node.func, ast.Name)]


def constant(node):
    return node.value if isinstance(node, ast.Constant) else None


def test_every_argument_is_described_and_used(calls):
    declared = {values[0]: values[2] for name, _, values in calls if name == "argument"}
    used = {v[0] for name, _, v in calls if name in ("LaunchConfiguration", "parameter")}
    used.update(*(flags for name, _, flags in calls if name == "simulation"))
    assert set(declared) == used - {None}
    assert all(len(description) > 6 for description in declared.values())


def test_programs_are_those_that_the_package_installs(calls, file):
    own = {values[0] for name, _, values in calls if name == "program"}
    others = {tuple(values) for name, _, values in calls if name == "other"}
    expected = {("rviz2", "rviz2")}
    if "ros2_control" in file.name:  # its controllers take the place of ours
        manager = "controller_manager"
        expected |= {(manager, "ros2_control_node"), (manager, "spawner")}
        assert own == PROGRAMS - {"hrpsim_controller"}
    elif "crane" in file.name:
        expected = {("joy", "joy_node")}
        assert own == PROGRAMS - {"wrench_recorder"}
    else:
        assert own == PROGRAMS
    assert others == expected
    setup = (ROOT / "setup.cfg").read_text()
    assert all(f"{program} = hrpsim.ros." in setup for program in PROGRAMS)


def test_packages_are_looked_up_before_anything_is_started(trees, calls, file):
    """Law: each package of others is asked for, under the condition that its program has."""
    needed = {values[0] for name, _, values in calls if name == "other"}
    (_, on_request, always) = next(call for call in calls if call[0] == "look_up")
    handed_on = [
        package
        for call in calls_in(trees[0])
        for keyword in call.keywords
        if keyword.arg == "packages"
        for package in ast.literal_eval(keyword.value)
    ]
    assert needed <= {*on_request.values(), *always, *handed_on}
    text = file.read_text() + SHARED.read_text()
    order = text.split(" LaunchDescription(")[1]
    started = "simulation" if "simulation" in order else "*programs"
    assert order.index("look_up(") < order.index(started)
    if "recorder()" in order:
        assert order.index("look_up(") < order.index("recorder()")


def test_parameters_are_the_node_s(trees, calls):
    keys = {
        key.value
        for node in (node for tree in trees for node in ast.walk(tree))
        if isinstance(node, ast.Dict)
        for key in node.keys
        if isinstance(key, ast.Constant)
    }
    keys.update(*(flags for name, _, flags in calls if name == "simulation"))
    names = {*SPECIFICATIONS, *PARAMETERS}
    assert keys - {"use_sim_time"} <= names


def test_files_it_names_exist(file):
    names = re.findall(r'config\("([^"]+)"\)', file.read_text() + SHARED.read_text())
    assert len(names) == (3 if "ros2_control" in file.name else 2)
    for name in names:
        assert (ROOT / "config" / name).is_file()


def test_the_walk_has_the_arguments_of_the_command():
    file = ROOT / "launch" / "walking_demo.launch.py"
    text, calls = file.read_text(), calls_of(trees_of(file))
    arguments = {values[0] for name, _, values in calls if name == "argument"}
    assert {
        *("world_file", "bush", "bush_set", "stabilizer", "pattern", "real_time_factor"),
        *("publish_rate", "lockstep", "start_paused", "namespace", "rviz", "record", "bag"),
    } == arguments
    assert all(f'"{name}"' in text for name in BUSH_SETS.split(", "))
    assert PATTERNS in text


def test_real_launch_loads_it(file):
    pytest.importorskip("launch", reason="launch is not installed")
    pytest.importorskip("launch_ros", reason="launch_ros is not installed")
    specification = importlib.util.spec_from_file_location("hrpsim_launch", file)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    description = module.generate_launch_description()
    names = {argument.name for argument in description.get_launch_arguments()}
    assert {"real_time_factor", "namespace", "world_file"} <= names
