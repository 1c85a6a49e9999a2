# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Pictures of a world from any viewpoint, and pictures of robots' cameras."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from hrpsim.common.errors import ModelError, ModelWarning, StateError, WorldError
from hrpsim.common.values import as_numbers, finite_vector, flag, several
from hrpsim.model import visuals
from hrpsim.model.sensors.camera import Camera
from hrpsim.model.shapes.placement import IDENTITY, Placement, rotation_of
from hrpsim.viewer.rendering.renderer import Drawn, Lens, Picture, Renderer
from hrpsim.world.objects.robot import Robot
from hrpsim.world.parts.part import Core
from hrpsim.world.parts.rays import Rays
from hrpsim.world.parts.readings import LinkTable

_MOST_RENDERERS = 8  # largest number in a world: each copies all drawn objects


class _Prepared(NamedTuple):
    """The drawn geometry of some links, and a renderer for each lens."""

    table: LinkTable
    drawn: list[Drawn]
    renderers: dict[Lens, Renderer]


class Pictures(Rays):
    """Mixin of World: pictures of a world."""

    def __init__(self, core: Core) -> None:
        super().__init__(core)
        self._prepared: _Prepared | None = None

    def render(  # many parameters: all except the position are keywords with defaults
        self,
        position: ArrayLike,
        orientation: ArrayLike | None = None,
        *,
        target: ArrayLike | None = None,
        width: int = 640,
        height: int = 480,
        fov: float = 1.0,
        images: str | Iterable[str] = "color",
        near: float = 0.05,
        far: float = 100.0,
        shadows: bool = False,
        arrows: ArrayLike = (),
    ) -> Picture:
        """Return a picture of the present world, rasterised by MuJoCo without a display.

        The camera looks along x of its frame, with z up in the picture. The first picture of a size
        and field of view prepares the renderer, which takes up to a second.

        Args:
            position: position of the camera in the world (3,) [m].
            orientation: quaternion x y z w (4,) of the camera. Give either `orientation` or
                `target`.
            target: a point (3,) [m] at which the camera looks, upright.
            width: [pixels].
            height: [pixels].
            fov: horizontal field of view [rad].
            images: some of "color", "depth" and "segmentation".
            near: nearest visible distance [m].
            far: farthest visible distance [m].
            shadows: whether to draw shadows. With shadows, colour takes several times as long.
            arrows: starts and tips (k, 2, 3) [m] of arrows, drawn in colour.

        Returns:
            Picture: color (height, width, 3) uint8. depth (height, width) float32 along the optical
                axis [m], inf in empty pixels. segmentation (height, width) int32, indices in
                `link_names`, -1 in empty pixels.

        Raises:
            WorldError: invalid lens or pose, or an unknown image.
            RendererError: MuJoCo or EGL is missing.
        """
        kinds = several(images.split() if isinstance(images, str) else images, "images")
        try:
            camera = Camera(width, height, fov, near, far, " ".join(kinds))
        except (ModelError, TypeError) as error:
            raise WorldError(f"a picture: {error}") from None
        p = np.array(finite_vector("position", position, 3))
        if target is not None and orientation is not None:
            raise WorldError("a picture: give either orientation or target, got both")
        if target is not None:
            R = _towards(np.array(finite_vector("target", target, 3)) - p)
        else:
            quaternion = (0.0, 0.0, 0.0, 1.0) if orientation is None else orientation
            R = rotation_of("orientation", quaternion)
        drawn = as_numbers("arrows", arrows)
        if drawn.size % 6:
            raise StateError(f"arrows must have shape (n, 2, 3), got {drawn.shape}")
        drawn = drawn.reshape(-1, 2, 3)
        shadows = flag("shadows", shadows)
        return self.picture(camera, Placement(R, p), arrows=drawn, shadows=shadows)

    def picture(
        self,
        camera: Camera,
        at: Placement,
        without: tuple[str, str] | None = None,
        arrows: Sequence[np.ndarray] = (),
        shadows: bool = False,
    ) -> Picture:
        """Return the images of a camera.

        Args:
            camera: lens and images.
            at: placement of the camera in the world.
            without: (robot, link) of a link that is not drawn.
            arrows: starts and tips [m].
            shadows: whether to draw shadows.
        """
        lens = Lens(camera.width, camera.height, camera.fov, camera.near, camera.far)
        hidden = () if without is None else (self.reader.table.names.index(without),)
        renderer = self._renderer(lens)
        return renderer.render(*self.link_poses(), at, camera.wanted, hidden, arrows, shadows)

    def _renderer(self, lens: Lens) -> Renderer:
        """Return the renderer with a lens for the present contents of the world."""
        table, prepared = self.reader.table, self._prepared
        if prepared is None or prepared.table is not table:
            for renderer in () if prepared is None else prepared.renderers.values():
                renderer.close()
            prepared = self._prepared = _Prepared(table, self.drawn(), {})
        made = prepared.renderers
        if lens not in made:
            if len(made) == _MOST_RENDERERS:
                made.pop(next(iter(made))).close()
            made[lens] = Renderer(prepared.drawn, lens)
        return made[lens]

    def drawn(self) -> list[Drawn]:
        """Return the drawn geometries. Each has the index of its link in `link_names`."""
        table = self.reader.table
        result, bodies = [], 0
        for entity in self._contents.entities:
            if isinstance(entity, Robot):
                result += _drawn_robot(entity, table)
                continue
            usual = visuals.BODY_COLORS[bodies % len(visuals.BODY_COLORS)]
            color, bodies = entity.color or usual, bodies + 1
            link = table.range_of(entity, None)[0]
            result += [Drawn(s.geometry, link, Placement(s.R, s.p), color) for s in entity.shapes]
        first = len(table.names) - len(self._contents.fixed)
        for link, shape in enumerate(self._contents.fixed, first):
            result.append(Drawn(shape.geometry, link, IDENTITY, visuals.STATIC_COLOR))
        return result


