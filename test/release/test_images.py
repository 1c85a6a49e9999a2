# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The image and the compose file name only what is there: no docker is needed to know that."""

import fnmatch
import re
import shlex
from configparser import ConfigParser
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
DOCKERFILE = (ROOT / "docker" / "Dockerfile").read_text()
COMPOSE = yaml.safe_load((ROOT / "docker" / "compose.yaml").read_text())
LINES = [
    line
    for line in DOCKERFILE.replace("\\\n", " ").splitlines()
    if line.strip() and not line.startswith("#")
]
# Of package.xml, and not in the image: pip brings a newer numba; RViz has no screen in a container.
LEFT_OUT = {"python3-numba", "rviz2"}


def package_keys() -> set[str]:
    package = ElementTree.parse(ROOT / "package.xml").getroot()
    return {e.text for kind in ("depend", "exec_depend") for e in package.findall(kind)}


def programs() -> set[str]:
    config = ConfigParser()
    config.read(ROOT / "setup.cfg")
    scripts = config["options.entry_points"]["console_scripts"].strip().splitlines()
    return {line.partition("=")[0].strip() for line in scripts}


def copied() -> list[str]:
    """Return the files and folders that are copied from the checkout."""
    words = [line.split()[1:-1] for line in LINES if line.startswith("COPY")]
    return [word for line in words if not line[0].startswith("--from") for word in line]


def test_what_is_copied_is_there_and_not_ignored():
    patterns = (ROOT / ".dockerignore").read_text().split()
    let_in = [pattern[1:] for pattern in patterns if pattern.startswith("!")]
    assert "*" in patterns and len(copied()) > 8
    for path in copied():
        assert (ROOT / path).exists(), path
        assert any(fnmatch.fnmatch(path, pattern) for pattern in let_in), path
    assert sorted(let_in) == sorted(copied())


def test_what_setup_reads_is_copied():
    text = (ROOT / "setup.py").read_text() + (ROOT / "setup.cfg").read_text()
    for path in ("README.md", "package.xml", "resource", "launch", "urdf", "config"):
        assert path in text and path in copied(), path


def test_debian_packages_are_those_of_the_package_manifest():
    """Law: the keys of package.xml are the packages of the image, but for those named above."""
    final = DOCKERFILE.split("\nFROM ")[-1]
    installed = set(re.findall(r'^ +"?((?:python3-|ros-\$)[^\s"]+)"? ', final, re.MULTILINE))
    wanted = {
        key if key.startswith("python3-") else f"ros-${{ROS_DISTRO}}-{key.replace('_', '-')}"
        for key in package_keys() - LEFT_OUT
    }
    assert LEFT_OUT < package_keys()
    assert installed - wanted == {"python3-venv"} and wanted <= installed


def test_keys_are_of_distributions_and_not_of_pip():
    """Law: the build farm of ROS takes no key that rosdep gives to pip."""
    assert [key for key in package_keys() if key.endswith("-pip")] == []


def test_it_is_built_for_the_distributions_that_are_supported():
    assert [line for line in LINES if line.startswith(("ARG", "FROM"))] == [
        "ARG ROS_DISTRO=jazzy",
        "FROM ros:${ROS_DISTRO} AS build",
        "FROM ros:${ROS_DISTRO}",
    ]
    support = (ROOT / "docs" / "reference" / "support.md").read_text()
    assert "| ROS 2 | Jazzy | Lyrical |" in support and "ROS_DISTRO=lyrical" in DOCKERFILE


def test_extras_exist():
    config = ConfigParser()
    config.read(ROOT / "setup.cfg")
    (extras,) = re.findall(r"\$\{wheel\}\[([\w,]+)\]", DOCKERFILE)
    assert set(extras.split(",")) <= set(config["options.extras_require"])


@pytest.mark.parametrize("service", COMPOSE["services"])
def test_services_run_programs_with_parameters_that_exist(service):
    """Law: each command is a program of the package, its parameters are declared, files shipped."""
    entry = COMPOSE["services"][service]
    build = entry["build"]
    assert (ROOT / "docker" / build["context"] / build["dockerfile"]).is_file()
    assert set(entry.get("depends_on", ())) <= set(COMPOSE["services"])
    program, *arguments = shlex.split(entry["command"])
    assert program in programs()
    given = dict(word.split(":=") for word in arguments if ":=" in word)
    if program == "hrpsim":
        from hrpsim.commands.cli import _parser

        _parser().parse_args(arguments)
        return
    assert given
    for name in set(given) - {"use_sim_time"}:
        assert name in declared(program), name
    if "world_file" in given:
        assert (ROOT / given["world_file"]).is_file()
    if "controller" in given:
        from hrpsim.control import find_controller

        assert find_controller(given["controller"])


def declared(program: str) -> set[str]:
    if program == "hrpsim_node":
        from hrpsim.ros.base.parameters import SPECIFICATIONS

        return set(SPECIFICATIONS)
    pytest.importorskip("rclpy")
    from hrpsim.ros.controller.controller_node import PARAMETERS

    return set(PARAMETERS)


def test_volumes_are_declared_and_are_the_cache_of_kernels():
    (cache,) = re.findall(r"HRPSIM_CACHE_DIR=(\S+)", DOCKERFILE)
    for entry in COMPOSE["services"].values():
        assert entry["volumes"] == [f"kernels:{cache}"]
    assert set(COMPOSE["volumes"]) == {"kernels"} and f"VOLUME {cache}" in LINES


def locked(name: str) -> dict[str, set[str]]:
    """Return the hashes of each pinned package of a requirements file, by "name==version"."""
    found: dict[str, set[str]] = {}
    pin = ""
    for line in (ROOT / "requirements" / name).read_text().splitlines():
        if line.startswith("    --hash="):
            found[pin].add(line.strip(" \\").removeprefix("--hash="))
        elif "==" in line:
            pin = line.split()[0]
            found[pin] = set()
    return found


def test_every_package_from_an_index_is_named_with_its_hashes():
    """Law: pip checks what it downloads, and downloads nothing else."""
    calls = [
        call
        for line in LINES
        for call in line.split("&&")
        if re.search(r"pip (install|wheel)", call)
    ]
    assert len(calls) == 5
    for call in calls:
        assert ("--require-hashes" in call) != ("--no-index" in call), call
    image, lock = locked("image.txt"), locked("lock.txt")
    assert {"numba", "rosbags", "setuptools", "viser"} <= {pin.partition("==")[0] for pin in image}
    assert all(hashes for hashes in image.values())
    assert {pin: image[pin] for pin in image} == {pin: lock.get(pin) for pin in image}
