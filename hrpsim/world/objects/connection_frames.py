# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Where the two frames of a connection are: from what users say of them to frames in links."""

from __future__ import annotations

import numpy as np

from hrpsim.errors import WorldError
from hrpsim.model.shapes.placement import IDENTITY, Placement, rotation_with_z_along
from hrpsim.values import finite_vector, positive
from hrpsim.world.objects.body import rotation_matrix


def frames_in_links(poses, base: int, given: dict, frame_a, frame_b) -> tuple[Placement, Placement]:
    """Return the frames in the links' frames; `base` is the link whose frame they default to."""
    local = [_local("frame_a", frame_a), _local("frame_b", frame_b)]
    _refuse_both(given, frame_a, frame_b)
    if local[0] is not None and local[1] is not None:
        return local[0], local[1]
    for k in (0, 1):
        if local[k] is not None:
            at = poses[k].then(local[k])
            break
    else:
        at = _frame_in_world(poses[base], **given)
    return tuple(poses[k].inverse().then(at) if local[k] is None else local[k] for k in (0, 1))


def _refuse_both(given: dict, frame_a, frame_b) -> None:
    """Refuse world coordinates beside frames in links."""
    in_world = [name for name, value in given.items() if value is not None]
    if in_world and (frame_a is not None or frame_b is not None):
        raise WorldError(f"give {', '.join(in_world)} in the world, or frames in links, not both")


def _frame_in_world(base: Placement, point, axis, x_axis) -> Placement:
    """Return the common frame of a connection in the world."""
    p = base.p if point is None else finite_vector("point", point, 3)
    if axis is None and x_axis is None:
        return Placement(base.R, p)
    z = base.R[:, 2] if axis is None else _direction("axis", axis)
    if x_axis is None:
        return Placement(rotation_with_z_along(z), p)
    x = _direction("x_axis", x_axis)
    x = x - (x @ z) * z
    if np.linalg.norm(x) < 1e-6:
        raise WorldError(f"x_axis {x_axis!r} must not lie along the axis {z.tolist()}")
    x /= np.linalg.norm(x)
    return Placement(np.column_stack([x, np.cross(z, x), z]), p)


def _direction(what: str, values) -> np.ndarray:
    vector = finite_vector(what, values, 3)
    length = np.linalg.norm(vector)
    if not length > 1e-9:
        raise WorldError(f"{what} must not be zero, got {values!r}")
    return vector / length


def _local(what: str, given) -> Placement | None:
    """Return the placement of (position, quaternion)."""
    if given is None:
        return None
    try:
        position, orientation = given
    except (TypeError, ValueError) as error:
        raise WorldError(f"{what} must be (position, quaternion x y z w), got {given!r}") from error
    orientation = finite_vector(f"{what} orientation", orientation, 4)
    length = np.linalg.norm(orientation)
    if length < 1e-6:
        raise WorldError(f"the orientation of {what} must not be zero")
    return Placement(
        rotation_matrix(orientation / length), finite_vector(f"{what} position", position, 3)
    )


def points_in_links(poses, given: dict, frame_a, frame_b) -> tuple[Placement, Placement]:
    """Return the frames of a distance: their origins are its points."""
    _refuse_both(given, frame_a, frame_b)
    if given["axis"] is not None or given["x_axis"] is not None:
        raise WorldError("a distance has no axis")
    local = [_local("frame_a", frame_a), _local("frame_b", frame_b)]
    points = given["point"]
    if points is not None:
        if np.shape(points) != (2, 3):
            raise WorldError(f"point of a distance must be two points, got {points!r}")
        local = [
            Placement(np.eye(3), pose.inverse().R @ (finite_vector("point", p, 3) - pose.p))
            for pose, p in zip(poses, points, strict=True)
        ]
    return tuple(IDENTITY if frame is None else frame for frame in local)


def distance_between(kind: str, length, poses, frames) -> float:
    """Return what the record's length must be; 0 for all kinds but "distance"."""
    if kind != "distance":
        if length is not None:
            raise WorldError(f"a connection of kind {kind!r} has no length")
        return 0.0
    now = float(np.linalg.norm(poses[0].then(frames[0]).p - poses[1].then(frames[1]).p))
    if length is None and now == 0.0:
        raise WorldError(
            "the points of the distance coincide: give points that do not, or a length"
        )
    return positive("length", now if length is None else length)
