# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Depth and colour images of hrp2_like, compared with MuJoCo's rasteriser and rays."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from evidence.benchmarks.results import Case, CaseResult, Claim
from evidence.benchmarks.timing import Effort, Subject
from hrpsim import World, load_model, share_path
from hrpsim.viewer.rendering.renderer import Lens

EYE, TARGET = np.array([1.5, 0.8, 1.0]), np.array([0.0, 0.0, 0.6])  # [m]
WIDTH, HEIGHT, FOV, FAR = 320, 240, 1.0, 100.0
DEPTH_BOUND, COLOR_BOUND, RAYS_BOUND = 15.0 / 11.0, 30.0 / 23.0, 15.0 / 108.0


def scene() -> World:
    """Return hrp2_like on the ground."""
    world = World()
    world.add_ground()
    robot = world.add_robot(load_model(share_path("urdf/hrp2_like.urdf.xacro")))
    robot.q = np.array([0.0, 0.0, 0.7, *robot.q[3:]])
    return world


def _hrpsim_pictures(world: World, images: str) -> Callable[[int], None]:
    def run(n: int) -> None:
        for _ in range(n):
            world.render(EYE, target=TARGET, width=WIDTH, height=HEIGHT, fov=FOV, images=images)

    return run


def _rasterised(model, data, images: str) -> Callable[[int], None]:
    """Return a function that only draws a scene and reads colours or depths, n times."""
    import mujoco
    from mujoco.egl import GLContext

    gl = GLContext(WIDTH, HEIGHT)
    drawn, camera, option = mujoco.MjvScene(model, 1000), mujoco.MjvCamera(), mujoco.MjvOption()
    camera.type, camera.fixedcamid = mujoco.mjtCamera.mjCAMERA_FIXED, 0
    with gl.as_current():
        context = mujoco.MjrContext(model, mujoco.mjtFontScale.mjFONTSCALE_100.value)
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN.value, context)
    rect, everything = mujoco.MjrRect(0, 0, WIDTH, HEIGHT), mujoco.mjtCatBit.mjCAT_ALL.value
    color = np.empty((HEIGHT, WIDTH, 3), np.uint8) if images == "color" else None
    depth = np.empty((HEIGHT, WIDTH), np.float32) if images == "depth" else None
    flags = mujoco.mjtRndFlag
    drawn.flags[flags.mjRND_SHADOW.value] = False
    if images == "depth":
        drawn.flags[[flags.mjRND_SEGMENT.value, flags.mjRND_IDCOLOR.value]] = True

    def run(n: int) -> None:
        with gl.as_current():
            for _ in range(n):
                mujoco.mjv_updateScene(model, data, option, None, camera, everything, drawn)
                mujoco.mjr_render(rect, drawn, context)
                mujoco.mjr_readPixels(color, depth, rect, context)

    return run


def _rays(model, data) -> Callable[[int], None]:
    """Return a function that casts a ray through each pixel, n times."""
    import mujoco

    rays = Lens(WIDTH, HEIGHT, FOV, 0.05, FAR).rays.reshape(-1, 3)
    right, up, back = data.cam_xmat[0].reshape(3, 3).T
    ways = rays @ np.stack([-back, -right, up])
    ways = (ways / np.linalg.norm(ways, axis=1)[:, None]).ravel()
    count = len(rays)
    geoms, distances = np.zeros(count, np.int32), np.zeros(count)

    def run(n: int) -> None:
        for _ in range(n):
            mujoco.mj_multiRay(
                model, data, EYE, ways, None, 1, -1, geoms, distances, None, count, FAR
            )

    return run


def run(result: CaseResult, effort: Effort) -> None:
    """Time both kinds of images in turn, with the same model in MuJoCo."""
    world = scene()
    world.render(EYE, target=TARGET, width=WIDTH, height=HEIGHT, fov=FOV)
    (renderer,) = world._prepared.renderers.values()
    model, data = renderer._model, renderer._data
    for images, bound in (("depth", DEPTH_BOUND), ("color", COLOR_BOUND)):
        subjects = [
            Subject("hrpsim", _hrpsim_pictures(world, images), ours=True),
            Subject("mujoco, rasterised", _rasterised(model, data, images)),
        ]
        if images == "depth":
            subjects.append(Subject("mujoco, rays", _rays(model, data)))
        name = f"{images}, {WIDTH} x {HEIGHT}"
        times = result.measure(name, subjects, effort)
        for other, most in (("rasterised", bound), ("rays", RAYS_BOUND)):
            if f"mujoco, {other}" in times:
                ratio = np.median(times["hrpsim"]) / np.median(times[f"mujoco, {other}"])
                result.claims.append(Claim(f"{name}, hrpsim / {other}", float(ratio), most))
    result.notes += [
        "mujoco: the same model, rasterised and read, without poses. Shadows off in both. Rays by"
        " mj_multiRay"
    ]


CASE = Case("Cameras", run)
