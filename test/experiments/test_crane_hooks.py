# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""What the crane does with concave solids."""

import numpy as np
import pytest

from evidence.crane import scene as scene
from evidence.experiments.scenes import crane_hooks as hooks
from evidence.experiments.scenes.crane_hooks import FLANGE, HEIGHT, SLOT, WEB, girder


def test_the_girder_is_a_closed_h():
    mesh = girder(0.04)
    assert mesh.is_closed and not mesh.is_convex
    volume = 0.04 * (FLANGE * HEIGHT - (FLANGE - WEB) * SLOT)
    assert mesh.volume == pytest.approx(volume)
    np.testing.assert_allclose(mesh.vertices.mean(axis=0), 0.0, atol=1e-15)


def test_the_girder_hangs_by_its_flange_where_a_box_slips_away():
    # All that friction carries is a fifth of the weight.
    assert 2.0 * hooks.SLIPPERY * hooks.GIRDER_GRIP < 0.25 * hooks.MASS * scene.GRAVITY
    hung = hooks.play(0.02, hooks.girder_load(), hooks.GIRDER_GRIP, hooks.SLIPPERY, 1.0)
    assert hung.below == pytest.approx(hooks.PLAY, abs=1e-4)
    assert hung.carried > 0.75 * hooks.MASS * scene.GRAVITY
    left = hooks.play(0.02, hooks.block_load(), hooks.GIRDER_GRIP, hooks.SLIPPERY, 1.0)
    assert left.lifted == pytest.approx(0.0, abs=1e-5)


def test_the_girder_stays_where_it_hangs():
    hung = hooks.play(0.02, hooks.girder_load(), hooks.GIRDER_GRIP, hooks.SLIPPERY, 1.0)
    assert hung.held.slips.max() < scene.LARGEST_SLIP


@pytest.mark.parametrize("rate", [50, 100])
def test_the_heart_is_lifted_by_notch_and_tip(rate):
    held = hooks.play(1.0 / rate, hooks.heart_load(), hooks.HEART_GRIP, scene.FRICTION, 1.0)
    assert held.lifted == pytest.approx(0.09, abs=2e-4)
    assert held.lift_slip < scene.LARGEST_SLIP and held.held.slips.max() < scene.LARGEST_SLIP
    assert held.walls == 2
