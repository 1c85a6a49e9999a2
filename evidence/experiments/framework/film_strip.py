# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Draw a film strip of a robot: outlines of the description's shapes in successive postures."""

import numpy as np
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

from hrpsim import Model, link_pose
from hrpsim.model.shapes.geometry import Box, Cylinder, Geometry, Sphere
from hrpsim.model.visuals import visuals_of_model

_TURN = np.linspace(0.0, 2.0 * np.pi, 24, endpoint=False)
_CIRCLE = np.column_stack([np.cos(_TURN), np.sin(_TURN), np.zeros(len(_TURN))])
CORNERS = 0.5 * np.array(np.meshgrid(*[(-1.0, 1.0)] * 3)).reshape(3, -1).T  # corners of a unit cube
_EDGE = "#2b2f38"


def draw_film_strip(axes, model: Model, frames, labels, view, *, spacing: float = 0.8) -> None:
    """Draw configurations `frames` (k, nq) side by side on a floor at height 0.

    view: horizontal direction (2,) in the world that points to the right in the picture. Each
    robot's base is `spacing` [m] to the right of the previous base. Meshes are left out.
    """
    parts = Parts(model)
    right = np.array([*view, 0.0]) / np.linalg.norm(view)
    for k, (q, label) in enumerate(zip(frames, labels)):
        draw_solids(axes, parts.placed(q), right, k * spacing - q[:3] @ right)
        axes.text(k * spacing, 1.66, label, ha="center", fontsize=8)
    axes.axhline(0.0, color=_EDGE, lw=1.0)
    axes.set_xlim(-0.75 * spacing, (len(frames) - 0.25) * spacing)
    axes.set_ylim(-0.1, 1.8)
    axes.set_aspect("equal")
    axes.set_axis_off()


class Parts:
    """The boxes, cylinders and spheres of a description. Meshes are left out."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._parts = [
            (
                visual.link,
                at.p + outline_points(visual.geometry) @ at.R.T,
                np.array(visual.color) / 255.0,
            )
            for visual in visuals_of_model(model)
            if isinstance(visual.geometry, Box | Cylinder | Sphere)
            for at in [visual.placement]
        ]

    def placed(self, q) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return for each part its colour and the points (k, 3) [m] of its convex hull."""
        poses = {link: link_pose(self._model, q, link) for link, _, _ in self._parts}
        return [(poses[k][0] + points @ poses[k][1].T, c) for k, points, c in self._parts]


def draw_solids(axes, solids, right: np.ndarray, shift: float) -> None:
    """Draw outlines of convex `solids` from `Parts.placed`, the farthest first.

    right: horizontal direction (3,) that points to the right. shift: displacement to the right [m].
    """
    away = np.cross((0.0, 0.0, 1.0), right)
    for points, colour in sorted(solids, key=lambda item: -(item[0] @ away).mean()):
        flat = np.column_stack([points @ right + shift, points[:, 2]])
        outline = flat[ConvexHull(flat).vertices]
        axes.fill(*outline.T, facecolor=colour, edgecolor=_EDGE, lw=0.4, zorder=2)


def outline_points(shape: Geometry) -> np.ndarray:
    """Return points (k, 3) [m] whose convex hull is a box, a cylinder or a sphere, for drawing."""
    if isinstance(shape, Box):
        return CORNERS * shape.lengths
    if isinstance(shape, Cylinder):
        half = (0.0, 0.0, 0.5 * shape.length)
        return np.concatenate([shape.radius * _CIRCLE + half, shape.radius * _CIRCLE - half])
    slopes = Rotation.from_euler(
        "x", np.linspace(0.0, 180.0, 12, endpoint=False)[:, None], degrees=True
    )
    return shape.radius * np.concatenate([_CIRCLE @ R for R in slopes.as_matrix()])
