# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""What a person presses, and where the crane goes."""

import numpy as np
import pytest

from evidence.crane.player import PlayedCrane
from hrpsim import load_world, share_path
from hrpsim.control import ControllerError, ControlLoop


@pytest.fixture
def game():
    world = load_world(share_path("config/crane.yaml"))
    player = PlayedCrane()
    return player, ControlLoop(world.robots["crane"], player)


def play(loop, duration):
    for _ in range(round(duration / loop.controller.period)):
        loop.tick()


def test_a_pressed_direction_ends_after_its_time(game):
    player, loop = game
    loop.tick()
    start = player.position
    player.press("up", 0.2)
    player.press("left", 0.2)
    play(loop, 0.2)
    assert player.velocity[2] == pytest.approx(0.25 / np.sqrt(2.0))
    play(loop, 0.5)
    assert not player.velocity.any()
    moved = player.position - start
    assert moved[2] == pytest.approx(moved[1]) and moved[2] > 0.02
    assert moved[0] == moved[3] == 0.0


def test_it_glides_to_a_target_until_something_is_pressed(game):
    player, loop = game
    loop.tick()
    player.send_to((0.1, 0.2, 9.0, 1.0))
    play(loop, 3.0)
    np.testing.assert_allclose(player.position, [0.1, 0.2, 0.5, 1.0], atol=1e-9)
    player.send_to((0.0, 0.0, 0.2, 0.0))
    play(loop, 0.3)
    player.press("down", 0.05)
    play(loop, 1.0)
    assert player.target is None and not player.velocity.any() and player.position[2] > 0.25


def test_a_stick_moves_it_by_shares_of_its_speed_and_lets_go_when_silent(game):
    player, loop = game
    loop.tick()
    player.push_stick((0.0, -0.5, 0.0, 2.0), 0.6)
    play(loop, 0.6)
    np.testing.assert_allclose(player.velocity, [0.0, -0.125, 0.0, 1.2], atol=1e-12)
    play(loop, 0.5)
    assert not player.velocity.any()


def test_a_reset_lets_go_of_everything(game):
    player, loop = game
    loop.tick()
    player.close = True
    player.send_to((0.3, 0.0, 0.3, 0.0))
    play(loop, 0.5)
    loop.robot.world.reset()
    play(loop, 0.5)
    assert not player.close and player.target is None
    np.testing.assert_array_equal(player.position, [-0.1, 0.0, 0.2, 0.0])


def test_an_unknown_direction_is_refused(game):
    with pytest.raises(ControllerError, match=r"sideways.*forward"):
        game[0].press("sideways")
