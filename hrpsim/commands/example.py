# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""`hrpsim example`: copies an example with robot and world into the current folder."""

import argparse
import ast
import os
import re
import shutil
from pathlib import Path
from typing import NamedTuple

from hrpsim.common.errors import HrpsimError, require_name
from hrpsim.common.foreign.yaml_text import read_yaml
from hrpsim.common.resources import share_path

EPILOG = """Without a name the command lists the examples. The copy is a folder with the name of the
example. All files of the copy belong to you, and nothing is ever overwritten.

  hrpsim example stand
  hrpsim run stand/stand.yaml
"""

_OWN = "package://hrpsim/"
_SHARED = re.compile(r"(?:hrpsim\.)?share_path\((\"[\w./-]+\")\)")
_REFERENCES = (re.compile(rf"{_OWN}([\w./-]+)"), re.compile(r"share_path\(\"([\w./-]+)\"\)"))
_INCLUDE = re.compile(r"<xacro:include filename=\"([\w./-]+)\"")
_FIRST_IMPORT = re.compile(r"^(?=import|from)", re.MULTILINE)
_IMPORT = re.compile(r"^from hrpsim import share_path\n", re.MULTILINE)


class Example(NamedTuple):
    """An example to copy: name of its first shipped file, summary, and commands to start it."""

    file: str
    summary: str
    start: tuple[str, ...]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("name", nargs="?", metavar="NAME", help="of the example; none lists them")
    parser.set_defaults(run=example)


def example(options: argparse.Namespace) -> int:
    """Copy an example, or list all. Return 0."""
    known = examples()
    if options.name is None:
        width = max(map(len, known))
        print("\n".join(f"{name:{width}}  {entry.summary}" for name, entry in known.items()))
        return 0
    require_name("example", options.name, known, HrpsimError, limit=len(known))
    folder, chosen = Path(options.name), known[options.name]
    copied = copy(chosen, folder)
    print(f"copied {copied} files to {folder}{os.sep}; begin with:")
    print("\n".join(f"  {line}" for line in chosen.start))
    return 0


def examples() -> dict[str, Example]:
    """Return all examples by name: scripts, and worlds."""
    result = {}
    for path in sorted(share_path("examples").glob("*.py")):
        text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        summary = " ".join(text.partition("\n\n")[0].split())
        start = (f"python {path.stem}/{path.name}",)
        result[path.stem] = Example(f"examples/{path.name}", summary, start)
    for path in sorted(share_path("config").glob("*.yaml")):
        content = read_yaml(path, HrpsimError).data
        about = content.get("about") if isinstance(content, dict) else None
        if path.stem not in result and isinstance(about, dict):
            world = f"{path.stem}/{path.name}"
            start = [f"hrpsim run {world}", f"hrpsim run {world} --viewer"]
            if "walk" in about.get("tags", ()):
                start.append(f"hrpsim walk --world {world}")
            summary = f"world: {about['description']}"
            result[path.stem] = Example(f"config/{path.name}", summary, tuple(start))
    return result


def copy(chosen: Example, folder: Path) -> int:
    """Copy an example and all named files to a new folder. Return the number of files.

    Raises:
        HrpsimError: the folder exists. Nothing is copied then.
    """
    if os.path.lexists(folder):
        raise HrpsimError(
            f"{folder} exists and is not overwritten. Move or rename the folder first"
        )
    unfinished = folder.with_name(f".{folder.name}.{os.getpid()}.tmp")
    files = _with_references(chosen.file)
    try:
        for name, text in files.items():
            target = unfinished / _place(name)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(_with_own_paths(name, text), encoding="utf-8")
        unfinished.rename(folder)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    return len(files)


def _with_references(first: str) -> dict[str, str]:
    """Return {name: text} of a shipped file and of all shipped files that it refers to."""
    result: dict[str, str] = {}
    pending = [first]
    while pending:
        name = pending.pop()
        if name in result:
            continue
        result[name] = text = share_path(name).read_text(encoding="utf-8")
        for pattern in _REFERENCES:
            pending += pattern.findall(text)
        pending += [str(Path(name).parent / own) for own in _INCLUDE.findall(text)]
    return result


def _place(name: str) -> Path:
    """Return the relative path of a shipped file in the copy. Worlds and scripts share a folder."""
    folder, _, inner_path = name.partition("/")
    return Path(inner_path if folder in ("config", "examples") else name)


def _with_own_paths(name: str, text: str) -> str:
    """Return a text with the paths of shipped files replaced by the paths of the copies."""
    if not name.endswith(".py"):
        return text.replace(f"{_OWN}config/", "").replace(_OWN, "")
    if not _SHARED.search(text):
        return text
    text = _SHARED.sub(lambda match: f'HERE / "{_place(match[1][1:-1])}"', text)
    text = _IMPORT.sub("", text)
    if "from pathlib import Path" not in text:
        text = _FIRST_IMPORT.sub("from pathlib import Path\n\n", text, count=1)
    lines = text.split("\n")
    end = max(k for k, line in enumerate(lines) if re.match(r"(import|from) ", line))
    while not _is_whole("\n".join(lines[: end + 1])):
        end += 1
    lines.insert(end + 1, "\nHERE = Path(__file__).parent")
    return "\n".join(lines)


def _is_whole(text: str) -> bool:
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True
