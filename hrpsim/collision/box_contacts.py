"""Contacts of two boxes."""

from __future__ import annotations

import numpy as np

from hrpsim.collision.box_axes import box_axis
from hrpsim.collision.convex_axis import refine_axis
from hrpsim.collision.face_on_face import face_on_face
from hrpsim.collision.nearest_point import TOLERANCE, certified, keep_distinct, write_nearest
from hrpsim.compiled import inner_kernel
from hrpsim.model.geometry import BOX

_BOX = np.int64(BOX)


@inner_kernel
def box_on_box(
    size_a, R_a, p_a, size_b, R_b, p_b, margin, point_out, normal_out, gap_out, feature_out
):
    """Write the contacts of two boxes; return how many.

    Overlapping boxes and those with a face over a vertex or edges that cross are settled by the
    axis test; the rest (apart, vertex to vertex or vertex to edge) need the nearest points.
    """
    tx, ty, tz = p_a[0] - p_b[0], p_a[1] - p_b[1], p_a[2] - p_b[2]
    nx, ny, nz, separation = box_axis(size_a, R_a, size_b, R_b, tx, ty, tz, margin)
    if separation > margin:
        return 0
    count = face_on_face(
        size_a, R_a, size_b, R_b, p_b, tx, ty, tz, nx, ny, nz, margin,
        point_out, normal_out, gap_out, feature_out,
    )  # fmt: skip
    if count > 0 and separation <= 0.0:
        return count
    size = size_a[0] + size_a[1] + size_a[2] + size_b[0] + size_b[1] + size_b[2]
    if certified(count, gap_out, separation, TOLERANCE * size):
        return count
    nx, ny, nz, separation, ax, ay, az = refine_axis(
        _BOX, size_a, R_a, _BOX, size_b, R_b, tx, ty, tz, nx, ny, nz, separation, point_out
    )
    if separation > margin:
        return 0
    count = face_on_face(
        size_a, R_a, size_b, R_b, p_b, tx, ty, tz, nx, ny, nz, margin,
        point_out, normal_out, gap_out, feature_out,
    )  # fmt: skip
    count = keep_distinct(count, size, point_out, normal_out, gap_out, feature_out)
    if certified(count, gap_out, separation, TOLERANCE * size):
        return count
    return write_nearest(
        count, ax, ay, az, p_b, nx, ny, nz, separation, 0.0, size,
        point_out, normal_out, gap_out, feature_out,
    )  # fmt: skip
