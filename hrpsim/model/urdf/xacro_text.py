# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Turns xacro into plain URDF text with the `xacro` package, which it imports only when needed.

A description may come from a stranger, and xacro hands its expressions to Python. Here they go to
`xacro_expressions`, which runs no code; work, sizes and depth are bounded; and files are read only
below the description's folder, its package, and packages that $(find) knows. SECURITY.md says what
stays possible.
"""

from __future__ import annotations

import importlib.util
import os
import re
import threading
import warnings
from collections.abc import Mapping
from pathlib import Path

from hrpsim import limits
from hrpsim.errors import ModelError, ModelWarning, unknown_name
from hrpsim.model.urdf.expansion_cache import (
    Expanded,
    Looks,
    Trace,
    digest_of,
    keep,
    key_of,
    recall,
)
from hrpsim.model.urdf.places import Places
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

    Raises ModelError with the file that xacro was reading, and for arguments that nothing uses.
    """
    given = _Arguments(arguments)
    if path is None:
        expanded, _ = _expand(text, path, given, resources, label)
    else:
        expanded = _expand_file(text, path, given, resources, label)
    for note in expanded.notes:
        warnings.warn(f"{label}: xacro: {note}", ModelWarning, stacklevel=4)
    for name in given.given:
        if name not in expanded.asked:
            raise ModelError(f"{label}: {unknown_name('xacro argument', name, expanded.asked)}")
    return expanded.text


def _expand_file(
    text: str, path: Path, given: _Arguments, resources: Resources, label: str
) -> Expanded:
    """Expand a file, unless an earlier process did."""
    key = key_of(text, path, given, _version())
    expanded = recall(key, _looks(path, resources))
    if expanded is None:
        expanded, trace = _expand(text, path, given, resources, label)
        keep(key, expanded, trace)
    return expanded


def _expand(
    text: str, path: Path | None, given: _Arguments, resources: Resources, label: str
) -> tuple[Expanded, Trace]:
    try:
        import xacro
        import xacro.substitution_args
    except ImportError as cause:
        raise ModelError(f"{label}: reading xacro needs xacro: pip install xacro") from cause
    from hrpsim.model.urdf.xacro_expansion import Expansion

    expansion = Expansion(xacro, path, given, resources)
    with _xacro_lock, expansion.in_place():
        xacro.init_stacks(None if path is None else str(path))
        try:
            document = expansion.parse(text)
            xacro.process_doc(document, mappings=given)
            result = document.toxml()
        except Exception as cause:  # xacro raises whatever it likes
            inner = next((f for f in reversed(xacro.filestack or []) if f), label)
            where = label if inner in (label, str(path)) else f"{label}, in {inner}"
            message = " ".join(str(cause).split()) or repr(cause)
            raise ModelError(f"{where}: xacro: {message}") from cause
    return Expanded(result, expansion.notes, list(given.asked)), expansion.trace


def _version() -> str:
    """Return which xacro there is, without importing it; ModelError is for who imports it."""
    found = importlib.util.find_spec("xacro")
    if found is None or found.origin is None:
        return "none"
    status = os.stat(found.origin)
    return f"{status.st_size} {status.st_mtime_ns}"


def _looks(path: Path, resources: Resources) -> Looks:
    """Return how an expansion that was kept looks again at what it depended on."""
    places = Places(path, resources)
    return Looks(
        lambda name: digest_of(places.read(name, limits.XACRO_SIZE, "XACRO_SIZE")),
        places.entries,
        lambda name: str(resources.packages(name)[0]),
    )


def _as_text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
