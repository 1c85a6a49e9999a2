# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The conda recipe says what setup.cfg says, in conda's names."""

import re
import shlex
from configparser import ConfigParser
from pathlib import Path

import yaml

from hrpsim import share_path

ROOT = Path(__file__).resolve().parents[2]
RECIPE = yaml.safe_load((ROOT / "conda" / "recipe.yaml").read_text())
CONFIG = ConfigParser()
CONFIG.read(ROOT / "setup.cfg")
NAMES = {
    "mapbox-earcut": "mapbox_earcut",
    "urdf-parser-py": "urdfdom-py",
    "xacro": "ros-jazzy-xacro",
}


def requirement(line: str) -> tuple[str, str]:
    return re.fullmatch(r"([\w-]+)\s*(\S*)", line.strip()).groups()


def test_versions_and_licence_are_those_of_the_package():
    assert RECIPE["context"]["version"] == CONFIG["metadata"]["version"]
    assert RECIPE["package"]["name"] == CONFIG["metadata"]["name"]
    assert RECIPE["about"]["license"] == CONFIG["metadata"]["license"]
    assert (ROOT / "conda" / RECIPE["source"]["path"] / RECIPE["about"]["license_file"]).is_file()


def test_requirements_are_those_of_the_package():
    """Law: the same packages from the same versions on, but for what has versions of its own."""
    lines = CONFIG["options"]["install_requires"].strip().splitlines()
    wanted = dict(map(requirement, lines))
    given = dict(map(requirement, RECIPE["requirements"]["run"]))
    assert given.pop("python") == CONFIG["options"]["python_requires"]
    assert set(given) == {NAMES.get(name, name) for name in wanted}
    for name in set(wanted) - {"urdf-parser-py"}:
        assert given[NAMES.get(name, name)] == wanted[name], name


def test_programs_are_those_of_the_package():
    scripts = CONFIG["options.entry_points"]["console_scripts"].strip().splitlines()
    assert sorted(RECIPE["build"]["python"]["entry_points"]) == sorted(scripts)


def test_its_tests_can_be_run():
    from hrpsim.commands.cli import _parser

    (imports,) = [test["python"]["imports"] for test in RECIPE["tests"] if "python" in test]
    for name in imports:
        __import__(name)
    (script,) = [test["script"] for test in RECIPE["tests"] if "script" in test]
    for line in script:
        program, *arguments = shlex.split(line)
        assert program == "hrpsim"
        if "--help" not in arguments:
            _parser().parse_args(arguments)
    (contents,) = [
        test["package_contents"] for test in RECIPE["tests"] if "package_contents" in test
    ]
    for path in contents["files"]:
        if path.startswith("share/hrpsim/"):
            assert share_path(path.removeprefix("share/hrpsim/")).is_file()
        else:
            assert f'"{path.rpartition("/")[0]}"' in (ROOT / "setup.py").read_text()
