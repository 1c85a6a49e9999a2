"""Modules that moved can still be imported by the names that the documents gave."""

import importlib
import sys

import pytest

from hrpsim.moved import MOVED


@pytest.mark.parametrize("old", MOVED)
def test_an_old_name_is_the_module_that_moved_and_says_so(old):
    """Law: one module, whichever name; its specification stays that of the new name."""
    if MOVED[old] == "hrpsim.crane.joystick":
        pytest.importorskip("rclpy")
    sys.modules.pop(old, None)
    with pytest.warns(DeprecationWarning, match=MOVED[old]):
        module = importlib.import_module(old)
    assert module is importlib.import_module(MOVED[old])
    assert module.__spec__.name == MOVED[old]


def test_what_never_was_is_not_found():
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("hrpsim.control.never_was")
