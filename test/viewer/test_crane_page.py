# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The crane game in a real browser: held buttons, keys, and how many frames a second."""

import numpy as np
import pytest
from viewer.crane_game import crane_game
from viewer.page import Shown, in_browser

pytestmark = in_browser


@pytest.fixture(scope="module")
def game():
    viewer, player, loop = crane_game()
    shown = Shown(viewer)
    shown.player = player
    yield shown
    shown.close()
    loop.stop()


@pytest.mark.long
def test_buttons_and_keys_move_the_crane(game):
    crane = game.world.robots["crane"]

    def position():
        return crane.joint_positions[:4]

    def hold_up():
        game.page.mouse("mouseReleased", *game.page.place_of("Up"))
        game.page.mouse("mousePressed", *game.page.place_of("Up"))

    def at_rest():
        return not game.player.velocity.any() and np.abs(crane.joint_velocities[:4]).max() < 1e-2

    def height_after_i():
        further = position()[0] + 0.01
        game.repeat(lambda: game.page.key("I"), lambda: position()[0] > further)
        game.wait_for(at_rest)
        return position()[2]

    start = position()
    game.repeat(hold_up, lambda: position()[2] > start[2] + 0.05)
    game.page.mouse("mouseReleased", *game.page.place_of("Up"))
    game.wait_for(at_rest)
    np.testing.assert_allclose(position()[[0, 1, 3]], start[[0, 1, 3]], atol=1e-4)

    height = height_after_i()  # which shows that the release, sent before, has been heard
    assert height_after_i() == pytest.approx(height, abs=1e-3)

    knuckle = crane.joint_names.index("left_knuckle")
    game.wait_for(lambda: crane.joint_positions[knuckle] < -0.2)
    game.press("Close claws", lambda: crane.joint_positions[knuckle] > 0.2)
    assert "0 of 15 in the goal" in game.page.text()


@pytest.mark.long
def test_frames_are_served_and_drawn(game):
    game.viewer.drawing.shows["contacts"] = True
    count = game.viewer.frame_count
    game.page.wait_for_frames(5)
    game.wait_for(lambda: game.viewer.frame_count > count + 15)
