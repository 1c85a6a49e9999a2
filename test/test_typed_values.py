# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A value of another kind is refused by name: at settings, at terms, and at public functions."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pytest
from numpy.typing import ArrayLike

import hrpsim
from hrpsim import Box, HrpsimError, World
from hrpsim.common.typed_values import (
    CheckedSettings,
    Finite,
    Interval,
    NotNegative,
    Positive,
    Share,
    check_arguments,
    misfit,
)
from hrpsim.common.values import Range, as_numbers, name_of, several

NAN, INF = float("nan"), float("inf")
FITTING = [
    (float, [0, 1.5, np.float32(2), INF]),
    (int, [0, -3, np.int64(7)]),
    (bool, [True, np.bool_(False)]),
    (str, ["", "a"]),
    (str | Path, ["a", Path("a")]),
    (float | None, [None, 1.0]),
    (Finite, [-1e9]),
    (Positive, [1e-9]),
    (NotNegative, [0]),
    (Share, [0, 1]),
    (Annotated[int, Range(1.0, 5.0)], [1, 5]),
    (Interval, [(0, 0), [-1, 1], np.array([0.0, 2.0])]),
    (tuple[float, float, float], [(3, 2, 1)]),
    (tuple[str, ...], [(), ["a", "b"]]),
    (Sequence[str], [["a"], (), {"a": 1}.keys()]),
    (Mapping[str, float], [{}, {"a": 1}]),
    (Callable[..., Any], [print]),
    (Iterable[str], [["a"], ("a",), {"a": 1}.keys()]),
    (str | Iterable[str], ["a", ["a"]]),
    (ArrayLike, [1, [1, 2], [[1.5]], np.zeros((2, 2)), ()]),
    (ArrayLike | None, [None, 1.0]),
    (World, [World()]),
    (Any, [...]),
]
OTHERS = [
    (float, [True, "1", None, NAN, [1.0]]),
    (int, [True, 1.0, "1"]),
    (bool, [1, 0, "true"]),
    (str, [1, None, b"a"]),
    (str | Path, [3, None]),
    (float | None, ["x"]),
    (Finite, [INF, NAN]),
    (Positive, [0.0, -1.0, INF]),
    (NotNegative, [-1e-9]),
    (Share, [1.1, 80]),
    (Annotated[int, Range(1.0, 5.0)], [0, 6, 2.0]),
    (Interval, [(1, -1), (1,), 1.0, (0, NAN), ("0", "1")]),
    (tuple[float, float, float], [(1, 2), "abc", [[1, 2, 3]]]),
    (tuple[str, ...], ["ab", [1]]),
    (Sequence[str], ["ab", [1], {"a": 1}]),
    (Iterable[str], ["ab", b"ab", [1], {"a": 1}, 3]),
    (str | Iterable[str], [["a", 3], 5]),
    (ArrayLike, ["1", ["1"], None, [True], [[1], [1, 2]], 1j]),
    (ArrayLike | None, ["1"]),
    (Mapping[str, float], [[], {"a": "1"}, {1: 1.0}]),
    (Callable[..., Any], ["print"]),
    (World, [World, "w", None]),
]


def cases(table):
    return [(hint, value) for hint, values in table for value in values]


@pytest.mark.parametrize(("hint", "value"), cases(FITTING), ids=str)
def test_a_value_of_the_annotated_kind_fits(hint, value):
    assert misfit(value, hint) is None


@pytest.mark.parametrize(("hint", "value"), cases(OTHERS), ids=str)
def test_a_value_of_another_kind_is_named(hint, value):
    """Law: the finding says what is needed."""
    found = misfit(value, hint)
    assert found is not None
    assert ", got " in found[1]


def door(path: str | Path, worlds: Mapping[str, Positive], *, over: float = 0.0, **more: Any):
    check_arguments(door, locals(), HrpsimError)
    return path, worlds, over, more


