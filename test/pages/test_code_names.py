# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Pages name files, modules and functions of the code that exist."""

import ast
import functools
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
PAGES = [page for page in PAGES if page.name != "CHANGELOG.md"]  # which tells what was
PACKAGES = "hrpsim", "evidence", "simulator_conformance"
FOLDERS = (*PACKAGES, "test", "tools", "examples", "launch")
A_PATH = re.compile(rf"(?<![\w./-])((?:{'|'.join(FOLDERS)})/[\w/]+\.py)\b")
A_FILE = re.compile(r"`([a-z_0-9]+\.py)`")
A_MODULE = re.compile(rf"`((?:{'|'.join(PACKAGES)})(?:\.\w+)+)(?:\(.*?\))?`")
USERS_OWN = {"file.py", "sway.py", "nod.py", "my_arms.py", "my_program.py", "sim_mujoco.py"}


@functools.cache
def file_names() -> set[str]:
    return {path.name for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")}


def has_name(dotted: str) -> bool:
    """Return whether a module, or a name that a module binds, exists."""
    parts = dotted.split(".")
    for k in range(len(parts), 0, -1):
        path = ROOT.joinpath(*parts[:k])
        sources = [path.with_suffix(".py"), path / "__init__.py"]
        source = next((file for file in sources if file.is_file()), None)
        if source is not None:
            return k == len(parts) or parts[k] in bound_names(source)
    return False


@functools.cache
def bound_names(source: Path) -> set[str]:
    tree = ast.parse(source.read_text(encoding="utf-8"))
    names = {
        node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom | ast.Import):
            names |= {alias.asname or alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
    return names | {"__version__"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_names_code_that_exists(page):
    text = page.read_text(encoding="utf-8")
    absent = [path for path in A_PATH.findall(text) if not (ROOT / path).is_file()]
    absent += [name for name in A_FILE.findall(text) if name not in file_names() | USERS_OWN]
    absent += [name for name in A_MODULE.findall(text) if not has_name(name)]
    assert absent == []
