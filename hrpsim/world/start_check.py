# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Warn of a start that is hardly meant: shapes inside the ground, joints beyond their limits."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Protocol

from hrpsim.errors import ModelWarning
from hrpsim.kinematics.forward import new_kinematics, update_poses
from hrpsim.model.model import CollisionShape
from hrpsim.model.shapes.geometry import Plane
from hrpsim.model.shapes.support import farthest_against
from hrpsim.model.system import JOINT_NV
from hrpsim.world.objects.entity import Entity, WorldState
from hrpsim.world.objects.robot import Robot

_DEEP = 5e-3  # inside the ground [m]
_BEYOND = 1e-3  # a limit [rad or m]
_NAMED = 3  # joints of a robot


class Started(WorldState, Protocol):
    """A world, as far as its start is checked."""

    @property
    def fixed_shapes(self) -> tuple[CollisionShape, ...]:
        """Fixed shapes, in the order that they were added."""


def warn_of_start(world: Started, stacklevel: int = 3) -> None:
    """Warn of all that is inside a plane of the present world, or beyond its limits.

    A ModelWarning for each robot or body, with amount and cure.
    """
    fixed = world.fixed_shapes
    planes = {k: s for k, s in enumerate(fixed) if isinstance(s.geometry, Plane)}
    apart = set(map(tuple, world.scene.collision.excluded.tolist()))
    first = len(fixed)
    for name, entity in world.entities.items():
        for text in (_depth(entity, first, planes, apart), _beyond_limits(entity)):
            if text:
                warnings.warn(f"{name!r} starts {text}", ModelWarning, stacklevel=stacklevel)
        first += len(entity.shapes)


def _depth(
    entity: Entity, first: int, planes: Mapping[int, CollisionShape], apart: set[tuple[int, int]]
) -> str:
    """Return how deep an entity is inside a plane, "" if it is not.

    first: the number of its first shape; planes: by their numbers; apart: pairs that never touch.
    """
    if not planes:
        return ""
    poses = new_kinematics(len(entity.system.parent))
    update_poses(entity.forest, entity.q.copy(), poses)
    deepest, text = _DEEP, ""
    for number, plane in planes.items():
        normal = plane.R[:, 2]
        for k, shape in enumerate(entity.shapes, first):
            if shape.body < 0 or (number, k) in apart:
                continue
            R = poses[shape.body]["R"]
            origin = poses[entity.system.root[shape.body]]["origin"] + poses[shape.body]["p"]
            lowest = farthest_against(shape.geometry, (R @ shape.R).T @ normal)
            point = origin + R @ (shape.p + shape.R @ lowest)
            depth = float((plane.p - point) @ normal)
            if depth > deepest:
                deepest = depth
                text = (
                    f"{depth:.3g} m inside 'world/{plane.link}', with {shape.link!r}: set its "
                    f"position {depth:.3g} m higher, or it is pushed out and may fall"
                )
    return text


def _beyond_limits(entity: Entity) -> str:
    """Return which joints of a robot are beyond their limits, "" if none is."""
    if not isinstance(entity, Robot):
        return ""
    joints = [joint for joint in entity.model.joints if JOINT_NV[joint.joint_type] == 1]
    q, system, found = entity.q, entity.system, []
    for joint in joints:
        at, low, high = q[joint.q_index], system.lower[joint.v_index], system.upper[joint.v_index]
        if max(low - at, at - high) > _BEYOND:
            found.append(f"{joint.name!r} at {at:.3f}, outside of {low:.3f} to {high:.3f}")
    if not found:
        return ""
    more = f" and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
    return (
        f"beyond the limits of its joints: {'; '.join(found[:_NAMED])}{more} [rad or m]: set them "
        "within, as by `joints` in a world file"
    )
