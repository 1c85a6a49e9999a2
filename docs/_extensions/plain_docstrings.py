# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Docstrings are plain text with `names` in backquotes: what reStructuredText would misread is
escaped, and indented lines are code, but for those of sections (Args, Returns, Raises).
"""

import ast
import re
from importlib import import_module
from pathlib import Path

from sphinx.pycode import ModuleAnalyzer

_SECTIONS = ("Args:", "Returns:", "Raises:")
_SPECIAL = re.compile(r"(`[^`]*`)|([*|\\])|(?<=\w)(_)(?!\w)")


def _replaced(match: re.Match) -> str:
    name, sign, underscore = match.groups()
    if not name:
        return "\\" + (sign or underscore)
    goes_on = match.string[match.end() : match.end() + 1].isalnum()  # as in `Sole`s
    return f"``{name[1:-1]}``" + ("\\ " if goes_on else "")


def _as_restructured_text(lines: list[str]) -> list[str]:
    found: list[str] = []
    text: list[str] = []  # since the last line of code
    in_section = False
    for line in [*lines, None]:
        if line and not line.startswith("    "):
            in_section = line in _SECTIONS
        if line is not None and (in_section or not line.startswith("    ")):
            text.append(line)
            continue
        if text:
            found += _SPECIAL.sub(_replaced, "\n".join(text)).split("\n")
            if line is not None and not text[-1]:
                found += ["::", ""]
            text = []
        if line is not None:
            found.append(line)
    return found


def _read_comments_of_fields(app) -> None:
    """Let the comment behind a field of a documented class be the field's documentation."""
    pages = "".join(path.read_text() for path in Path(app.srcdir).glob("reference/python/*.md"))
    for module, name in re.findall(r"autoclass:: ([\w.]+)\.(\w+)$", pages, re.MULTILINE):
        analyzer = ModuleAnalyzer.for_module(getattr(import_module(module), name).__module__)
        analyzer.analyze()
        for node in ast.parse(analyzer.code).body:
            if isinstance(node, ast.ClassDef) and node.name == name:
                analyzer.attr_docs.update(_comments_of(node, analyzer.code.splitlines()))


def _comments_of(node: ast.ClassDef, lines: list[str]) -> dict[tuple[str, str], list[str]]:
    found = {}
    for field in node.body:
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
            comment = lines[field.end_lineno - 1][field.end_col_offset :].partition("# ")[2]
            if comment and not comment.startswith("type:"):
                text = comment[0].upper() + comment[1:] + "."
                found[node.name, field.target.id] = [text, ""]
    return found


def _process(app, what, name, obj, options, lines) -> None:
    if lines[:1] and lines[0].startswith("Alias for field number"):
        lines.clear()
    lines[:] = _as_restructured_text(lines)


def _name_aliases(app, what, name, obj, options, signature, returned):
    """Return the signature with type aliases by their names, also within unions."""
    return tuple(
        text and re.sub(r"TypeAliasForwardRef\('(\w+)'\)", r"\1", text)
        for text in (signature, returned)
    )


def setup(app):
    """Rewrite every docstring and signature that autodoc reads."""
    app.connect("builder-inited", _read_comments_of_fields)
    app.connect("autodoc-process-signature", _name_aliases)
    app.connect("autodoc-process-docstring", _process)
    return {"parallel_read_safe": True}
