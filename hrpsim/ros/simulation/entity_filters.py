# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The filters in requests of simulation_interfaces for entities, poses and worlds."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

import numpy as np
from rclpy.node import Node
from simulation_interfaces.msg import Bounds, EntityCategory, EntityFilters, TagsFilter

from hrpsim.ros.base import parameters
from hrpsim.ros.base.entities import Entities, Refusal
from hrpsim.ros.base.geometry_values import numbers_of
from hrpsim.ros.core.entity_bounds import bounding_box, meets_box, meets_hull, meets_sphere
from hrpsim.world.objects.entity import Entity
from hrpsim.world.objects.robot import Robot

_MOST_POINTS = 1000  # of a convex hull
_PART_OF_A_NAME = re.compile(r"[\w/-]*")
CATEGORIES = {
    getattr(EntityCategory, f"CATEGORY_{name.upper()}"): name
    for name in ("object", "robot", "human", "dynamic_object", "static_object")
}
_NUMBERS = {name: number for number, name in CATEGORIES.items()}


def category_of(entities: Entities, entity: Entity) -> int:
    """Return the category of an entity: that of its notes, else robot if it has joints."""
    noted = entities.notes(entity).category
    if noted:
        return _NUMBERS[noted]
    robot = isinstance(entity, Robot) and entity.joint_names
    return EntityCategory.CATEGORY_ROBOT if robot else EntityCategory.CATEGORY_OBJECT


def chosen_entities(node: Node, entities: Entities, filters: EntityFilters) -> list[Entity]:
    """Return the entities that pass all filters, in the order in which they were added."""
    is_named = name_filter(filters.filter, parameters.value_of(node, "filter_limit"))
    categories = {category.category for category in filters.categories}
    has_tags, reaches = tag_filter(filters.tags), _region(filters.bounds)
    return [
        entity
        for entity in entities.world.entities.values()
        if is_named(entity.name)
        and (not categories or category_of(entities, entity) in categories)
        and has_tags(entities.notes(entity).tags)
        and reaches(entity)
    ]


def tag_filter(wanted: TagsFilter) -> Callable[[Iterable[str]], bool]:
    """Return a predicate: whether tags include any, or all, of the wanted ones."""
    modes = {TagsFilter.FILTER_MODE_ANY: any, TagsFilter.FILTER_MODE_ALL: all}
    if wanted.filter_mode not in modes:
        raise Refusal("FEATURE_UNSUPPORTED", "filter_mode can be any (0) or all (1)")
    enough, tags = modes[wanted.filter_mode], set(wanted.tags)
    return lambda present: not tags or enough(tag in set(present) for tag in tags)


def name_filter(text: str, longest: int) -> Callable[[str], bool]:
    """Return a predicate: whether a name matches a regular expression.

    RE2 searches in a time proportional to the length of the name; Python's re may never end.
    """
    if len(text) > longest:
        raise Refusal(
            "OPERATION_FAILED", f"a filter has {longest} letters at most, this one {len(text)}"
        )
    if _PART_OF_A_NAME.fullmatch(text):
        return lambda name: text in name
    try:
        import re2
    except ImportError as error:
        raise Refusal(
            "FEATURE_UNSUPPORTED",
            f"filter {text!r} is a regular expression, which needs google-re2 (pip install"
            " google-re2); a part of a name does not",
        ) from error
    options = re2.Options()
    options.log_errors = False
    try:
        expression = re2.compile(text, options)
    except re2.error as error:
        reason = str(error.args[0], "utf-8", "replace")
        raise Refusal("OPERATION_FAILED", f"filter {text!r}: {reason}") from error
    return lambda name: expression.search(name) is not None


def _region(bounds: Bounds) -> Callable[[Entity], bool]:
    """Return a predicate: whether an entity overlaps the bounds."""
    if bounds.type == Bounds.TYPE_EMPTY:
        return lambda entity: True
    if bounds.type == Bounds.TYPE_CONVEX_HULL:
        hull = _points(bounds, range(3, _MOST_POINTS + 1), f"3 to {_MOST_POINTS}")
        return lambda entity: meets_hull(bounding_box(entity), hull)
    if bounds.type == Bounds.TYPE_SPHERE:
        centre, (radius, *_) = _points(bounds, (2,), "two")
        return lambda entity: meets_sphere(bounding_box(entity), centre, radius)
    if bounds.type == Bounds.TYPE_BOX:
        points = _points(bounds, (2,), "two")
        lower, upper = points.min(axis=0), points.max(axis=0)
        return lambda entity: meets_box(bounding_box(entity), lower, upper)
    raise Refusal(
        "FEATURE_UNSUPPORTED", "bounds can be none (0), a box (1), a hull (2) or a sphere (3)"
    )


def _points(bounds: Bounds, counts: Sequence[int], allowed: str) -> np.ndarray:
    """Return the points (n, 3) [m] of bounds; Refusal for another number than `counts`."""
    points = np.array([numbers_of(point) for point in bounds.points]).reshape(-1, 3)
    if len(points) not in counts or not np.isfinite(points).all():
        raise Refusal(
            "OPERATION_FAILED", f"such bounds need {allowed} finite points, got {len(points)}"
        )
    return points
