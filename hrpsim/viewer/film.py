# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Pictures and films of a world, drawn without a window or a display (`World.render`).

A film needs imageio-ffmpeg, which has its own encoder.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from hrpsim.errors import HrpsimError
from hrpsim.moved import old_names
from hrpsim.viewer.arrows import contact_arrows
from hrpsim.viewer.session import Motion
from hrpsim.viewer.signals import middle_of

__getattr__ = old_names(__name__)

SUFFIXES = (".mp4", ".gif", ".png")
FRAME_RATE = 25  # of films, simulated time [Hz]
SIZE = (960, 544)  # [pixels], multiples of 16 for encoders
_FROM = np.array([2.2, 2.4, 0.8])  # from the middle, for things within 1 m of it [m]
_FIELD_OF_VIEW = 1.2  # horizontal [rad]
_LONGEST_WEIGHT = 1.0  # length of the arrow of the heaviest entity's weight [m]


class _View(NamedTuple):
    """What a film shows, and how."""

    offset: np.ndarray | None  # of the camera from what it follows [m]
    position: np.ndarray  # of a camera that stays [m]
    target: np.ndarray  # that it looks at [m]
    force_scale: float  # of arrows [m/N]; 0: none
    size: tuple[int, int]  # [pixels]


def make_film(
    world,
    file: str | Path,
    duration: float,
    motion: Motion | None = None,
    *,
    size: tuple[int, int] = SIZE,
    position: ArrayLike | None = None,
    target: ArrayLike | None = None,
    forces: bool = True,
) -> int:
    """Simulate a duration and write a film of it, or a picture of its end.

    Args:
        world: the world.
        file: an .mp4 or .gif, or a .png for one picture.
        duration: [s].
        motion: advances time; by default the world's own steps.
        size: width and height [pixels].
        position: of a camera that stays (3,) [m]; without, it follows what moves.
        target: what that camera looks at (3,) [m].
        forces: whether the forces of contacts are drawn as arrows.

    Returns:
        The number of pictures.

    Raises:
        HrpsimError: for another suffix, or where MuJoCo, EGL or imageio-ffmpeg is missing.
    """
    path = Path(file)
    check_film(path)
    motion = motion or Motion(world.time_step, world.step)
    middle, reach = middle_of(world)
    stays = position is not None
    view = _View(
        offset=None if stays else reach * _FROM,
        position=np.array(position if stays else middle, dtype=np.float64),
        target=np.array(middle if target is None else target, dtype=np.float64),
        force_scale=_force_scale(world) if forces else 0.0,
        size=size,
    )
    return _write(path, _pictures(world, motion, duration, view, every=path.suffix != ".png"))


def check_film(path: Path) -> None:
    """Raise HrpsimError where no film can be written to this file."""
    if path.suffix not in SUFFIXES:
        known = ", ".join(SUFFIXES[:-1])
        raise HrpsimError(
            f"{path}: a film ends in {known} or {SUFFIXES[-1]}, not in {path.suffix!r}"
        )
    if not path.parent.is_dir():
        raise HrpsimError(f"{path}: there is no folder {str(path.parent)!r}")
    try:
        import imageio  # noqa: F401
        import imageio_ffmpeg  # noqa: F401
    except ImportError as cause:
        why = f"a film needs imageio and imageio-ffmpeg ({cause}): pip install 'hrpsim[camera]'"
        raise HrpsimError(why) from cause


def _force_scale(world) -> float:
    weights = [entity.system.mass.sum() for entity in world.entities.values()]
    return _LONGEST_WEIGHT / (9.8 * max(weights, default=1.0))


def _pictures(world, motion: Motion, duration: float, view: _View, every: bool) -> Iterator:
    """Yield the first picture and one each 1/FRAME_RATE s, or only the last one."""
    end, next_picture = world.time + duration - 0.5 * motion.period, world.time
    while True:
        if every and world.time >= next_picture - 0.5 * motion.period:
            next_picture += 1.0 / FRAME_RATE
            yield _picture(world, view)
        if world.time >= end:
            break
        motion.tick()
    if not every:
        yield _picture(world, view)


def _picture(world, view: _View) -> np.ndarray:
    position, target = view.position, view.target
    if view.offset is not None:
        target = middle_of(world)[0]
        target = np.array([*target[:2], view.target[2]])  # a robot that bobs does not shake it
        position = target + view.offset
    arrows = contact_arrows(world.contacts, view.force_scale) if view.force_scale else ()
    width, height = view.size
    return world.render(
        position, target=target, width=width, height=height, fov=_FIELD_OF_VIEW,
        arrows=arrows, shadows=True,
    ).color  # fmt: skip


def _write(path: Path, pictures: Iterator[np.ndarray]) -> int:
    """Write the pictures; return how many."""
    import imageio.v2 as imageio

    options = {".mp4": {"fps": FRAME_RATE}, ".gif": {"duration": 1000.0 / FRAME_RATE, "loop": 0}}
    count = 0
    with imageio.get_writer(path, **options.get(path.suffix, {})) as writer:
        for picture in pictures:
            writer.append_data(picture)
            count += 1
    return count
