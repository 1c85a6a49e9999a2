# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Sample by sample beside a control loop: the numbers of the whole trajectory, no allocation."""

import tracemalloc

import numpy as np
import pytest
from analysis.motions import SOLES, hrp2_like, squat, walk

from hrpsim import StateError
from hrpsim.analysis import Analyser, FixedPhase, Observer
from hrpsim.analysis.motion import motion_of
from hrpsim.analysis.observer import RateFilter
from hrpsim.analysis.records import SAMPLE


def squatting():
    names, times, positions = squat()
    return motion_of(hrp2_like(), "squat", times, names, positions)


def test_it_gives_the_numbers_of_the_trajectory():
    motion, analyser = squatting(), Analyser(hrp2_like())
    observer = Observer(analyser, SOLES)
    pose = (np.array([0.0, 0.0, 0.0]), np.eye(3))
    whole = analyser.analyse(motion.q, motion.v, motion.dv, [FixedPhase(0, SOLES, pose)])
    for t in range(0, len(motion.times), 10):
        observer.update(motion.q[t, 7:], motion.v[t, 6:], motion.dv[t, 6:])
        assert (observer.tau == whole.tau[t]).all() and (observer.q == whole.q[t]).all()
        for name in SAMPLE.names:
            assert (observer.sample[name] == whole.samples[name][t]).all(), name
        assert (observer.supports["force"] == whole.supports["force"][t]).all()


def test_lists_and_whole_numbers_do_as_arrays_do():
    motion, observer = squatting(), Observer(Analyser(hrp2_like()), SOLES)
    row = motion.q[0, 7:], np.zeros(30), np.ones(30)
    observer.update(*row)
    expected = observer.tau.copy()
    observer.update(-row[0], row[2], row[1])
    assert (observer.tau != expected).any()
    observer.update(row[0].tolist(), 30 * (0,), np.ones(30, dtype=int))
    assert (observer.tau == expected).all()


def test_an_update_allocates_nothing():
    motion = squatting()
    observer = Observer(Analyser(hrp2_like()), SOLES)
    rows = [
        (motion.q[t, 7:].copy(), motion.v[t, 6:].copy(), motion.dv[t, 6:].copy())
        for t in range(len(motion.times))
    ]

    def bytes_of_a_cycle(row):
        """Return how many are kept and how many are in use at most, other threads' included."""
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        observer.update(*row)
        after, peak = tracemalloc.get_traced_memory()
        return after - before, peak - before

    tracemalloc.start()
    try:
        for row in 20 * rows:  # Python keeps some small objects for the next call
            observer.update(*row)
        cycles = np.array([bytes_of_a_cycle(row) for row in rows])
    finally:
        tracemalloc.stop()
    kept, most = np.median(cycles, axis=0)
    assert kept <= 64  # what this test's own numbers take
    assert most < 1500  # of the call itself; a copy of the results would be 5000


def test_the_feet_are_followed_through_a_walk():
    """Cycle by cycle, from the joints alone; the recovered base drifts by millimetres at most."""
    names = walk().sequence.joint_names
    motion = motion_of(hrp2_like(), "walk", walk().times, names, walk().sequence.pos.values)
    observer = Observer(Analyser(hrp2_like()), SOLES)
    path, references = [], []
    for t in range(len(motion.times)):
        observer.update(motion.q[t, 7:], motion.v[t, 6:], motion.dv[t, 6:])
        path.append(observer.q[:3].copy())
        references.append(observer.fixed[0])
        observer.follow_soles()
    path = np.array(path) - path[0]
    truth = walk().motion[:, :3] - walk().motion[0, :3]
    assert np.ptp(truth[:, 0]) > 1.0
    assert np.abs(path - truth).max() < 0.02
    assert np.abs(path - truth)[:, 2].max() < 0.004
    alone = ~walk().contacts.all(axis=1)
    for k in np.flatnonzero(alone):
        if alone[k - 20 : k].all():  # since 0.1 s
            assert references[k] == SOLES[int(np.argmax(walk().contacts[k]))]


def test_the_fixed_links_may_be_told():
    motion = squatting()
    observer = Observer(Analyser(hrp2_like()), ("r_sole",))
    row = (motion.q[0, 7:], np.zeros(30), np.zeros(30))
    observer.update(*row)
    right = observer.supports["force"][:, 2].copy()
    place = observer.q[:7].copy()
    observer.fix(("l_sole", "r_sole"))
    assert observer.fixed == ("l_sole", "r_sole")
    observer.update(*row)
    assert right[0] == 0.0 and right[1] == pytest.approx(568.79, abs=0.01)
    assert observer.supports["force"][:, 2] == pytest.approx([right[1] / 2] * 2, rel=1e-3)
    assert observer.q[:7] == pytest.approx(place, abs=1e-14)


def test_the_rate_filter_follows_a_ramp_and_halves_power_at_its_cutoff():
    rates = RateFilter(1, 10.0)
    for k in range(1000):
        rate = rates.update(0.001 * k, np.array([0.003 * k]))
    assert rate == pytest.approx([3.0])
    t = np.arange(0.0, 3.0, 1e-4)
    rates, found = RateFilter(1, 10.0), []
    for time in t:
        found.append(rates.update(time, np.array([np.sin(2.0 * np.pi * 10.0 * time)]))[0])
    gain = np.abs(found[-10000:]).max() / (2.0 * np.pi * 10.0)
    assert gain == pytest.approx(np.sqrt(0.5), rel=0.01)


def test_the_rate_filter_starts_anew_when_time_jumps_back():
    rates = RateFilter(1, 10.0)
    rates.update(1.0, np.array([0.0]))
    assert rates.update(1.1, np.array([1.0]))[0] > 0.0
    assert rates.update(0.0, np.array([5.0]))[0] == 0.0
    with pytest.raises(StateError, match="cutoff must be a positive frequency"):
        RateFilter(1, 0.0)
