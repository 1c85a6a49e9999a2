# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Machine code is kept under a hash of all that it is made of: no edit leaves it stale."""

import ast
import functools
from pathlib import Path

from hrpsim.engine.compile import kernel_folders

PACKAGE = Path(kernel_folders.__file__).parents[2]
DECORATORS = {"kernel", "inner_kernel", "inlined_kernel", "uncalled_kernel"}
DECORATORS |= {"lazy_kernel", "lazy_kernel_of_parts"}
OF_STEP = set(map(Path, kernel_folders._sources(*kernel_folders._OF_STEP)))


@functools.cache
def names_of(path: Path) -> tuple[dict[str, tuple[Path, str]], dict[str, list[ast.AST]]]:
    """Return what a file imports from the package, and what it defines, by their names in it."""
    imported, defined = {}, {}
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("hrpsim"):
            for alias in node.names:
                imported[alias.asname or alias.name] = file_of(node.module), alias.name
        elif isinstance(node, ast.FunctionDef):
            defined[node.name] = [node]
        elif isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for name in (n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)):
                defined.setdefault(name, []).append(node)
    return imported, defined


def file_of(module: str) -> Path:
    path = PACKAGE.parent / module.replace(".", "/")
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def is_kernel(node: ast.AST) -> bool:
    if not isinstance(node, ast.FunctionDef):
        return False
    told = [name for decorator in node.decorator_list for name in ast.walk(decorator)]
    return any(isinstance(name, ast.Name) and name.id in DECORATORS for name in told)


def files_behind(path: Path, name: str, seen: set) -> set[Path]:
    """Return the files that say what a name of a file's stands for, step by step."""
    if (path, name) in seen:
        return set()
    seen.add((path, name))
    imported, defined = names_of(path)
    if name in imported:
        return files_behind(*imported[name], seen)
    files = {path}
    for node in defined.get(name, []):
        inner = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
        for other in inner & (imported.keys() | defined.keys()):
            files |= files_behind(path, other, seen)
    return files


@functools.cache
def kernels() -> list[tuple[Path, str]]:
    return [
        (path, name)
        for path in sorted(PACKAGE.rglob("*.py"))
        for name, nodes in names_of(path)[1].items()
        if any(map(is_kernel, nodes))
    ]


def test_kernels_are_found():
    names = {name for _, name in kernels()}
    assert {"advance", "find_contacts", "analyse_samples", "stabilize"} <= names
    assert len(names) > 800


def room_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0]


def test_what_a_kernel_names_is_part_of_its_hash():
    """Law: constants and callees of a room's kernels lie in it, or in what every hash has."""
    for room in sorted({room_of(path) for path, _ in kernels()}):
        hashed = OF_STEP | set(map(Path, kernel_folders._sources(room)))
        seen: set = set()
        behind = set()
        for path, name in kernels():
            if room_of(path) == room:
                behind |= files_behind(path, name, seen)
        assert behind - hashed == set(), room
        left_out = {path for path in behind if path.name in kernel_folders._NO_KERNELS}
        assert left_out == set(), room


def test_what_has_no_part_in_kernels_leaves_them():
    """Law: an edit of worlds, models, controllers or programs compiles no step."""
    others = ["world/world.py", "model/model.py", "control/walk.py", "errors.py", "cli.py"]
    assert not {PACKAGE / other for other in others} & OF_STEP
