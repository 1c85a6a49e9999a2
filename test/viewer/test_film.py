# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Films and pictures drawn by a headless browser, looked at as numbers."""

import importlib.util

import numpy as np
import pytest
from viewer.page import in_browser

from hrpsim import Box, HrpsimError, World
from hrpsim.cli import main
from hrpsim.viewer import make_film
from hrpsim.viewer.film import FRAME_RATE

needs_browser = [*in_browser]


def falling_box():
    world = World(gravity=(0.0, 0.0, -10.0))
    world.add_body(Box((0.4, 0.4, 0.4)), 1.0, (0.0, 0.0, 0.5))
    return world


def orange(picture):
    """Where the box's colour is (height, width)."""
    r, g, b = np.moveaxis(picture.astype(int), 2, 0)
    return (r > g + 25) & (g > b + 15)


class TestInBrowser:
    pytestmark = needs_browser

    def test_a_picture_shows_the_last_state(self, tmp_path):
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

    @pytest.mark.long
    @pytest.mark.skipif(
        importlib.util.find_spec("imageio_ffmpeg") is None, reason="imageio-ffmpeg is not installed"
    )
    def test_a_film_has_its_length(self, tmp_path):
        import imageio_ffmpeg

        count = make_film(falling_box(), tmp_path / "box.mp4", 0.2, size=(320, 240))
        assert count == round(0.2 * FRAME_RATE) + 1
        frames = imageio_ffmpeg.read_frames(str(tmp_path / "box.mp4"))
        assert next(frames)["size"] == (320, 240)
        pictures = [np.frombuffer(frame, np.uint8).reshape(240, 320, 3) for frame in frames]
        assert len(pictures) == count
        rows = [np.nonzero(orange(picture))[0].mean() for picture in pictures]
        assert np.all(np.diff(rows) > -0.5) and rows[-1] > rows[0] + 5


def test_other_files_are_refused_before_anything_runs(tmp_path, capsys):
    world = tmp_path / "empty.yaml"
    world.write_text("ground: {}\n")
    for file, message in (("box.gif", ".mp4 or .png"), ("nowhere/box.png", "there is no folder")):
        assert main(["run", str(world), "--film", str(tmp_path / file)]) == 1
        assert message in capsys.readouterr().err
    with pytest.raises(HrpsimError, match=r"mp4"):
        make_film(falling_box(), "film", 1.0)
