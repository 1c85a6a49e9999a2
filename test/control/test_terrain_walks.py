# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Walks on stairs whose heights are known, and over rubble of which nothing is."""

import math

import numpy as np
import pytest

import hrpsim
from hrpsim import share_path
from hrpsim.control import Footsteps, climb, simulate_walk, walking_pattern
from hrpsim.control import Walk as Walker
from hrpsim.control.pattern.footsteps import STAIRS_RUN
from hrpsim.control.pattern.support_polygon import sole_outline
from hrpsim.control.pattern.walking_pattern import fitting_pattern
from hrpsim.control.walk_trial import sole_motion
from robots import HRP2_LIKE

RISE, FIRST_RISER = 0.10, 0.1595  # of config/stairs.yaml [m]
MODEL = hrpsim.load_model(HRP2_LIKE)


@pytest.fixture(scope="module")
def stairs():
    return walking_pattern(MODEL, "stairs")


def test_every_foot_stands_on_its_tread(stairs):
    """Level, at k rises, its whole sole between the edges of tread k."""
    outline = sole_outline(MODEL, "l_sole")
    for k, step in enumerate(stairs.footsteps):
        tread = k // 2 + 1
        assert step.z == pytest.approx(tread * RISE)
        x = step.x + outline[:, 0] - FIRST_RISER
        assert (tread - 1) * STAIRS_RUN < x.min() and x.max() < tread * STAIRS_RUN


@pytest.mark.parametrize("rise", [RISE, -RISE])
def test_no_foot_passes_through_the_stairs(rise):
    """At all times each corner of each sole is above the tread beneath it, up and down."""
    made = walking_pattern(MODEL, Footsteps(climb(3, STAIRS_RUN, rise)))
    outline = sole_outline(MODEL, "l_sole")
    for foot in range(2):
        x = made.soles[:, foot, 0, None] + outline[:, 0] - FIRST_RISER
        tread = np.clip(np.floor(x / STAIRS_RUN) + 1, 0, 3) * rise
        assert (made.soles[:, foot, 2, None] - tread > -1e-9).all()


def test_the_zmp_lies_in_the_plane_of_the_standing_sole(stairs):
    """The pattern's margins are those of the level: the multibody ZMP follows its reference."""
    assert stairs.zmp_errors[-1] < 0.01
    waist = stairs.sequence.waist.values[:, 2]
    heights = stairs.sequence.zmp.values[:, 2] + waist
    alone = stairs.contacts[:, 0] != stairs.contacts[:, 1]
    standing = np.where(stairs.contacts[:, 0], stairs.soles[:, 0, 2], stairs.soles[:, 1, 2])
    assert np.abs(heights - standing)[alone].max() < 1e-9


def test_a_walk_that_climbs_is_not_made_smaller():
    walk = Footsteps(climb(1, STAIRS_RUN, RISE))
    assert walk.scaled(0.5) is walk
    made, pace = fitting_pattern(MODEL, walk)
    assert pace.length == 1.0 and made.footsteps[-1].z == RISE


def walked(world_file, pattern):
    world = hrpsim.load_world(share_path(world_file))
    robot = world.robots["hrp2"]
    return robot, simulate_walk(robot, Walker(), {"pattern": pattern})


def test_it_climbs_five_stairs_of_10_cm():
    robot, trial = walked("config/stairs.yaml", "stairs")
    assert trial.completed and trial.touched == ()
    assert np.degrees(trial.tilt.max()) < 1.0
    assert sole_motion(robot.model, trial).creep < 1e-4
    assert trial.q[-1][2] - trial.q[0][2] == pytest.approx(5 * RISE, abs=2e-3)


def test_it_crosses_rubble_of_2_cm():
    """Nine steps over two metres of stones that it does not know, on rubber bushes."""
    robot, trial = walked("config/rubble.yaml", "forward")
    assert trial.completed and math.degrees(trial.tilt.max()) < 5.0
    assert sole_motion(robot.model, trial).distance == pytest.approx(1.8, abs=0.05)
