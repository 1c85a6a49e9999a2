# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Write docs/reference/licences.md: the licence of every package in requirements/lock.txt.

    .venv/bin/python tools/licences.py           # writes the page
    .venv/bin/python tools/licences.py --check   # exit status 1 if the page is out of date

The licences are read from the metadata of the installed packages. A package that is not installed
(because it is for another Python or machine) keeps its entry of the present page.
"""

from __future__ import annotations

import re
import sys
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOCK = ROOT / "requirements" / "lock.txt"
PAGE = ROOT / "docs" / "reference" / "licences.md"
UNKNOWN = "not stated"
HEAD = """# Licences of what hrpsim depends on

Made by `tools/licences.py` from requirements/lock.txt; hrpsim itself is under Apache-2.0. Nothing
of these packages is copied into the repository. Packages that only tests and benchmarks need are
listed as well. "not stated": neither the package's metadata nor a file of it says so, or it is not
for the machine that the page was made on; those of ROS 2 (ros-...) are stated in the package.xml of
their sources.

| package | version | licence |
| --- | --- | --- |
"""
_LONG = 60  # characters beyond which a licence field holds the licence's text
# What some packages write in place of the identifiers of spdx.org/licenses.
NAMES = {
    "Apache 2.0": "Apache-2.0",
    "Apache License 2.0": "Apache-2.0",
    "Apache License, Version 2.0": "Apache-2.0",
    "Apache Software License": "Apache-2.0",
    "BSD": "BSD-3-Clause or BSD-2-Clause",
    "BSD 2-Clause": "BSD-2-Clause",
    "BSD 3-Clause": "BSD-3-Clause",
    "BSD License": "BSD-3-Clause or BSD-2-Clause",
    "MIT License": "MIT",
    "The MIT License": "MIT",
}
# Phrases in the texts of licences.
TEXTS = {
    "Apache License": "Apache-2.0",
    "Permission is hereby granted, free of charge": "MIT",
    "Redistribution and use in source and binary forms": "BSD-3-Clause or BSD-2-Clause",
}


def main(arguments: list[str]) -> int:
    """Write or check the page. Return the exit status."""
    page = written(LOCK.read_text(encoding="utf-8"), known(PAGE))
    if "--check" in arguments:
        return int(not PAGE.is_file() or PAGE.read_text(encoding="utf-8") != page)
    PAGE.write_text(page, encoding="utf-8")
    return 0


def written(lock: str, before: dict[str, str]) -> str:
    """Return the page for the text of a lock file.

    before: known licences by package, for packages that are not installed.
    """
    lines = []
    for name, version in sorted(set(re.findall(r"^([\w.-]+)==([\w.+!-]+)", lock, re.MULTILINE))):
        terms = licence(name)
        if terms == UNKNOWN:
            terms = before.get(name, UNKNOWN)
        lines.append(f"| {name} | {version} | {terms} |")
    return HEAD + "\n".join(lines) + "\n"


def known(page: Path) -> dict[str, str]:
    """Return the licences that a page lists, by package."""
    text = page.read_text(encoding="utf-8") if page.is_file() else ""
    return dict(re.findall(r"^\| ([\w.-]+) \| [^|]+ \| ([^|]+) \|$", text, re.MULTILINE))


def licence(package: str) -> str:
    """Return the licence in an installed package's metadata, as a short name."""
    try:
        stated = metadata.metadata(package)
    except metadata.PackageNotFoundError:
        return UNKNOWN
    classified = [
        entry.rpartition(" :: ")[2]
        for entry in stated.get_all("Classifier") or ()
        if entry.startswith("License :: ") and entry != "License :: OSI Approved"
    ]
    field = (stated.get("License") or "").strip()
    short = field if field and len(field) <= _LONG and "\n" not in field else ""
    text = stated.get("License-Expression") or short or " and ".join(classified)
    text = text.strip() or _of_text(package)
    return NAMES.get(text, text).replace("|", "/")


def _of_text(package: str) -> str:
    """Identify the licence from the licence files of a package."""
    for file in metadata.files(package) or ():
        if re.search(r"(LICEN[CS]E|COPYING)", file.name, re.IGNORECASE) and file.locate().is_file():
            text = file.locate().read_text(encoding="utf-8", errors="replace")
            for sign, name in TEXTS.items():
                if sign in text:
                    return name
    return UNKNOWN


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
