# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Films and pictures drawn without a window, looked at as numbers."""

import numpy as np
import pytest

from hrpsim import Box, HrpsimError, World
from hrpsim.commands.cli import main
from hrpsim.viewer import make_film
from hrpsim.viewer.film import FRAME_RATE
from hrpsim.viewer.rendering.renderer import RendererError


@pytest.fixture(autouse=True, scope="module")
def _renderer():
    try:
        World().render((0.0, 0.0, 1.0), width=16, height=16)
    except RendererError as error:
        pytest.skip(str(error))


def falling_box():
    world = World(gravity=(0.0, 0.0, -10.0))
    world.add_body(Box((0.4, 0.4, 0.4)), 1.0, (0.0, 0.0, 0.5))
    return world


def orange(picture):
    """Where the box's colour is (height, width)."""
    r, g, b = np.moveaxis(picture.astype(int), 2, 0)
    return (r > g + 25) & (g > b + 15)


def test_a_picture_shows_the_last_state(tmp_path):
    import imageio.v3 as imageio

    pictures = []
    for duration in (0.0, 0.25):
        assert make_film(falling_box(), tmp_path / "box.png", duration, size=(320, 240)) == 1
        pictures.append(imageio.imread(tmp_path / "box.png"))
    assert all(picture.shape == (240, 320, 3) for picture in pictures)
    rows = [np.nonzero(orange(picture))[0].mean() for picture in pictures]
    size = [orange(picture).mean() for picture in pictures]
    assert size[0] > 0.01 and size[1] == pytest.approx(size[0], rel=0.3)
    assert rows[1] > rows[0] + 10  # it fell by 0.31 m


def test_a_film_has_its_length(tmp_path):
    import imageio_ffmpeg

    count = make_film(falling_box(), tmp_path / "box.mp4", 0.2, size=(320, 240))
    assert count == round(0.2 * FRAME_RATE[".mp4"]) + 1
    frames = imageio_ffmpeg.read_frames(str(tmp_path / "box.mp4"))
    assert next(frames)["size"] == (320, 240)
    pictures = [np.frombuffer(frame, np.uint8).reshape(240, 320, 3) for frame in frames]
    assert len(pictures) == count
    rows = [np.nonzero(orange(picture))[0].mean() for picture in pictures]
    assert np.all(np.diff(rows) > -0.5) and rows[-1] > rows[0] + 5


def test_other_files_are_refused_before_anything_runs(tmp_path, capsys):
    world = tmp_path / "empty.yaml"
    world.write_text("ground: {}\n")
    for file, message in (("box.avi", ".rrd or .html"), ("nowhere/box.png", "does not exist")):
        assert main(["run", str(world), "--film", str(tmp_path / file)]) == 1
        assert message in capsys.readouterr().err
    with pytest.raises(HrpsimError, match=r"mp4"):
        make_film(falling_box(), "film", 1.0)


def test_the_camera_follows_what_moves_and_stays_where_it_is_put(tmp_path):
    """Law: a box that slides stays in the middle of the film, and leaves that of a camera apart."""
    import imageio.v3 as imageio

    def columns(**camera):
        world = World(gravity=(0.0, 0.0, 0.0))
        world.add_body(Box((0.4, 0.4, 0.4)), 1.0, (0.0, 0.0, 0.5), velocity=(1.0, 0.0, 0.0))
        count = make_film(world, tmp_path / "box.gif", 0.4, size=(160, 128), **camera)
        pictures = imageio.imread(tmp_path / "box.gif")
        assert count >= len(pictures) >= 1 and pictures[0].shape == (128, 160, 3)
        last = imageio.imread(tmp_path / "box.gif", index=len(pictures) - 1)
        return [np.nonzero(orange(one))[1].mean() for one in (pictures[0], last)]

    first, last = columns()
    assert last == pytest.approx(first, abs=2.0)
    first, last = columns(position=(0.0, -3.0, 0.5), target=(0.0, 0.0, 0.5))
    assert last > first + 10
