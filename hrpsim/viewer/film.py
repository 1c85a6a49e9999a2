# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Pictures and films of a world, drawn without a window or a display (`World.render`).

A film needs imageio-ffmpeg, which contains an encoder. A recording for the viewer rerun (rerun.io)
contains links, contact forces and signals.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hrpsim.common.errors import HrpsimError, require_packages
from hrpsim.common.typed_values import (
    NotNegative,
    check_arguments,
    require_arguments,
    require_fitting_arguments,
)
from hrpsim.model.shapes.geometry import Box, Capsule, Cylinder, Mesh, Plane, Sphere
from hrpsim.model.shapes.terrain import HeightField
from hrpsim.viewer.drawing import SCENE, Drawing, contact_arrows, force_scale
from hrpsim.viewer.panels.signals import middle_of, signals_of
from hrpsim.viewer.rendering.renderer import Drawn
from hrpsim.viewer.scene_server import aim_camera, require_viser, start_server, stop_server
from hrpsim.viewer.session import TimeAdvance, require_world

SUFFIX = ".rrd"
PAGE = ".html"
_RATE = 50.0  # sampling rate in simulated time [Hz]
FRAME_RATE = {".mp4": 25.0, ".gif": 10.0}  # frame rate in simulated time [Hz]
SIZE = {".mp4": (960, 544), ".gif": (480, 272), ".png": (960, 544)}  # multiples of 16 [pixels]
_FROM = np.array([1.9, 2.1, 0.6])  # camera relative to the middle, for objects within 1 m [m]
_WIDE = 1.0  # horizontal field of view [rad]
_PICTURE_RATE = 25.0  # rate of pictures in simulated time [Hz]


def require_rerun() -> None:
    """Raise HrpsimError if rerun-sdk is not installed."""
    require_packages(f"a recording {SUFFIX}", ("rerun",), "pip install rerun-sdk (with NumPy 2)")


class RerunFilm:
    """A recording of a running world for the viewer rerun, with the methods of `Film`.

    Planes are left out. Raises HrpsimError if the package rerun-sdk is missing.
    """

    def __init__(self, world, file: str | Path) -> None:
        require_rerun()
        import rerun
        from rerun import blueprint

        self._rerun: Any = rerun
        self._world, self._next, self.pictures = world, world.time, 0
        self._signals, self._force_scale = signals_of(world), force_scale(world)
        self._stream = rerun.RecordingStream("hrpsim")
        plotted = [name for name in self._signals if ".force.z" in name]
        beside = blueprint.TimeSeriesView(
            name="vertical forces [N]",
            contents=[rerun.new_entity_path(["signals", name]) for name in plotted],
        )
        scene = blueprint.Spatial3DView(origin="world")
        layout = blueprint.Horizontal(scene, beside, column_shares=[2, 1]) if plotted else scene
        self._stream.save(file, default_blueprint=blueprint.Blueprint(layout))
        self._stream.log("world", rerun.ViewCoordinates.RIGHT_HAND_Z_UP, static=True)
        for number, drawn in enumerate(world.drawn()):
            if not isinstance(drawn.geometry, Plane):
                self._add(drawn, number)

    def look(self) -> None:
        """Add a sample of the world's present state, if a sample period has passed."""
        world, stream, rerun = self._world, self._stream, self._rerun
        if world.time < self._next - 0.5 * world.time_step:
            return
        self._next += 1.0 / _RATE
        self.pictures += 1
        stream.set_time("simulated time", duration=world.time)
        for names, p, xyzw in zip(world.link_names, *world.link_poses()):
            placed = rerun.Transform3D(translation=p, quaternion=rerun.Quaternion(xyzw=xyzw))
            stream.log(["world", *names], placed)
        arrows = contact_arrows(world.contacts, self._force_scale)
        begin, end = arrows[:, 0], arrows[:, 1]
        stream.log("world/contacts", rerun.Arrows3D(origins=begin, vectors=end - begin))
        for name, read in self._signals.items():
            stream.log(["signals", name], rerun.Scalars(read()))

    def _add(self, drawn: Drawn, number: int) -> None:
        rerun, (R, p) = self._rerun, drawn.placement
        path = ["world", *self._world.link_names[drawn.link], str(number)]
        placed = rerun.Transform3D(translation=p, mat3x3=R)
        self._stream.log(path, placed, _shape(rerun, drawn), static=True)

    def __enter__(self) -> RerunFilm:
        return self

    def __exit__(self, *_) -> None:
        self._stream.disconnect()


