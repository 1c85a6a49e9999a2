# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Filters of names: what POSIX's extended expressions find, in a time proportional to the name."""

import re
import sys

import pytest

pytest.importorskip("rclpy")
pytest.importorskip("simulation_interfaces")

from hrpsim.ros.base.entities import Refusal
from hrpsim.ros.simulation.entity_services import name_filter

NAMES = ("crate", "crate2", "crate_", "Crate", "0xff-", "0xfg", "a b", "ab", "")


@pytest.mark.parametrize(
    ("text", "spelt_out"),
    [
        ("", ""),
        ("rat", "rat"),
        ("^c.*e$|0x", "^c.*e$|0x"),
        ("^[[:alpha:]]+$", "^[A-Za-z]+$"),
        ("[[:digit:]_]$", "[0-9_]$"),
        ("^[^[:upper:]]*$", "^[^A-Z]*$"),
    ],
)
def test_a_filter_is_found_where_python_finds_it(text, spelt_out):
    """Law: a filter matches anywhere in a name; classes of POSIX stand for their letters."""
    pytest.importorskip("re2")
    found = name_filter(text, 100)
    for name in NAMES:
        assert found(name) == bool(re.search(spelt_out, name)), name


@pytest.mark.parametrize("text", [r"(a)\1", "(", "a{3,1}", "[a", "((a{99}){99}){99}"])
def test_what_is_no_pattern_is_refused_by_its_text(text):
    pytest.importorskip("re2")
    with pytest.raises(Refusal) as refusal:
        name_filter(text, 100)
    assert repr(text) in str(refusal.value)


@pytest.mark.parametrize("text", ["(a+)+$b", "(a|aa)+$c", "(.*)*x$", "(a?){30}a{30}b"])
def test_no_pattern_takes_for_ever(text):
    """Law: Python's re takes 2**30 tries and more: the time limit of the test would end it."""
    pytest.importorskip("re2")
    assert not name_filter(text, 100)("a" * 500)


def test_a_part_of_a_name_needs_no_package(monkeypatch):
    """Law: without google-re2 a part of a name is found, a pattern is refused with a remedy."""
    monkeypatch.setitem(sys.modules, "re2", None)
    assert name_filter("crate_", 100)("my_crate_2")
    with pytest.raises(Refusal, match="pip install google-re2"):
        name_filter("^crate", 100)


def test_a_filter_that_is_too_long_is_refused():
    with pytest.raises(Refusal, match="can have at most 3 letters, got 4"):
        name_filter("abcd", 3)
