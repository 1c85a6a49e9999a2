# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Collisions along motions: when closed forms say, between samples too, and none is missed."""

import numpy as np
import pytest
from geometry.test_link_distances import SPHERE, robot
from hypothesis import given, settings
from hypothesis import strategies as st

import hrpsim
from hrpsim import Sphere, StateError, share_path
from hrpsim.world.self_collisions import random_posture

pytest.importorskip("coal")
from hrpsim.geometry import LinkDistances, check_motion

ROW = LinkDistances(robot(SPHERE, SPHERE))


def test_balls_that_pass_through_each_other_between_two_samples():
    """Law: from x = -1 to 1 in 1 s they overlap while |x| < 0.2: from 0.4 to 0.6 s, 0.2 deep."""
    (found,) = check_motion(ROW, [0.0, 1.0], [[0.0, -1.0], [0.0, 1.0]])
    assert found.links == ("l0", "l1")
    assert found.begin == pytest.approx(0.4, abs=1e-4) and found.end == pytest.approx(0.6, abs=3e-4)
    assert found.depth == pytest.approx(0.2, rel=0.1) and found.time == pytest.approx(0.5, abs=0.02)


def test_those_that_miss_each_other_are_not_listed():
    assert check_motion(ROW, [0.0, 1.0], [[0.0, 0.2003], [0.0, 1.0]]) == []
    assert check_motion(ROW, [0.0], [[0.0, 0.5]]) == []
    assert check_motion(ROW, [0.0, 1.0], [[0.0, 0.5]] * 2) == []


def test_a_collision_that_lasts_goes_to_the_ends():
    (found,) = check_motion(ROW, [1.0, 2.0, 3.0], [[0.0, 0.1], [0.0, 0.1], [0.0, 0.1]])
    assert (found.begin, found.end) == (1.0, 3.0) and found.depth == pytest.approx(0.1, rel=1e-4)


def test_a_collision_at_rest_before_the_motion_begins_is_listed():
    """Law: it begins with the rest; at rest in between, it goes on."""
    (found,) = check_motion(ROW, [0.0, 1.0, 2.0], [[0.0, 0.0], [0.0, 0.0], [0.0, 0.5]])
    assert found.begin == 0.0 and found.end == pytest.approx(1.4, abs=1e-3)
    course = [[0.0, 0.5], [0.0, 0.0], [0.0, 0.0], [0.0, 0.5]]
    (found,) = check_motion(ROW, [0.0, 1.0, 2.0, 3.0], course)
    assert (found.begin, found.end) == pytest.approx((0.6, 2.4), abs=1e-3)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.floats(-1.0, 1.0), min_size=2, max_size=6))
def test_every_stretch_of_a_ball_s_course_is_found(course):
    """Law: dense sampling of the same straight courses finds no overlap outside the stretches."""
    times, q = np.arange(float(len(course))), np.array([[0.0, x] for x in course])
    found = check_motion(ROW, times, q)
    for t in np.linspace(0.0, times[-1], 400):
        inside = any(one.begin - 1e-3 <= t <= one.end + 1e-3 for one in found)
        gap = abs(np.interp(t, times, q[:, 1])) - 0.2
        assert inside or gap > 0.0, (t, gap)


def test_no_collision_of_a_turning_humanoid_is_missed():
    """Law: what 400 samples of a motion see lies within the stretches that are listed."""
    model = hrpsim.load_model(share_path("urdf/hrp2_like.urdf.xacro"))
    distances, random = LinkDistances(model), np.random.default_rng(4)
    times, listed = np.array([0.0, 0.5, 1.0]), 0
    for _ in range(4):
        a, b = random_posture(model, random), random_posture(model, random)
        found = check_motion(distances, times, np.array([a, 0.5 * (a + b), b]))
        listed += len(found)
        for t in np.linspace(0.0, 1.0, 100):
            for pair, depth in distances.overlaps(a + t * (b - a)).items():
                here = [one for one in found if one.links == pair and one.begin <= t <= one.end]
                assert here or depth < 1e-9, (pair, t, depth)
    assert listed >= 2


@pytest.mark.parametrize(
    ("times", "q"),
    [
        ([0.0, 0.0], [[0.0, 1.0]] * 2),
        ([0.0, 1.0], [[0.0, 1.0]]),
        ([0.0], [[0.0]]),
        ([0.0, 1.0], [[0.0, np.nan]] * 2),
        ([], np.zeros((0, 2))),
    ],
)
def test_what_is_no_motion_is_refused(times, q):
    with pytest.raises(StateError):
        check_motion(ROW, times, q)


def test_a_slide_beyond_its_limits_still_reaches_as_far_as_the_motion_says():
    """Law: a ball 3 m out on a turning arm passes a post at 45 degrees, a quarter of the turn in.

    The arm's limit is 0.1 m: were that its reach, the turn would be taken in steps past the post.
    """
    inertial = (
        '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
    )
    inertial += "</inertial>"
    ball = '<collision><geometry><sphere radius="0.02"/></geometry></collision>'
    model = hrpsim.load_model(
        f"""<robot name="arm"><link name="base"/><link name="hub">{inertial}</link>
        <link name="tip">{inertial}{ball}</link>
        <joint name="turn" type="continuous"><parent link="base"/><child link="hub"/>
        <axis xyz="0 0 1"/></joint>
        <joint name="out" type="prismatic"><parent link="hub"/><child link="tip"/>
        <limit lower="0" upper="0.1" effort="1" velocity="1"/></joint></robot>""",
        base="fixed",
    )
    world = hrpsim.World()
    world.add_static(Sphere(0.02), position=(3.0 / np.sqrt(2.0), 3.0 / np.sqrt(2.0), 0.0))
    distances = LinkDistances(model, world.fixed_shapes)
    (found,) = check_motion(distances, [0.0, 4.0], [[0.0, 3.0], [np.pi, 3.0]])
    assert found.time == pytest.approx(1.0, abs=0.01)
