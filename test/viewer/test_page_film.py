# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A page that plays a run by itself: what is in the file, as numbers."""

import base64
import re

import numpy as np
import pytest
from grouped import needs

from hrpsim import Box, HrpsimError, World, load_model
from hrpsim.viewer import make_film
from robots import HRP2_LIKE

pytestmark = needs("viser")
G, DURATION, RATE = 10.0, 0.2, 25.0


def recording(path):
    """Return the page's text without its data, and the recorded messages."""
    import msgspec
    import zstandard

    page = path.read_text(encoding="utf-8")
    (data,) = re.findall(r'window\.__VISER_EMBED_DATA__="([^"]*)"', page)
    raw = base64.b64decode(data)
    inner = zstandard.ZstdDecompressor().decompressobj().decompress(raw[8:])
    size = int.from_bytes(inner[:8], "little")
    return page.replace(data, ""), msgspec.msgpack.decode(inner[8 : 8 + size])


def positions(found, name):
    """Return the times and positions of a node."""
    moves = [
        (time, message["position"])
        for time, message in found["messages"]
        if message["type"] == "SetPositionMessage" and message["name"] == name
    ]
    return np.array([time for time, _ in moves]), np.array([p for _, p in moves])


def test_a_page_plays_the_run(tmp_path):
    """Law: a box in free fall, 25 pictures a second, at the poses of the closed form."""
    world = World(gravity=(0.0, 0.0, -G))
    world.add_body(Box((0.4, 0.4, 0.4)), 1.0, (0.0, 0.0, 0.5))
    assert make_film(world, tmp_path / "box.html", DURATION) == round(DURATION * RATE) + 1
    _, found = recording(tmp_path / "box.html")
    times, places = positions(found, "/scene/box/box")
    falling = times > 0.0
    expected = 0.5 - 0.5 * G * times[falling] ** 2
    assert falling.sum() == round(DURATION * RATE)
    assert places[falling, 2] == pytest.approx(expected, abs=G * DURATION * world.time_step)
    assert found["durationSeconds"] == pytest.approx(DURATION + 1.0 / RATE)


def test_a_page_needs_no_network(tmp_path):
    """Law: scripts, styles and pictures are in the file."""
    make_film(World(), tmp_path / "empty.html", 0.01)
    page, _ = recording(tmp_path / "empty.html")
    tags = re.findall(r"<(?:script|link|img|iframe)[^>]*>", page)
    fetched = [tag for tag in tags if re.search(r"""(?:src|href)=["']?(?!data:)[^"' >]""", tag)]
    assert not fetched


def test_a_followed_robot_stays_in_the_middle(tmp_path):
    """Law: the scene moves against the robot, so that the robot's place in the page stays."""
    from hrpsim.viewer.film import film_of

    world = World(gravity=(0.0, 0.0, 0.0))
    robot = world.add_robot(load_model(HRP2_LIKE), position=(0.0, 0.0, 1.0))
    robot.v = np.concatenate([[2.0, -1.0, 0.0], np.zeros(len(robot.v) - 3)])
    with film_of(world, tmp_path / "robot.html", follow=robot.name) as film:
        for _ in range(100):
            world.step()
            film.look()
    _, found = recording(tmp_path / "robot.html")
    (_, scene), (_, base) = (
        positions(found, name) for name in ("/scene", f"/scene/{robot.name}/BODY")
    )
    assert np.linalg.norm(base[-1][:2] - base[0][:2]) > 0.1
    assert scene[-1][:2] + base[-1][:2] == pytest.approx(scene[0][:2] + base[0][:2], abs=0.01)


def test_a_run_that_fails_leaves_no_page(tmp_path):
    """Law: there is a page only of a whole run, and no server stays."""
    from hrpsim.viewer.film import film_of

    with pytest.raises(RuntimeError), film_of(World(), tmp_path / "no.html"):
        raise RuntimeError
    assert not list(tmp_path.iterdir())
    with pytest.raises(HrpsimError, match="does not exist"):
        make_film(World(), tmp_path / "nowhere" / "no.html", 0.1)
