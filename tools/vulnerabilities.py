# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Compare the pins of requirements/lock.txt with known vulnerabilities.

    git clone https://github.com/pypa/advisory-database FOLDER    # once, with a network
    .venv/bin/python tools/vulnerabilities.py FOLDER

The script itself needs no network. It prints a line for each advisory that concerns a pin. The exit
status is 1 if there is such an advisory, and 2 if FOLDER has no advisories. The database is
maintained by the Python Packaging Authority, in the format of osv.dev. pip-audit uses the same
database.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import yaml
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

LOCK = Path(__file__).resolve().parent.parent / "requirements" / "lock.txt"
_PIN = re.compile(r"^([A-Za-z0-9._-]+)==([^\s;]+)", re.MULTILINE)


def pins(lock: str) -> dict[str, set[str]]:
    """Return the versions of each package in a lock."""
    versions: dict[str, set[str]] = {}
    for name, version in _PIN.findall(lock):
        versions.setdefault(canonicalize_name(name), set()).add(version)
    return versions


def concerns(advisory: dict, name: str, version: str) -> bool:
    """Return whether an advisory in the OSV format affects a version of a package."""
    if advisory.get("withdrawn"):
        return False
    for affected in advisory.get("affected", ()):
        if canonicalize_name(affected["package"]["name"]) != name:
            continue
        if version in affected.get("versions", ()):
            return True
        ranges = [r for r in affected.get("ranges", ()) if r["type"] == "ECOSYSTEM"]
        if any(_is_affected(version, events["events"]) for events in ranges):
            return True
    return False


def _is_affected(version: str, events: list[dict]) -> bool:
    """Return whether a version is in an affected range, given the range's events in order."""
    at = Version(version)
    inside = False
    for event in events:
        ((kind, text),) = event.items()
        try:
            bound = Version(text)
        except InvalidVersion:
            continue
        if kind == "introduced" and at >= bound:
            inside = True
        elif (kind == "fixed" and at >= bound) or (kind == "last_affected" and at > bound):
            inside = False
    return inside


def findings(folder: Path, pinned: dict[str, set[str]]) -> Iterator[str]:
    """Yield a line for each advisory in a cloned database that concerns a pin."""
    for name, versions in sorted(pinned.items()):
        for path in sorted((folder / "vulns" / name).glob("*.yaml")):
            advisory = yaml.safe_load(path.read_text(encoding="utf-8"))
            for version in sorted(versions):
                if concerns(advisory, name, version):
                    aliases = ", ".join(advisory.get("aliases", ()))
                    yield f"{name} {version}: {advisory['id']} ({aliases})"


def main(arguments: list[str]) -> int:
    """Print the findings. Return the exit status."""
    if len(arguments) != 1 or not (Path(arguments[0]) / "vulns").is_dir():
        print("usage: vulnerabilities.py FOLDER, a clone of pypa/advisory-database")
        return 2
    pinned = pins(LOCK.read_text(encoding="utf-8"))
    lines = list(findings(Path(arguments[0]), pinned))
    for line in lines:
        print(line)
    known = sum((Path(arguments[0]) / "vulns" / name).is_dir() for name in pinned)
    print(
        f"{len(pinned)} packages, {known} of them with advisories, {len(lines)} that concern a pin"
    )
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
