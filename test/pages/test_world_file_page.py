# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The pages of world files say what world files accept: every key, value and default.

The pages are docs/reference/world_file.md and docs/reference/world_file/.
"""

import inspect
import re
from dataclasses import fields
from pathlib import Path

import pytest
import voluptuous as vol
import yaml

from hrpsim import HeightField, Robot, World, load_mesh, load_model
from hrpsim.model.sensors.kinds import SAMPLED_KINDS
from hrpsim.model.sensors.sampled_sensor import SampledSensor
from hrpsim.model.shapes.terrain import TERRAINS
from hrpsim.world.file.world_schema import WORLD_FILE

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = ROOT / "docs" / "reference"
PAGES = [REFERENCE / "world_file.md", *sorted((REFERENCE / "world_file").glob("*.md"))]
TEXT = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
BODY = {"shape": {"sphere": 1.0}, "mass": 1.0}
BETWEEN = {"between": ["a", "b"]}
# Of each heading of the pages: an entry of that kind within a world file; `None` is replaced.
ENTRIES = {
    "Sections": lambda x: x,
    "about": lambda x: {"about": x},
    "entities of about": lambda x: {"about": {"entities": {"a": x}}},
    "poses of about": lambda x: {"about": {"poses": [x]}},
    "world": lambda x: {"world": x},
    "ground": lambda x: {"ground": x},
    "friction": lambda x: {"friction": [x]},
    "contacts": lambda x: {"contacts": [x]},
    "penalties": lambda x: {"penalties": [x]},
    "solvers": lambda x: {"solvers": [x]},
    "robots": lambda x: {"robots": [x]},
    "constraints of robots": lambda x: {"robots": [{"urdf": "a", "constraints": [x]}]},
    "sensors of robots": lambda x: {"robots": [{"urdf": "a", "sensors": [x]}]},
    "copies of robots and bodies": lambda x: {"robots": [{"urdf": "a", "copies": x}]},
    "motors of robots": lambda x: {"robots": [{"urdf": "a", "motors": {"joint": x}}]},
    "bodies": lambda x: {"bodies": [x]},
    "static": lambda x: {"static": [x]},
    "connections": lambda x: {"connections": [x]},
    "mesh": lambda x: {"bodies": [{**BODY, "shape": {"mesh": x}}]},
    "cylinder and capsule": lambda x: {"bodies": [{**BODY, "shape": {"cylinder": x}}]},
    **{kind: (lambda x, kind=kind: {"static": [{"shape": {kind: x}}]}) for kind in TERRAINS},
    "height_field": lambda x: {"static": [{"shape": {"height_field": x}}]},
}
# Whose parameters the entries below a heading are.
FUNCTIONS = {
    "world": [World],
    "ground": [World.add_ground],
    "friction": [World.set_friction],
    "contacts": [World.set_contact],
    "penalties": [World.set_penalty],
    "solvers": [World.add_solver_rule],
    "robots": [load_model, World.add_robot],
    "constraints of robots": [Robot.set_constraint],
    "bodies": [World.add_body],
    "static": [World.add_static],
    "connections": [World.connect],
    "mesh": [load_mesh],
    "height_field": [HeightField],
    **{kind: [terrain] for kind, terrain in TERRAINS.items()},
}


# Kinds of a sensor's settings, by the annotations of the classes that check the settings.
SETTINGS = {
    "float": "number",
    "Finite": "number",
    "Positive": "number",
    "NotNegative": "number",
    "tuple[NotNegative, ...]": "list of numbers",
    "int": "whole number",
    "bool": "true or false",
    "str": "word",
    "tuple[float, ...]": "list of numbers",
}


class Nothing:
    """What no entry may be."""

    def __repr__(self):
        return "NOTHING"


def complaints(data):
    """Return {path: text} of what the schema has against a world file."""
    try:
        WORLD_FILE(data)
    except vol.MultipleInvalid as found:
        return {tuple(error.path): error.error_message for error in found.errors}
    except vol.Invalid as error:
        return {tuple(error.path): error.error_message}
    return {}


def only_complaint(data, ending):
    """Return the text about the one path that ends so."""
    (text,) = [text for path, text in complaints(data).items() if path[len(path) - 1 :] == ending]
    return text


SHORTER = {
    ", at most 1e+50": "",
    "positive and finite": "> 0",
    " and finite": "",
    " and a number": ", `.inf` too",
    "finite, from": "from",
    ", finite": "",
}


def in_words(place, key):
    """Return what the schema says that a key may hold, as the page puts it."""
    text = only_complaint(place({key: Nothing()}), (key,))
    if ". Available: " in text:
        return ", ".join(f"`{name}`" for name in text.split(". Available: ")[1].split(", "))
    needed = text.removeprefix("must be ").removesuffix(", got NOTHING").removeprefix("a ")
    if needed == "number":
        for far in (-1e300, 1e300):
            for path, bound in complaints(place({key: far})).items():
                if path[-1:] == (key,):
                    needed += ", " + bound.removeprefix("must be ").split(", got ")[0]
                    for long, short in SHORTER.items():
                        needed = needed.replace(long, short)
                    return needed
    return re.split(r" with keys from (?=time_step|name, desc)|, a mapping with one key", needed)[0]


def kind_of_setting(name):
    """Return the kind of a sensor's setting. Height scans and cameras differ in `height`."""
    types = [
        f.type
        for one in (SampledSensor, *SAMPLED_KINDS.values())
        for f in fields(one)
        if f.name == name
    ]
    return " or ".join(dict.fromkeys(SETTINGS[kind] for kind in types if kind in SETTINGS))


