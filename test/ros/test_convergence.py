# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A solver that does not come to its end is told of in /diagnostics and in the log."""

import re
import time

import pytest

DIAGNOSTICS = "diagnostic_msgs/msg/DiagnosticArray"
STEPS = 50  # of a call of ~/step
TOLD = re.compile(
    r"the solver did not converge in (\d+) of (\d+) steps, furthest off is (.+); larg"
)


@pytest.fixture
def bench(simulations, listener):
    """A paused simulation, and a function that returns the next status of it."""
    node = simulations.start(start_paused=True, step_count=STEPS, real_time_factor=0.1)
    messages = listener.collect(DIAGNOSTICS, "/diagnostics")

    def status(wanted=lambda status: True):
        messages.clear()
        found = listener.wait_for(lambda: any(wanted(m.status[0]) for m in messages))
        assert found, [m.status[0].message for m in messages]
        return next(m.status[0] for m in messages if wanted(m.status[0]))

    return node, listener, status


def unconverged(status):
    return int(next(v.value for v in status.values if v.key == "steps not converged"))


def warnings(node):
    return [match for line in node.lines if (match := TOLD.search(line))]


def told_of(seen):
    """How many steps did not converge, and of how many, in all warnings together."""
    return tuple(sum(int(match[k]) for match in seen) for k in (1, 2))


def test_steps_that_do_not_converge_are_counted_and_named(bench):
    """One sweep and a tolerance of 1e-12 g dt are too little: every step is counted, once."""
    node, listener, status = bench
    assert unconverged(status()) == 0 and not warnings(node)
    for name, value in (("solver_sweep_limit", 1), ("solver_tolerance", 1e-12)):
        assert listener.set_parameter(name, value).successful
    messages, begin = [], time.monotonic()
    for k in range(1, 4):
        assert listener.call("/hrpsim/step").success
        told = status(lambda s, k=k: unconverged(s) == STEPS * k)
        messages.append(told.message)
    assert any(TOLD.search(message) for message in messages)
    assert listener.wait_for(lambda: told_of(warnings(node)) == (3 * STEPS, 3 * STEPS))
    seen = warnings(node)
    assert 1 <= len(seen) <= max(3, time.monotonic() - begin + 1.0)  # one a second
    assert all(re.fullmatch(r"contact of .*hrp2/.*_SOLE.*", match[3]) for match in seen)

    for name, value in (("solver_sweep_limit", 0), ("solver_tolerance", 0.0)):
        assert listener.set_parameter(name, value).successful
    assert listener.call("/hrpsim/reset").success
    assert listener.call("/hrpsim/step").success
    assert status(lambda s: s.message == "paused").level == b"\x00"
    assert unconverged(status()) == 3 * STEPS and len(warnings(node)) == len(seen)


def test_the_log_has_at_most_one_warning_a_second(bench):
    node, listener, _ = bench
    for name, value in (("solver_sweep_limit", 1), ("solver_tolerance", 1e-12)):
        assert listener.set_parameter(name, value).successful
    begin = time.monotonic()
    assert listener.call("/hrpsim/resume").success
    assert listener.wait_for(lambda: len(warnings(node)) >= 3)
    assert len(warnings(node)) <= time.monotonic() - begin + 1.0
