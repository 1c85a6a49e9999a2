"""Which forces of the floor on both feet make a desired ZMP."""

from __future__ import annotations

import math
from collections.abc import Sequence

from hrpsim.control.balance.foot import Foot

_LOWEST = 0.1  # the least height that a centre of mass is taken to have [m]


def left_share(zmp, left, right, contact) -> float:
    """Return the part of the load that the left foot should bear, 0 to 1.

    It is where the line from the right sole to the left one, x and y first, is nearest to the ZMP;
    contact: whether each of them stands. All or nothing with one foot on the floor.
    """
    if not (contact[0] and contact[1]):
        return 0.5 if contact[0] == contact[1] else float(contact[0])
    dx, dy = left[0] - right[0], left[1] - right[1]
    along = (zmp[0] - right[0]) * dx + (zmp[1] - right[1]) * dy
    return min(max(along / (dx * dx + dy * dy), 0.0), 1.0)


class FootForces:
    """Divides the floor's force; the pressure stays `margin` [m] inside of the soles' edges."""

    def __init__(self, feet: tuple[Foot, Foot], margin: float):
        self._heights = [foot.pivot_height for foot in feet]
        self._ranges = [
            (
                (foot.outline.min(axis=0) + margin).tolist(),
                (foot.outline.max(axis=0) - margin).tolist(),
            )
            for foot in feet
        ]

    def wrenches(self, zmp, com, lift: float, share: float, soles: Sequence, yaws: Sequence):
        """Return the force on each foot [N], and its torque about the pivot [Nm].

        Both along the world's axes; all forces point from the ZMP to the centre of mass `com`, and
        together have the vertical part `lift` [N], of which the left foot bears `share`. soles,
        yaws: where the soles are (2, 3) [m] and how they are turned (2,) [rad]. What the ZMP lies
        beside the point that `share` stands for is the same offset of the pressure in both soles.
        """
        height = max(com[2] - min(soles[0][2], soles[1][2]), _LOWEST)
        slope_x, slope_y = (com[0] - zmp[0]) / height, (com[1] - zmp[1]) / height
        beside_x = zmp[0] - share * soles[0][0] - (1.0 - share) * soles[1][0]
        beside_y = zmp[1] - share * soles[0][1] - (1.0 - share) * soles[1][1]
        forces, torques = [], []
        for side, part in enumerate((share, 1.0 - share)):
            c, s = math.cos(yaws[side]), math.sin(yaws[side])
            (x_low, y_low), (x_high, y_high) = self._ranges[side]
            x = min(max(c * beside_x + s * beside_y, x_low), x_high)
            y = min(max(c * beside_y - s * beside_x, y_low), y_high)
            x, y, h = c * x - s * y, s * x + c * y, self._heights[side]
            fz = part * lift
            fx, fy = slope_x * fz, slope_y * fz
            forces.append((fx, fy, fz))
            torques.append((y * fz + h * fy, -h * fx - x * fz))
        return forces, torques
