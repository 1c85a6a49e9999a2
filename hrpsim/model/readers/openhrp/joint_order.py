# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The order of the joints in Choreonoid's lists of joint positions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from hrpsim.model.readers.urdf.joint_types import MOVING_TYPES


class _Link(Protocol):
    """A link with the type of the joint to its parent. `joint_id` is -1 without an id."""

    name: str
    type: str
    joint_id: int


def joint_order(parts: Sequence[_Link]) -> tuple[str, ...]:
    """Return the names of the joints by joint id, then of the joints without an id.

    The name is "" for the id of a fixed link, and for an id without a link. The first part is the
    root.
    """
    by_id: dict[int, str] = {}
    for part in parts:
        if part.joint_id >= 0:
            by_id.setdefault(part.joint_id, _moving(part))
    others = [part for part in parts[1:] if part.joint_id < 0 and part.type != "fixed"]
    listed = [by_id.get(k, "") for k in range(max(by_id, default=-1) + 1)]
    return (*listed, *map(_moving, others))


def _moving(part: _Link) -> str:
    return part.name if part.type in MOVING_TYPES else ""