def _drawn_robot(robot: Robot, table: LinkTable) -> list[Drawn]:
    """Return the visuals of a robot. A link with an unreadable mesh has its collision shapes."""
    result, faults = [], {}
    for visual in visuals.visuals_of_model(robot.model):
        link = table.range_of(robot, visual.link)[0]
        try:
            parts = _parts_of(robot, visual)
        except ModelError as error:
            faults[visual.link] = f"{visual.link} ({error})"
            continue
        result += [Drawn(part, link, visual.placement, color) for part, color in parts]
    for shape in robot.model.shapes:
        if shape.link in faults:
            frame = robot.model.frame(shape.link)
            at = Placement(frame.R, frame.p).inverse().then(Placement(shape.R, shape.p))
            link = table.range_of(robot, shape.link)[0]
            result.append(Drawn(shape.geometry, link, at, visuals.STATIC_COLOR))
    if faults:
        text = "; ".join(faults.values())
        warnings.warn(
            f"{robot.name!r}: links are drawn by collision shapes, because visual meshes cannot be "
            f"read: {text}",
            ModelWarning,
            stacklevel=5,
        )
    return result


def _parts_of(robot: Robot, visual: visuals.Visual):
    if isinstance(visual.geometry, visuals.MeshFile):
        return visuals.colored_meshes(robot.model, visual)
    return [(visual.geometry, visual.color)]


def _towards(way: np.ndarray) -> np.ndarray:
    """Return the rotation (3, 3) of an upright camera that looks along the vector `way`."""
    length = np.linalg.norm(way)
    if length == 0.0:
        raise WorldError("the target is at the position of the camera")
    x = way / length
    y = np.cross((0.0, 0.0, 1.0), x)
    if np.linalg.norm(y) < 1e-9:  # vertical view: north is up in the picture
        y = np.array([0.0, 1.0, 0.0])
    y /= np.linalg.norm(y)
    return np.stack([x, y, np.cross(x, y)], axis=1)