def _shape(rerun: Any, drawn: Drawn):
    """Convert a geometry to rerun's type."""
    geometry, paint = drawn.geometry, {"colors": [drawn.color], "fill_mode": "solid"}
    if isinstance(geometry, Box):
        return rerun.Boxes3D(sizes=[geometry.lengths], **paint)
    if isinstance(geometry, Sphere):
        return rerun.Ellipsoids3D(radii=[geometry.radius], **paint)
    if isinstance(geometry, (Capsule, Cylinder)):
        size = {"lengths": [geometry.length], "radii": [geometry.radius]}
        if isinstance(geometry, Cylinder):
            return rerun.Cylinders3D(**size, **paint)
        begin = [0.0, 0.0, -0.5 * geometry.length]  # rerun's origin is at the end
        return rerun.Capsules3D(**size, translations=[begin], **paint)
    assert isinstance(geometry, Mesh)
    if isinstance(geometry, HeightField):
        geometry = geometry.thinned()
    return rerun.Mesh3D(
        vertex_positions=geometry.vertices,
        triangle_indices=geometry.triangles,
        albedo_factor=drawn.color,
    )


class Film:
    """A film of a running world, or a picture of its last state. Use a Film as a context manager.

    Call `look` before each step or control period. `pictures` is the number of pictures so far.

    Args:
        world: the world.
        file: an .mp4 or .gif, or a .png for one picture, taken at the end.
        size: width and height [pixels]. The default is SIZE.
        position: position of a fixed camera (3,) [m]. By default the camera follows the moving
            bodies.
        target: the point at which a fixed camera looks (3,) [m].
        forces: whether to draw the contact forces as arrows.
        follow: robot that the camera follows, instead of all moving bodies.

    Raises HrpsimError if MuJoCo or EGL is missing. `film_of` checks the file and its suffix.
    """

    def __init__(
        self,
        world,
        file: str | Path,
        *,
        size: tuple[int, int] | None = None,
        position: ArrayLike | None = None,
        target: ArrayLike | None = None,
        forces: bool = True,
        follow: str = "",
    ) -> None:
        path = Path(file)
        self.pictures = 0
        self._world, self._follow, self._size = world, follow, size or SIZE[path.suffix]
        middle, reach = middle_of(world, follow)
        self._offset = reach * _FROM if position is None else None
        self._position = np.array(middle if position is None else position, dtype=np.float64)
        self._target = np.array(middle if target is None else target, dtype=np.float64)
        self._force_scale = force_scale(world) if forces else 0.0
        self._rate = FRAME_RATE.get(path.suffix, 0.0)
        self._next = world.time
        options: dict[str, dict[str, float]] = {
            ".mp4": {"fps": self._rate},
            ".gif": {"duration": 1000.0 / FRAME_RATE[".gif"], "loop": 0},
        }
        import imageio.v2 as imageio

        self._writer = imageio.get_writer(path, **options.get(path.suffix, {}))

    def look(self) -> None:
        """Add a picture of the world's present state, if a frame period has passed."""
        if self._rate and self._world.time >= self._next - 0.5 * self._world.time_step:
            self._next += 1.0 / self._rate
            self._add()

    def _add(self) -> None:
        position, target = self._position, self._target
        if self._offset is not None:
            middle, _ = middle_of(self._world, self._follow)
            target = np.array([*middle[:2], target[2]])  # at a constant height
            position = target + self._offset
        image = pixels(self._world, position, target, self._size, self._force_scale)
        self._writer.append_data(image)
        self.pictures += 1

    def __enter__(self) -> Film:
        return self

    def __exit__(self, kind, *_) -> None:
        try:
            if kind is None and not self._rate:
                self._add()
        finally:
            self._writer.close()


def pixels(
    world, position, target, size: tuple[int, int], force_scale: float = 0.0, fov: float = _WIDE
) -> np.ndarray:
    """Render a world with shadows, and contact forces as arrows.

    Args:
        world: the world.
        position: position of the camera (3,) [m].
        target: the point at which the camera looks (3,) [m].
        size: width and height [pixels].
        force_scale: length of arrows [m/N]. 0 draws no arrows.
        fov: field of view of the camera.

    Returns:
        Colours of the pixels (height, width, 3).
    """
    arrows = contact_arrows(world.contacts, force_scale) if force_scale else ()
    width, height = size
    fine = world.render(
        position, target=target, width=2 * width, height=2 * height, fov=fov, arrows=arrows,
        shadows=True,
    ).color  # fmt: skip
    # The mean of four pixels gives smooth edges in half the time of the renderer's own samples. In
    # this order it takes a fifteenth of the time of numpy's `mean`.
    rows = fine[0::2].astype(np.uint16) + fine[1::2]
    return ((rows[:, 0::2] + rows[:, 1::2]) >> 2).astype(np.uint8)


