# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

import numpy as np
import pytest

from hrpsim.viewer.session import SnapshotHistory


def snapshot(number, size=1000):
    return {"number": number, "arrays": [np.zeros(size, dtype=np.uint8)]}


def recorded(count, limit):
    recording = SnapshotHistory(limit)
    for k in range(count):
        recording.add(0.1 * k, snapshot(k))
    return recording


def test_memory_is_bounded_and_the_oldest_go_first():
    recording = recorded(25, limit=10_000)
    assert len(recording) == 10 and recording.size == 10_000
    assert recording.at(0.0)["number"] == 15
    assert recording.span == pytest.approx(0.9)


def test_one_snapshot_stays_however_large_it_is():
    recording = SnapshotHistory(limit=10)
    recording.add(0.0, snapshot(0))
    recording.add(0.1, snapshot(1))
    assert len(recording) == 1 and recording.at(5.0)["number"] == 1


def test_the_last_snapshot_not_later_than_the_time_is_shown():
    recording = recorded(5, limit=10**6)
    for time, number in ((-1.0, 0), (0.0, 0), (0.19, 1), (0.2, 2), (9.0, 4)):
        assert recording.at(time)["number"] == number


def test_a_future_that_is_given_up_is_forgotten():
    recording = recorded(5, limit=10**6)
    recording.forget_after(0.25)
    assert len(recording) == 3 and recording.size == 3000
    recording.add(0.2, snapshot(9))
    assert len(recording) == 3 and recording.at(0.2)["number"] == 2
    recording.clear()
    assert recording.size == 0 and recording.span == 0.0
    with pytest.raises(LookupError, match="nothing was recorded"):
        recording.at(0.0)
