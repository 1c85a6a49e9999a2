# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The bin in MuJoCo: CG, elliptic cone, default softness of contacts."""

from __future__ import annotations

import numpy as np

from evidence.benchmarks.bin_scene import (
    FRICTION,
    GRAVITY,
    TIME_STEP,
    BinScene,
    Solid,
    rotations,
    walls,
)
from hrpsim import Box


def _numbers(values) -> str:
    return " ".join(f"{value:.17g}" for value in np.ravel(values))


class MujocoBin:
    """The bin in MuJoCo. MuJoCo uses the convex hull of a mesh, or with `parts` convex parts."""

    def __init__(self, mujoco, scene: BinScene, parts: bool) -> None:
        self.name = "mujoco, convex parts" if parts else "mujoco"
        self._mujoco = mujoco
        assets: dict[str, str] = {}
        inner = [
            f'<geom type="box" size="{_numbers(box.size)}" pos="{_numbers(center)}"/>'
            for box, center in walls()
        ]
        for solid, p, o in zip(scene.solids, scene.positions, scene.quaternions):
            inner.append(
                f'<body pos="{_numbers(p)}" quat="{_numbers(np.roll(o, 1))}"><freejoint/>'
                f'<inertial pos="0 0 0" mass="{solid.mass:.17g}" '
                f'diaginertia="{_numbers(solid.moments)}"/>'
                f"{_geoms(solid, parts, assets)}</body>"
            )
        self._model = mujoco.MjModel.from_xml_string(
            f'<mujoco><option timestep="{TIME_STEP}" gravity="0 0 -{GRAVITY}" cone="elliptic" '
            f'solver="CG"/><default><geom friction="{FRICTION} 0 0" condim="3"/></default>'
            f'<size memory="2G"/><asset>{"".join(assets.values())}</asset>'
            f"<worldbody>{''.join(inner)}</worldbody></mujoco>"
        )
        self._data = mujoco.MjData(self._model)

    def step(self, count: int) -> None:
        """Make `count` steps, with one call for each step."""
        for _ in range(count):
            self._mujoco.mj_step(self._model, self._data)

    def motion(self):
        """Return positions, quaternions, velocities and spins (n, 3 or 4) in world axes."""
        q, v = self._data.qpos.reshape(-1, 7), self._data.qvel.reshape(-1, 6)
        quaternions = np.roll(q[:, 3:], -1, axis=1)
        spins = np.einsum("nij,nj->ni", rotations(quaternions), v[:, 3:])
        return q[:, :3].copy(), quaternions, v[:, :3].copy(), spins

    def close(self) -> None:
        """Do nothing, because no resource is open."""


def _geoms(solid: Solid, parts: bool, assets: dict[str, str]) -> str:
    """Return the geoms of a solid. Add the meshes, of parts in place, to `assets`."""
    if isinstance(solid.shape, Box):
        return f'<geom type="box" size="{_numbers(solid.shape.size)}"/>'
    text = ""
    for corners in solid.parts if parts else [solid.shape.vertices]:
        points = _numbers(corners)
        name = f"mesh{list(assets).index(points) if points in assets else len(assets)}"
        # MuJoCo moves a mesh to its centre and axes, and moves the geom back.
        assets.setdefault(points, f'<mesh name="{name}" vertex="{points}"/>')
        text += f'<geom type="mesh" mesh="{name}"/>'
    return text