def make_film(
    world,
    file: str | Path,
    duration: NotNegative,
    motion: TimeAdvance | None = None,
    **options: Any,
) -> int:
    """Simulate a world, and write a film of the run or a picture of the end.

    Args:
        world: the world.
        file: an .mp4 or .gif, a .png for one picture, an .html that plays the run in a browser, or
            an .rrd for the viewer rerun.
        duration: simulated time [s].
        motion: advances time. The default steps the world.
        options: options of `Film`.

    Returns:
        The number of pictures.

    Raises:
        HrpsimError: the suffix is unknown, or MuJoCo, EGL, imageio-ffmpeg or rerun is missing.
    """
    check_arguments(make_film, locals(), HrpsimError)
    with film_of(world, file, **options) as film:
        motion = motion or TimeAdvance(world.time_step, world.step)
        end = world.time + duration - 0.5 * motion.period
        film.look()
        while world.time < end:
            motion.tick()
            film.look()
    return film.pictures


def film_of(world, file: str | Path, **options: Any) -> Film | RerunFilm | PageFilm:
    """Return a film with the options of `Film`, a page (.html), or a recording for rerun (.rrd).

    A page takes only the option `follow`, and a recording takes no options.

    Raises HrpsimError for any other suffix, or if a required package is missing.
    """
    path = Path(file)
    check_film(path)
    require_world(world, "a film")
    if path.suffix == SUFFIX:
        return RerunFilm(world, path)
    if path.suffix == PAGE:
        return PageFilm(world, path, follow=options.get("follow", ""))
    require_arguments("a film", Film, options, leading=2, owner="film")
    require_fitting_arguments("a film", Film, options)
    return Film(world, path, **options)


def check_film(path: Path) -> None:
    """Raise HrpsimError if a film cannot be written to this file."""
    if path.suffix not in (*SIZE, SUFFIX, PAGE):
        *known, last = *SIZE, SUFFIX, PAGE
        raise HrpsimError(
            f"{path}: the name of a film must end in {', '.join(known)} or {last}, got "
            f"{path.suffix!r}"
        )
    if not path.parent.is_dir():
        raise HrpsimError(f"{path}: the folder {str(path.parent)!r} does not exist")
    if path.suffix == SUFFIX:
        require_rerun()
        return
    if path.suffix == PAGE:
        require_viser("a page")
        return
    try:
        import imageio  # noqa: F401
        import imageio_ffmpeg  # noqa: F401
    except ImportError as cause:
        why = f"a film needs imageio and imageio-ffmpeg ({cause}): pip install 'hrpsim[camera]'"
        raise HrpsimError(why) from cause


class PageFilm:
    """An .html page that plays a running world, with the methods of `Film`.

    The page contains the viser client, the shapes, and the poses of links and force arrows at 25
    pictures per simulated second. A visitor can move the camera, pause, and select any time.

    Args:
        world: the world.
        file: the .html.
        follow: robot that stays in the middle of the picture. By default the camera does not move.

    Raises:
        HrpsimError: viser is not installed.
    """

    def __init__(self, world, file: str | Path, *, follow: str = "") -> None:
        self._world, self._path, self._next = world, Path(file), world.time
        self.pictures = 0
        self._server = start_server("a page")
        try:
            self._scene = self._server.scene.add_frame(SCENE, show_axes=False)
            self._drawing = Drawing(self._server, world)
            aim_camera(self._server, world, follow)
            self._entity = world.entities[follow] if follow else None
            self._first = None if self._entity is None else self._entity.q[:2].copy()
            self._recording = self._server.get_scene_serializer()
        except BaseException:
            stop_server(self._server)
            raise

    @property
    def left_out(self) -> list[str]:
        """Meshes that are not drawn, with the cause."""
        return self._drawing.left_out

    def look(self) -> None:
        """Add a picture of the world's present state, if a frame period has passed."""
        if self._world.time < self._next - 0.5 * self._world.time_step:
            return
        self._next += 1.0 / _PICTURE_RATE
        self.pictures += 1
        self._drawing.update()
        if self._entity is not None:
            self._scene.position = (*(self._first - self._entity.q[:2]), 0.0)
        self._recording.insert_sleep(1.0 / _PICTURE_RATE)

    def __enter__(self) -> PageFilm:
        return self

    def __exit__(self, kind, *_) -> None:
        try:
            if kind is None:
                self._path.write_text(self._recording.as_html(), encoding="utf-8")
        finally:
            stop_server(self._server)
