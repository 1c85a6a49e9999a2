# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Rays: a height scan and a lidar over a height field and 90 boxes, compared with MuJoCo's rays."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from evidence.benchmarks.results import Case, CaseResult, Claim
from evidence.benchmarks.timing import Effort, Subject
from hrpsim import Box, HeightField, World

if TYPE_CHECKING:
    import mujoco

BOXES, CELLS, HALF = 90, 100, 10.0  # HALF is half the length of the field [m]
REACH = 30.0  # [m]
SCAN_BOUND, LIDAR_BOUND = 40.0 / 397.0, 2.0 / 14.3  # ratios to MuJoCo's time


def scene() -> tuple[World, mujoco.MjModel, mujoco.MjData]:
    """Return a world of loose boxes on a rough height field, and the same scene in MuJoCo."""
    import mujoco

    random = np.random.default_rng(0)
    heights = random.uniform(0.0, 0.1, (CELLS, CELLS)).astype(np.float32)
    world, bodies = World(), ""
    world.add_static(HeightField(heights.astype(np.float64), size=(2.0 * HALF, 2.0 * HALF)))
    for _ in range(BOXES):
        p = np.append(random.uniform(-0.9 * HALF, 0.9 * HALF, 2), 0.1)
        half, angle = random.uniform(0.05, 0.4, 3), random.uniform(0.0, np.pi)
        z, w = np.sin(0.5 * angle), np.cos(0.5 * angle)
        world.add_body(Box(2.0 * half), 1.0, p, (0.0, 0.0, z, w))
        place = f'pos="{_text(p)}" quat="{_text((w, 0.0, 0.0, z))}"'
        geom = f'<geom type="box" size="{_text(half)}"/>'
        bodies += f"<body {place}><freejoint/>{geom}</body>"
    size = _text((HALF, HALF, 0.1, 1.0))
    field = f'<hfield name="h" nrow="{CELLS}" ncol="{CELLS}" size="{size}"/>'
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><asset>{field}</asset><worldbody><geom type="hfield" hfield="h"/>{bodies}'
        "</worldbody></mujoco>"
    )
    model.hfield_data[:] = (heights.T / 0.1).ravel()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    return world, model, data


def _text(values) -> str:
    return " ".join(repr(float(v)) for v in values)


def height_scan() -> tuple[np.ndarray, np.ndarray]:
    """Return origins and directions of 17 x 11 downward rays."""
    x, y = np.meshgrid(0.1 * np.arange(-8, 9), 0.1 * np.arange(-5, 6), indexing="ij")
    origins = np.stack([x, y, np.full_like(x, 1.5)], axis=-1).reshape(-1, 3)
    return origins, np.tile([0.0, 0.0, -1.0], (len(origins), 1))


def lidar() -> tuple[np.ndarray, np.ndarray]:
    """Return origins and directions of 16 rings with 1024 rays each."""
    turn, rise = np.meshgrid(
        np.linspace(-np.pi, np.pi, 1024), np.linspace(-0.26, 0.26, 16), indexing="ij"
    )
    level = np.cos(rise)
    ways = np.stack([level * np.cos(turn), level * np.sin(turn), np.sin(rise)], axis=-1)
    ways = ways.reshape(-1, 3)
    return np.tile([0.0, 0.0, 1.0], (len(ways), 1)), ways


def _hrpsim_rays(world: World, rays) -> Callable[[int], None]:
    """Return a function that casts the rays n times into preallocated arrays."""
    origins, directions = rays
    caster, count = world.ray_caster(), len(origins)
    skipped = caster.skipped(())
    out = np.empty(count), np.empty((count, 3)), np.empty(count, dtype=np.int64)

    def run(n: int) -> None:
        for _ in range(n):
            caster.cast(caster.arrays, skipped, origins, directions, REACH, *out)

    return run


def run(result: CaseResult, effort: Effort) -> None:
    """Time both scans in both engines."""
    import mujoco

    world, model, data = scene()
    down, around = height_scan(), lidar()
    geom, count = np.zeros(1, dtype=np.int32), len(around[0])
    geoms, distances, ways = np.zeros(count, np.int32), np.zeros(count), around[1].ravel()

    def one_by_one(n: int) -> None:
        for _ in range(n):
            for origin, direction in zip(*down):
                mujoco.mj_ray(model, data, origin, direction, None, 1, -1, geom)

    def together(n: int) -> None:
        for _ in range(n):
            origin = around[0][0]
            mujoco.mj_multiRay(
                model, data, origin, ways, None, 1, -1, geoms, distances, None, count, REACH
            )

    groups = {
        "height scan, 187 rays": (_hrpsim_rays(world, down), one_by_one, SCAN_BOUND),
        "lidar, 16 x 1024 rays": (_hrpsim_rays(world, around), together, LIDAR_BOUND),
    }
    for name, (cast, theirs, bound) in groups.items():
        subjects = [Subject("hrpsim", cast, ours=True), Subject("mujoco", theirs)]
        times = result.measure(name, subjects, effort)
        ratio = float(np.median(times["hrpsim"]) / np.median(times["mujoco"]))
        result.claims.append(Claim(f"{name}, hrpsim / mujoco", ratio, bound))
    result.notes += [
        f"{CELLS} x {CELLS} heights and {BOXES} loose boxes. hrpsim finds the poses of all shapes"
        " anew, and normals and links. mujoco: mj_ray for each ray of the height scan, mj_multiRay"
        " for the lidar"
    ]


CASE = Case("Rays", run)
