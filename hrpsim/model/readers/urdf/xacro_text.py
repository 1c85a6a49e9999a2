# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Expand xacro to URDF text with the package `xacro`, which is imported only when needed.

Xacro evaluates expressions as Python, so that a xacro file is trusted like a program.

Expansions are cached with hashes of the included files and with the packages found. A cached
expansion is used again while all of these are unchanged. An expansion that may depend on other
inputs (YAML files, environment variables, file patterns) is not cached. A damaged or missing cache
file only costs time.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import json
import os
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from hrpsim.common.errors import ModelError, require_names
from hrpsim.common.foreign.file_bytes import file_digest, read_bytes
from hrpsim.common.foreign.json_text import parse_json
from hrpsim.common.foreign.text import read_text
from hrpsim.common.foreign.xml_text import decoded_xml
from hrpsim.common.stored_files import cache_home, keep_among, read_used
from hrpsim.model.readers.urdf.resolve_uris import Resources

_STORED = 200  # expansions, the most recently used
_DEPENDS_ON_MORE = re.compile(
    r"load_yaml|\$\((env|optenv|cwd|eval)\b|filename\s*=\s*[\"'][^\"']*[*?[]"
)
NAMESPACES = ("http://www.ros.org/wiki/xacro", "http://ros.org/wiki/xacro")
# What xacro acts on. A single call of a macro is left over from an undefined macro.
_TO_EXPAND = re.compile(
    r"\$[{(]|<xacro:(macro|property|arg|include|if|unless|insert_block|element|attribute|call)\b"
)
_CURES = (  # by what xacro says
    (
        re.compile(r"Undefined substitution argument (\w+)"),
        "give it a value: xacro_arguments={{{0!r}: ...}}, --xacro {0}:=VALUE, or a default in the"
        " file",
    ),
    (
        re.compile(r"xacro:arg: missing attribute 'default'"),
        'every argument needs one, such as default=""',
    ),
)
_xacro_lock = threading.Lock()  # xacro keeps its file and argument stacks in module globals


class Expansion(NamedTuple):
    """URDF text expanded from xacro, and the files and packages that the expansion used."""

    text: str
    asked: list[str]  # arguments that the description has
    included: list[str]  # included files
    packages: dict[str, str]  # folder by name of each package that $(find) found


