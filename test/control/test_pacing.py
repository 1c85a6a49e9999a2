# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

import pytest

from hrpsim.control.framework.pacing import Pacer


class WallClock:
    """A clock that only its own sleep moves."""

    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now

    def sleep(self, duration):
        self.now += duration


@pytest.fixture
def wall():
    return WallClock()


def simulate(pacer, wall, duration, cost_of_step=0.0):
    """Run a stepping loop for `duration` of wall time and return the number of steps."""
    steps, end = 0, wall.now + duration
    while wall.now < end:
        due = pacer.steps_due(most=5)
        if due == 0:
            pacer.wait(longest=0.01)
        wall.now += due * cost_of_step
        pacer.made(due)
        steps += due
    return steps


@pytest.mark.parametrize("factor", [0.1, 1.0, 2.5])
def test_real_time_is_kept(wall, factor):
    pacer = Pacer(1e-3, factor, wall, wall.sleep)
    assert simulate(pacer, wall, 10.0) == pytest.approx(10_000 * factor, abs=2)


def test_factor_zero_never_waits(wall):
    pacer = Pacer(1e-3, 0.0, wall, wall.sleep)
    assert pacer.steps_due(most=7) == 7
    pacer.wait(longest=1.0)
    assert wall.now == 100.0


def test_slow_steps_lower_the_factor_instead_of_piling_up(wall):
    pacer = Pacer(1e-3, 1.0, wall, wall.sleep)
    assert simulate(pacer, wall, 10.0, cost_of_step=2e-3) == pytest.approx(5000, abs=10)
    assert simulate(pacer, wall, 10.0) < 10_000 + 150  # at most 0.1 s is caught up with


def test_a_pause_is_not_made_up_for(wall):
    pacer = Pacer(1e-3, 1.0, wall, wall.sleep)
    wall.now += 60.0
    pacer.start()
    assert pacer.steps_due(most=1000) == 0


def test_change_of_factor_starts_anew(wall):
    pacer = Pacer(1e-3, 1.0, wall, wall.sleep)
    simulate(pacer, wall, 1.0)
    pacer.real_time_factor = 0.5
    assert simulate(pacer, wall, 1.0) == pytest.approx(500, abs=2)
