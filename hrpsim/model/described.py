# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Kinds of connections between links, and the relative motions that each kind constrains."""

from __future__ import annotations

from collections.abc import Iterable

from hrpsim.common.errors import require_name

AXES = ("x", "y", "z", "rx", "ry", "rz")  # along and about the axes of frame a

CONNECTION_SOLVERS = ("iterative", "direct")

# what a connection of each kind holds; `distance` holds the line between the points as axis "x"
KINDS = {
    "fixed": AXES,
    "ball": ("x", "y", "z"),
    "hinge": ("x", "y", "z", "rx", "ry"),
    "slider": ("x", "y", "rx", "ry", "rz"),
    "cylindrical": ("x", "y", "rx", "ry"),
    "universal": ("x", "y", "z", "rz"),
    "distance": ("x",),
}


def held_axes(kind: str | None, axes: Iterable[str] | None) -> tuple[str, ...]:
    """Return the axes of relative motion that a connection constrains.

    Args:
        kind: name of the kind, such as "hinge". If kind and axes are both None, the kind is
            "fixed".
        axes: constrained axes, names in AXES, instead of a kind.

    Raises:
        ValueError: The kind or an axis does not exist, or both arguments are given.
    """
    if axes is None:
        kind = "fixed" if kind is None else kind
        require_name("kind of connection", kind, KINDS, ValueError)
        return KINDS[kind]
    if kind is not None:
        raise ValueError(f"give a kind ({kind!r}) or axes ({axes!r}), not both")
    axes = tuple(axes)
    for axis in axes:
        require_name("axis", axis, AXES, ValueError)
    if not axes or len(set(axes)) != len(axes):
        raise ValueError(f"axes must name each constrained axis once, got {axes!r}")
    return axes
