# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The annotations of kernels agree with what kernels get and return.

Numba ignores annotations. Python runs the kernels of a few steps here (test/interpreted.py) and
compares each argument and each result with its annotation.
"""

import ast
import functools
import importlib
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from interpreted import interpreted

import hrpsim
from hrpsim import Box, Capsule, ConvexHull, Cylinder, Sphere, World
from hrpsim.engine.compile import kernel_types
from hrpsim.engine.compile.lazy_kernels import let_compile
from hrpsim.engine.step.scene.status import DONE
from hrpsim.engine.step.step import step
from hrpsim.world.arrays.change import grow

PACKAGE = Path(hrpsim.__file__).parent
SOURCE = Path(kernel_types.__file__).read_text(encoding="utf-8")
CALLS = 20  # of each kernel that are compared
KERNELS_SEEN = 400  # at least


@functools.cache
def dtypes() -> dict[str, np.dtype]:
    """Return the dtype of each record type of the engine, from the comments in kernel_types."""
    found, module = {}, ""
    for line in SOURCE.splitlines():
        if re.fullmatch(r"# hrpsim[\w.]+", line):
            module = line[2:]
        elif match := re.fullmatch(r'(\w+) = NewType\("\1", Record\)  # (_?[A-Z][A-Z0-9_]*)', line):
            found[match[1]] = getattr(importlib.import_module(module), match[2])
    return found


def is_array(kind, *shape) -> Callable:
    """Return a check of arrays: their type of numbers, and their shape; None for any length."""

    def check(value) -> bool:
        return (
            isinstance(value, np.ndarray)
            and value.dtype in kind
            and value.ndim == len(shape)
            and all(n is None or n == m for n, m in zip(shape, value.shape, strict=True))
        )

    return check


FLOATS, INTEGERS = (np.dtype("f8"), np.dtype("f4")), (np.dtype("i8"),)
WHOLE = (int, np.integer, np.bool_)
NUMBER = (float, np.floating, *WHOLE)
CHECKS = {
    "None": lambda value: value is None,
    "bool": lambda value: isinstance(value, WHOLE) and value in (0, 1),
    "float": lambda value: isinstance(value, NUMBER),
    "int": lambda value: isinstance(value, WHOLE),
    "complex": lambda value: isinstance(value, (complex, np.complexfloating, *NUMBER)),
    "Vec2": is_array(FLOATS, 2),
    "Vec3": is_array(FLOATS, 3),
    "Vec6": is_array(FLOATS, 6),
    "Mat3": is_array(FLOATS, 3, 3),
    "Mat6": is_array(FLOATS, 6, 8),
    "Inertia": is_array(FLOATS, 10),
    "Vector": is_array(FLOATS, None),
    "Matrix": is_array(FLOATS, None, None),
    "Tensor": lambda value: isinstance(value, np.ndarray) and value.ndim > 2,
    "Indices": is_array(INTEGERS, None),
    "IndexTable": is_array(INTEGERS, None, None),
    "Flags": is_array((np.dtype("?"), np.dtype("u1")), None),
    "BitSet": lambda value: isinstance(value, np.ndarray) and value.dtype == np.uint64,
    "Lanes": is_array(FLOATS, 8),
    "Arrays": lambda value: isinstance(value, tuple),
    "LazyKernels": lambda value: value.dtype.names[-1] == "awaited",
}
CHECKS["Seconds"] = CHECKS["Metres"] = CHECKS["float"]
CHECKS["Index"] = CHECKS["Bits"] = CHECKS["int"]


def parts(text: str, separator: str) -> list[str]:
    """Return the parts of an annotation between separators that are not in brackets."""
    found, depth = [""], 0
    for letter in text:
        depth += (letter == "[") - (letter == "]")
        if letter == separator and depth == 0:
            found.append("")
        else:
            found[-1] += letter
    return [part.strip() for part in found]


def fits(value, annotation: str) -> bool:
    """Return whether a value is what an annotation says."""
    if annotation.startswith("tuple["):
        kinds = parts(annotation[len("tuple[") : -1], ",")
        if not isinstance(value, tuple):
            return False
        if kinds[1:] == ["..."]:
            kinds = kinds[:1] * len(value)
        return len(kinds) == len(value) and all(map(fits, value, kinds))
    if annotation.startswith("Records["):
        is_records = isinstance(value, np.ndarray) and value.ndim in (1, 2)
        return is_records and fits(value, annotation[len("Records[") : -1])
    if annotation in CHECKS:
        return CHECKS[annotation](value)
    if annotation in dtypes() and hasattr(value, "dtype"):  # else a tuple of the record's name
        return value.dtype.fields == dtypes()[annotation].fields
    return type(value).__name__ == annotation


def fits_one_of(value, annotation: str) -> bool:
    """Return whether a value is one of the kinds that an annotation names."""
    return any(fits(value, kind) for kind in parts(annotation, "|"))


def kernels(path: Path) -> Iterator[ast.FunctionDef]:
    """Yield the kernels of a file."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef) and any(
            "kernel" in ast.unparse(decorator) for decorator in node.decorator_list
        ):
            yield node


