# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Public names: each package lists its own, documents them, and users import from nowhere else."""

import ast
import functools
import inspect
import re
from importlib import import_module
from pathlib import Path

import pytest
from pages.blocks import DOCS, ROOT

HEADS = {path.parent for path in (ROOT / "hrpsim").glob("*/__init__.py")} | {ROOT / "hrpsim"}
HEADS |= {path.parent for path in (ROOT / "hrpsim" / "fitting").glob("*/__init__.py")}
FACADES = [
    ".".join(head.relative_to(ROOT).parts)
    for head in sorted(HEADS)
    if "lazy_names" in (head / "__init__.py").read_text(encoding="utf-8")
]
# Pages about the inside.
INSIDE = {"reference/scene.md", "explanation/architecture.md"}
MADE_BY_WORLD = {"Body", "Connection", "ContactArrays", "Robot"}
MADE_BY_WORLD |= {"CameraView", "ContactView", "ScanView", "SensorView"}


def public(facade):
    """Return the public names of a facade and their values."""
    package = import_module(facade)
    exec(f"from {facade} import *", found := {})
    return {name: found[name] for name in package.__all__}


def public_callables():
    """Return the public functions and classes of hrpsim, by their public names."""
    return {
        f"{facade}.{name}": value
        for facade in FACADES
        for name, value in public(facade).items()
        if inspect.isfunction(value) or (inspect.isclass(value) and "hrpsim" in value.__module__)
    }


@pytest.mark.parametrize("facade", FACADES)
def test_type_checkers_see_what_is_imported(facade):
    """Law: names imported under TYPE_CHECKING are those of `__all__`, and the same objects."""
    tree = ast.parse(Path(import_module(facade).__file__).read_text(encoding="utf-8"))
    block = next(n for n in tree.body if isinstance(n, ast.If) and n.test.id == "TYPE_CHECKING")
    seen, found = {}, public(facade)
    for node in block.body:
        home = import_module(node.module)
        seen.update((alias.name, getattr(home, alias.name)) for alias in node.names)
    assert set(seen) - {"__version__"} == set(found)
    assert all(seen[name] is value for name, value in found.items())


def test_every_public_name_is_in_the_reference_and_no_other():
    pages = "".join(p.read_text(encoding="utf-8") for p in (DOCS / "reference/python").glob("*.md"))
    documented = set(re.findall(r"^\.\. [\w:]+:: (hrpsim[\w.]*)", pages, re.MULTILINE))
    names = {f"{facade}.{name}" for facade in FACADES for name in public(facade)}
    again = {f"hrpsim.dynamics.{name}" for name in public("hrpsim.dynamics")}  # in hrpsim too
    assert names - documented == again
    within = {f"hrpsim.bridges.mujoco.{name}" for name in ("MjModel", "MjData", "stand_in")}
    assert documented - names == within


def members(cls):
    """Yield (name, function, docstring) of the public methods and properties of a class."""
    for name in dir(cls):
        member = inspect.getattr_static(cls, name)
        if isinstance(member, property):
            function = member.fget
        elif isinstance(member, functools.cached_property):
            function = member.func
        elif isinstance(member, (staticmethod, classmethod)):
            function = member.__func__
        else:
            function = member
        if not name.startswith("_") and inspect.isfunction(function):
            if function.__module__.startswith("hrpsim"):
                yield name, function, function.__doc__ or member.__doc__


def undocumented(what, function, text):
    """Return what the docstring `text` of a function or class lacks."""
    if not text:
        return [what]
    parameters = [name for name in inspect.signature(function).parameters if name != "self"]
    if len(parameters) < 3:  # a sentence has room for one or two
        return []
    section = text.partition("Args:\n")[2]
    return [f"{what}: {p}" for p in parameters if not re.search(rf"^ +\**{p}: ", section, re.M)]


def test_every_public_name_has_a_docstring_with_its_parameters():
    """Law: of three parameters or more, each has its line under "Args:"."""
    missing = []
    for name, value in public_callables().items():
        if inspect.isfunction(value):
            missing += undocumented(name, value, value.__doc__)
            continue
        fields = hasattr(value, "__dataclass_fields__") or issubclass(value, (tuple, Exception))
        if fields or name.rpartition(".")[2] in MADE_BY_WORLD:
            missing += [] if value.__doc__ else [name]
        else:
            missing += undocumented(name, value, value.__doc__)
        for member, function, text in members(value):
            missing += undocumented(f"{name}.{member}", function, text)
    assert missing == []


def imports(text):
    """Yield (module, name) of every import of hrpsim."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "hrpsim":
            yield from ((node.module, alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from ((a.name, None) for a in node.names if a.name.split(".")[0] == "hrpsim")


def programs():
    """Yield (where, text) of every example and every Python block of a page."""
    for path in sorted((ROOT / "examples").rglob("*.py")):
        yield path.name, path.read_text(encoding="utf-8")
    for path in sorted((ROOT / "examples").rglob("*.ipynb")):
        code = re.findall(r'^ *"((?:from|import) hrpsim.*?)(?:\\n)?",?$', path.read_text(), re.M)
        yield path.name, "\n".join(code)
    for page in [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]:
        for block in re.findall(r"^```python\n(.*?)^```", page.read_text(), re.M | re.S):
            yield page.name, block


def test_pages_and_examples_import_public_names_only():
    found, wrong = 0, []
    for where, text in programs():
        for module, name in imports(text):
            found += 1
            if module not in FACADES or (name and name not in import_module(module).__all__):
                wrong.append(f"{where}: {module} {name or ''}")
    assert wrong == [] and found > 80


def test_pages_name_public_names_only():
    """Law: what a page calls hrpsim.a.b, or hrpsim.a:B for a controller, is public."""
    wrong = []
    for page in [ROOT / "README.md", *DOCS.rglob("*.md")]:
        if page.is_relative_to(DOCS) and page.relative_to(DOCS).as_posix() in INSIDE:
            continue
        for dotted in re.findall(r"`(hrpsim(?:\.\w+)+(?::\w+)?)", page.read_text(encoding="utf-8")):
            name, *_ = dotted.replace(":", ".").removeprefix("hrpsim.").split(".")
            facade = f"hrpsim.{name}" if f"hrpsim.{name}" in FACADES else "hrpsim"
            rest = dotted.replace(":", ".").removeprefix(f"{facade}").strip(".").split(".")[0]
            if rest and rest not in [*import_module(facade).__all__, "__version__"]:
                wrong.append(f"{page.name}: {dotted}")
    assert wrong == []
