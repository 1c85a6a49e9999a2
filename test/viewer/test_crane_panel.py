# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""What the crane's panel shows in the scene, without a browser."""

import numpy as np
import pytest
from viewer.crane_game import crane_game

pytest.importorskip("viser")


@pytest.fixture
def game():
    viewer, player, loop = crane_game()
    viewer.player = player
    yield viewer
    viewer.stop()
    loop.stop()


def colours(drawing, name):
    return {tuple(node.color) for entity, _, node in drawing.parts if entity == name}


def test_the_heart_has_a_colour_of_its_own_also_when_drawn_anew(game):
    pink = colours(game.drawing, "heart")
    assert len(pink) == 1
    assert not any(pink & colours(game.drawing, body) for body in ("box", "ball", "brick_1"))
    anew = game.drawing.redrawn(game.session.world)
    assert colours(anew, "heart") == pink and anew.arrow_size == game.drawing.arrow_size
    assert len(colours(anew, "girder")) == 1, "all three boxes of it"


def test_contact_forces_are_shown_once_they_are_asked_for(game):
    game.session.step()
    game.show()
    assert game.session.world.contacts and not game.drawing.shows["contacts"]
    game.controls.arrows["contacts"].value = True
    game.show()
    assert game.drawing.shows["contacts"]


def test_a_mark_stands_below_the_claws(game):
    game.session.step()
    game.session.play()
    game.player.send_to((0.1, 0.05, 0.2, 0.5))
    while game.session.world.time < 3.0:
        game.show()
    x, y, z, yaw = game.session.world.robots["crane"].joint_positions[:4]
    assert (x, y, yaw) == pytest.approx((0.1, 0.05, 0.5), abs=1e-2)
    (foot, top), (one, other) = game.panels[0].aim
    np.testing.assert_allclose(foot[:2], (x, y), atol=2e-3)
    np.testing.assert_allclose(top, (x, y, z), atol=2e-3)
    # The pads press along the hand's y axis.
    np.testing.assert_allclose(0.5 * (one + other), foot, atol=1e-6)
    assert (other - one)[:2] @ (np.cos(yaw), np.sin(yaw)) == pytest.approx(0.0, abs=1e-3)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -1e300])
def test_values_that_no_slider_has_do_not_end_the_game(game, value):
    """Law: a page may send any number; the hand stays within its range and the crane goes on."""
    sliders = {h.label: h for h in game.server.gui._gui_input_handle_from_uuid.values()}
    grip = sliders["Grip [N]"]
    grip.value = value
    game.session.step()
    game.player.send_to([value] * 4)
    lowest, highest = game.player.range
    assert ((lowest <= game.player.target) & (game.player.target <= highest)).all()
    for _ in range(5):
        game.show()
        game.session.step()
    assert game.session.problem == "" and grip.min <= game.player.grip <= grip.max