@functools.cache
def annotations(path: str) -> dict[tuple[int, str], dict[str, str]]:
    """Return the annotations of the kernels of a file by the line of a decorator, and name."""
    found = {}
    for node in kernels(Path(path)):
        said = {a.arg: ast.unparse(a.annotation) for a in node.args.args if a.annotation}
        if node.returns is not None:
            said["return"] = ast.unparse(node.returns)
        found[node.decorator_list[0].lineno, node.name] = said
    return found


class Comparison:
    """What kernels got and returned that is not what their annotations say."""

    def __init__(self):
        self.events: Counter = Counter()  # by code object
        self.wrong: set[tuple[str, str, str, str]] = set()

    def look(self, frame, event, argument) -> None:
        """Compare the arguments of a call, or its result; for sys.setprofile."""
        code = frame.f_code
        if event not in ("call", "return") or not code.co_filename.startswith(str(PACKAGE)):
            return
        said = annotations(code.co_filename).get((code.co_firstlineno, code.co_name))
        if said is None or self.events[code] >= 2 * CALLS:
            return
        self.events[code] += 1
        if event == "call":
            given = {name: frame.f_locals[name] for name in said.keys() - {"return"}}
        else:
            given = {"return": argument} if "return" in said else {}
        for name, value in given.items():
            if not fits_one_of(value, said[name]):
                kind = getattr(value, "shape", type(value).__name__)
                self.wrong.add((code.co_name, name, said[name], str(kind)))


def piled(count: int, **options) -> World:
    """Return a world of `count` bodies on a plane, of unlike shapes; two are connected."""
    world = World(1e-3, **options)
    world.add_ground()
    shapes = [Sphere(0.1), Box((0.2, 0.2, 0.2)), Cylinder(0.1, 0.2), Capsule(0.1, 0.2)]
    shapes.append(ConvexHull(0.1 * np.eye(4, 3)))
    for k, shape in enumerate(shapes[:count]):
        world.add_body(shape, 1.0, position=(0.15 * k, 0.0, 0.0999), name=f"body{k}")
    world.connect("body0", "body1")
    return world


def standing(folder: Path) -> World:
    """Return a world with a humanoid on level ground, just above its equilibrium."""
    path = folder / "stand.yaml"
    text = Path(hrpsim.share_path("config/stand.yaml")).read_text(encoding="utf-8")
    path.write_text(text.replace("settle: true", "settle: false"), encoding="utf-8")
    return hrpsim.load_world(path)


def worlds(folder: Path) -> Iterator[World]:
    """Yield worlds whose steps call many kernels."""
    yield standing(folder)
    yield piled(5, solver="newton", position_projection=True)
    yield piled(2, integrator="rk4", audit=True)


@pytest.fixture
def nothing_compiled():
    """Leave lazily compiled kernels absent."""
    let_compile(lambda names: True)
    yield
    let_compile(None)


def run_as_python(world: World, steps: int) -> None:
    """Do steps of a world without its machine code."""
    run = interpreted(step)
    while steps > 0:
        scene = world.scene
        for name in scene.lazy_kernels.dtype.names[:-1]:
            scene.lazy_kernels[0][name] = 1  # as if it were there
        status = run(scene)
        if status == DONE:
            steps -= 1
        else:
            world._scenes.present = grow(scene, status)


@pytest.mark.filterwarnings("ignore:invalid value")  # a plane has no centre
def test_kernels_get_and_return_what_their_annotations_say(nothing_compiled, tmp_path):
    found = Comparison()
    for world in worlds(tmp_path):
        world.scene  # noqa: B018  made before kernels are looked at
        sys.setprofile(found.look)
        try:
            run_as_python(world, 1)
        finally:
            sys.setprofile(None)
    assert sorted(found.wrong) == []
    assert len(found.events) >= KERNELS_SEEN
