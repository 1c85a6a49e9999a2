"""Turns xacro into plain URDF text with the `xacro` package, which it imports only when needed."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from hrpsim.errors import ModelError, unknown_name
from hrpsim.model.resources import Resources

NAMESPACES = ("http://www.ros.org/wiki/xacro", "http://ros.org/wiki/xacro")

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
    expand: xacro's own output often keeps the declaration.
    """
    if path is not None and path.suffix == ".xacro":
        return True
    declared = any(f'"{uri}"' in text or f"'{uri}'" in text for uri in NAMESPACES)
    return declared and any(sign in text for sign in ("<xacro:", "${", "$("))


def expand(
    text: str, path: Path | None, arguments: Mapping[str, object], resources: Resources, label: str
) -> str:
    """Return the URDF text that xacro makes of `text` (read from `path`, None: given as text).

    Raises ModelError with the file that xacro was reading, and for arguments that nothing uses.
    """
    try:
        import xacro
    except ImportError as cause:
        raise ModelError(f"{label}: reading xacro needs the Python package 'xacro'") from cause
    given = _Arguments(arguments)
    with _xacro_lock, _packages_found_by(resources):
        xacro.init_stacks(None if path is None else str(path))
        try:
            document = xacro.parse(text)
            xacro.process_doc(document, mappings=given)
        except Exception as cause:  # descriptions hold Python expressions, which may raise anything
            inner = next((f for f in reversed(xacro.filestack or []) if f), label)
            where = label if inner in (label, str(path)) else f"{label}, in {inner}"
            message = " ".join(str(cause).split()) or repr(cause)
            raise ModelError(f"{where}: xacro: {message}") from cause
    for name in given.given:
        if name not in given.asked:
            raise ModelError(f"{label}: {unknown_name('xacro argument', name, given.asked)}")
    return document.toxml()


@contextmanager
def _packages_found_by(resources: Resources) -> Iterator[None]:
    """Let $(find package) look where package:// looks, with or without a sourced ROS."""
    from xacro import substitution_args

    original = substitution_args._eval_find

    def find(package: str) -> str:
        folders = resources.packages(package)
        return str(folders[0]) if folders else original(package)

    substitution_args._eval_find = find
    try:
        yield
    finally:
        substitution_args._eval_find = original


def _as_text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
