# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""YAML of strangers: plain values, limits before anything is expanded, and places in the file."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from hrpsim import WorldError
from hrpsim.common import limits
from hrpsim.common.foreign import yaml_text
from hrpsim.common.foreign.yaml_text import parse_yaml, read_yaml

plain = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**9), 10**9)
    | st.text("ab :#-'\"{}[]\n", max_size=9),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("abc", max_size=3), inner),
    max_leaves=20,
)


def parse(text):
    return parse_yaml(text, "f.yaml", WorldError)


@pytest.fixture
def events(monkeypatch):
    """What was read of a text, event by event."""
    read = []

    class Counting(yaml_text._Loader):
        def get_event(self):
            read.append(super().get_event())
            return read[-1]

    monkeypatch.setattr(yaml_text, "_Loader", Counting)
    return read


@settings(max_examples=100)
@given(plain, st.booleans())
def test_plain_values_are_those_of_yaml(value, flow):
    """What PyYAML writes is read as what it was."""
    assert parse(yaml.safe_dump(value, default_flow_style=flow)).data == value


@pytest.mark.parametrize(
    "text, value",
    [
        ("1e-3", 1e-3),
        ("'1e-3'", "1e-3"),
        ("2001-01-01", "2001-01-01"),
        ("0x10", 16),
        ("1_000", 1000),
        (".inf", float("inf")),
        ("!!str 5", "5"),
        ("a: &x {b: 1}\nc: {<<: *x, b: 2}", {"a": {"b": 1}, "c": {"b": 2}}),
        ("", None),
        ("\ufeffa: 1", {"a": 1}),
    ],
)
def test_values(text, value):
    assert parse(text).data == value


BOMB = "\n".join(
    ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    + [f"a{k + 1}: &a{k + 1} [{', '.join([f'*a{k}'] * 10)}]" for k in range(12)]
)


REFUSED = [
    (BOMB, "YAML_EXPANDED"),
    ("&a [*a]", "'a' contains itself"),
    ("[" * 3000, "YAML_DEPTH"),
    ("{a: " * 3000, "YAML_DEPTH"),
    ("- " * 3000, "YAML_DEPTH"),
    ("[" * 10**6, "YAML_DEPTH"),
    (f"[{'x, ' * 25000}]", "YAML_NODES"),
    (f"a: &a 1\nb: [{'*a, ' * 2000}]", "YAML_ALIASES"),
    ("x" * (limits.YAML_SIZE + 1), "YAML_SIZE"),
    ("!!float abc", "is not a valid float"),
    ("!!int abc", "is not a valid int"),
    ("9" * 5000, "is not a valid int"),
    ("!!bool x", "is not a valid bool"),
    ("!!python/object:os.system x", "python/object"),
    ("!!binary x", "binary"),
    ("!!set {a, b}", "set"),
    ("a: 1\na: 2", "given twice"),
    ("[a]: 1", "a single value"),
    ("<<: 1", "merging"),
    ("*a", "a"),
    ("a: [", "not YAML"),
    ("--- 1\n--- 2", "another document"),
    ("a: \x00", "not YAML"),
    ("\t", "not YAML"),
]


@pytest.mark.parametrize(
    "text, named", REFUSED, ids=[f"{text[:12]!r}-{named}" for text, named in REFUSED]
)
def test_what_is_refused_is_refused_soon(text, named, events, monkeypatch):
    """No more is read than the events of as many values as a document may have, here 20 000."""
    monkeypatch.setattr(limits, "YAML_NODES", 20_000)
    with pytest.raises(WorldError) as error:
        parse(text)
    assert len(events) <= 2 * limits.YAML_NODES
    message = str(error.value)
    assert message.startswith("f.yaml") and named in message
    assert "\n" not in message and len(message) < 500


def test_places_are_lines_and_columns():
    text = parse("a: 1\nbodies:\n  - {mass: 2, shape:\n      {box: [1, 2, 3]}}\n")
    assert text.location(["bodies", 0, "mass"]) == "f.yaml:3:6"
    assert text.location(["bodies", 0, "shape", "box", 1]) == "f.yaml:4:17"
    assert text.location(["bodies", 0, "colour"]) == "f.yaml:3:5"
    assert text.location(["bodies", 7]) == "f.yaml:2:1"
    assert text.location(["nothing"]) == "f.yaml:1:1"
    merged = parse("a: &x {b: 1, c: 2}\nd: {<<: *x, b: 3}\n")
    assert [merged.location(["d", key]) for key in "bc"] == ["f.yaml:2:13", "f.yaml:1:14"]


def test_bytes_that_are_no_text_are_named_with_their_line(tmp_path):
    path = tmp_path / "w.yaml"
    path.write_bytes(b"a: 1\nb: \xff\n")
    with pytest.raises(WorldError, match=r"w\.yaml:2: not UTF-8: byte 0xff at offset 8"):
        read_yaml(path, WorldError)
    with pytest.raises(WorldError, match="null"):
        read_yaml(tmp_path / "a\0b", WorldError)
    with pytest.raises(WorldError, match="directory"):
        read_yaml(tmp_path, WorldError)
