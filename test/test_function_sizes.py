# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Functions are short and take few parameters, or say in their first lines why they do not."""

import ast
from functools import cache
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "hrpsim"
MOST_LINES = 60  # without the docstring
MOST_PARAMETERS = 8  # without self


@cache
def functions():
    """Return node and text of each function by its name; not where each worker collects tests."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        text = path.read_text()
        rows = text.splitlines()
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                name = f"{path.relative_to(PACKAGE.parent)}:{node.lineno} {node.name}"
                found[name] = node, rows
    return found


def lines(node) -> int:
    docstring = node.body[0] if ast.get_docstring(node, clean=False) is not None else None
    told = docstring.end_lineno - docstring.lineno + 1 if docstring else 0
    return node.end_lineno - node.lineno + 1 - told


def parameters(node) -> int:
    names = [a.arg for a in node.args.posonlyargs + node.args.args + node.args.kwonlyargs]
    return len(names) - (names[:1] in (["self"], ["cls"]))


def head(node, rows) -> str:
    """Return the lines from the decorators to the first statement."""
    first = min(part.lineno for part in [node, *node.decorator_list])
    told = ast.get_docstring(node, clean=False) is not None and len(node.body) > 1
    return "\n".join(rows[first - 1 : node.body[told].lineno - 1])


@pytest.mark.parametrize(
    "mark, size, most",
    [("# long: ", lines, MOST_LINES), ("# many parameters: ", parameters, MOST_PARAMETERS)],
)
def test_what_is_beyond_the_limit_says_why_and_nothing_else_does(mark, size, most):
    beyond = {name for name, (node, _) in functions().items() if size(node) > most}
    explained = {name for name, (node, rows) in functions().items() if mark in head(node, rows)}
    assert beyond - explained == set(), f"over {most}, without `{mark}<reason>`"
    assert explained - beyond == set(), f"not over {most} any more"
