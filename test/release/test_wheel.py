# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""What is published: a source distribution, the wheel built from it, and what is in them."""

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from configparser import ConfigParser
from email import message_from_bytes
from pathlib import Path

import pytest
from committed import ROOT, committed_files

BUILD = "import sys; from setuptools.build_meta import {0}; {0}(sys.argv[1])"
WALK = """
import hrpsim, sys
from hrpsim.commands.cli import main
print(hrpsim.__file__)
sys.exit(main(["walk", "--duration", "0.5", "--json"]))
"""
SHARED = ("config", "examples", "launch", "urdf")

pytestmark = [pytest.mark.xdist_group("wheel"), pytest.mark.long]  # one worker builds them


def build(what: str, source: Path, folder: Path) -> Path:
    command = [sys.executable, "-c", BUILD.format(what), str(folder)]
    subprocess.run(command, cwd=source, check=True, capture_output=True)
    (built,) = [*folder.glob("*.whl"), *folder.glob("*.tar.gz")]
    return built


@pytest.fixture(scope="module")
def source_distribution(tmp_path_factory):
    """A source distribution of what is committed."""
    folder = tmp_path_factory.mktemp("source")
    for path in committed_files():
        copy = folder / path.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, copy)
    return build("build_sdist", folder, tmp_path_factory.mktemp("sdist"))


def unpacked(source_distribution: Path, folder: Path) -> Path:
    with tarfile.open(source_distribution) as archive:
        archive.extractall(folder, filter="data")
    (source,) = folder.iterdir()
    return source


@pytest.fixture(scope="module")
def wheel(source_distribution, tmp_path_factory):
    """The wheel that is built from it, as pip does."""
    source = unpacked(source_distribution, tmp_path_factory.mktemp("unpacked"))
    return build("build_wheel", source, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """A prefix as pip makes it: lib/python, share, bin; nothing in it can be written."""
    prefix = tmp_path_factory.mktemp("prefix")
    places = {"purelib": prefix / "lib" / "python", "data": prefix}
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            kind = re.match(r"[^/]+\.data/(\w+)/", name)
            place = places[kind[1] if kind else "purelib"]
            path = place / (name[kind.end() :] if kind else name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(archive.read(name))
    for path in prefix.rglob("*"):
        path.chmod(0o555 if path.is_dir() else 0o444)
    yield prefix
    for path in [prefix, *prefix.rglob("*")]:
        if path.is_dir():
            path.chmod(0o755)


def names(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return {re.sub(r"^[^/]+\.data/data/", "", name) for name in archive.namelist()}


def test_a_wheel_has_all_of_the_package_and_nothing_else(wheel):
    """Law: each committed file of the package and of what it ships; no tests, documents, tools."""
    committed = {path.relative_to(ROOT).as_posix() for path in committed_files()}
    packages = "evidence/", "hrpsim/", "simulator_conformance/"
    code = {name for name in committed if name.startswith(packages)}
    shared = {f"share/hrpsim/{name}" for name in committed if name.startswith(SHARED)}
    found = names(wheel)
    assert len(code) > 300 and code | shared <= found
    others = {name for name in found - code - shared if ".dist-info/" not in name}
    programs = {name for name in others if name.startswith("lib/hrpsim/")}
    assert others - programs == {
        "share/ament_index/resource_index/packages/hrpsim",
        "share/hrpsim/package.xml",
    }


def test_a_wheel_carries_the_kernels_that_it_is_given(
    wheel, source_distribution, tmp_path, monkeypatch
):
    """Law: they lie in hrpsim/kernels as they were given; all else is as without them."""
    kernel = tmp_path / "kernels" / "x86-64-v3" / "sources" / "kernel.nbc"
    kernel.parent.mkdir(parents=True)
    kernel.write_bytes(b"machine code")
    monkeypatch.setenv("HRPSIM_KERNELS", str(tmp_path / "kernels"))
    source = unpacked(source_distribution, tmp_path / "source")
    (tmp_path / "wheel").mkdir()
    carrying = build("build_wheel", source, tmp_path / "wheel")
    name = "hrpsim/kernels/x86-64-v3/sources/kernel.nbc"
    with zipfile.ZipFile(carrying) as archive:
        assert archive.read(name) == b"machine code"
    assert names(carrying) - {name} == names(wheel)


def test_a_wheel_says_what_an_index_shows(wheel):
    with zipfile.ZipFile(wheel) as archive:
        name = next(name for name in archive.namelist() if name.endswith("/METADATA"))
        told = message_from_bytes(archive.read(name))
    config = ConfigParser()
    config.read(ROOT / "setup.cfg")
    assert told["Version"] == config["metadata"]["version"]
    assert told["Requires-Python"] == ">=3.10"
    assert told["Description-Content-Type"] == "text/markdown"
    assert told.get_payload().strip() == (ROOT / "README.md").read_text().strip()
    assert set(told.get_all("Provides-Extra")) == set(config["options.extras_require"])
    assert any(name.endswith("LICENSE") for name in names(wheel))


def test_a_wheel_has_the_programs_where_ros_looks_for_them(wheel, tmp_path):
    """Law: `ros2 run` finds lib/hrpsim/PROGRAM below the prefix, and that runs bin/PROGRAM."""
    text = (ROOT / "setup.cfg").read_text().split("console_scripts")[1]
    programs = re.findall(r"^ +(\w+) = hrpsim", text, re.M)
    with zipfile.ZipFile(wheel) as archive:
        data = next(name for name in archive.namelist() if ".data/data/" in name).split("/")[0]
        files = {name: archive.getinfo(f"{data}/data/lib/hrpsim/{name}") for name in programs}
        assert len(files) == 5
        assert all(info.external_attr >> 16 & 0o111 == 0o111 for info in files.values())
        archive.extract(files["hrpsim_node"], tmp_path / "prefix")
    (link,) = (tmp_path / "prefix").rglob("hrpsim_node")
    link.chmod(0o755)
    program = link.parents[2] / "bin" / "hrpsim_node"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\necho "it runs $1"\n')
    program.chmod(0o755)
    assert subprocess.check_output([link, "a b"], text=True) == "it runs a b\n"


@pytest.mark.timeout(1200)
def test_what_is_installed_runs_from_anywhere(installed, tmp_path):
    """Law: from another folder, with nothing beside it writable, the robot walks as here."""
    first = f"import sys; sys.path.insert(0, {str(installed / 'lib' / 'python')!r})\n"
    run = [sys.executable, "-c", f"{first}{WALK}"]
    quiet = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    where, walked = subprocess.check_output(run, cwd=tmp_path, env=quiet, text=True).split("\n", 1)
    here = subprocess.check_output([sys.executable, "-c", WALK], cwd=ROOT, text=True)
    assert Path(where).is_relative_to(installed)
    assert not [path for path in installed.rglob("*") if path.name == "__pycache__"]
    physics = [_without_times(json.loads(text)) for text in (walked, here.split("\n", 1)[1])]
    assert physics[0] == physics[1] and physics[0]


def _without_times(report: dict) -> dict:
    return {
        name: value
        for name, value in report.items()
        if not re.search("wall|took|factor|files|seconds", name)
    }
