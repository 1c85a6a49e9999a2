# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Walks by velocity: footsteps, preview control from any state, sections that join, the robot."""

import itertools
import math

import numpy as np
import pytest
from control.test_preview_control import GRAVITY, HEIGHT, PERIOD, preview, walk_like  # noqa: F401
from control.walking import half_sitting_robot, model_on
from hypothesis import given, settings
from hypothesis import strategies as st

from hrpsim.control import ControllerError, Gait, Velocity, VelocityWalk, WalkError
from hrpsim.control.framework.control_loop import ControlLoop
from hrpsim.control.pattern.footsteps import Footstep
from hrpsim.control.pattern.gait import Pace
from hrpsim.control.pattern.preview_control import PreviewState
from hrpsim.control.pattern.replanned_walk import ReplannedWalk
from hrpsim.control.pattern.support_polygon import convex_hull, margins
from hrpsim.control.pattern.velocity_footsteps import (
    VelocityCommands,
    VelocityLimits,
    next_footstep,
)
from hrpsim.control.pattern.whole_body_zmp import WalkingBody
from hrpsim.world.fall import FallWatch, clearance

SOLES = ("l_sole", "r_sole")
LIMITS = VelocityLimits(0.2, 0.1, 0.03, 0.2)
WIDTH, TIME = 0.2, 0.9
signed = st.floats(-1.0, 1.0)


def middle(standing):
    inward = -0.5 if standing.side == "left" else 0.5
    return standing.point((0.0, inward * WIDTH))


@settings(max_examples=50, deadline=None)
@given(signed, signed, st.integers(1, 12))
def test_the_middle_of_the_feet_stays_on_the_arc(forward, turn, count):
    """x = v/w sin(w t), y = v/w (1 - cos(w t)) of a constant forward velocity and turn."""
    velocity = Velocity(0.3 * forward, 0.0, 0.4 * turn)
    foot = Footstep("right", 0.0, -0.5 * WIDTH, 0.0)
    for _ in range(count):
        foot = next_footstep(foot, velocity, TIME, WIDTH)
    angle = velocity.turn * TIME * count
    radius = velocity.forward * TIME * count
    sine = math.sin(angle) / angle if angle else 1.0
    rise = 2.0 * math.sin(0.5 * angle) ** 2 / angle if angle else 0.0
    assert foot.yaw == pytest.approx(angle, abs=1e-12)
    assert middle(foot) == pytest.approx([radius * sine, radius * rise], abs=1e-12)


@pytest.mark.parametrize("left", [0.05, -0.05])
def test_two_steps_to_the_side_move_by_the_velocity(left):
    """One foot opens, the other closes: after both the middle has moved by v t, the feet apart."""
    foot = Footstep("right", 0.0, -0.5 * WIDTH, 0.0)
    gaps = []
    for _ in range(6):
        before, foot = foot, next_footstep(foot, Velocity(0.0, left, 0.0), TIME, WIDTH)
        gaps.append(abs(foot.y - before.y))
    assert middle(foot)[1] == pytest.approx(6 * left * TIME)
    assert min(gaps) == pytest.approx(WIDTH)


@settings(max_examples=50, deadline=None)
@given(signed, signed, signed)
def test_limits_keep_direction_and_curve(forward, left, turn):
    """A velocity beyond the limits is scaled; the parts of the limits then add up to 1."""
    velocity = Velocity(forward, left, turn)
    found = np.array(LIMITS.within(velocity))
    along = LIMITS.forward if forward >= 0.0 else LIMITS.backward
    used = np.abs(found) @ [1.0 / along, 1.0 / LIMITS.left, 1.0 / LIMITS.turn]
    assert used <= 1.0 + 1e-12
    assert np.cross(found, velocity) == pytest.approx(0.0, abs=1e-12)
    assert found @ velocity >= 0.0
    assert LIMITS.within(Velocity(*found)) == pytest.approx(tuple(found), rel=1e-12)


