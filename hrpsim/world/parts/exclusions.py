# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Which shapes of a world never collide: by request, within robots, where connections join them."""

from __future__ import annotations

import numpy as np

from hrpsim.errors import WorldError, unknown_name
from hrpsim.world.objects.entity import WorldState
from hrpsim.world.objects.robot import Robot
from hrpsim.world.objects.solver_rules import is_named
from hrpsim.world.parts.exclusion_pairs import joined_pairs, pairs_apart, pairs_within, sorted_pairs
from hrpsim.world.parts.part import Core, Part


class Exclusions(Part):
    """Pairs of shapes that are never tested against each other."""

    def __init__(self, core: Core):
        super().__init__(core)
        self._apart: list[tuple[str, str]] = []
        self._standing = np.zeros((0, 2), dtype=np.int64)  # pairs that no connection changes

    def disable_collisions(self, a: str, b: str) -> None:
        """Exclude collisions of all that fits `a` with all that fits `b`, now and later.

        Patterns are over "entity/link" with * and ?; one without "/" is about whole entities. Fixed
        shapes and the ground are "world/name". Within a robot that collides with itself, links are
        named on both sides: ("hrp2/LARM_*", "hrp2/BODY").

        Args:
            a: a pattern.
            b: a pattern.

        Raises:
            WorldError: for a pattern that nothing in the world fits; it names the existing ones.
        """
        self._scenes.scene  # noqa: B018  builds the list of owners
        for pattern in (a, b):
            if not isinstance(pattern, str):
                raise WorldError(f'"entity" or "entity/link" is needed, got {pattern!r}')
            if not any(is_named(owner, pattern) for owner in self._scenes.owners):
                names = ["/".join(owner) for owner in self._scenes.owners]
                if "/" not in pattern:
                    names = [owner for owner, _ in self._scenes.owners]
                raise WorldError(unknown_name("entity with a shape", pattern, dict.fromkeys(names)))
        self._sleep.wake()
        self._apart.append((a, b))
        self.find_standing()
        self.refresh()

    def find_standing(self) -> None:
        """Find the pairs that stay apart as long as no entity comes or goes."""
        pairs = set(pairs_apart(self._apart, self._scenes.owners))
        first = len(self._contents.fixed)
        for entity in self._contents.entities:
            if isinstance(entity, Robot):
                pairs.update(pairs_within(entity, first))
            first += len(entity.shapes)
        self._standing = sorted_pairs(pairs)

    def refresh(self) -> None:
        """Tell the collision detection which shapes are never to be tested."""
        if self._scenes.present is None:
            return
        bodies = self._sleep.bodies_of_shapes()
        joined = joined_pairs(self._contents.joints_between, bodies, self._scenes.owners)
        standing = map(tuple, self._standing.tolist())
        self._scenes.use_collision(excluded=sorted_pairs({*standing, *joined}))


class JoiningPart(Part):
    """A part that makes objects of the `world` which keep shapes from colliding."""

    def __init__(self, world: WorldState, core: Core, exclusions: Exclusions):
        super().__init__(core)
        self._world, self._exclusions = world, exclusions
        self._made = 0  # ever
