"""The package's own files agree with each other and name nothing of any one machine."""

import configparser
import re
import subprocess
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


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


def test_every_dependency_is_locked():
    config = setup_cfg()
    lists = [config["options"]["install_requires"]]
    extras = config["options.extras_require"].items()
    lists += [value for key, value in extras if key != "bench"]
    wanted = {re.match(r"[\w.-]+", line).group() for line in "\n".join(lists).split("\n") if line}
    locked = set(re.findall(r"^([\w.-]+)==", text("requirements/lock.txt"), re.MULTILINE))
    assert len(wanted) > 15
    assert wanted - locked == set(), "run make lock"


def test_every_locked_package_is_listed_with_its_licence():
    pattern = r"^([\w.-]+)==([\w.+!-]+)"
    locked = set(re.findall(pattern, text("requirements/lock.txt"), re.MULTILINE))
    rows = re.findall(
        r"^\| ([\w.-]+) \| ([\w.+!-]+) \| (.+) \|$", text("docs/licences.md"), re.MULTILINE
    )
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


def committed_files() -> list[Path]:
    """Return the files that git tracks; where there is no git, those that are not products."""
    git = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    if git.returncode == 0:
        return [ROOT / name for name in git.stdout.decode().split("\0") if (ROOT / name).is_file()]
    products = {".venv", "build", "install", "log", "output", "dist"}
    return [
        path
        for path in ROOT.rglob("*")
        if path.is_file()
        and not products & set(path.relative_to(ROOT).parts)
        and "__pycache__" not in path.parts
        and not any(part.startswith(".") and part != ".ci" for part in path.relative_to(ROOT).parts)
    ]
