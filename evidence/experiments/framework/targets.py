# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The targets of an experiment: conditions on hrpsim's value in a row."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Target:
    """A condition on hrpsim's value, as text and as a test."""

    text: str
    holds: Callable[[Any], bool]


def at_most(bound: float) -> Target:
    """Return a target: the value is at most `bound`."""
    return Target(f"<= {bound:g}", lambda ours: ours <= bound)


def at_least(bound: float) -> Target:
    """Return a target: the value is at least `bound`."""
    return Target(f">= {bound:g}", lambda ours: ours >= bound)


def below(bound: float) -> Target:
    """Return a target: the value is below `bound`."""
    return Target(f"< {bound:g}", lambda ours: ours < bound)


def equal_to(value: float | int | str | None) -> Target:
    """Return a target: the value equals `value` exactly."""
    return Target(f"= {value}", lambda ours: ours == value)


def near(value: float, *, relative: float = 0.0, absolute: float = 0.0) -> Target:
    """Return a target: |ours - value| <= relative |value| + absolute."""
    width = relative * abs(value) + absolute
    parts = [f"{100 * relative:g} %"] * (relative > 0) + [f"{absolute:g}"] * (absolute > 0)
    text = f"{value:.5g} +- {' +- '.join(parts) or '0'}"
    return Target(text, lambda ours: abs(ours - value) <= width)
