# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Calls of `step` that a signal or another thread meets: state, time and count agree afterwards."""

import contextlib
import signal
import threading

import numpy as np
import pytest

import hrpsim
from hrpsim import WorldError


class Enough(Exception):
    """What the handler of the alarm raises."""


@pytest.fixture
def alarm():
    """Let SIGVTALRM raise Enough; return a function that sets when [s of the processor's time]."""

    def handler(number, frame):
        raise Enough

    before = signal.signal(signal.SIGVTALRM, handler)
    yield lambda delay: signal.setitimer(signal.ITIMER_VIRTUAL, delay)
    signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
    signal.signal(signal.SIGVTALRM, before)


def falling(**options):
    world = hrpsim.World(gravity=(0.0, 0.0, -1.0), **options)
    return world, world.add_body(hrpsim.Sphere(0.1), 1.0)


@pytest.mark.parametrize("integrator", ["semi_implicit", "rk4"])
def test_time_and_state_agree_after_an_interrupt(alarm, integrator):
    """Free fall is exact: v = -t and z = -t^2 / 2 at the time that the world says it is."""
    world, body = falling(integrator=integrator)
    world.step()
    for _ in range(10):
        with pytest.raises(Enough):
            alarm(0.02)
            world.step(10**9)
        t = world.time
        assert t > 0.001
        assert body.velocity[2] == pytest.approx(-t, rel=1e-9)
        assert body.position[2] == pytest.approx(-0.5 * t * t, rel=1e-9)
        before = t
        world.step()
        assert world.time == pytest.approx(before + 0.001)


def test_an_interrupt_ends_a_call_that_would_take_days(alarm):
    world, _ = falling()
    world.step()
    with pytest.raises(Enough):
        alarm(0.05)
        world.step(10**12)
    assert world.time < 10**9 * world.time_step


def test_interrupted_steps_are_those_of_a_world_that_was_not(alarm):
    """Boxes that fall asleep and are woken: in pieces of any length the same states, bit by bit."""

    def heap():
        world = hrpsim.World()
        world.add_ground()
        for k in range(4):
            world.add_body(hrpsim.Box((0.1, 0.1, 0.1)), 1.0, (0.0, 0.3 * k, 0.1 * k + 0.06))
        world.add_body(hrpsim.Sphere(0.1), 1.0, (0.0, 0.0, 4.0))
        return world

    world, other = heap(), heap()
    world.step()
    done = 1
    while done < 3000:
        try:
            alarm(0.002)
            world.step(3000 - done)
            alarm(0.0)
        except Enough:
            pass
        done = round(world.time / world.time_step)
    other.step(3000)
    assert world.asleep == other.asleep
    for name, body in world.bodies.items():
        assert body.q.tobytes() == other.bodies[name].q.tobytes()


def test_another_thread_is_refused_while_the_world_steps():
    """Law: whatever is asked meanwhile is refused, and changes nothing."""
    world, body = falling()
    world.step()
    asked = [world.step, world.snapshot, world.copy, world.reset]

    def work():
        while asked:
            with contextlib.suppress(WorldError):  # this thread asks between two of its calls
                world.step(100_000)

    thread = threading.Thread(target=work)
    thread.start()
    while asked and thread.is_alive():
        try:
            asked[0]()
        except WorldError as error:
            assert "another thread is using the world" in str(error)
            del asked[0]
    thread.join()
    assert not asked
    assert body.velocity[2] == pytest.approx(-world.time, rel=1e-9)
    world.step()


@pytest.mark.parametrize("wrong", [-1, 1.5, np.nan, np.inf, "two", None])
def test_a_number_of_steps_that_is_none_is_refused(wrong):
    world, _ = falling()
    with pytest.raises(WorldError, match="the number of steps must be a whole number >= 0, got"):
        world.step(wrong)
    assert world.time == 0.0


def test_numbers_of_steps_may_be_of_any_kind_of_integer():
    """Law: a count is an integer: 2.0 may be seconds that were meant."""
    world, _ = falling()
    for n in (2, np.int64(2), np.int32(2), np.uint8(2)):
        world.step(n)
    for n in (2.0, np.float32(2.0), True):
        with pytest.raises(WorldError, match="the number of steps must be a whole number"):
            world.step(n)
    assert world.time == pytest.approx(0.008)
