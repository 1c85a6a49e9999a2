# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Every code block of tutorials and how-to's does what the page says (marks: see blocks.py)."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from grouped import ros_group
from lxml import etree
from pages.blocks import DOCS, PAGES, ROOT, Block, blocks_of
from pages.commands import look_up

from evidence.experiments.framework.reproduce import available
from hrpsim.commands.cli import main

LIMIT = 1000.0  # for a block of several processes [s]
_END_WITH_SHELL = "trap 'jobs -p | xargs -r kill' EXIT"  # its background processes
_WRAPPER = '#!/bin/sh\nexec "{python}" -m {module} "$@"\n'
_PROGRAMS = {
    "hrpsim": "hrpsim.commands.cli",
    "hrpsim_node": "hrpsim.ros.simulation.node",
    "hrpsim_controller": "hrpsim.ros.controller.controller_node",
    "wrench_recorder": "hrpsim.ros.recording.recorder",
    "dynamics_observer": "hrpsim.ros.recording.analysis_node",
}
_NEEDS_ROS = re.compile(r"^(hrpsim_\w+|wrench_recorder|hrpsim record|hrpsim walk --ros)\b", re.M)


class Reader:
    """Someone who does what a page says, in a folder with the checkout's config/ and urdf/."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.printed = ""
        self._names: dict = {"__name__": "__main__"}
        for name in ("config", "urdf"):
            (folder / name).symlink_to(ROOT / name)
        programs = folder / "bin"
        programs.mkdir()
        for name, module in _PROGRAMS.items():
            (programs / name).write_text(_WRAPPER.format(python=sys.executable, module=module))
            (programs / name).chmod(0o755)
        (programs / "python").symlink_to(sys.executable)
        self._environment = {
            **os.environ,
            "PATH": f"{programs}:{os.environ['PATH']}",
            "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path]),
        }

    def follow(self, block: Block) -> None:
        """Do what one block says."""
        if block.mark == "file":
            (self.folder / block.argument).write_text(block.text, encoding="utf-8")
        elif block.mark == "output":
            assert self.printed == block.text
        elif block.mark == "parsed":
            for command in block.commands():
                look_up(command)
        elif block.mark == "elsewhere":
            assert (ROOT / block.argument).is_file()
            for command in block.commands() if block.language == "sh" else ():
                look_up(command)
        elif block.mark == "not run":
            assert block.argument
        elif block.language == "python":
            self._run_python(block)
        elif block.language == "sh":
            self._run_shell(block)
        elif block.language == "yaml":
            yaml.safe_load(block.text)
        elif block.language == "xml":
            etree.fromstring(block.text)
        else:
            assert block.language == "text", f"what is a test to do with {block.language!r}?"

    def _run_python(self, block: Block) -> None:
        code = compile("\n" * block.line + block.text, "page", "exec")
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(code, self._names)
        self.printed = printed.getvalue()

    def _run_shell(self, block: Block) -> None:
        """Run what is only `hrpsim ...` in this process, which spares its start; else a shell."""
        commands = block.commands()
        status = int(block.argument) if block.mark == "status" else 0
        if all(re.fullmatch(r"hrpsim [^&|<>$]+", command) for command in commands):
            with contextlib.redirect_stdout(io.StringIO()) as printed:
                for k, command in enumerate(commands):
                    expected = status if k == len(commands) - 1 else 0
                    assert main(shlex.split(command)[1:]) == expected, command
            self.printed = printed.getvalue()
            return
        done = subprocess.run(
            ["bash", "-e", "-o", "pipefail", "-c", f"{_END_WITH_SHELL}\n{block.text}"],
            cwd=self.folder,
            env=self._environment,
            capture_output=True,
            text=True,
            timeout=LIMIT,
        )
        assert done.returncode == status, done.stdout + done.stderr
        self.printed = done.stdout


def runs_ros(page: Path) -> bool:
    """Whether a block of a page starts programs of ROS."""
    runs = [b for b in blocks_of(page) if b.language == "sh" and b.mark in ("", "status")]
    return any(_NEEDS_ROS.search(block.text) for block in runs)


def one_at_a_time(page: Path):
    """Return a page as a parameter; in a group where it runs ROS."""
    marks = [ros_group(page.stem)] if runs_ros(page) else []
    return pytest.param(page, marks=marks, id=str(page.relative_to(ROOT)))


@pytest.mark.long
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("page", [one_at_a_time(page) for page in PAGES])
def test_the_blocks_of_a_page_run(page, tmp_path, monkeypatch):
    blocks = blocks_of(page)
    assert blocks
    if runs_ros(page) and importlib.util.find_spec("rclpy") is None:
        pytest.skip("needs rclpy")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    reader = Reader(tmp_path)
    for block in blocks:
        try:
            reader.follow(block)
        except (Exception, SystemExit) as error:
            raise AssertionError(f"{page}:{block.line}: {error}") from error


def test_every_page_is_found_from_its_index():
    for folder in ("tutorials", "howto", "reference", "explanation"):
        index = (DOCS / folder / "index.md").read_text(encoding="utf-8")
        for page in (DOCS / folder).glob("*.md"):
            assert page.stem == "index" or re.search(rf"^{page.stem}$", index, re.M), page


def test_every_experiment_has_a_page_in_the_index_of_verification():
    """Law: the pages are those of all experiments, and of the other measurements."""
    index = (DOCS / "verification.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^verification/(\w+)$", index, re.M))
    assert {page.stem for page in (DOCS / "verification").glob("*.md")} == listed
    assert {name.lower() for name in available()} < listed


def test_links_between_pages_lead_somewhere():
    pages = [*DOCS.rglob("*.md"), *ROOT.glob("*.md")]
    assert len(pages) > 40
    for page in pages:
        text = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.S)
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page}: {target}"
