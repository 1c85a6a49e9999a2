# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Commands of documentation pages that are looked up rather than run."""

from __future__ import annotations

import re
import shlex

import yaml
from pages.blocks import ROOT

from hrpsim.commands.cli import _parser

_OTHERS = {  # programs that are not ours: what of them may stand on a page
    "apt": {"install"},
    "bash": {".ci/run"},
    "git": {"clone"},
    "python": {"-m"},
    "rosdep": {"install"},
    "colcon": {"build"},
    "source": {".venv/bin/activate"},
}
_ROS2 = {"action", "bag", "control", "launch", "param", "run", "service", "topic"}


def look_up(command: str) -> None:
    """AssertionError where a command names a program, option or parameter that does not exist."""
    words = [word for word in shlex.split(command) if word not in ("sudo", "&")]
    program, arguments = words[0], words[1:]
    if program == "hrpsim":
        _parser().parse_args(arguments)
    elif program == "make":
        _make(arguments)
    elif program == "pip":
        _pip(arguments)
    elif program == "ros2":
        assert arguments[0] in _ROS2, command
        if arguments[:2] == ["launch", "hrpsim"]:
            _launch(arguments[2], arguments[3:])
    elif program in _console_scripts():
        _parameters(arguments)
    else:
        assert arguments and arguments[0] in _OTHERS.get(program, ()), command


def _make(arguments: list[str]) -> None:
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    for argument in arguments:
        name = argument.partition("=")[0]
        what = rf"^{name} \??=" if "=" in argument else rf"^{name}:"
        assert re.search(what, text, re.MULTILINE), f"make has no {argument}"


def _pip(arguments: list[str]) -> None:
    assert arguments[0] == "install"
    setup = (ROOT / "setup.cfg").read_text(encoding="utf-8")
    for extra in re.findall(r"[\[,](\w+)(?=[\],])", " ".join(arguments)):
        assert re.search(rf"^{extra} =$", setup, re.MULTILINE), f"no extra {extra}"


def _launch(name: str, arguments: list[str]) -> None:
    text = launch_text(name)
    for argument in arguments:
        if not argument.startswith("-"):
            assert f'"{argument.partition(":=")[0]}"' in text, f"{name} has no {argument}"


def launch_text(name: str) -> str:
    """Return a launch file, with the arguments that all launches of a humanoid share."""
    text = (ROOT / "launch" / name).read_text(encoding="utf-8")
    if "humanoid_launch(" in text:
        shared = (ROOT / "launch" / "hrpsim_launch.py").read_text(encoding="utf-8")
        text += shared.split("def humanoid_launch")[1].split("\ndef ")[0]
    return text


def _console_scripts() -> set[str]:
    setup = (ROOT / "setup.cfg").read_text(encoding="utf-8")
    return set(re.findall(r"^    (\w+) = hrpsim\.", setup, re.MULTILINE))


def _parameters(arguments: list[str]) -> None:
    from hrpsim.ros.base.parameters import SPECIFICATIONS
    from hrpsim.ros.controller.controller_node import PARAMETERS

    known = {*SPECIFICATIONS, *PARAMETERS}
    for name, value in re.findall(r"-p (\w+):=(\S+)", " ".join(arguments)):
        assert name in known, f"there is no parameter {name}"
        assert yaml.safe_load(value) is not None
