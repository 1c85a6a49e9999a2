# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Which shapes never collide: within a robot, by request, and where connections join them."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from hrpsim.model.adjacent import adjacent_bodies
from hrpsim.model.urdf.pairs import pair_of
from hrpsim.world.objects.connection import Connection
from hrpsim.world.objects.ends import End
from hrpsim.world.objects.robot import Robot
from hrpsim.world.objects.solver_rules import is_named

Owners = list[tuple[str, str]]  # (entity, link) of each shape


def pairs_apart(apart: Iterable[tuple[str, str]], owners: Owners) -> set[tuple[int, int]]:
    """Return the pairs of shapes, smaller first, that pairs of patterns keep apart."""
    pairs = set()
    for a, b in apart:
        one, other = ([s for s, o in enumerate(owners) if is_named(o, p)] for p in (a, b))
        pairs.update((min(s, t), max(s, t)) for s in one for t in other if s != t)
    return pairs


def pairs_within(robot: Robot, first: int) -> set[tuple[int, int]]:
    """Return the pairs of a robot's shapes, the `first` of which is given, that never collide.

    Without self-collision: those that its groups let pass, which are with links fixed to the
    world. With it: adjacent bodies, links fixed to each other, and what its SRDF says.
    """
    shapes = robot.shapes
    adjacent = adjacent_bodies(robot.model) if robot.self_collision else ()
    disabled = robot.model.disabled_collisions
    pairs = set()
    for k, a in enumerate(shapes):
        for m in range(k + 1, len(shapes)):
            b = shapes[m]
            if a.body == b.body:
                continue  # one group
            if robot.self_collision:
                apart = (min(a.body, b.body), max(a.body, b.body)) in adjacent
                apart = apart or pair_of(a.link, b.link) in disabled
            else:
                apart = min(a.body, b.body) < 0
            if apart:
                pairs.add((first + k, first + m))
    return pairs


def joined_pairs(
    connections: Iterable[Connection], bodies: np.ndarray, owners: Owners
) -> set[tuple[int, int]]:
    """Return the pairs of shapes, smaller first, that enabled connections keep from colliding.

    `bodies` (s,) are those of the shapes.
    """
    of_end: dict[tuple[str, int], list[int]] = {}
    for number, (owner, _) in enumerate(owners):
        of_end.setdefault((owner, int(bodies[number])), []).append(number)
    pairs = set()
    for connection in connections:
        if connection.collide or not connection.enabled:
            continue
        first, second = (of_end.get(_key(end), ()) for end in connection.ends)
        pairs.update((min(s, t), max(s, t)) for s in first for t in second)
    return pairs


def _key(end: End) -> tuple[str, int]:
    return ("", -1) if end.entity is None else (end.entity.name, end.body_of_scene)


def sorted_pairs(pairs: set[tuple[int, int]]) -> np.ndarray:
    """Return pairs (k, 2) in ascending order."""
    return np.array(sorted(pairs), dtype=np.int64).reshape(-1, 2)
