# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Print measures of code and prose next to the stored values: python tools/measures.py [--write].

No measure causes a failure. A change that worsens a measure explains why, and stores the new values
by --write.

The lines of a function exclude its docstring. Complexity is one more than the number of branches.
The annotated share counts parameters and results. Idioms and semicolons are counted per thousand
words of docstrings, comments and pages.
"""

import argparse
import ast
import io
import json
import re
import statistics
import tokenize
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = "hrpsim", "evidence"
LAST = Path(__file__).with_name("measures.json")
IDIOMS = re.compile(r"\b(tells?|telling|told|whom|anew|beside|stands? in|gone on|goes on)\b", re.I)
WRITTEN_BY_PROGRAMS = {"CHANGELOG", "benchmarks", "simbenchmark", "faults", "scene", "licences"}
BRANCHES = ast.If | ast.For | ast.While | ast.IfExp | ast.ExceptHandler | ast.comprehension
BRANCHES |= ast.Assert | ast.AsyncFor
FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef


def complexity(function: FUNCTIONS) -> int:
    """Return one more than the number of branches in a function, without nested functions."""
    count, nodes = 1, list(ast.iter_child_nodes(function))
    while nodes:
        node = nodes.pop()
        if isinstance(node, FUNCTIONS | ast.Lambda):
            continue
        count += isinstance(node, BRANCHES)
        count += len(node.values) - 1 if isinstance(node, ast.BoolOp) else 0
        nodes += ast.iter_child_nodes(node)
    return count


def length(function: FUNCTIONS) -> int:
    """Return the number of lines of a function, without the docstring."""
    lines = function.end_lineno - function.lineno + 1
    if ast.get_docstring(function, clean=False) is not None:
        lines -= function.body[0].end_lineno - function.body[0].lineno + 1
    return lines


def parameters(function: FUNCTIONS) -> list[ast.arg]:
    """Return the parameters of a function, except self and cls."""
    named = function.args.posonlyargs + function.args.args + function.args.kwonlyargs
    return [each for each in named if each.arg not in ("self", "cls")]


def figures_of_code(package: Path) -> dict[str, float]:
    """Return the measures of all sources of a package, by name."""
    texts = [path.read_text(encoding="utf-8") for path in sorted(package.rglob("*.py"))]
    trees = [ast.parse(text) for text in texts]
    functions = [node for tree in trees for node in ast.walk(tree) if isinstance(node, FUNCTIONS)]
    branches = [complexity(each) for each in functions]
    typed = [each.returns is not None for each in functions]
    typed += [arg.annotation is not None for each in functions for arg in parameters(each)]
    prose = " ".join(words for text in texts for words in prose_of(text))
    return {
        "files": len(texts),
        "lines": sum(text.count("\n") for text in texts),
        "functions": len(functions),
        "lines of a function, median": statistics.median(map(length, functions)),
        "functions over 60 lines": sum(length(each) > 60 for each in functions),
        "functions over 8 parameters": sum(len(parameters(each)) > 8 for each in functions),
        "complexity over 10": sum(each > 10 for each in branches),
        "complexity over 20": sum(each > 20 for each in branches),
        "annotated [%]": round(100 * statistics.mean(typed), 1),
        **figures_of_prose(prose),
    }


def prose_of(source: str):
    """Yield the docstrings and comments of a source."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT or token.string.startswith(('"""', 'r"""')):
            yield token.string


def figures_of_prose(text: str) -> dict[str, float]:
    """Return the measures of a text, by name. Code in the text is skipped."""
    text = re.sub(r"```.*?```|`[^`\n]*`", "X", text, flags=re.S)
    words = len(text.split())
    return {
        "words": words,
        "idioms per 1000 words": round(1000 * len(IDIOMS.findall(text)) / words, 2),
        "semicolons per 1000 words": round(1000 * text.count(";") / words, 2),
    }


def figures_of_pages() -> dict[str, float]:
    """Return the measures of all handwritten pages, by name."""
    pages = [*ROOT.glob("*.md"), *sorted((ROOT / "docs").rglob("*.md"))]
    pages = [page for page in pages if page.stem not in WRITTEN_BY_PROGRAMS]
    pages = [page for page in pages if page.parent.name != "verification"]
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    return {"files": len(pages), **figures_of_prose(text)}


def main() -> None:
    """Print the measures, with stored values that differ.

    Store the measures if --write is given.
    """
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--write", action="store_true", help=f"store them in {LAST.name}")
    store = parser.parse_args().write
    figures = {package: figures_of_code(ROOT / package) for package in PACKAGES}
    figures["pages"] = figures_of_pages()
    last = json.loads(LAST.read_text(encoding="utf-8")) if LAST.exists() else {}
    for name, values in figures.items():
        for key, value in values.items():
            before = last.get(name, {}).get(key, value)
            change = "" if before == value else f"  (last: {before})"
            print(f"{name:10} {key:30} {value:>10}{change}")
    if store:
        LAST.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
