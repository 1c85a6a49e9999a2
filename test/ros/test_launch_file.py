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
NAMES = ("stand", "walking_demo", "ros2_control")
PROGRAMS = {"hrpsim_node", "hrpsim_controller", "wrench_recorder"}


@pytest.fixture(scope="module", params=NAMES)
def file(request):
    return ROOT / "launch" / f"{request.param}.launch.py"


@pytest.fixture(scope="module")
def calls(file):
    """All calls of the file as (function name, {keyword: constant}, first constant)."""
    found = []
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            keywords = {
                k.arg: k.value.value for k in node.keywords if isinstance(k.value, ast.Constant)
            }
            first = node.args[0] if node.args else None
            found.append((node.func.id, keywords, getattr(first, "value", None)))
    return found


def test_every_argument_is_described_and_used(calls):
    declared = {first: kw for name, kw, first in calls if name == "DeclareLaunchArgument"}
    used = {first for name, _, first in calls if name in ("LaunchConfiguration", "parameter")}
    assert set(declared) == used - {None}
    assert all(len(keywords["description"]) > 10 for keywords in declared.values())


def test_programs_are_those_that_the_package_installs(calls, file):
    nodes = {keywords["executable"] for name, keywords, _ in calls if name == "Node"}
    others = {"rviz2"}
    if "ros2_control" in file.name:  # its controllers take the place of ours
        others |= {"ros2_control_node", "spawner"}
        assert nodes == PROGRAMS - {"hrpsim_controller"} | others
    else:
        assert nodes == PROGRAMS | others
    setup = (ROOT / "setup.cfg").read_text()
    assert all(f"{program} = hrpsim.ros." in setup for program in PROGRAMS)


def test_parameters_are_the_node_s(file):
    tree = ast.parse(file.read_text())
    keys = {
        key.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Dict)
        for key in node.keys
        if isinstance(key, ast.Constant)
    }
    names = {specification.name for specification in SPECIFICATIONS} | set(PARAMETERS)
    assert keys - {"use_sim_time"} <= names


def test_files_it_names_exist(file):
    names = re.findall(r'"config", "([^"]+)"', file.read_text())
    assert len(names) == (3 if "ros2_control" in file.name else 2)
    for name in names:
        assert (ROOT / "config" / name).is_file()


def test_the_walk_has_the_arguments_of_the_command():
    text = (ROOT / "launch" / "walking_demo.launch.py").read_text()
    arguments = set(re.findall(r'DeclareLaunchArgument\(\s*"(\w+)"', text))
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
    assert {"bush", "real_time_factor", "rviz", "record", "world_file"} <= names
