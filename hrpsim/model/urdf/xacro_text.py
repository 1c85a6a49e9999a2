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
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

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
    variable,
)
from hrpsim.model.urdf.places import Places
from hrpsim.model.urdf.resources import Resources
from hrpsim.model.urdf.xacro_budget import (
    CONTAINERS,
    PLAIN,
    Budget,
    ExpressionError,
    Function,
    Namespace,
)
from hrpsim.model.urdf.xacro_expressions import Evaluator
from hrpsim.model.urdf.xacro_functions import known_names
from hrpsim.model.urdf.xacro_macros import macro_parameter

NAMESPACES = ("http://www.ros.org/wiki/xacro", "http://ros.org/wiki/xacro")
SUBSTITUTIONS = ("arg", "cwd", "env", "eval", "find", "optenv")
_YAML_UNITS = {
    "!radians": 1.0,
    "!degrees": 0.017453292519943295,
    "!meters": 1.0,
    "!millimeters": 0.001,
    "!foot": 0.3048,
    "!inches": 0.0254,
}
_TOKEN = re.compile(
    r"(?P<escaped>\$\$+[{(])|\$\{(?P<expression>[^}]*)\}|\$\((?P<substitution>[^)]*)\)"
    r"|(?P<text>[^$]+|\$[^{($]+|\$\Z)"
)
_NOTES = 20  # warnings of one description that are passed on

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
    expansion = _Expansion(xacro, path, given, resources)
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
    return Expanded(result, expansion.notes[:_NOTES], list(given.asked)), expansion.trace


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