def test_velocities_count_from_their_time_until_the_timeout():
    """The one with the latest time that has come counts; after the timeout it is zero."""
    commands = VelocityCommands(0.5)
    commands.add(Velocity(0.2), 2.0)
    commands.add(Velocity(0.1), 1.0)
    assert commands.at(0.9) == Velocity()
    assert commands.at(1.2) == Velocity(0.1)
    assert commands.at(1.6) == Velocity()
    assert commands.at(2.5) == Velocity(0.2)
    commands.add(Velocity(0.3), 9.0)
    commands.restart(2.5)
    assert commands.at(9.0) == Velocity(0.3)
    commands.add(Velocity(0.3), 10.0)
    commands.restart(0.0)
    assert commands.at(10.0) == Velocity()
    with pytest.raises(ControllerError, match="finite"):
        commands.add(Velocity(math.nan), 3.0)


def test_preview_control_goes_on_where_it_was(preview):  # noqa: F811
    """From rest it is the tracking of Kajita 2003; in two parts it is the same motion."""
    reference = walk_like(np.arange(2400) * PERIOD - 2.0)  # it rests for longer than the horizon
    rest = PreviewState.at_rest(np.zeros(1))
    expected = preview.follow(reference)[0]
    whole, _, then = preview.resume(reference, rest, 1000, 700)
    assert whole == pytest.approx(expected[:1000], abs=1e-9)
    rest_of_it, _, _ = preview.resume(reference[700:], then, 300, 0)
    assert rest_of_it == pytest.approx(expected[700:1000], abs=1e-9)


def test_a_changed_reference_leaves_the_zmp_within_the_sole(preview):  # noqa: F811
    """A foothold 0.2 m farther, 0.9 s ahead, moves the ZMP by 2 dx exp(-w t) at most.

    The divergent component has to change by dx exp(-w t); of all ZMPs that do so,
    w integral p exp(-w t) dt = dx exp(-w t), the one with the least integral of p^2 begins there.
    """
    times = np.arange(1600) * PERIOD
    before, then = np.zeros((1600, 1)), 0.9
    _, _, state = preview.resume(before, PreviewState.at_rest(np.zeros(1)), 101, 100)
    reference = np.where(times < then, 0.0, 0.2)[:, None]
    com, zmp, _ = preview.resume(reference, state, 1600, 0)
    w = np.sqrt(GRAVITY / HEIGHT)
    peak = 2.0 * 0.2 * np.exp(-w * then)
    assert np.abs(zmp[times < then - 0.15]).max() < 1.1 * peak
    assert com[-1] == pytest.approx([0.2], abs=1e-6)


@pytest.fixture(scope="module")
def body():
    return WalkingBody(model_on("openhrp"), SOLES)


def walked(body, velocities, place=None):
    walk = ReplannedWalk(body, Gait(), Pace(), PERIOD)
    return walk, [walk.section(velocity, place) for velocity in velocities]


STOP = Velocity()
VELOCITIES = [Velocity(0.2), Velocity(-0.1), STOP, Velocity(0.1, 0.01, 0.05), Velocity(0.1), STOP]
VELOCITIES += [STOP, STOP, Velocity(0.0, -0.02, -0.1), Velocity(0.0, 0.0, -0.2), STOP, STOP, STOP]


def test_sections_join(body):
    """Position and velocity of the mass go on, and so does the ZMP, well within the soles' hull.

    Through changes of direction, stops, and a command that comes while the feet close up. The
    soles are 0.14 m wide.
    """
    _, sections = walked(body, VELOCITIES)
    for before, after in itertools.pairwise(sections):
        assert after.com[0] == pytest.approx(before.com[-1], abs=3e-4)
        assert after.motion[0] == pytest.approx(before.motion[-1], abs=1e-3)
        assert after.com_velocity[0] == pytest.approx(before.com_velocity[-1], abs=0.02)
        if min(len(before.zmp), len(after.zmp)) > 2:  # a section takes its first one from before
            assert after.com_velocity[1] == pytest.approx(before.com_velocity[-2], abs=0.02)
            assert after.zmp[1] == pytest.approx(before.zmp[-2], abs=0.005)
        for k in range(0, len(after.zmp), 10):
            corners = [
                Footstep("", *pose[[0, 1, 3]]).point(outline)
                for pose, outline, stands in zip(after.soles[k], body.outlines, after.contact[k])
                if stands
            ]
            assert margins(after.zmp[k : k + 1], convex_hull(np.concatenate(corners)))[0] > 0.06


