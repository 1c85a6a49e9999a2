# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Keys of the page, camera bookmarks, and following."""

import numpy as np
import pytest
from viewer.visitor import Visitor

from evidence.crane.panel import CLOSE_KEY, KEYS, OPEN_KEY
from hrpsim import Sphere, World
from hrpsim.viewer import Viewer
from hrpsim.viewer.panels.camera import MOST_BOOKMARKS

pytest.importorskip("viser")
OF_THE_CAMERA = {*"WASDQE", "arrowup", "arrowdown", "arrowleft", "arrowright"}


@pytest.fixture
def viewer():
    world = World(gravity=(0.0, 0.0, 0.0))
    world.add_body(Sphere(0.1), 1.0, (0.0, 0.0, 1.0), velocity=(1.0, 0.0, 0.0), name="ball")
    shown = Viewer(world, port=0)
    yield shown
    shown.stop()


def test_no_key_has_two_effects(viewer):
    """Law: the keys differ from those of viser's camera and of the crane game."""
    keys = {command.hotkey for command in viewer.controls.keyboard.commands.values()}
    assert len(keys) == len(viewer.controls.keyboard.commands)
    assert not keys & OF_THE_CAMERA
    assert not keys & {*KEYS, CLOSE_KEY, OPEN_KEY}


def test_keys_play_pause_step_and_reset(viewer):
    visitor, session = Visitor(viewer), viewer.session
    visitor.press("space")
    assert session.playing
    visitor.press("space")
    assert not session.playing
    then = session.world.time
    visitor.press("N")
    assert session.world.time == pytest.approx(then + session.world.time_step, abs=1e-12)
    visitor.press("backspace")
    assert session.world.time == 0.0


def test_keys_change_the_speed_within_its_list(viewer):
    """Law: faster and slower are inverse, and end at 5 and 1/10."""
    visitor, session = Visitor(viewer), viewer.session
    visitor.press("X")
    assert session.speed == 2.0
    visitor.press("Z")
    assert session.speed == 1.0
    for key, last in (("X", 5.0), ("Z", 0.1)):
        for _ in range(10):
            visitor.press(key)
        assert session.speed == last


def test_a_bookmark_brings_the_camera_back(viewer):
    """Law: the camera of a bookmark is the camera that was stored, for the page that asks."""
    visitor, other = Visitor(viewer), Visitor(viewer)
    camera = visitor.client.camera
    camera.position, camera.look_at = np.array([1.0, 2.0, 3.0]), np.array([0.0, 0.5, 0.0])
    visitor.press("B")
    camera.position, camera.look_at = np.zeros(3), np.ones(3)
    visitor.press("2")  # there is none
    np.testing.assert_array_equal(camera.position, 0.0)
    visitor.press("1")
    np.testing.assert_array_equal(camera.position, [1.0, 2.0, 3.0])
    np.testing.assert_array_equal(camera.look_at, [0.0, 0.5, 0.0])
    np.testing.assert_array_equal(other.client.camera.position, [3.0, 0.0, 1.0])
    other.use(viewer.controls.camera.chosen, "1")
    np.testing.assert_array_equal(other.client.camera.position, [1.0, 2.0, 3.0])


def test_there_is_a_bookmark_for_each_digit(viewer):
    """Law: after nine bookmarks, the next replaces the ninth."""
    visitor = Visitor(viewer)
    for number in range(MOST_BOOKMARKS + 2):
        visitor.client.camera.position = np.full(3, float(number))
        visitor.press("B")
    assert tuple(viewer.controls.camera.bookmarks) == tuple("123456789")
    visitor.press("9")
    assert visitor.client.camera.position[0] == MOST_BOOKMARKS + 1
    visitor.press("8")
    assert visitor.client.camera.position[0] == 7.0


def test_cameras_follow_the_chosen_body_and_look_from_its_sides(viewer):
    """Law: the point that a camera looks at is the followed body, wherever the body has gone."""
    visitor = Visitor(viewer)
    visitor.press("V")
    assert viewer.controls.followed == "ball"
    viewer.session.world.step(2000)
    visitor.look()
    for side, axis in (("front", 0), ("left", 1), ("top", 2)):
        visitor.use(viewer.controls.camera.sides, side)
        camera = visitor.client.camera
        body = viewer.session.world.bodies["ball"].position + viewer.scene.position
        np.testing.assert_allclose(camera.look_at, body, atol=1e-9)
        assert np.argmax(camera.position - camera.look_at) == axis
    visitor.press("V")
    assert viewer.controls.followed == ""
