# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Footsteps of a walk, the soles' outlines, and what plans are refused."""

import math
from itertools import pairwise

import numpy as np
import pytest

import hrpsim
from hrpsim.control import Footsteps, Steps, WalkError
from hrpsim.control.pattern.footsteps import (
    PATTERNS,
    Footstep,
    backward,
    forward,
    in_place,
    named_walk,
    plan_footsteps,
    sideways,
    turn,
)
from hrpsim.control.pattern.support_polygon import convex_hull, gap_between, margins, sole_outline
from robots import HRP2_LIKE

LEFT, RIGHT = Footstep("left", 0.01, 0.095, 0.0), Footstep("right", 0.01, -0.095, 0.0)
OUTLINE = np.array([[-0.10, -0.07], [0.14, -0.07], [0.14, 0.07], [-0.10, 0.07]])


def plan(*steps, first="left"):
    return plan_footsteps(Footsteps(steps, first), LEFT, RIGHT, (OUTLINE, OUTLINE))


def test_outline_of_the_sole_is_read_from_the_model():
    for bush in (False, True):
        model = hrpsim.load_model(str(HRP2_LIKE), xacro_arguments={"bush": bush})
        for sole in ("l_sole", "r_sole"):
            corners = {tuple(corner) for corner in np.round(sole_outline(model, sole), 9)}
            assert corners == {tuple(corner) for corner in OUTLINE}
    with pytest.raises(hrpsim.ModelError, match="has no flat sole"):
        sole_outline(model, "HEAD_LINK0")


@pytest.mark.parametrize("name", PATTERNS)
def test_feet_alternate_and_end_side_by_side(name):
    walk = named_walk(name)
    steps = plan_footsteps(walk, LEFT, RIGHT, (OUTLINE, OUTLINE))
    sides = [step.side for step in steps]
    assert sides[0] == walk.first
    assert all(a != b for a, b in pairwise(sides))
    ends = {step.side: step for step in steps}
    assert ends["left"].yaw == pytest.approx(ends["right"].yaw)
    across = ends["left"].point((0.0, 0.0)) - ends["right"].point((0.0, 0.0))
    yaw = ends["left"].yaw
    assert across == pytest.approx([-0.19 * math.sin(yaw), 0.19 * math.cos(yaw)])


def test_e5_is_the_walk_of_the_paper():
    """19 steps, with turning and backward walking."""
    steps = plan_footsteps(PATTERNS["E5"], LEFT, RIGHT, (OUTLINE, OUTLINE))
    assert len(steps) == 19
    middles = [(a.point((0, 0)) + b.point((0, 0))) / 2 for a, b in pairwise(steps)]
    ahead = [
        (b - a) @ (math.cos(step.yaw), math.sin(step.yaw))
        for a, b, step in zip(middles, middles[1:], steps[1:])
    ]
    assert max(ahead) > 0.15
    assert min(ahead) < -0.10
    assert steps[-1].yaw == pytest.approx(math.radians(48.0))


def test_walks_go_where_they_say():
    end = plan(forward(4, 0.2))[-1]
    assert (end.x, end.y, end.yaw) == pytest.approx((0.81, 0.095, 0.0))
    assert plan(backward(4, 0.1))[-1].x == pytest.approx(-0.39)
    assert plan(sideways(4, 0.05))[-1].y == pytest.approx(-0.095 + 0.10)
    assert plan(sideways(4, -0.05), first="right")[-1].y == pytest.approx(0.095 - 0.10)
    assert plan(turn(6, -0.2))[-1].yaw == pytest.approx(-1.2)
    assert len(plan(in_place(6))) == 6
    assert len(plan(forward(6, 0.1))) == 7  # and one that closes up


def test_a_turn_turns_about_the_place_between_the_feet():
    steps = plan(turn(5, math.radians(12.0)))
    left, right = steps[-2:] if steps[-1].side == "right" else steps[:-3:-1]
    middle = (left.point((0, 0)) + right.point((0, 0))) / 2
    assert middle == pytest.approx([0.01, 0.0])


def test_plans_that_cannot_be_walked_are_refused():
    with pytest.raises(WalkError, match=r"'E6' does not exist.*Available: E5, stepping"):
        named_walk("E6")
    with pytest.raises(WalkError, match=r"step 2, with the right foot, leaves .* mm between"):
        plan(in_place(1), turn(4, math.radians(25.0)))
    with pytest.raises(WalkError, match="step 1, with the left foot, leaves -"):
        plan(Steps(1, turn=math.radians(180.0)))  # the left foot would cross to the right
    with pytest.raises(WalkError, match=r"'middle' does not exist. Available: left, right"):
        Footsteps((in_place(2),), first="middle")
    with pytest.raises(WalkError, match="at least 1"):
        forward(0, 0.2)
    with pytest.raises(WalkError, match=r"Steps.forward must be a number, got nan"):
        forward(2, math.nan)


def test_margins_are_distances_to_the_nearest_edge():
    hull = convex_hull(np.concatenate([OUTLINE, OUTLINE + (0.0, 0.19), [[0.0, 0.05]]]))
    assert len(hull) == 4
    points = [[0.02, 0.095], [0.02, -0.06], [0.2, 0.0], [-0.1, 0.0]]
    np.testing.assert_allclose(margins(points, hull), [0.12, 0.01, -0.06, 0.0], atol=1e-12)


def test_gap_between_soles():
    assert gap_between(OUTLINE, OUTLINE + (0.0, 0.19)) == pytest.approx(0.05)
    assert gap_between(OUTLINE, OUTLINE + (0.3, 0.0)) == pytest.approx(0.06)
    assert gap_between(OUTLINE, OUTLINE + (0.1, 0.1)) == pytest.approx(-0.04)
    turned = Footstep("left", 0.02, 0.19, math.radians(30.0)).point(OUTLINE)
    corners = turned[:, 1].min() - 0.07  # the nearest corner and the edge y = 0.07
    assert gap_between(OUTLINE, turned) == pytest.approx(corners)
    assert gap_between(turned, OUTLINE) == pytest.approx(corners)
