# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A page that plays a run, opened in chromium on a machine without any network."""

import shutil
import subprocess
import tempfile

import numpy as np
import pytest
from viewer.chromium import find_chromium
from viewer.page import in_browser

from hrpsim import Box, World
from hrpsim.viewer import make_film


def without_network() -> bool:
    """Return whether this user can start a program without a network."""
    tried = shutil.which("unshare") and subprocess.run(["unshare", "-n", "true"], check=False)
    return bool(tried) and tried.returncode == 0


_OPTIONS = (
    "--headless=new",
    "--no-sandbox",
    "--no-first-run",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--disable-gpu-watchdog",
    "--virtual-time-budget=6000",
)
pytestmark = [
    *in_browser,
    pytest.mark.long,
    pytest.mark.skipif(not without_network(), reason="no rights for `unshare -n`"),
]


@pytest.mark.parametrize("size", [(1280, 800), (390, 800)])
def test_the_run_is_drawn_without_a_network(tmp_path, size):
    """Law: in a namespace without any interface, the page shows the body in the body's colour."""
    from PIL import Image

    world = World(gravity=(0.0, 0.0, 0.0))
    world.add_body(Box((0.6, 0.6, 0.6)), 1.0, (0.0, 0.0, 0.5), color=(0.9, 0.1, 0.1))
    make_film(world, tmp_path / "box.html", 1.0)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        subprocess.run(
            [
                *("unshare", "-n", find_chromium(), *_OPTIONS, f"--user-data-dir={profile}"),
                *(f"--window-size={size[0]},{size[1]}", f"--screenshot={tmp_path / 'seen.png'}"),
                (tmp_path / "box.html").as_uri(),
            ],
            check=True,
            timeout=1000,
            stderr=subprocess.DEVNULL,
        )
    picture = np.asarray(Image.open(tmp_path / "seen.png").convert("RGB")).astype(int)
    red = (picture[..., 0] > 100) & (picture[..., 0] > 2 * picture[..., 1:].max(axis=2))
    rows, columns = np.nonzero(red)
    assert red.mean() > 0.01
    assert abs(columns.mean() / red.shape[1] - 0.5) < 0.1 and 0.2 < rows.mean() / len(red) < 0.8