def test_it_ends_in_half_sitting(body):
    """After a stop the robot rests as it began, over the middle of its feet."""
    walk, sections = walked(body, [Velocity(0.2), Velocity(0.2), STOP, STOP, STOP])
    assert walk.is_standing
    joints = sections[-1].motion[-1][7:]
    assert joints == pytest.approx(body.rest[7:], abs=1e-6)
    assert sections[-1].soles[-1][0, 0] == pytest.approx(sections[-1].soles[-1][1, 0])


def test_footsteps_may_be_placed_elsewhere(body):
    """A place that is 20 mm higher raises the sole, and the waist with the lower foot."""

    def higher(nominal, standing):
        return nominal._replace(z=standing.z + 0.02)

    _, sections = walked(body, [Velocity(0.1)] * 3, higher)
    assert [section.footsteps[0].z for section in sections] == pytest.approx([0.02, 0.04, 0.06])
    assert sections[-1].soles[-1][:, 2] == pytest.approx([0.06, 0.04])
    assert sections[-1].waist[-1, 2] == pytest.approx(body.waist_height + 0.04)


def test_a_riser_too_high_for_the_usual_time_takes_the_time_of_stairs(body):
    """Law: such steps keep their length, their time in the air is 4/3 of that on the level."""

    def on_tread(nominal, standing):
        return nominal._replace(z=0.095 * (nominal.x > 0.3))

    walk, sections = walked(body, [Velocity(0.15)] * 6, on_tread)
    strides = np.diff([section.footsteps[0].x for section in sections])
    assert strides == pytest.approx(0.15 * 0.9, abs=0.005)
    assert [section.footsteps[0].z for section in sections].count(0.095) >= 3
    times = [(len(section.zmp) - 1) * PERIOD for section in sections[1:]]
    assert {round(time, 6) for time in times} == {0.9, 1.1}
    assert max(len(section.zmp) for section in sections) <= walk.longest
    for before, after in itertools.pairwise(sections):
        assert after.com[0] == pytest.approx(before.com[-1], abs=3e-4)
        assert after.com_velocity[0] == pytest.approx(before.com_velocity[-1], abs=0.02)


def test_steps_that_the_legs_cannot_make_are_shortened(body):
    """Where a place is out of reach a shorter step is tried, at last one on the spot."""

    def far_if_forward(nominal, standing):
        moved = abs(nominal.x - standing.x) > 0.06
        return nominal._replace(x=nominal.x + 1.0) if moved else nominal

    _, (section,) = walked(body, [Velocity(0.2)], far_if_forward)
    assert section.footsteps[0].x == pytest.approx(0.05, abs=0.02)
    with pytest.raises((WalkError, ValueError)):
        walked(body, [Velocity(0.2)], lambda nominal, standing: nominal._replace(x=5.0))


def test_the_robot_walks_turns_and_stops_when_it_hears_nothing():
    """It goes as far as its steps, turns as they do, and stands after the timeout."""
    robot = half_sitting_robot("openhrp")
    walk = VelocityWalk()
    watch = FallWatch(lambda: clearance(robot))
    with ControlLoop(robot, walk) as loop:
        begin = robot.world.time
        while (now := robot.world.time - begin) < 11.0:
            if now < 5.0:
                walk.command_velocity(Velocity(0.1, 0.0, 0.1), robot.world.time)
            loop.tick()
            watch.add(robot.q[2], robot.q[3:7])
    assert not watch.fallen
    assert walk.plan.is_standing
    left, right = walk.plan.stance["left"], walk.plan.stance["right"]
    yaw = 2.0 * math.atan2(robot.q[5], robot.q[6])
    assert yaw == pytest.approx(left.yaw, abs=0.02)
    assert left.yaw == pytest.approx(5 * 0.1 * 0.9, abs=0.1)
    middle_of_feet = [0.5 * (left.x + right.x), 0.5 * (left.y + right.y)]
    assert robot.q[:2] == pytest.approx(middle_of_feet, abs=0.03)
    assert np.hypot(*robot.q[:2]) > 0.35
