# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Links that can support the robot, and the outlines of their soles."""

from dataclasses import dataclass

import numpy as np

from hrpsim.common.errors import ModelError
from hrpsim.control.pattern.support_polygon import convex_hull, sole_outline
from hrpsim.engine.dynamics.functions import link_pose
from hrpsim.model.model import Model
from hrpsim.model.shapes.geometry import Box

_CORNERS = np.array(np.meshgrid(*[(-1.0, 1.0)] * 3)).reshape(3, -1).T
_LEVEL = 1e-6  # tolerance of a horizontal sole [m]
_LOWEST = 0.01  # largest height of a sole above the lowest sole [m]


@dataclass(frozen=True)
class Sole:
    """A link that may be fixed to the world, with the plane outline of its sole.

    The outline lies at `height` [m] in the link's frame. The z axis of this frame points from the
    ground into the robot. A link without vertices is clamped: it can bear any wrench.
    """

    link: str
    vertices: np.ndarray  # (k, 2) in the link's frame, convex, counter-clockwise [m]
    height: float = 0.0

    def __post_init__(self) -> None:
        corners = np.asarray(self.vertices, dtype=np.float64).reshape(-1, 2)
        if len(corners):
            if not np.isfinite(corners).all():
                raise ModelError(f"the outline of {self.link!r} has corners that are not finite")
            corners = convex_hull(corners)
            if len(corners) < 3:
                raise ModelError(f"the outline of {self.link!r} has no area")
        object.__setattr__(self, "vertices", corners)


def sole_of(model: Model, link: str) -> Sole:
    """Return the sole of `link`.

    The outline is the lowest corners of the boxes of the link's body. A body without boxes is
    clamped. Raises ModelError for an unknown link.
    """
    corners = _box_corners(model, link)
    if len(corners) == 0:
        return Sole(link, np.zeros((0, 2)))
    return Sole(link, sole_outline(model, link), float(corners[:, 2].min()))


def soles_of(model: Model) -> tuple[Sole, ...]:
    """Return the soles of a standing robot: bodies with boxes that reach down to the floor.

    All joints are at zero. The floor is at the lowest box. Bodies within 1 cm of the floor count.
    If several links of a body have upward z axes, the link with the origin nearest to the floor is
    taken, or the first link in case of a tie. Raises ModelError if there are no soles. In this
    case, name the links.
    """
    q = model.neutral()
    soles: dict[int, tuple[str, float, float]] = {}  # name, height, bottom
    for link, frame in model.frames.items():
        corners = _box_corners(model, link)
        p, R = link_pose(model, q, link)
        if len(corners) and abs(R[2, 2] - 1.0) < _LEVEL:
            height = float(corners[:, 2].min())
            known = soles.get(frame.body)
            if known is None or abs(height) < known[1] - _LEVEL:
                soles[frame.body] = (link, abs(height), p[2] + height)
    if not soles:
        raise ModelError(
            f"{model.source}: no link has a collision box to stand on. Name the links that may be "
            "fixed (--fixed-link), and the outlines of soles (--sole)"
        )
    floor = min(bottom for _, _, bottom in soles.values())
    return tuple(
        sole_of(model, link) for link, _, bottom in soles.values() if bottom < floor + _LOWEST
    )


def _box_corners(model: Model, link: str) -> np.ndarray:
    """Return the corners of all boxes of the link's body in the frame of `link` (k, 3) [m]."""
    frame = model.frame(link)
    corners = [
        (shape.p + (_CORNERS * shape.geometry.size) @ shape.R.T - frame.p) @ frame.R
        for shape in model.shapes
        if frame.body >= 0 and shape.body == frame.body and isinstance(shape.geometry, Box)
    ]
    return np.concatenate([np.zeros((0, 3)), *corners])
