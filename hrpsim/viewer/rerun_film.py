# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Recordings for the viewer rerun (rerun.io): links, forces of contacts, plotted signals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hrpsim.errors import require_packages
from hrpsim.model.shapes.geometry import Box, Capsule, Cylinder, Mesh, Plane, Sphere
from hrpsim.rendering.renderer import Drawn
from hrpsim.viewer.arrows import contact_arrows, force_scale
from hrpsim.viewer.signals import signals_of

SUFFIX = ".rrd"
_RATE = 50.0  # of samples, simulated time [Hz]


def require_rerun() -> None:
    """Raise HrpsimError where the package is missing."""
    require_packages(f"a recording {SUFFIX}", ("rerun",), "pip install rerun-sdk (with NumPy 2)")


class RerunFilm:
    """A recording of a world that advances, used as `Film` is; planes are left out.

    Raises HrpsimError where the package rerun-sdk is missing.
    """

    def __init__(self, world, file: str | Path):
        require_rerun()
        import rerun
        from rerun import blueprint

        self._rerun: Any = rerun
        self._world, self._next, self.pictures = world, world.time, 0
        self._signals, self._force_scale = signals_of(world), force_scale(world)
        self._stream = rerun.RecordingStream("hrpsim")
        plotted = [name for name in self._signals if "force z" in name]
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
        """Add a sample of the world as it is now, if one is due."""
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
    """Return a geometry as rerun has it."""
    geometry, paint = drawn.geometry, {"colors": [drawn.color], "fill_mode": "solid"}
    if isinstance(geometry, Box):
        return rerun.Boxes3D(sizes=[geometry.lengths], **paint)
    if isinstance(geometry, Sphere):
        return rerun.Ellipsoids3D(radii=[geometry.radius], **paint)
    if isinstance(geometry, (Capsule, Cylinder)):
        size = {"lengths": [geometry.length], "radii": [geometry.radius]}
        if isinstance(geometry, Cylinder):
            return rerun.Cylinders3D(**size, **paint)
        begin = [0.0, 0.0, -0.5 * geometry.length]  # rerun's begin at the origin
        return rerun.Capsules3D(**size, translations=[begin], **paint)
    assert isinstance(geometry, Mesh)
    return rerun.Mesh3D(
        vertex_positions=geometry.vertices,
        triangle_indices=geometry.triangles,
        albedo_factor=drawn.color,
    )
