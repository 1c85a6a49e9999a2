# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Numbers: one set of checks and of bounds for files, Python and ROS."""

from __future__ import annotations

import numpy as np
import pytest

from hrpsim import Box, ModelError, Sphere, StateError, World, WorldError, load_world
from hrpsim.common.values import RANGES, finite_vector, flag, not_negative, number, setting, whole

NO_NUMBERS = (True, "1", None, [1.0], np.nan, 10**400, 1j, np.bool_(True))


@pytest.mark.parametrize("value", NO_NUMBERS, ids=repr)
def test_what_is_no_number_is_refused_everywhere(value, tmp_path):
    with pytest.raises(WorldError, match="slop must be"):
        setting("slop", value)
    with pytest.raises(WorldError, match="time_step must be"):
        World(time_step=value)
    with pytest.raises(ModelError, match="mass must be"):
        World().add_body(Sphere(1.0), mass=value)
    with pytest.raises(WorldError, match="static friction"):
        World().set_friction("a", "b", static=value)
    with pytest.raises(WorldError, match="height"):
        World().add_ground(height=value)


@pytest.mark.parametrize("value", [1, 0.5, np.float32(0.5), np.int64(1), np.array(0.5)], ids=repr)
def test_numbers_of_all_kinds_are_taken(value):
    assert number("x", value) == float(value) and isinstance(number("x", value), float)


@pytest.mark.parametrize("name", [n for n in RANGES if n not in ("gravity", "height")])
def test_settings_have_one_range_for_python_and_files(name, tmp_path):
    """Just beyond the bounds both refuse and name the setting; at the bound both take it."""
    bounds = RANGES[name]
    path = tmp_path / "w.yaml"
    key, entry = name, f"world: {{{name}: VALUE}}"
    of_materials = {"friction": "static", "friction_length": "torsional", "restitution": name}
    if name in of_materials:
        key = of_materials[name]
        rest = "" if key == "static" else "static: 1, "
        entry = f"friction: [{{between: [a, b], {rest}kinetic: 0, {key}: VALUE}}]"

    def build(value):
        if name not in of_materials:
            return World(**{key: value})
        return World().set_friction("a", "b", **{"static": 1.0, "kinetic": 0.0, key: value})

    for value in (bounds.high * 1.01, bounds.low - 1.0, float("nan"), 1e300, -1e300, float("inf")):
        with pytest.raises(WorldError, match=str(bounds).split(",")[0]):
            build(value)
        text = {"nan": ".nan", "inf": ".inf"}.get(str(value), str(value))
        path.write_text(entry.replace("VALUE", text))
        with pytest.raises(WorldError, match=rf"w\.yaml:1:\d+: .*{key}: (must be|a number)"):
            load_world(path)
    build(bounds.high)
    path.write_text(entry.replace("VALUE", str(bounds.high)))
    load_world(path)


def test_vectors():
    assert finite_vector("v", (1, 2, 3), 3).dtype == np.float64
    for bad in ((1, 2), (1, 2, np.nan), (1, 2, "3"), (True, False, True), "abc", None, 3.0):
        with pytest.raises(StateError):
            finite_vector("v", bad, 3)
    with pytest.raises(StateError, match=r"gravity\[2\] is 1e\+300"):
        World(gravity=(0, 0, 1e300))


def test_flags_and_whole_numbers():
    assert flag("f", True) is True and whole("n", 3.0, 1, 5) == 3
    for bad in (1, 0, "true", None):
        with pytest.raises(WorldError, match="true or false"):
            flag("f", bad)
    for bad in (2.5, True, "3", 6, 0, np.nan, np.inf):
        with pytest.raises(WorldError):
            whole("n", bad, 1, 5)
    with pytest.raises(WorldError, match="continuous must be true or false"):
        World(continuous=1)


def test_numbers_that_may_be_infinite():
    assert not_negative("f", np.inf, 2, finite=False).tolist() == [np.inf, np.inf]
    for bad in (-1.0, np.nan, "1", True):
        with pytest.raises(WorldError):
            not_negative("f", bad, 1, finite=False)


def test_an_inertia_is_symmetric():
    inertia = np.eye(3)
    inertia[0, 1] = 0.1
    with pytest.raises(ModelError, match="symmetric"):
        World().add_body(Box((1, 1, 1)), mass=1.0, inertia=inertia)


def test_names_are_texts():
    with pytest.raises(WorldError, match="name must be a text"):
        World().add_ground(material=3)
    with pytest.raises(WorldError, match="material must be a name"):
        World().add_body(Sphere(1.0), mass=1.0, material=None)


def test_a_snapshot_belongs_to_its_world_and_to_copies_of_it():
    def built():
        world = World()
        world.add_body(Sphere(1.0), mass=1.0)
        return world

    world, other = built(), built()
    snapshot = world.snapshot()
    with pytest.raises(WorldError, match="belongs to another world"):
        other.restore(snapshot)
    with pytest.raises(WorldError, match="snapshot must be from"):
        other.restore({"steps": 1})
    world.copy().restore(snapshot)
    world.restore(snapshot)
