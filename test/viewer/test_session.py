# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Play, pause, step, reset, looking back and going on: what a person does, without a browser."""

import numpy as np
import pytest

from hrpsim import Box, HrpsimError, World, WorldError
from hrpsim.viewer.session import Session, TimeAdvance

FRAME = 0.025


class Wall:
    def __init__(self):
        self.now = 50.0

    def __call__(self):
        return self.now


@pytest.fixture
def wall():
    return Wall()


@pytest.fixture
def session(wall):
    world = World(time_step=1e-3)
    world.add_ground()
    world.set_friction("default", "default", static=0.3)
    world.add_body(
        Box((0.2, 0.2, 0.2)), 1.0, (0, 0, 0.5), velocity=(1, 0, 0), angular_velocity=(1, 2, 3)
    )
    return Session(world, clock=wall)


def play(session, wall, duration):
    session.play()
    for _ in range(round(duration / FRAME)):
        wall.now += FRAME
        session.frame(FRAME)


def state(world):
    return np.concatenate([world.bodies["box"].q, world.bodies["box"].v])


@pytest.mark.parametrize("speed", [0.1, 1.0, 2.0])
def test_time_passes_at_the_chosen_speed(session, wall, speed):
    session.speed = speed
    play(session, wall, 1.0)
    assert session.world.time == pytest.approx(speed, abs=2e-3)


def test_paused_time_stands_still_and_a_pause_is_not_caught_up_with(session, wall):
    play(session, wall, 0.2)
    session.pause()
    then = session.world.time
    for _ in range(40):
        wall.now += FRAME
        assert session.frame(FRAME) == 0
    assert session.world.time == then
    play(session, wall, 0.1)
    assert session.world.time == pytest.approx(then + 0.1, abs=2e-3)


def test_a_step_is_one_step_and_pauses(session, wall):
    play(session, wall, 0.1)
    then = session.world.time
    session.step()
    assert session.world.time == pytest.approx(then + 1e-3) and not session.playing


def test_reset_returns_to_the_beginning(session, wall):
    begin = state(session.world)
    play(session, wall, 0.3)
    session.reset()
    assert session.world.time == 0.0 and len(session.recording) == 1
    np.testing.assert_array_equal(state(session.world), begin)


def test_looking_back_shows_the_past_and_keeps_the_present(session, wall):
    play(session, wall, 0.5)
    now, present = session.world.time, state(session.world)
    for back in (0.4, 0.1, 0.25):
        session.look_back(back)
        assert session.world.time == pytest.approx(now - back, abs=FRAME)
        assert session.looking_back == pytest.approx(now - session.world.time)
    session.look_back(0.0)
    np.testing.assert_array_equal(state(session.world), present)
    session.look_back(0.3)
    session.play()
    assert session.world.time == now
    np.testing.assert_array_equal(state(session.world), present)


def test_going_on_from_the_past_repeats_it_bit_for_bit(session, wall):
    play(session, wall, 0.5)
    steps, present = round(session.world.time / 1e-3), state(session.world)
    session.look_back(0.3)
    session.go_on_from_here()
    session.world.step(steps - round(session.world.time / 1e-3))
    np.testing.assert_array_equal(state(session.world), present)


def test_a_controlled_world_does_not_go_on_from_the_past(session):
    held = Session(session.world, TimeAdvance(0.005, lambda: session.world.step(5), rewinds=False))
    with pytest.raises(HrpsimError, match="cannot go back in time"):
        held.go_on_from_here()


def test_a_step_that_fails_pauses_and_says_why(session, wall):
    def fail():
        raise WorldError("it diverged")

    session.motion.tick = fail
    play(session, wall, 0.1)
    assert not session.playing and session.problem == "it diverged"


def test_a_drag_moves_the_body_and_a_release_lets_it_fall(session, wall):
    play(session, wall, 2.0)
    box = session.world.bodies["box"]
    assert box.position[2] == pytest.approx(0.1, abs=1e-3)
    session.grab("box", "box", box.position)
    session.drag_to(box.position + (0.0, 0.0, 0.5))
    play(session, wall, 1.5)
    held = session.grip.target[2] - 9.80665 / session.grip.stiffness
    assert box.position[2] == pytest.approx(held, abs=1e-3)
    session.release()
    play(session, wall, 2.0)
    assert box.position[2] == pytest.approx(0.1, abs=1e-3)


def test_drawing_keeps_its_share_when_steps_are_slow(session, wall):
    def slow():
        wall.now += 0.01
        session.world.step()

    session.motion.tick = slow
    session.play()
    wall.now += FRAME
    assert session.frame(FRAME) == 2
