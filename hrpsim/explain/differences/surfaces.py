# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The pairs of materials between a robot's feet and the surroundings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from hrpsim.world.objects.robot import Robot
from hrpsim.world.world import World

_FRICTION = ("static", "kinetic", "restitution", "torsional", "rolling")


class FootSurface(NamedTuple):
    """A pair of materials, of a foot and of a fixed shape, with the contact properties."""

    foot: str  # link
    material: str  # of the foot
    floor: str  # material of the fixed shape
    properties: np.void  # MATERIAL_PAIR


def surfaces(world: World, robot: Robot, feet: Iterable[str]) -> list[FootSurface]:
    """Return the pairs of materials of each foot with each fixed shape."""
    records = world.scene.collision.shapes["material"]
    count = len(world.fixed_shapes)
    before = list(world.entities)[: list(world.entities).index(robot.name)]
    first = count + sum(len(world.entities[name].shapes) for name in before)
    links, surface_of = set(feet), {}
    for k, shape in enumerate(robot.shapes):
        if shape.link not in links:
            continue
        for j, fixed in enumerate(world.fixed_shapes):
            pair = world.scene.materials[records[first + k], records[j]]
            key = shape.link, shape.material, fixed.material
            surface_of[key] = FootSurface(*key, pair.copy())
    return list(surface_of.values())


def change_surfaces(
    world: World, pairs: Sequence[Sequence[str]], friction: Mapping[str, float]
) -> None:
    """Change friction and restitution of pairs of materials. Missing values stay unchanged.

    Args:
        world: the world to change.
        pairs: pairs of material names.
        friction: new values by name: `static`, `kinetic`, `restitution`, `torsional` or `rolling`.
    """
    links = {shape.link for robot in world.robots.values() for shape in robot.shapes}
    present = {
        (surface.material, surface.floor): surface.properties
        for own in world.robots.values()
        for surface in surfaces(world, own, links)
    }
    for a, b in pairs:
        entry = {name: float(present[a, b][name]) for name in _FRICTION}
        world.set_friction(a, b, **(entry | dict(friction)))
