# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Filters of names: what Python's re finds, in a time in proportion to the name."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hrpsim.ros.core.name_pattern import NamePattern, PatternError

LETTERS = st.sampled_from(["a", "b", "_", "1", ".", r"\d", r"\w", r"\.", "[ab]", "[^a]", "[0-9_]"])


def grown(parts):
    return st.one_of(
        st.tuples(parts, parts).map("".join),
        st.tuples(parts, parts).map("|".join),
        parts.map("({})".format),
        parts.map("(?:{})?".format),
        parts.map("({})*".format),
        parts.map("({})+?".format),
        parts.map("({}){{1,3}}".format),
        parts.map("({}){{,2}}".format),
        parts.map("^{}".format),
        parts.map("{}$".format),
    )


@settings(max_examples=400)
@given(st.recursive(LETTERS, grown, max_leaves=8), st.text("ab_1.", max_size=8))
def test_it_finds_what_python_finds(text, name):
    """Law: on its subset the engine is Python's `re.search`."""
    assert NamePattern(text).found_in(name) == bool(re.search(text, name)), (text, name)


@pytest.mark.parametrize(
    "text, name",
    [
        ("", ""),
        ("^$", ""),
        ("[]x]", "]"),
        ("[a-]", "-"),
        ("a{", "a{"),
        ("{}", "{}"),
        ("x{2}", "xx"),
    ],
)
def test_corners_of_the_syntax(text, name):
    """Law: as Python's re reads them."""
    assert NamePattern(text).found_in(name) and re.search(text, name)


@pytest.mark.parametrize(
    "text, spelt_out",
    [
        ("^[[:alpha:]]+$", "^[A-Za-z]+$"),
        ("[[:digit:]_]$", "[0-9_]$"),
        ("^[^[:upper:]]*$", "^[^A-Z]*$"),
        ("^[[:xdigit:]x[:punct:]]+$", r"^[0-9A-Fa-fx!-/:-@\[-`{-~]+$"),
        ("[[:space:][:blank:]]", r"[ \t\n\r\f\v]"),
    ],
)
def test_classes_of_posix(text, spelt_out):
    """Law: a class in a set stands for its letters, as POSIX's extended expressions have it."""
    for name in ("crate", "crate2", "crate_", "Crate", "0xff-", "0xfg", "a b", "ab"):
        assert NamePattern(text).found_in(name) == bool(re.search(spelt_out, name)), name


@pytest.mark.parametrize(
    "text",
    [
        "[[:alpha]]",
        "[[:letter:]]",
        r"(a)\1",
        "(?=a)",
        "(?i)a",
        "(",
        ")",
        "*",
        "a**",
        "a{2}{3}",
        "[a",
        "\\",
        "a{3,1}",
        "[b-a]",
    ]
    + ["((a{99}){99}){99}", "(" * 99 + ")" * 99, r"\b", "a*+"],
)
def test_what_it_does_not_take_is_refused(text):
    """Law: a pattern beyond the subset, or too large, is refused with what is wrong."""
    with pytest.raises(PatternError):
        NamePattern(text)


@pytest.mark.parametrize(
    "text", ["(a+)+$b", "(a|a)*$b", "(a|aa)+$c", "(.*)*x$", "a{0,40}" * 3 + "$b", "(a?){30}a{30}b"]
)
def test_no_pattern_takes_longer_than_its_states_and_letters(text):
    """Law: every letter of a name costs at most one look at each state, so that nothing blows up.

    Python's re takes 2**30 tries and more for the first of these: the time limit would end it.
    """
    assert not NamePattern(text).found_in("a" * 500)
