# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""What users call says its types: a type checker, and an editor, know all of the public API."""

import functools
import inspect
from pathlib import Path

import hrpsim
from hrpsim import Body, Connection, Robot, SensorView
from hrpsim.analysis import Analyser, Observer
from hrpsim.control import Controller, ControlLoop

PUBLIC = [getattr(hrpsim, name) for name in hrpsim.__all__]
PUBLIC += [Analyser, Body, Connection, Controller, ControlLoop, Observer, Robot, SensorView]


def functions(thing):
    """Return the public functions of a class, constructor and getters included; or the function."""
    if not inspect.isclass(thing):
        return [thing] if inspect.isfunction(thing) else []  # else a union of types
    found = []
    for name, _ in inspect.getmembers(thing):
        member = inspect.getattr_static(thing, name)
        if name == "__init__" or not name.startswith("_"):
            if isinstance(member, property):
                found.append(member.fget)
            elif isinstance(member, functools.cached_property):
                found.append(member.func)
            elif isinstance(member, (staticmethod, classmethod)):
                found.append(member.__func__)
            elif inspect.isfunction(member):
                found.append(member)
    return [function for function in found if function.__module__.startswith("hrpsim")]


def untyped(function):
    """Return the parameters of a function that say no type, and "return" if it does not say its."""
    signature = inspect.signature(function)
    empty = inspect.Signature.empty
    names = [p.name for p in signature.parameters.values() if p.annotation is empty]
    if signature.return_annotation is empty and function.__name__ != "__init__":
        names.append("return")
    return [name for name in names if name not in ("self", "cls")]


def test_every_public_function_says_its_types():
    looked_at = {function for thing in PUBLIC for function in functions(thing)}
    assert len(looked_at) > 150
    missing = {f.__qualname__: untyped(f) for f in looked_at if untyped(f)}
    assert missing == {}


def test_the_package_says_that_it_is_typed():
    """PEP 561: without the marker a type checker takes no notice of the annotations."""
    assert (Path(hrpsim.__file__).parent / "py.typed").is_file()
    setup = Path(__file__).resolve().parent.parent / "setup.cfg"
    assert "\n[options.package_data]\nhrpsim = py.typed\n" in setup.read_text()
