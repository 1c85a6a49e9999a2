# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Pictures and films of a world without a window: the page, rendered by a headless browser.

The browser is chromium, which renders by software without a graphics card, so that pictures
equal the page. A film needs imageio-ffmpeg, which has its own encoder.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from hrpsim.errors import HrpsimError
from hrpsim.model.shapes.placement import quaternion_of
from hrpsim.moved import old_names
from hrpsim.viewer.chromium import Chromium
from hrpsim.viewer.session import Motion
from hrpsim.viewer.viewer import Viewer

__getattr__ = old_names(__name__)

SUFFIXES = (".mp4", ".png")
FRAME_RATE = 25  # of films, simulated time [Hz]
SIZE = (960, 544)  # [pixels], multiples of 16 for encoders
_WINDOW = (320, 240)  # of the page, which is also drawn between the pictures [pixels]
_PICTURE_LIMIT = 64_000_000  # of the page's message with a picture [bytes]
_TIMEOUT = 300.0  # for the page to open, and for each picture [s]


def make_film(
    world,
    file: str | Path,
    duration: float,
    motion: Motion | None = None,
    *,
    size: tuple[int, int] = SIZE,
    prepare: Callable[[Viewer], None] | None = None,
) -> int:
    """Simulate a duration and write a film of it, or a picture of its end.

    Args:
        world: the world.
        file: an .mp4, or a .png for one picture.
        duration: [s].
        motion: advances time; by default the world's own steps.
        size: width and height [pixels].
        prepare: called with the viewer before the start, to turn the camera or choose arrows.

    Returns:
        The number of pictures.

    Raises:
        HrpsimError: for another suffix, or where chromium, viser or imageio-ffmpeg is not
            installed.
    """
    path = Path(file)
    check_film(path)
    viewer = Viewer(world, motion, port=0, message_limit=_PICTURE_LIMIT)
    try:
        if prepare is not None:
            prepare(viewer)
        pictures = _pictures(viewer, duration, size, every=path.suffix == ".mp4")
        return _write(path, pictures)
    finally:
        viewer.stop()


def check_film(path: Path) -> None:
    """Raise HrpsimError where no film can be written to this file."""
    if path.suffix not in SUFFIXES:
        raise HrpsimError(f"{path}: a film ends in {' or '.join(SUFFIXES)}, not in {path.suffix!r}")
    if not path.parent.is_dir():
        raise HrpsimError(f"{path}: there is no folder {str(path.parent)!r}")
    if path.suffix == ".png":
        return
    try:
        import imageio_ffmpeg  # noqa: F401
    except ImportError as cause:
        why = f"a film needs imageio-ffmpeg ({cause}): pip install 'hrpsim[viewer]'"
        raise HrpsimError(why) from cause


def _pictures(viewer: Viewer, duration: float, size, every: bool) -> Iterator[np.ndarray]:
    """Yield the first picture and one each 1/FRAME_RATE s, or only the last one."""
    motion, world = viewer.session.motion, viewer.session.world
    end, next_picture = world.time + duration - 0.5 * motion.period, world.time
    with Chromium(viewer.url, _WINDOW):
        client = _wait_for_page(viewer)
        while True:
            if every and world.time >= next_picture - 0.5 * motion.period:
                next_picture += 1.0 / FRAME_RATE
                yield _picture(viewer, client, size)
            if world.time >= end:
                break
            motion.tick()
        if not every:
            yield _picture(viewer, client, size)


def _wait_for_page(viewer: Viewer):
    limit = time.monotonic() + _TIMEOUT
    while not (clients := viewer.server.get_clients()):
        if time.monotonic() > limit:
            raise HrpsimError(f"the browser did not open the page within {_TIMEOUT:.0f} s")
        time.sleep(0.05)
    return next(iter(clients.values()))


def _picture(viewer: Viewer, client, size) -> np.ndarray:
    with viewer.server.atomic():
        viewer.drawing.update()
    viewer.server.flush()
    camera = viewer.server.initial_camera
    return client.get_render(
        size[1],
        size[0],
        wxyz=_looking(np.array(camera.look_at) - camera.position),
        position=np.array(camera.position),
        fov=camera.fov,
        timeout=_TIMEOUT,
    )


def _looking(way: np.ndarray) -> np.ndarray:
    """Return the orientation w x y z of an upright camera that looks along `way`."""
    ahead = way / np.linalg.norm(way)
    right = np.cross(ahead, (0.0, 0.0, 1.0))
    right /= np.linalg.norm(right)
    return quaternion_of(np.column_stack([right, np.cross(ahead, right), ahead]))[[3, 0, 1, 2]]


def _write(path: Path, pictures: Iterator[np.ndarray]) -> int:
    """Write the pictures; return how many."""
    import imageio.v2 as imageio

    rate = {"fps": FRAME_RATE} if path.suffix == ".mp4" else {}
    count = 0
    with imageio.get_writer(path, **rate) as writer:
        for picture in pictures:
            writer.append_data(picture[..., :3])
            count += 1
    return count
