# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The package's own files agree with each other and name nothing of any one machine."""

import configparser
import re
import xml.etree.ElementTree as ElementTree

import pytest
import yaml
from committed import ROOT, committed_files


def text(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def setup_cfg() -> configparser.ConfigParser:
    config = configparser.ConfigParser()
    config.read_string(text("setup.cfg"))
    return config


def test_versions_agree():
    version = setup_cfg()["metadata"]["version"]
    assert ElementTree.fromstring(text("package.xml")).findtext("version") == version


def test_maintainer_is_valid_for_colcon():
    # With an address that its parser refuses, colcon silently builds a plain Python package.
    maintainer = ElementTree.fromstring(text("package.xml")).find("maintainer")
    assert re.fullmatch(r"[\w.%+-]+@[\w.%+-]+\.[a-zA-Z]{2,6}", maintainer.get("email"))


# Extras that neither command of the README installs. torch's wheels have 2 GB.
UNLOCKED_EXTRAS = {"bench", "torch"}


def test_every_dependency_is_locked():
    config = setup_cfg()
    lists = [config["options"]["install_requires"]]
    extras = config["options.extras_require"].items()
    lists += [value for key, value in extras if key not in UNLOCKED_EXTRAS]
    wanted = {re.match(r"[\w.-]+", line).group() for line in "\n".join(lists).split("\n") if line}
    locked = set(re.findall(r"^([\w.-]+)==", text("requirements/lock.txt"), re.MULTILINE))
    assert len(wanted) > 15
    assert wanted - locked == set(), "run make lock"


def test_every_locked_package_is_listed_with_its_licence():
    pattern = r"^([\w.-]+)==([\w.+!-]+)"
    locked = set(re.findall(pattern, text("requirements/lock.txt"), re.MULTILINE))
    page = text("docs/reference/licences.md")
    rows = re.findall(r"^\| ([\w.-]+) \| ([\w.+!-]+) \| (.+) \|$", page, re.MULTILINE)
    listed = {(name, version) for name, version, _ in rows} - {("package", "version")}
    assert listed - {("---", "---")} == locked, "run tools/licences.py"


# Each pattern is written so that it does not match itself.
PLACES_AND_HOSTS = {
    "a home folder or a folder of one machine": r"/(?:ho[m]e|Use[r]s|ro[o]t|wo[r]k|opt/py[p]i)/\w",
    "a temporary folder": r"/tm[p]/\w",
    "a package index": r"\b(?:pypi\.o[r]g|pythonhosted\.o[r]g|deb\.debian\.o[r]g|proxy\.golan[g])",
    "an index option": r"--(?:extra-)?index-u[r]l|--find-li[n]ks",
    "an internet address of four numbers": r"\b(?!127\.|0\.0\.)(?:\d{1,3}\.){3}\d{1,3}:\d+\b",
}


@pytest.mark.parametrize("what", PLACES_AND_HOSTS)
def test_committed_files_name_no_machine(what):
    found = []
    for path in committed_files():
        content = path.read_bytes()
        if b"\0" in content:
            continue
        for number, line in enumerate(content.decode("utf-8").splitlines(), 1):
            if re.search(PLACES_AND_HOSTS[what], line):
                found.append(f"{path.relative_to(ROOT)}:{number}: {line.strip()[:100]}")
    assert found == []


def test_every_path_that_contributing_names_exists():
    pattern = r"`((?:hrpsim|test|docs|tools|requirements)/[\w./]*)`"
    named = set(re.findall(pattern, text("CONTRIBUTING.md") + text("docs/howto/extend.md")))
    assert len(named) > 50
    assert [path for path in sorted(named) if not (ROOT / path).exists()] == []


def test_the_citation_is_that_of_the_package():
    citation, metadata = yaml.safe_load(text("CITATION.cff")), setup_cfg()["metadata"]
    assert citation["cff-version"] == "1.2.0" and citation["title"] == metadata["name"]
    assert citation["version"] == metadata["version"]
    assert citation["license"] == metadata["license"]
    assert citation["authors"] == [{"name": metadata["author"]}]


def test_the_changelog_has_the_version():
    version = setup_cfg()["metadata"]["version"]
    assert re.search(rf"^## {re.escape(version)}\b", text("CHANGELOG.md"), re.MULTILINE)


def test_hooks_before_a_commit_are_those_of_make_lint():
    hooks = yaml.safe_load(text(".pre-commit-config.yaml"))["repos"][0]["hooks"]
    entries = " ".join(hook["entry"] for hook in hooks)
    lint = text("Makefile").split("\nlint:")[1].split("\n\n")[0]
    for tool in re.findall(r"\$\(RUN\) -m (\w+)", lint):
        assert f"python -m {tool}" in entries, tool


def test_the_readme_is_short():
    assert len(text("README.md").splitlines()) < 80
