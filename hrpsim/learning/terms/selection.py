# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Choose joints and links by regular expressions, as Isaac Lab and mjlab do."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np

from hrpsim.common.errors import StateError, unknown_name

EVERY = (".*",)  # the expression that fits each name


def chosen(
    kind: str,
    patterns: str | Sequence[str],
    names: Sequence[str],
    owner: str,
    preserve_order: bool = False,
) -> list[int]:
    """Return the indices of the names that a regular expression matches completely.

    Args:
        kind: "joint" or "link", for errors.
        patterns: one or several regular expressions.
        names: names of all joints or links.
        owner: name of the robot, for errors.
        preserve_order: whether the indices have the order of the expressions. Otherwise the indices
            have the order of `names`.

    Raises:
        StateError: an expression is invalid, or matches no name. The error lists the names.
    """
    indices: dict[int, None] = {}
    for pattern in (patterns,) if isinstance(patterns, str) else patterns:
        fitting = fits(kind, pattern, names, owner)
        if not fitting:
            raise StateError(f"robot {owner!r}: {unknown_name(kind, pattern, names)}")
        indices.update(dict.fromkeys(fitting))
    return list(indices) if preserve_order else sorted(indices)


def fits(kind: str, pattern: str, names: Sequence[str], owner: str) -> list[int]:
    """Return the indices of the names that one regular expression matches completely.

    Raises StateError for an invalid expression.
    """
    try:
        expression = re.compile(pattern)
    except re.error as error:
        raise StateError(
            f"robot {owner!r}: {kind} {pattern!r} is not a regular expression: {error}"
        ) from None
    return [k for k, name in enumerate(names) if expression.fullmatch(name)]


def values_by_name(
    what: str, given: float | Mapping[str, float], names: Sequence[str], owner: str, rest: float
) -> np.ndarray:
    """Return one value for each of n joints (n,).

    Args:
        what: name of the value, for errors.
        given: one number for all joints, or {regular expression: number}.
        names: names of the joints (n,).
        owner: name of the robot, for errors.
        rest: value of joints that no expression matches.

    Raises:
        StateError: an expression matches no joint, or two expressions match the same joint.
    """
    if not isinstance(given, Mapping):
        return np.full(len(names), float(given))
    values, by = np.full(len(names), float(rest)), [""] * len(names)
    for pattern, value in given.items():
        for k in chosen("joint", pattern, names, owner):
            if by[k]:
                raise StateError(
                    f"{what} of robot {owner!r}: joint {names[k]!r} fits {by[k]!r} and"
                    f" {pattern!r}. Give each joint one value"
                )
            values[k], by[k] = float(value), pattern
    return values
