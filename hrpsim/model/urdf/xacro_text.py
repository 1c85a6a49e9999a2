# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Expands xacro to URDF text with the package `xacro`, which is imported only when needed.

Xacro evaluates its expressions as Python: a file in xacro is a program, trusted like one.
"""

from __future__ import annotations

import importlib.util
import os
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from hrpsim.errors import ModelError, unknown_name
from hrpsim.model.urdf.kept_expansions import Expansion, keep, key_of, recall
from hrpsim.model.urdf.resources import Resources

NAMESPACES = ("http://www.ros.org/wiki/xacro", "http://ros.org/wiki/xacro")
# What xacro acts upon. A call of a macro alone is left over from a macro that nobody defined.
_TO_EXPAND = re.compile(
    r"\$[{(]|<xacro:(macro|property|arg|include|if|unless|insert_block|element|attribute|call)\b"
)
_xacro_lock = threading.Lock()  # xacro keeps its file and argument stacks in module globals


class _Arguments(dict):
    """Xacro arguments that remember which of them the description asked for."""

    def __init__(self, values: Mapping[str, object]):
        super().__init__({name: _as_text(value) for name, value in values.items()})
        self.given = tuple(self)
        self.asked: dict[str, None] = {}

    def __contains__(self, name) -> bool:
        self.asked[name] = None
        return super().__contains__(name)

    def __getitem__(self, name):
        self.asked[name] = None
        return super().__getitem__(name)


def is_xacro(text: str, path: Path | None) -> bool:
    """Return whether a description must pass through xacro.

    It must if its file name says so, or if it declares the namespace and still holds something to
    expand: xacro's own output often keeps the declaration, and old ones calls of missing macros.
    """
    if path is not None and path.suffix == ".xacro":
        return True
    declared = any(f'"{uri}"' in text or f"'{uri}'" in text for uri in NAMESPACES)
    return declared and _TO_EXPAND.search(text) is not None


def expand(
    text: str, path: Path | None, arguments: Mapping[str, object], resources: Resources, label: str
) -> str:
    """Return the URDF text that xacro makes of `text` (read from `path`, None: given as text).

    $(find package) looks where `resources` does, then asks ament. What xacro warns of, it writes
    to stderr. Raises ModelError with the file that xacro was reading, and for arguments that
    nothing uses.
    """
    given = _Arguments(arguments)
    key = "" if path is None else key_of(text, path, given, _version())
    expansion = recall(key, resources)
    if expansion is None:
        expansion = _expand(text, path, given, resources, label)
        keep(key, text, expansion)
    for name in given.given:
        if name not in expansion.asked:
            raise ModelError(f"{label}: {unknown_name('xacro argument', name, expansion.asked)}")
    return expansion.text


def _expand(
    text: str, path: Path | None, given: _Arguments, resources: Resources, label: str
) -> Expansion:
    try:
        import xacro
    except ImportError as cause:
        raise ModelError(f"{label}: reading xacro needs xacro: pip install xacro") from cause
    packages: dict[str, str] = {}
    with _xacro_lock, _packages_found(resources, packages):
        del xacro.all_includes[:]
        try:
            if path is None:
                xacro.init_stacks(None)
                document = xacro.parse(text)
                xacro.process_doc(document, mappings=given)
            else:
                document = xacro.process_file(str(path), mappings=given)
            result = document.toxml()
        except Exception as cause:  # xacro raises whatever it likes
            inner = next((f for f in reversed(xacro.filestack or []) if f), label)
            where = label if inner in (label, str(path)) else f"{label}, in {inner}"
            message = " ".join(str(cause).split()) or repr(cause)
            raise ModelError(f"{where}: xacro: {message}") from cause
        included = [os.path.abspath(name) for name in xacro.all_includes]
    return Expansion(result, list(given.asked), included, packages)


@contextmanager
def _packages_found(resources: Resources, found: dict[str, str]) -> Iterator[None]:
    """Make $(find package) look in `resources` first; note in `found` what it found there.

    Xacro itself asks the index of ament alone, which neither `package_paths` nor a machine
    without ROS 2 has.
    """
    import xacro.substitution_args

    by_ament: Callable[[str], str] = xacro.substitution_args._eval_find

    def find(package: str) -> str:
        folders = resources.packages(package)
        if not folders:
            try:
                return by_ament(package)
            except Exception as cause:  # ament is not installed, or does not know it either
                raise LookupError(f"package {package!r} was not found") from cause
        found[package] = str(folders[0])
        return found[package]

    xacro.substitution_args._eval_find = find
    try:
        yield
    finally:
        xacro.substitution_args._eval_find = by_ament


def _version() -> str:
    """Return which xacro there is, without importing it; ModelError is for who imports it."""
    found = importlib.util.find_spec("xacro")
    if found is None or found.origin is None:
        return "none"
    status = os.stat(found.origin)
    return f"{status.st_size} {status.st_mtime_ns}"


def _as_text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