class _Arguments(dict):
    """Xacro arguments that record which arguments the description used."""

    def __init__(self, values: Mapping[str, object]) -> None:
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

    The suffix .xacro decides. Otherwise the description must declare xacro's namespace and contain
    something to expand. The output of xacro often keeps the declaration, and old output keeps calls
    of missing macros.
    """
    if path is not None and path.suffix == ".xacro":
        return True
    declared = any(f'"{uri}"' in text or f"'{uri}'" in text for uri in NAMESPACES)
    return declared and _TO_EXPAND.search(text) is not None


def expand(
    text: str, path: Path | None, arguments: Mapping[str, object], resources: Resources, label: str
) -> str:
    """Return the URDF text that xacro makes of `text`, read from `path` (None: given as text).

    $(find package) searches the places of `resources`, then ament's index. Xacro writes warnings to
    stderr. ModelError names the file that xacro was reading. Arguments that nothing uses also raise
    ModelError.
    """
    xacro_arguments = _Arguments(arguments)
    key = "" if path is None else key_of(text, path, xacro_arguments, _version())
    expansion = recall(key, resources)
    if expansion is None:
        expansion = _expand(text, path, xacro_arguments, resources, label)
        keep(key, text, expansion)
    require_names("xacro argument", xacro_arguments.given, expansion.asked, ModelError, where=label)
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
        except Exception as cause:  # xacro raises any exception
            inner = next((f for f in reversed(xacro.filestack or []) if f), label)
            where = label if inner in (label, str(path)) else f"{label}, in {inner}"
            message = " ".join(_error_text(cause).split()) or repr(cause)
            cures = [cure.format(*m.groups()) for say, cure in _CURES if (m := say.search(message))]
            raise ModelError("; ".join([f"{where}: xacro: {message}", *cures])) from cause
        included = [os.path.abspath(name) for name in xacro.all_includes]
    return Expansion(result, list(given.asked), included, packages)


def _error_text(error: Exception) -> str:
    """Return the text of an xacro error, without the repetitions that xacro adds."""
    text, wrapped = str(error), getattr(error, "exc", None)
    while wrapped is not None:
        text = text.replace(f"{type(wrapped)}: {wrapped} ", "", 1)
        wrapped = getattr(wrapped, "exc", None)
    return text


@contextmanager
def _packages_found(resources: Resources, found: dict[str, str]) -> Iterator[None]:
    """Make $(find package) search `resources` first. Record the results in `found`.

    Xacro itself searches only ament's index. The index does not know `package_paths`, and does not
    exist on a machine without ROS 2.
    """
    import xacro.substitution_args

    by_ament: Callable[[str], str] = xacro.substitution_args._eval_find

    def find(package: str) -> str:
        folders = resources.packages(package)
        if not folders:
            try:
                return by_ament(package)
            except Exception as cause:  # ament is not installed, or does not know it either
                raise LookupError(resources.absent(package)) from cause
        found[package] = str(folders[0])
        return found[package]

    xacro.substitution_args._eval_find = find
    try:
        yield
    finally:
        xacro.substitution_args._eval_find = by_ament


def _version() -> str:
    """Return a text that identifies the installed xacro, without importing xacro."""
    spec = importlib.util.find_spec("xacro")
    if spec is None or spec.origin is None:
        return "none"
    status = os.stat(spec.origin)
    return f"{status.st_size} {status.st_mtime_ns}"


def _as_text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def key_of(text: str, path: Path, arguments: Mapping[str, str], version: str) -> str:
    """Return the cache key of an expansion: a hash of text, path, arguments and version."""
    of = [text, str(path.absolute()), dict(arguments), version]
    return hashlib.sha256(json.dumps(of, sort_keys=True).encode()).hexdigest()[:40]


def recall(key: str, resources: Resources) -> Expansion | None:
    """Return a cached expansion if the files and packages used are unchanged, or None."""
    content = read_used(_folder() / f"{key}.json") if key else None
    if content is None:
        return None
    try:
        stored = parse_json(content)
        expansion = Expansion(**stored["expansion"])
        same = [_hash_of(name) for name in expansion.included] == stored["hashes"] and all(
            str(resources.packages(name)[0]) == folder
            for name, folder in expansion.packages.items()
        )
    except (OSError, ValueError, KeyError, TypeError, IndexError):
        return None
    return expansion if same else None


def keep(key: str, text: str, expansion: Expansion) -> None:
    """Cache an expansion, unless the key is "" or the expansion may depend on other inputs."""
    with contextlib.suppress(OSError, ValueError):
        files = [Path(name) for name in expansion.included]
        read = [text, *(read_text(file, ModelError, "XML_SIZE") for file in files)]
        if not key or any(map(_DEPENDS_ON_MORE.search, read)):
            return
        hashes = [_hash_of(name) for name in expansion.included]
        content = json.dumps({"expansion": expansion._asdict(), "hashes": hashes}).encode()
        keep_among(_folder() / f"{key}.json", content, _STORED)


def _hash_of(file: str) -> str:
    return file_digest(Path(file), ModelError, "XML_SIZE").hex()


def _folder() -> Path:
    return cache_home() / "descriptions"


class UrdfText(NamedTuple):
    """URDF text and the origin of the text.

    has_lines: whether lines of the text are the file's lines.
    """

    text: str
    path: Path | None
    has_lines: bool

    @property
    def label(self) -> str:
        """Name of the text in errors."""
        return "<text>" if self.path is None else str(self.path)


BINARY = (".usd", ".usda", ".usdc", ".usdz")  # suffixes of descriptions that are not texts


def read_source(source: str | os.PathLike) -> tuple[str, Path | None]:
    """Return the XML text of `source` (a path, or XML text) and the path (None for text)."""
    if isinstance(source, str) and source.lstrip("\ufeff \t\r\n").startswith("<"):
        return source.lstrip("\ufeff \t\r\n"), None
    if not isinstance(source, (str, os.PathLike)):
        raise ModelError(
            f"a robot description must be a path or XML text, got {type(source).__name__}"
        )
    path = Path(source)
    if not str(source).strip() or "\n" in str(path):
        raise ModelError("the robot description must be a path, or XML text that begins with <")
    if path.suffix.lower() in BINARY:
        return "", path  # a reader of its own reads the file
    data = read_bytes(path, ModelError, "XML_SIZE")
    # Comments of Japanese VRML files are in many encodings.
    errors = "replace" if path.suffix.lower() == ".wrl" else "strict"
    return decoded_xml(data, path, ModelError, errors), path