def schema_of(heading):
    """Return {key: words} of the entries below a heading; those that are needed end so."""
    place = ENTRIES[heading]
    if heading == "Sections":
        text = complaints(3)[()]
    else:
        texts = complaints(place(3)).values()
        (text,) = [t for t in texts if t.startswith("must be a mapping with keys from")] or [""]
        text = text or only_complaint(place({"no such key": 1}), ("no such key",))
    names = re.search(r"(?:keys from|Available:) (.*?)(?:, got|$)", text)[1].split(", ")
    missing = [t for t in complaints(place({})).values() if t.startswith("missing entr")]
    required = missing[0].split(": ")[1].split(", ") if missing else []
    found = {name: in_words(place, name) for name in names}
    if heading == "sensors of robots":
        found |= {name: kind_of_setting(name) for name, words in found.items() if "a word" in words}
    return {name: words + " (needed)" * (name in required) for name, words in found.items()}


def documented(heading):
    """Return {key: (words, default)} of the table below a heading of the pages."""
    section = re.split(rf"^#+ `?{re.escape(heading)}`?$", TEXT, flags=re.MULTILINE)[1]
    row = re.compile(r"^\| `(\w+)` \| (.*?) \| (?:(.+?) )?\| (.+?) \|$", re.MULTILINE)
    return {
        key: (words, default) for key, words, default, _ in row.findall(section.split("\n#")[0])
    }


@pytest.mark.parametrize("heading", ENTRIES)
def test_the_table_is_the_schema(heading):
    expected = schema_of(heading)
    assert len(expected) > 1
    assert {key: words for key, (words, _) in documented(heading).items()} == expected


@pytest.mark.parametrize("heading", ENTRIES)
def test_the_defaults_are_those_of_the_functions(heading):
    """Law: what is not needed has a default, the parameter's; one that is None is put in words."""
    functions = map(inspect.signature, FUNCTIONS.get(heading, []))
    parameters = {key: each for f in functions for key, each in f.parameters.items()}
    for key, (words, default) in documented(heading).items():
        assert bool(default) != words.endswith("(needed)"), key
        value = parameters[key].default if key in parameters else None
        if default and value not in (None, inspect.Parameter.empty):
            given = yaml.safe_load(default.strip("`"))
            assert given == (list(value) if isinstance(value, tuple) else value), key


def test_shapes_are_those_of_the_schema():
    text = only_complaint({"bodies": [{**BODY, "shape": 3}]}, ("shape",))
    names = re.search(r"one key from (.*), got", text)[1].split(", ")
    section = TEXT.split("## Shapes\n")[1]
    rows = re.findall(r"^\| `(\w+)` \| (.+?) \|$", section.split("\n#")[0], re.MULTILINE)
    assert [name for name, _ in rows] == names


def test_every_example_of_the_page_is_accepted():
    blocks = re.findall(r"```yaml\n(.*?)```", TEXT, re.DOTALL)
    assert len(blocks) > 3
    for block in blocks:
        assert complaints(yaml.safe_load(block)) == {}, block
