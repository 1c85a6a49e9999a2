# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Rays of a sensor: from its frame, aligned with it or levelled, and from beneath roofs."""

import math

import numpy as np

from hrpsim.jit.compiled import inner_kernel, kernel
from hrpsim.jit.numba_code import NumbaCode
from hrpsim.rays.casting import first_hit, place_frame, place_targets, surface_normal

BASE, YAW, WORLD = range(3)  # alignments

reference_at = NumbaCode("hrpsim.jit.intrinsics", "reference_at")

SCANNER = np.dtype(
    [
        ("body", "i8"),  # -1: the world
        ("local_R", "f8", (3, 3)),  # the sensor's frame in the body's
        ("local_p", "f8", (3,)),  # [m]
        ("alignment", "i8"),
        ("height", "f8"),  # by which rays begin before their origins, if nothing is there [m]
        ("max_range", "f8"),  # [m]
        ("R", "f8", (3, 3)),  # the frame of the rays in the world, at the last scan
        ("p", "f8", (3,)),
    ]
)

_ASIDE = 1e-7  # by which rays begin before or behind a surface that one met [m]
_MOST_SURFACES = 64  # that a ray passes on its way out of solids


@inner_kernel
def _place(s, scanner):
    """Find the frame of the rays."""
    place_frame(s, scanner)
    here = scanner.R
    if scanner.alignment == BASE:
        return
    cosine, sine = 1.0, 0.0
    if scanner.alignment == YAW:
        # The heading is that of the x axis, or of the y axis where x points up or down.
        x, y = here[0, 0], here[1, 0]
        if x * x + y * y < 1e-12:
            x, y = here[1, 1], -here[0, 1]
        length = math.sqrt(x * x + y * y)
        cosine, sine = x / length, y / length
    here[0, 0], here[0, 1], here[0, 2] = cosine, -sine, 0.0
    here[1, 0], here[1, 1], here[1, 2] = sine, cosine, 0.0
    here[2, 0], here[2, 1], here[2, 2] = 0.0, 0.0, 1.0


@inner_kernel  # many parameters: vectors as three numbers stay in registers
def _lead(s, skipped, x, y, z, dx, dy, dz, height):
    """Return how far before its origin a ray begins: `height`, or less beneath a roof.

    The surfaces of solids that hold the origin are passed on the way.
    """
    lead = 0.0
    for _ in range(_MOST_SURFACES):
        t, number, triangle = first_hit(
            s, skipped, x - lead * dx, y - lead * dy, z - lead * dz, -dx, -dy, -dz, height - lead
        )
        if number < 0:
            break
        lead += t
        nx, ny, nz = surface_normal(
            s, number, triangle, x - lead * dx, y - lead * dy, z - lead * dz
        )
        if nx * dx + ny * dy + nz * dz > 0.0:
            return lead - _ASIDE
        lead += _ASIDE
    return height


@kernel
def scan(s, scanners, skipped, origins, directions, first, end, ranges):
    """Cast the rays from `first` to before `end` of a sensor, scanners[0], at the present poses.

    origins (n, 3) [m] and unit vectors directions (n, 3) are in the frame of the rays. Writes their
    ranges [m] from the origins, infinite where nothing is in reach; negative before the origin.
    """
    place_targets(s)
    scanner = scanners[0]
    _place(s, scanner)
    R, p = scanner.R, scanner.p
    for k in range(first, end):
        o, d = origins[k], directions[k]
        x = p[0] + (R[0, 0] * o[0] + R[0, 1] * o[1] + R[0, 2] * o[2])
        y = p[1] + (R[1, 0] * o[0] + R[1, 1] * o[1] + R[1, 2] * o[2])
        z = p[2] + (R[2, 0] * o[0] + R[2, 1] * o[1] + R[2, 2] * o[2])
        dx = R[0, 0] * d[0] + R[0, 1] * d[1] + R[0, 2] * d[2]
        dy = R[1, 0] * d[0] + R[1, 1] * d[1] + R[1, 2] * d[2]
        dz = R[2, 0] * d[0] + R[2, 1] * d[1] + R[2, 2] * d[2]
        lead = 0.0
        if scanner.height > 0.0:
            lead = _lead(s, skipped, x, y, z, dx, dy, dz, scanner.height)
        t, _, _ = first_hit(
            s, skipped, x - lead * dx, y - lead * dy, z - lead * dz,
            dx, dy, dz, scanner.max_range + lead,
        )  # fmt: skip
        ranges[k] = t - lead
    return 0


@kernel  # many parameters: a kernel takes arrays, not objects
def scan_side_by_side(
    example, scenes, scanners, skipped, pattern_of, origins, directions, first, end, ranges
):
    """Do the scans from `first` to before `end` of many worlds, all rays of each.

    example: a reference to any of the worlds' scenes of rays, whose addresses are scenes (n,).
    scanners (n,): SCANNER; skipped (n, targets); the rays of world k are those of pattern_of[k] in
    origins and directions (m, rays, 3). Writes ranges (n, rays) [m].
    """
    for k in range(first, end):
        s, pattern = reference_at(example, scenes[k]), pattern_of[k]
        scan(
            s, scanners[k : k + 1], skipped[k], origins[pattern], directions[pattern],
            0, ranges.shape[1], ranges[k],
        )  # fmt: skip
    return 0
