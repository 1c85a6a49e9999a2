# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Kept lists of leaves of dense solids: they save a search of the trees, and change no contact."""

import numpy as np
import pytest
from collision.solids import ball_mesh, meet_solids
from collision.test_separating_axis import MARGIN, near_pairs, pebble
from scipy.spatial.transform import Rotation

from hrpsim import World
from hrpsim.engine.collision.mesh.solid_pair import SEPARATION, SOLID_PAIR


def same(found, truth) -> bool:
    """Return whether two manifolds are the same, bit for bit."""
    return found.count == truth.count and all(
        (getattr(found, name) == getattr(truth, name)).all()
        for name in ("features", "gaps", "normals", "points")
    )


@pytest.mark.parametrize("make", [pebble, lambda rng: ball_mesh(0.1, 3)])
@pytest.mark.parametrize("speed", [0.01, 0.1, 1.0])
def test_kept_leaves_change_no_contact(make, speed):
    """Law: along a screw motion the contacts are those of lists that are made in every step.

    At low speed, most steps use the list of an earlier step.
    """
    touched = reused = 0
    for a, b, rng in near_pairs(17, 4, make):
        kept, separation = np.zeros(1, SOLID_PAIR), np.zeros(1, SEPARATION)
        drift, spin = speed * rng.normal(size=3), 5.0 * speed * rng.normal(size=3)
        for k in range(40):
            time = 1e-3 * k
            R = Rotation.from_rotvec(time * spin).as_matrix() @ a.R
            moved = a._replace(R=R, p=tuple(np.add(a.p, time * drift)))
            before, fresh = kept["kept_leaves"].tobytes(), separation.copy()
            truth = meet_solids(moved, b, MARGIN, tuple(drift), separation=fresh)
            found = meet_solids(
                moved, b, MARGIN, tuple(drift), separation=separation, solid_pair=kept
            )
            assert same(found, truth)
            touched += found.count > 0
            is_owned = (kept["kept_leaves"]["owner"] != 0).any()
            reused += is_owned and before == kept["kept_leaves"].tobytes()
    assert touched > 20
    assert reused > 0.5 * touched or speed > 0.01


def test_worlds_are_the_same_with_lists_made_in_every_step():
    """Law: a heap of hulls has the same states, bit for bit, if all kept lists are dropped."""
    worlds = [World(), World()]
    for world in worlds:
        rng = np.random.default_rng(3)
        world.add_ground()
        world.add_body(ball_mesh(0.2, 3), 9.0, position=(0.0, 0.0, 0.2))
        for k in range(3):
            world.add_body(pebble(rng), 1.0, position=(0.0, 0.03 * k, 0.5 + 0.2 * k))
    kept, dropped = worlds
    listed = 0
    for _ in range(300):
        dropped.scene.collision.solid_pair["kept_leaves"]["owner"] = 0
        kept.step()
        dropped.step()
        assert (kept.scene.q == dropped.scene.q).all()
        listed += (kept.scene.collision.solid_pair["kept_leaves"]["owner"] != 0).any()
    assert listed > 50