class _Expansion:
    """What stands in for parts of the xacro package while one description is expanded."""

    def __init__(self, package, path: Path | None, arguments: _Arguments, resources: Resources):
        self.package, self.path = package, path
        self.arguments, self.resources = arguments, resources
        self.budget = Budget()
        self.elements = self.read = self.depth = 0
        self.notes: list[str] = []
        self.trace = Trace()
        self._places = Places(path, resources)
        self._expand_element = package.eval_all
        functions = self._functions()
        self._plain_names = known_names(self.budget)
        self._names = {**self._plain_names, "xacro": Namespace("xacro", functions.__getitem__)}
        # Old descriptions call these without `xacro.`.
        self._names |= {name: functions[name] for name in ("load_yaml", "abs_filename", "dotify")}

    @contextmanager
    def in_place(self) -> Iterator[None]:
        """Let xacro use this object's functions instead of its own."""
        own = {
            "eval_text": self.evaluate_text,
            "eval_all": self.expand_element,
            "parse": self.parse,
            "get_include_files": self.included,
            "parse_macro_arg": macro_parameter,
            "warning": self.note,
            "print_location": lambda *ignored, **also: None,
        }
        missing = [name for name in own if not hasattr(self.package, name)]
        if missing:
            raise ModelError(
                f"this version of xacro is not supported: it has no {', '.join(missing)}"
            )
        original = {name: getattr(self.package, name) for name in own}
        try:
            for name, function in own.items():
                setattr(self.package, name, function)
            yield
        finally:
            for name, function in original.items():
                setattr(self.package, name, function)

    # -- what xacro calls -------------------------------------------------------------------

    def evaluate_text(self, text: str, symbols) -> Any:
        """Return a text with its ${} and $() evaluated; a value, where it is one alone."""
        text = str(text)
        self.budget.spend(1 + len(text) // 16)
        if "$" not in text:
            return text
        results, position = [], 0
        while position < len(text):
            token = _TOKEN.match(text, position)
            if token is None:
                raise ExpressionError(f"invalid expression: {text[position : position + 80]}")
            position = token.end()
            kind = str(token.lastgroup)
            content = token[kind]
            if kind == "expression":
                results.append(self._evaluate(content, symbols))
            elif kind == "substitution":
                results.append(self._substitute(content, symbols))
            else:
                results.append(content[1:] if kind == "escaped" else content)
        if len(results) == 1:
            return results[0]
        return self.budget.admit("".join(map(self.budget.text, results)))

    def expand_element(self, node, macros, symbols) -> None:
        """Expand one element, if there are not too many or too deep."""
        self.count_elements(1 + len(node.attributes or ()))
        for child in node.childNodes:
            if child.nodeType == child.COMMENT_NODE or child.nodeType == child.CDATA_SECTION_NODE:
                self.budget.spend(1 + len(child.data) // 16)
        self.depth += 1
        try:
            if self.depth > limits.XACRO_DEPTH:
                raise ExpressionError(
                    f"elements and macros nested more than {limits.XACRO_DEPTH} deep (XACRO_DEPTH)"
                )
            self._expand_element(node, macros, symbols)
        finally:
            self.depth -= 1

    def count_elements(self, count: int) -> None:
        """Count elements and attributes; ExpressionError where they are too many."""
        self.elements += count
        if self.elements > limits.XACRO_ELEMENTS:
            raise ExpressionError(
                f"it expands to more than {limits.XACRO_ELEMENTS} elements and attributes"
                " (XACRO_ELEMENTS)"
            )

    def parse(self, text, filename: str = ""):
        """Return the DOM of a text, or of a file that may be read."""
        from xml.dom import minidom

        if text is None:
            try:
                text = self._read(filename, limits.XACRO_SIZE, "XACRO_SIZE")
            except self.package.XacroException:
                self.package.filestack.pop()  # it could not be begun
                raise
        if not isinstance(text, str):
            return text
        self.read += text.count("<") + text.count("=")
        if self.read > 4 * limits.XACRO_ELEMENTS:
            raise ExpressionError(
                f"its files hold more than {4 * limits.XACRO_ELEMENTS} tags and attributes"
                " (4 XACRO_ELEMENTS)"
            )
        if "<!DOCTYPE" in text or "<!ENTITY" in text:
            raise ExpressionError("a document type or entities are not allowed")
        return minidom.parseString(text)

    def included(self, specification: str, symbols) -> Iterable[str]:
        """Return the files that <xacro:include filename=...> names; * only in its last part."""
        name = self.package.abs_filename_spec(
            self.budget.text(self.evaluate_text(specification, symbols))
        )
        folder, pattern = os.path.split(name)
        if not re.search(r"[*[?]", name):
            return [name]
        entries = self._places.entries(folder)
        self.trace.note("folder", folder, entries)
        return [os.path.join(folder, e) for e in entries if fnmatchcase(e, pattern)]

    def note(self, *parts: object, **options: object) -> str:
        """Keep a warning of xacro's, or of a description."""
        if len(self.notes) < _NOTES:
            text = " ".join(self.budget.text(p) for p in parts)
            self.notes.append(text[: limits.SHOWN_LENGTH])
        return ""

    # -- expressions --------------------------------------------------------------------------

    def _evaluate(self, text: str, symbols) -> Any:
        expression = self.budget.text(self.evaluate_text(text, symbols))
        evaluator = Evaluator(self.budget, lambda name: self._symbol(symbols, name), self._names)
        try:
            return evaluator.evaluate(expression)
        except ExpressionError as cause:
            shown = text[: limits.SHOWN_LENGTH]
            if "(in the expression" in str(cause):
                raise
            raise ExpressionError(f"{cause} (in the expression '{shown}')") from cause

    def _symbol(self, symbols, name: str) -> Any:
        """Return a property; KeyError for names of xacro's own and for what is no value."""
        if symbols is None or name in ("math", "python", "xacro"):
            raise KeyError(name)
        value = symbols[name]
        if isinstance(value, self.package.NameSpace):
            return Namespace(name, lambda inner: self._symbol(value, inner))
        if not isinstance(value, (*PLAIN, *CONTAINERS)):
            raise KeyError(name)
        return value

    def _substitute(self, text: str, symbols) -> str:
        command, _, rest = (
            self.budget.text(self.evaluate_text(text, symbols)).strip().partition(" ")
        )
        words = rest.split()
        if command == "eval":
            return self.budget.text(self._evaluate_eval(rest))
        if command == "cwd" and not words:
            self.trace.not_repeatable()
            return os.getcwd()
        if command == "optenv" and words:
            return self._optional_variable(words[0], " ".join(words[1:]))
        if command not in ("arg", "env", "find"):
            names = [f"$({name})" for name in SUBSTITUTIONS]
            raise ExpressionError(unknown_name("substitution", f"$({text[:80]})", names))
        if len(words) != 1:
            raise ExpressionError(f"$({command}) takes one name")
        return {"arg": self._argument, "env": self._variable, "find": self._find}[command](words[0])

    def _evaluate_eval(self, expression: str) -> Any:
        """Return the value of $(eval ...), whose names are the arguments, numbers as numbers."""

        def converted(name: str) -> Any:
            return self.package.Table._eval_literal(self.arguments[name])

        functions = {
            "arg": Function("arg", lambda name: converted(name)),
            "env": Function("env", self._variable),
            "optenv": Function("optenv", self._optional_variable),
            "find": Function("find", self._find),
        }
        return Evaluator(self.budget, converted, {**self._plain_names, **functions}).evaluate(
            expression
        )

    def _functions(self) -> dict[str, Any]:
        calls: dict[str, Callable[..., Any]] = {
            "arg": self._argument,
            "load_yaml": self._load_yaml,
            "abs_filename": lambda name: self.package.abs_filename_spec(self.budget.text(name)),
            "dotify": lambda mapping=None, **items: {**(mapping or {}), **items},
            "tokenize": _tokenize,
            "message": lambda *parts, **options: "",
            "warning": self.note,
            "error": self.note,
            "print_location": lambda *ignored, **also: "",
            "fatal": self._fatal,
        }
        return {name: Function(name, call) for name, call in calls.items()}

    def _fatal(self, *parts: object):
        raise ExpressionError(" ".join(map(self.budget.text, parts)))

    def _argument(self, name: str) -> str:
        if name not in self.arguments:
            raise ExpressionError(unknown_name("xacro argument", str(name), self.arguments.keys()))
        return self.arguments[name]

    # -- files --------------------------------------------------------------------------------

    def _find(self, package: str) -> str:
        folders = self.resources.packages(package)
        if folders:
            self.trace.note("package", package, str(folders[0]))
            return str(folders[0])
        self.trace.not_repeatable()
        try:
            return self.package.substitution_args._eval_find(package)  # asks ament
        except Exception as cause:  # not installed, not found, or not a name
            raise ExpressionError(f"package {package!r} was not found") from cause

    def _read(self, filename: str, size: int, limit: str) -> str:
        try:
            text = self._places.read(filename, size, limit)
        except FileNotFoundError as missing:  # what <xacro:include optional="true"> passes over
            self.trace.not_repeatable()
            raise self.package.XacroException(exc=missing) from None
        self.trace.note("file", str(Path(filename).absolute()), digest_of(text))
        return text

    def _variable(self, name: str) -> str:
        self.trace.note("variable", name, variable(name))
        if name not in os.environ:
            raise ExpressionError(f"the environment variable {name!r} is not set")
        return os.environ[name]

    def _optional_variable(self, name: str, other: str = "") -> str:
        self.trace.note("variable", name, variable(name))
        return os.environ.get(name, other)

    def _load_yaml(self, name: str) -> Any:
        from hrpsim.yaml_text import parse_yaml  # which few descriptions need

        path = self.package.abs_filename_spec(self.budget.text(name))
        text = self._read(path, limits.YAML_SIZE, "YAML_SIZE")

        def unit(factor: float):
            nothing: dict[str, Any] = {}
            evaluator = Evaluator(self.budget, nothing.__getitem__, self._plain_names)
            return lambda value: float(evaluator.evaluate(value)) * factor

        tags = {tag: unit(factor) for tag, factor in _YAML_UNITS.items()}
        return self.budget.admit(parse_yaml(text, path, ModelError, tags, repeated=True).data)


def _tokenize(text: str, sep: str = ",; ", skip_empty: bool = True) -> list[str]:
    parts = [text]
    for sign in sep:
        parts = [piece for part in parts for piece in part.split(sign)]
    return [part for part in parts if part] if skip_empty else parts


def _as_text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
