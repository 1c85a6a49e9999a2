# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The nearest points of two segments (the axes of capsules and cylinders)."""

import math

from hrpsim.collision.primitives.projection import clamp
from hrpsim.jit.compiled import inner_kernel

# Squared sine below which segments count as parallel.
_PARALLEL = 1e-20


@inner_kernel
def nearest_on_axes(R_a, half_a, R_b, half_b, tx, ty, tz):
    """Return the positions along the z axes of a and b [m] where they come nearest.

    The segments reach +-half_a and +-half_b from their centres; t is the centre of a relative to
    that of b. The nearest points of parallel segments are taken in the middle of their overlap.
    """
    cosine = R_a[0, 2] * R_b[0, 2] + R_a[1, 2] * R_b[1, 2] + R_a[2, 2] * R_b[2, 2]
    along_a = tx * R_a[0, 2] + ty * R_a[1, 2] + tz * R_a[2, 2]
    along_b = tx * R_b[0, 2] + ty * R_b[1, 2] + tz * R_b[2, 2]
    cx = R_a[1, 2] * R_b[2, 2] - R_a[2, 2] * R_b[1, 2]
    cy = R_a[2, 2] * R_b[0, 2] - R_a[0, 2] * R_b[2, 2]
    cz = R_a[0, 2] * R_b[1, 2] - R_a[1, 2] * R_b[0, 2]
    sine_squared = cx * cx + cy * cy + cz * cz
    if sine_squared > _PARALLEL:
        s = clamp((cosine * along_b - along_a) / sine_squared, half_a)
    else:
        # The ends of b along the axis of a, cut to a's own length.
        lower = max(-along_a - half_b, -half_a)
        upper = min(-along_a + half_b, half_a)
        s = clamp(0.5 * (lower + upper), half_a)
    t = along_b + cosine * s
    if abs(t) > half_b:
        t = clamp(t, half_b)
        s = clamp(cosine * t - along_a, half_a)
    return s, t


@inner_kernel
def axis_offset(R_a, s, R_b, t, tx, ty, tz):
    """Return the vector from position t on axis b to position s on axis a, and its norm."""
    x = tx + s * R_a[0, 2] - t * R_b[0, 2]
    y = ty + s * R_a[1, 2] - t * R_b[1, 2]
    z = tz + s * R_a[2, 2] - t * R_b[2, 2]
    return x, y, z, math.sqrt(x * x + y * y + z * z)
