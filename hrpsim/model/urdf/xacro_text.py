"""Turns xacro into plain URDF text with the `xacro` package, which it imports only when needed.

A description may come from a stranger, and xacro hands its expressions to Python. Here they go to
`xacro_expressions`, which runs no code; work, sizes and depth are bounded; and files are read only
below the description's folder, its package, and packages that $(find) knows. SECURITY.md says what
stays possible.
"""

from __future__ import annotations

import os
import re
import threading
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from hrpsim import limits
from hrpsim.errors import ModelError, ModelWarning, unknown_name
from hrpsim.model.urdf.resources import Resources
from hrpsim.model.urdf.xacro_expressions import (
    CONTAINERS,
    PLAIN,
    Budget,
    Evaluator,
    ExpressionError,
    Function,
    Namespace,
    known_names,
)
from hrpsim.yaml_text import parse_yaml, read_text

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
_PARAMETER = re.compile(r"\s*([^\s:=]+)\s*(:?=\s*(\^\|?)?)?")
_DEFAULT = re.compile(r"""\$\{[^}]*\}|\$\([^)]*\)|'[^']*'|"[^"]*"|[^\s'"$]+|\$""")
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
    try:
        import xacro
        import xacro.substitution_args
    except ImportError as cause:
        raise ModelError(f"{label}: reading xacro needs the Python package 'xacro'") from cause
    given = _Arguments(arguments)
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
    for note in expansion.notes[:_NOTES]:
        warnings.warn(f"{label}: xacro: {note}", ModelWarning, stacklevel=4)
    for name in given.given:
        if name not in given.asked:
            raise ModelError(f"{label}: {unknown_name('xacro argument', name, given.asked)}")
    return result


class _Expansion:
    """What stands in for parts of the xacro package while one description is expanded."""

    def __init__(self, package, path: Path | None, arguments: _Arguments, resources: Resources):
        self.package, self.path = package, path
        self.arguments, self.resources = arguments, resources
        self.budget = Budget()
        self.elements = self.read = self.depth = 0
        self.notes: list[str] = []
        self._roots = _own_roots(path)
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
            kind, content = token.lastgroup, token[token.lastgroup]
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

    def parse(self, text, filename: str | None = None):
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
        self._check_place(Path(folder) / "x")
        entries = sorted(e for e in os.listdir(folder or ".") if fnmatchcase(e, pattern))
        return [os.path.join(folder, entry) for entry in entries]

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
            return os.getcwd()
        if command == "optenv" and words:
            return os.environ.get(words[0], " ".join(words[1:]))
        if command not in ("arg", "env", "find"):
            names = [f"$({name})" for name in SUBSTITUTIONS]
            raise ExpressionError(unknown_name("substitution", f"$({text[:80]})", names))
        if len(words) != 1:
            raise ExpressionError(f"$({command}) takes one name")
        return {"arg": self._argument, "env": _environment, "find": self._find}[command](words[0])

    def _evaluate_eval(self, expression: str) -> Any:
        """Return the value of $(eval ...), whose names are the arguments, numbers as numbers."""

        def converted(name: str) -> Any:
            return self.package.Table._eval_literal(self.arguments[name])

        functions = {
            "arg": Function("arg", lambda name: converted(name)),
            "env": Function("env", _environment),
            "optenv": Function("optenv", lambda name, other="": os.environ.get(name, other)),
            "find": Function("find", self._find),
        }
        return Evaluator(self.budget, converted, {**self._plain_names, **functions}).evaluate(
            expression
        )

    def _functions(self) -> dict[str, Any]:
        calls = {
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
            return str(folders[0])
        try:
            return self.package.substitution_args._eval_find(package)  # asks ament
        except Exception as cause:  # not installed, not found, or not a name
            raise ExpressionError(f"package {package!r} was not found") from cause

    def _read(self, filename: str, size: int, limit: str) -> str:
        path = Path(filename)
        self._check_place(path)
        if not path.is_file():  # what <xacro:include optional="true"> passes over
            missing = FileNotFoundError(f"there is no file {str(path)!r}")
            raise self.package.XacroException(exc=missing)
        return read_text(path, ModelError, size, limit)

    def _check_place(self, path: Path) -> None:
        """Refuse files that are neither near the description nor in a package."""
        real = path.resolve()
        if any(real.is_relative_to(root) for root in self._roots) or self.resources.may_hold(real):
            return
        raise ExpressionError(
            f"{str(path)!r} may not be read: it is neither below the description's folder or"
            " package nor in a package that is found; package_paths adds folders"
        )

    def _load_yaml(self, name: str) -> Any:
        path = self.package.abs_filename_spec(self.budget.text(name))
        text = self._read(path, limits.YAML_SIZE, "YAML_SIZE")

        def unit(factor: float):
            evaluator = Evaluator(self.budget, {}.__getitem__, self._plain_names)
            return lambda value: float(evaluator.evaluate(value)) * factor

        tags = {tag: unit(factor) for tag, factor in _YAML_UNITS.items()}
        return self.budget.admit(parse_yaml(text, path, ModelError, tags, repeated=True).data)


def macro_parameter(text: str) -> tuple[str, tuple[str | None, str | None] | None, str]:
    """Return the first parameter of <xacro:macro params=...>, (forwarded as, default), the rest.

    The default is None for a parameter that has none. In linear time, unlike xacro's own.
    """
    found = _PARAMETER.match(text)
    if found is None:
        words = text.split(None, 1)
        return words[0], None, words[1] if len(words) > 1 else ""
    name, assigned, forward = found.groups()
    if assigned is None:
        words = text.lstrip().split(None, 1)
        return words[0], None, words[1] if len(words) > 1 else ""
    position = found.end()
    while (part := _DEFAULT.match(text, position)) is not None:
        position = part.end()
    default = text[found.end() : position]
    return name, (name if forward else None, default or None), text[position:].lstrip()


def _own_roots(path: Path | None) -> list[Path]:
    """Return the description's folder, and the package that it lies in."""
    if path is None:
        return []
    folder = path.resolve().parent
    package = next((f for f in (folder, *folder.parents) if _is_package(f)), folder)
    return [folder, package]


def _is_package(folder: Path) -> bool:
    return (folder / "package.xml").is_file()


def _environment(name: str) -> str:
    if name not in os.environ:
        raise ExpressionError(f"the environment variable {name!r} is not set")
    return os.environ[name]


def _tokenize(text: str, sep: str = ",; ", skip_empty: bool = True) -> list[str]:
    parts = [text]
    for sign in sep:
        parts = [piece for part in parts for piece in part.split(sign)]
    return [part for part in parts if part] if skip_empty else parts


def _as_text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
