# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Pairs of shapes that never collide: by request, within robots, across connections."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import cast

import numpy as np

from hrpsim.common.errors import WorldError, unknown_name
from hrpsim.model.model import adjacent_bodies
from hrpsim.model.readers.urdf.srdf import pair_of
from hrpsim.world.objects.connection import Connection, End
from hrpsim.world.objects.entity import Entity, WorldState
from hrpsim.world.objects.robot import Robot
from hrpsim.world.objects.solver_rules import is_named
from hrpsim.world.parts.part import Core, Part

Owners = list[tuple[str, str]]  # (entity, link) of each shape


class Exclusions(Part):
    """Mixin of World: pairs of shapes that collision detection never tests."""

    def __init__(self, core: Core) -> None:
        super().__init__(core)
        self._apart: list[tuple[str, str]] = []
        self._standing = np.zeros((0, 2), dtype=np.int64)  # pairs that do not depend on connections

    @property
    def _world(self) -> WorldState:
        """The world that this mixin belongs to."""
        return cast(WorldState, self)

    def disable_collisions(self, a: str, b: str) -> None:
        """Exclude collisions between all links that match `a` and all links that match `b`.

        The exclusion also applies to entities added later. A pattern is "entity/link" with the
        wildcards * and ?. A pattern without "/" matches whole entities. Fixed shapes and the ground
        are "world/name". To exclude pairs within a robot that collides with itself, both patterns
        must name links: ("hrp2/LARM_*", "hrp2/BODY").

        Args:
            a: a pattern.
            b: a pattern.

        Raises:
            WorldError: nothing in the world fits a pattern. The error lists the existing names.
        """
        self._scenes.scene  # noqa: B018  builds the list of owners
        for pattern in (a, b):
            if not isinstance(pattern, str):
                raise WorldError(f'must be "entity" or "entity/link", got {pattern!r}')
            if not any(is_named(owner, pattern) for owner in self._scenes.owners):
                names = ["/".join(owner) for owner in self._scenes.owners]
                if "/" not in pattern:
                    names = [owner for owner, _ in self._scenes.owners]
                raise WorldError(unknown_name("entity with a shape", pattern, dict.fromkeys(names)))
        self._sleep.wake()
        self._apart.append((a, b))
        self._find_standing()
        self.refresh_exclusions()

    def _find_standing(self) -> None:
        """Find the excluded pairs that do not depend on connections."""
        pairs = set(pairs_apart(self._apart, self._scenes.owners))
        first = len(self._contents.fixed)
        for entity in self._contents.entities:
            if isinstance(entity, Robot):
                pairs.update(pairs_within(entity, first))
            first += len(entity.shapes)
        self._standing = sorted_pairs(pairs)

    def _add_standing(self, entities: Sequence[Entity], fixed: range) -> None:
        """Find the excluded pairs of entities and fixed shapes (by number) that were added last."""
        if self._apart:
            self._find_standing()
            return
        self._standing = self._standing + len(fixed) * (self._standing >= fixed.start)
        first = len(self._scenes.owners) - sum(len(entity.shapes) for entity in entities)
        for entity in entities:
            if isinstance(entity, Robot):
                pairs = sorted_pairs(pairs_within(entity, first))
                self._standing = np.concatenate([self._standing, pairs])
            first += len(entity.shapes)

    def _drop_standing(self, numbers: range) -> None:
        """Forget the excluded pairs with shapes that were removed."""
        pairs, first, end = self._standing, numbers.start, numbers.stop
        stays = ((pairs < first) | (pairs >= end)).all(axis=1)
        self._standing = pairs[stays] - len(numbers) * (pairs[stays] >= end)

    def refresh_exclusions(self) -> None:
        """Pass the excluded pairs of shapes to the collision detection."""
        if self._scenes.present is None:
            return
        excluded, connections = self._standing, self._contents.connections.values()
        if connections:
            bodies = self._sleep.bodies_of_shapes()
            joined = joined_pairs(connections, bodies, self._scenes.owners)
            excluded = sorted_pairs({*map(tuple, excluded.tolist()), *joined})
        self._scenes.use_collision(excluded=excluded)


def pairs_apart(apart: Iterable[tuple[str, str]], owners: Owners) -> set[tuple[int, int]]:
    """Return the pairs of shapes, smaller index first, that pairs of patterns exclude."""
    pairs = set()
    for a, b in apart:
        first, other = ([s for s, o in enumerate(owners) if is_named(o, p)] for p in (a, b))
        pairs.update((min(s, t), max(s, t)) for s in first for t in other if s != t)
    return pairs


def pairs_within(robot: Robot, first: int) -> set[tuple[int, int]]:
    """Return the pairs of a robot's own shapes that never collide.

    The collision groups of a robot exclude other pairs. Without self-collision, the result has the
    pairs with a link that is fixed to the world. With self-collision, the result has the pairs of
    adjacent bodies, and the pairs of the SRDF.

    Args:
        robot: the robot.
        first: number of the robot's first shape in the world.
    """
    shapes = robot.shapes
    adjacent = adjacent_bodies(robot.model) if robot.self_collision else ()
    disabled = robot.model.disabled_collisions
    pairs = set()
    for k, a in enumerate(shapes):
        for m in range(k + 1, len(shapes)):
            b = shapes[m]
            if a.body == b.body:
                continue  # the same group
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
    """Return the pairs of shapes, smaller index first, that enabled connections exclude.

    The shapes of a pair never collide. `bodies` (s,) has the body of each shape.
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
