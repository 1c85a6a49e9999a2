# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Errors: one line of limited length that a terminal shows as it is."""

from __future__ import annotations

import pytest
from effort import counted_calls

from hrpsim import HrpsimError, ModelError, ModelWarning
from hrpsim.commands.cli import main
from hrpsim.common.errors import (
    require_different,
    require_name,
    require_names,
    shown_value,
    unknown_name,
)
from hrpsim.common.limits import MESSAGE_LENGTH, WARNING_LENGTH
from hrpsim.fitting import FitWarning


def test_a_message_is_one_printable_line():
    text = str(HrpsimError("a\nb\r\n\tc \x1b[31m \ud800 é"))
    assert text == "a b c \ufffd[31m \ufffd é"


def test_a_long_message_is_cut_in_the_middle():
    text = str(HrpsimError("start " + "x" * 10**6 + " end"))
    assert text.startswith("start ") and text.endswith(" end") and "characters) ..." in text
    assert len(text) < MESSAGE_LENGTH + 50


@pytest.mark.parametrize("kind", [ModelWarning, FitWarning])
def test_a_long_warning_is_cut_too(kind):
    assert len(str(kind("x" * 10**6))) < WARNING_LENGTH + 50


def test_a_command_ends_with_a_short_line_whatever_fails(capsys):
    """Law: errors of the system quote what they were given; the line is bounded all the same."""
    assert main(["run", "/" + "x" * 200_000]) == 1
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and len(said) < MESSAGE_LENGTH + 100 and "characters) ..." in said


def test_values_are_shown_in_short_whatever_they_hold():
    """Lists that hold each other forty times over would be 2^40 long."""
    value = ["x"]
    for _ in range(40):
        value = [value, value]
    loop = []
    loop.append(loop)
    for given in (value, loop, "x" * 10**6, list(range(10**5)), {1: value}):
        assert len(shown_value(given)) < 400
    assert shown_value([1, "a"]) == "[1, 'a']"


def test_unknown_names_are_told_soon():
    """A long name, and many names, are not compared letter by letter."""
    with counted_calls() as calls:
        text = unknown_name("joint", "x" * 10**6, (f"joint_{k}" for k in range(10**5)))
    assert calls[0] < 10**6 and len(text) < 1000
    assert "Did you mean 'knee'" in unknown_name("joint", "kne", ["knee", "hip"])


@pytest.mark.parametrize("given", ["c", ["a"], 3])
def test_what_is_not_available_is_refused_where_it_is(given):
    """Law: a name that is unknown, or no name at all, is refused with the place and the names."""
    with pytest.raises(ModelError, match=r"^robot\.urdf: link .* Available: a, b$"):
        require_name("link", given, ("a", "b"), ModelError, where="robot.urdf")
    require_names("link", ("a", "b"), {"a": 1, "b": 2})


def test_two_of_one_name_are_refused():
    require_different("signals", ["a", "b"], HrpsimError)
    with pytest.raises(HrpsimError, match=r"^study: two signals have the name 'b'. Rename one$"):
        require_different("signals", ["a", "b", "b"], HrpsimError, where="study: ")