def test_a_function_names_the_argument():
    """Law: the error names function, argument and place. A right call is not changed."""
    assert door("a", {"b": 1}, over=2, other=3) == ("a", {"b": 1}, 2, {"other": 3})
    with pytest.raises(HrpsimError, match=r"door: worlds\['b'\] must be positive .*got -1"):
        door("a", {"b": -1})
    with pytest.raises(HrpsimError, match="door: path must be a text or a path, got 3"):
        door(3, {})
    with pytest.raises(TypeError, match="worlds"):
        door("a")


def test_what_public_functions_check_is_known_at_run_time():
    """Law: no annotation of a checked function is for type checkers alone."""
    checked = [getattr(hrpsim, name) for name in ("fit", "load_world", "load_mesh", "convert")]
    from hrpsim.fitting import read_recording
    from hrpsim.rollout import rollout

    for function in (*checked, read_recording, rollout):
        assert typing.get_type_hints(function)
        given = inspect.signature(function).parameters.values()
        needed = [one for one in given if one.default is one.empty]
        needed = [object() for one in needed if one.kind is not one.VAR_KEYWORD]
        with pytest.raises(HrpsimError, match="must be"):
            function(*needed)


def test_warnings_of_checked_functions_name_the_callers_line(tmp_path):
    """Law: a check adds no frame between the caller and the warning."""
    path = tmp_path / "odd.urdf"
    path.write_text("<robot name='r'><link name='world'><visuals/></link></robot>")
    with pytest.warns(hrpsim.ModelWarning) as found:
        hrpsim.load_model(path)
    assert found[0].filename == __file__


def test_settings_of_learning_are_checked():
    """Law: each class of settings checks its fields."""
    import hrpsim.learning as learning

    names = [name for name in learning.__all__ if name.endswith(("Cfg", "Ranges", "Task"))]
    assert len(names) > 10
    for name in names:
        assert issubclass(getattr(learning, name), CheckedSettings), name


NUMBERS = [["1", "2"], [True, False], [[1], [1, 2]], "x", None, {"j": 1}, [1 + 2j], ...]


@pytest.mark.parametrize("given", NUMBERS, ids=str)
def test_what_is_no_array_of_numbers_is_refused(given):
    with pytest.raises(HrpsimError, match="speed must be numbers, got"):
        as_numbers("speed", given)


def test_arrays_of_numbers_are_not_copied():
    given = np.arange(3.0)
    assert as_numbers("speed", given) is given


@pytest.mark.parametrize("given", [5, 0.1, None, ["a", 1], {"a": 1}], ids=str)
def test_what_are_no_names_is_refused(given):
    with pytest.raises(HrpsimError, match="links must be a name or a list of names"):
        several(given, "links")


@pytest.mark.parametrize("given", [5, "", "  ", None], ids=str)
def test_what_is_no_name_is_refused(given):
    with pytest.raises(HrpsimError, match="must be a text that is not empty"):
        name_of("name of a body", given)
    if given is not None:
        with pytest.raises(HrpsimError, match="must be a text that is not empty"):
            World().add_body(Box((1, 1, 1)), 1.0, name=given)


def is_closed(kind: type) -> bool:
    """Return whether a misspelt attribute of an object is refused."""
    frozen = getattr(getattr(kind, "__dataclass_params__", None), "frozen", False)
    own = kind.__setattr__ is not object.__setattr__
    slots = not any("__dict__" in vars(base) for base in kind.__mro__)
    return frozen or own or slots or issubclass(kind, (tuple, BaseException))


PACKAGES = ["hrpsim", *(f"hrpsim.{one}" for one in ("bag", "geometry", "learning", "fitting"))]
NOT_ASSIGNED = {"TaskState", "TaskEnv", "TaskVectorEnv"}  # gymnasium's, and arrays of terms


@pytest.mark.parametrize("package", PACKAGES)
def test_misspelt_attributes_of_public_objects_are_refused(package):
    """Law: each public class is closed to unknown names, frozen, a tuple, or has slots."""
    module = pytest.importorskip(package)
    kinds = {name: getattr(module, name) for name in module.__all__}
    open_ones = [
        name
        for name, kind in kinds.items()
        if inspect.isclass(kind) and name not in NOT_ASSIGNED and not is_closed(kind)
    ]
    assert not open_ones
