# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Cast the rays of a sensor from the sensor's frame, which may be tilted or levelled.

Rays of a height scan begin above the sensor, but below a roof over the sensor.
"""

import math

import numpy as np

from hrpsim.engine.compile.compiled import inner_kernel, kernel
from hrpsim.engine.compile.kernel_types import (
    Flags,
    Index,
    Indices,
    Matrix,
    Records,
    Scanner,
    Tensor,
    Vector,
)
from hrpsim.engine.compile.numba_code import NumbaCode
from hrpsim.engine.rays.casting import first_hit, place_frame, place_targets, surface_normal
from hrpsim.engine.rays.records import RayScene

BASE, YAW, WORLD = range(3)  # alignments

reference_at = NumbaCode("hrpsim.engine.compile.intrinsics", "reference_at")

SCANNER = np.dtype(
    [
        ("body", "i8"),  # -1: the world
        ("local_R", "f8", (3, 3)),  # rotation of the sensor in the body frame
        ("local_p", "f8", (3,)),  # position of the sensor in the body frame [m]
        ("alignment", "i8"),
        ("height", "f8"),  # distance by which rays start before their origins, if free [m]
        ("max_range", "f8"),  # [m]
        ("R", "f8", (3, 3)),  # rotation of the ray frame in the world, at the last scan
        ("p", "f8", (3,)),  # position of the ray frame in the world, at the last scan [m]
    ]
)

_ASIDE = 1e-7  # by which rays begin before or behind a surface that one met [m]
_MOST_SURFACES = 64  # that a ray passes on its way out of solids
_PASSED = 2  # of a target that a ray passes through for a while


@inner_kernel
def _place(s: RayScene, scanner: Scanner) -> None:
    """Write the pose of the frame in which the rays are given."""
    place_frame(s, scanner)
    R = scanner.R
    if scanner.alignment == BASE:
        return
    cosine, sine = 1.0, 0.0
    if scanner.alignment == YAW:
        # The heading is that of the x axis, or of the y axis where x points up or down.
        x, y = R[0, 0], R[1, 0]
        if x * x + y * y < 1e-12:
            x, y = R[1, 1], -R[0, 1]
        length = math.sqrt(x * x + y * y)
        cosine, sine = x / length, y / length
    R[0, 0], R[0, 1], R[0, 2] = cosine, -sine, 0.0
    R[1, 0], R[1, 1], R[1, 2] = sine, cosine, 0.0
    R[2, 0], R[2, 1], R[2, 2] = 0.0, 0.0, 1.0


@inner_kernel  # many parameters: vectors as three numbers stay in registers
def _lead(
    s: RayScene, skipped: Flags, x: float, y: float, z: float, dx: float, dy: float, dz: float,
    height: float,
) -> float:  # fmt: skip
    """Return how far before its origin a ray begins: `height` [m], or less under a roof.

    A solid that contains the origin, such as a step, is not a roof.
    """
    lead = 0.0
    for _ in range(_MOST_SURFACES):
        t, number, outwards = _surface_behind(
            s, skipped, x - lead * dx, y - lead * dy, z - lead * dz, dx, dy, dz
        )
        if number < 0:
            return max(lead, height)
        if not outwards and not _is_within(
            s, skipped, number, x - lead * dx, y - lead * dy, z - lead * dz, dx, dy, dz
        ):
            return min(max(lead, height), lead + t - _ASIDE)
        lead += t + _ASIDE
    return max(lead, height)


@inner_kernel
def _surface_behind(
    s: RayScene, skipped: Flags, x: float, y: float, z: float, dx: float, dy: float, dz: float
) -> tuple[float, int, bool]:
    """Find the next surface in the direction -d.

    Returns:
        (distance [m], target or -1, whether the search leaves a solid there).
    """
    t, number, triangle = first_hit(s, skipped, x, y, z, -dx, -dy, -dz, math.inf)
    if number < 0:
        return t, number, False
    nx, ny, nz = surface_normal(s, number, triangle, x - t * dx, y - t * dy, z - t * dz)
    return t, number, nx * dx + ny * dy + nz * dz <= 0.0


@inner_kernel  # many parameters: vectors as three numbers stay in registers
def _is_within(
    s: RayScene, skipped: Flags, roof: int, x: float, y: float, z: float, dx: float, dy: float,
    dz: float,
) -> bool:  # fmt: skip
    """Return whether a point under a roof is inside a solid that extends to the roof or beyond."""
    number, outwards = roof, False
    for _ in range(_MOST_SURFACES):
        skipped[number] = _PASSED
        _, number, outwards = _surface_behind(s, skipped, x, y, z, dx, dy, dz)
        if number < 0 or outwards:
            break
    for k in range(skipped.shape[0]):
        if skipped[k] == _PASSED:
            skipped[k] = 0
    return outwards


@kernel
def scan(
    s: RayScene,
    scanners: Records[Scanner],
    skipped: Flags,
    origins: Matrix,
    directions: Matrix,
    first: Index,
    end: Index,
    ranges: Vector,
) -> int:
    """Cast the rays `first` to `end` - 1 of a sensor at the present poses, and write the ranges.

    Args:
        s: the scene.
        scanners: SCANNER records. The sensor is scanners[0].
        skipped: whether the rays pass through each target.
        origins: starts in the frame of the rays (n, 3) [m].
        directions: unit vectors in the frame of the rays (n, 3).
        first: first ray.
        end: ray after the last one.
        ranges: distances from the origins (n,) [m], written. A range is infinite if nothing is
            within reach, and negative if the hit is behind the origin.
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
    example: RayScene,
    scenes: Indices,
    scanners: Records[Scanner],
    skipped: Flags,
    pattern_of: Indices,
    origins: Tensor,
    directions: Tensor,
    first: Index,
    end: Index,
    ranges: Matrix,
) -> int:
    """Cast the rays of one sensor in many worlds, from world `first` to before world `end`.

    Args:
        example: a reference to any of the worlds' scenes of rays.
        scenes: addresses of the scenes (n,).
        scanners: SCANNER records (n,).
        skipped: whether rays pass through each target (n, targets).
        pattern_of: index of each world's rays in `origins` and `directions` (n,).
        origins: starts in the frame of the rays (m, rays, 3) [m].
        directions: unit vectors in the frame of the rays (m, rays, 3).
        first: index of the first world.
        end: index after the last world.
        ranges: distances from the origins (n, rays) [m], written as by `scan`.
    """
    for k in range(first, end):
        s, pattern = reference_at(example, scenes[k]), pattern_of[k]
        scan(
            s, scanners[k : k + 1], skipped[k], origins[pattern], directions[pattern],
            0, ranges.shape[1], ranges[k],
        )  # fmt: skip
    return 0
