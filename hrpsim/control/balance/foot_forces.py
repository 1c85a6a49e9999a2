# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Which forces of the floor on both feet make a desired ZMP."""

from __future__ import annotations

import math

from hrpsim.jit.compiled import kernel

_LOWEST = 0.1  # the least height that a centre of mass is taken to have [m]


@kernel
def left_share(zmp, soles, stands):
    """Return the part of the load that the left foot should bear, 0 to 1.

    It is where the line from the right sole to the left one is nearest to the ZMP (2,). soles:
    where they are, left and right (2, 3); stands (2,): whether each does. All or nothing with one
    foot on the floor.
    """
    if not (stands[0] and stands[1]):
        if stands[0] == stands[1]:
            return 0.5
        return 1.0 if stands[0] else 0.0
    dx, dy = soles[0, 0] - soles[1, 0], soles[0, 1] - soles[1, 1]
    along = (zmp[0] - soles[1, 0]) * dx + (zmp[1] - soles[1, 1]) * dy
    return min(max(along / (dx * dx + dy * dy), 0.0), 1.0)


@kernel  # many parameters: a kernel takes arrays, not objects
def divide_force(feet, margin, zmp, com, lift, share, soles, yaws, forces_out, torques_out):
    """Write the force on each foot (2, 3) [N], and its torque about the pivot (2, 2) [Nm].

    Both along the world's axes; all forces point from the ZMP (2,) to the centre of mass `com`
    (3,), and together have the vertical part `lift` [N], of which the left foot bears `share`.
    feet (2,): FOOT; the pressure stays `margin` [m] inside of the soles' edges. soles, yaws: where
    the soles are (2, 3) [m] and how they are turned (2,) [rad]. What the ZMP lies beside the point
    that `share` stands for is the same offset of the pressure in both soles.
    """
    height = max(com[2] - min(soles[0, 2], soles[1, 2]), _LOWEST)
    slope_x, slope_y = (com[0] - zmp[0]) / height, (com[1] - zmp[1]) / height
    beside_x = zmp[0] - share * soles[0, 0] - (1.0 - share) * soles[1, 0]
    beside_y = zmp[1] - share * soles[0, 1] - (1.0 - share) * soles[1, 1]
    for side in range(2):
        foot = feet[side]
        low, high = foot.lowest, foot.highest
        c, s = math.cos(yaws[side]), math.sin(yaws[side])
        in_x = min(max(c * beside_x + s * beside_y, low[0] + margin), high[0] - margin)
        in_y = min(max(c * beside_y - s * beside_x, low[1] + margin), high[1] - margin)
        x, y, h = c * in_x - s * in_y, s * in_x + c * in_y, foot.pivot_height
        fz = lift * (share if side == 0 else 1.0 - share)
        fx, fy = slope_x * fz, slope_y * fz
        forces_out[side, 0], forces_out[side, 1], forces_out[side, 2] = fx, fy, fz
        torques_out[side, 0], torques_out[side, 1] = y * fz + h * fy, -h * fx - x * fz
    return 0
