# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Find bodies of a USD stage that never collide, by filtered pairs and collision groups.

The functions run in the child process that reads the stage. An owner is the path of a body, or of a
shape that belongs to no body.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from pxr import Sdf, Usd, UsdPhysics

Pair = tuple[str, str]
Note = tuple[str, str, str]


def filtered_owners(stage: Any, prims: Iterable[Any], owners: dict[str, str]) -> list[Pair]:
    """Return the pairs of owners of which at least one pair of shapes is filtered.

    Args:
        stage: the stage.
        prims: all prims of the stage.
        owners: owner of each shape that collides, by the path of the shape.
    """
    pairs = dict.fromkeys(_by_groups(stage, owners))
    pairs.update(dict.fromkeys(_by_pairs(prims, owners)))
    return [pair for pair in pairs if pair[0] != pair[1]]


def part_of_a_body(stage: Any, prims: Iterable[Any], owners: dict[str, str]) -> list[Note]:
    """Return a note for each body with collision filters that exclude only some of its shapes.

    hrpsim applies such a filter to all shapes of the body. Fixed shapes are treated like bodies.
    """
    shapes: dict[str, list[str]] = defaultdict(list)
    for path, owner in owners.items():
        shapes[owner].append(path)
    groups = _groups_of(stage, owners)
    mixed = {owner for owner, own in shapes.items() if len({groups[path] for path in own}) > 1}
    for prim in prims:
        path = str(prim.GetPath())
        if path in owners and prim.HasAPI(UsdPhysics.FilteredPairsAPI):
            if len(shapes[owners[path]]) > 1:
                mixed.add(owners[path])
    why = "all shapes of the body stay apart"
    return [
        ("filtered collisions of one shape", why, Sdf.Path(owner).name) for owner in sorted(mixed)
    ]


def quiet_bodies(prims: Iterable[Any], owners: Iterable[str]) -> list[str]:
    """Return the bodies of articulations whose bodies do not collide with each other."""
    off = [prim for prim in prims if _is_off(prim)]
    roots = []
    for prim in off:
        if not prim.IsA(UsdPhysics.Joint):
            roots.append(prim.GetPath())
            continue
        joint = UsdPhysics.Joint(prim)
        for end in (joint.GetBody0Rel(), joint.GetBody1Rel()):
            roots += end.GetTargets()
    return [owner for owner in owners if any(Sdf.Path(owner).HasPrefix(root) for root in roots)]


def _is_off(prim: Any) -> bool:
    for name in ("physxArticulation:enabledSelfCollisions", "newton:selfCollisionEnabled"):
        attribute = prim.GetAttribute(name)
        if attribute and attribute.HasAuthoredValue() and not attribute.Get():
            return True
    return False


def _by_pairs(prims: Iterable[Any], owners: dict[str, str]) -> Iterator[Pair]:
    """Yield pairs of PhysicsFilteredPairsAPI, of bodies, shapes or articulations."""
    for prim in prims:
        if not prim.HasAPI(UsdPhysics.FilteredPairsAPI):
            continue
        for target in UsdPhysics.FilteredPairsAPI(prim).GetFilteredPairsRel().GetTargets():
            firsts, others = _under(prim.GetPath(), owners), _under(target, owners)
            yield from itertools.product(firsts, others)


def jointed_owners(
    prims: Iterable[Any], owners: dict[str, str], moving: frozenset[str]
) -> list[Pair]:
    """Return the pairs of a moving body and a fixed owner that a joint connects.

    In UsdPhysics, bodies that a joint connects do not collide. Two moving bodies of a joint need no
    entry, because hrpsim treats them as adjacent.
    """
    pairs: dict[Pair, None] = {}
    for prim in prims:
        if not prim.IsA(UsdPhysics.Joint):
            continue
        joint = UsdPhysics.Joint(prim)
        ends = [relation.GetTargets() for relation in (joint.GetBody0Rel(), joint.GetBody1Rel())]
        if not all(ends):
            continue
        firsts, others = (_under(end[0], owners) for end in ends)
        for pair in itertools.product(firsts, others):
            if len(moving.intersection(pair)) == 1:
                pairs[pair] = None
    return list(pairs)


def _under(path: Any, owners: dict[str, str]) -> list[str]:
    matching = (owner for shape, owner in owners.items() if Sdf.Path(shape).HasPrefix(path))
    return list(dict.fromkeys(matching))


def _groups_of(stage: Any, owners: dict[str, str]) -> dict[str, frozenset[int]]:
    """Return the numbers of the collision groups of each shape."""
    table = UsdPhysics.CollisionGroup.ComputeCollisionGroupTable(stage)
    members: dict[str, set[int]] = {path: set() for path in owners}
    for number, group in enumerate(table.GetGroups()):
        prim = UsdPhysics.CollisionGroup(stage.GetPrimAtPath(group))
        query = prim.GetCollidersCollectionAPI().ComputeMembershipQuery()
        for path in owners:
            if query.IsPathIncluded(Sdf.Path(path)):
                members[path].add(number)
    return {path: frozenset(numbers) for path, numbers in members.items()}


def _by_groups(stage: Any, owners: dict[str, str]) -> Iterator[Pair]:
    """Yield pairs of owners in collision groups that filter each other."""
    table = UsdPhysics.CollisionGroup.ComputeCollisionGroupTable(stage)
    members: dict[int, dict[str, None]] = defaultdict(dict)
    for path, numbers in _groups_of(stage, owners).items():
        for number in numbers:
            members[number][owners[path]] = None
    for a, b in itertools.combinations_with_replacement(sorted(members), 2):
        if not table.IsCollisionEnabled(a, b):
            yield from itertools.product(members[a], members[b])


def all_prims(stage: Any) -> list[Any]:
    """Return all prims of a stage, including the prims inside instances."""
    return list(Usd.PrimRange.Stage(stage, Usd.TraverseInstanceProxies()))
