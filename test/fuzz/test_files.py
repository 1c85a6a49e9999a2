# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Damaged files of every kind are read or refused in one line, soon, and with little memory."""

from __future__ import annotations

import pytest
from fuzz.expansion import expanded
from fuzz.fuzzing import Reader, first_seed, fuzz, minutes
from fuzz.mutation import damaged, mixed
from fuzz.targets import NEEDED, SUFFIXES

INPUTS = 50  # of each kind, where no time is given


@pytest.fixture(params=SUFFIXES)
def kind(request):
    """A kind of files whose reader is installed."""
    for package in NEEDED.get(request.param, ()):
        pytest.importorskip(package)
    return request.param


def either(kind: str, seed: int) -> bytes:
    """Return a damaged file, a mixed one, or one that expands, in turn."""
    return (damaged, mixed, expanded)[seed % 3](kind, seed)


@pytest.mark.long
@pytest.mark.timeout(0 if minutes() else 1200)
def test_damaged_files_are_refused_in_one_line(kind, tmp_path):
    """Only hrpsim's own errors, below 2000 characters, within 5 s, in less than 1 GB."""
    seed, seconds = first_seed(), 60.0 * minutes() / len(SUFFIXES)
    done, finds = fuzz(kind, either, tmp_path, INPUTS, seconds, seed)
    print(f"{kind}: {done} inputs from seed {seed}, {len(finds)} finds")
    for find in finds:
        print(f"  seed {find.seed}: {find.what}\n  ({find.kind!r}, {find.data!r}),")
    assert not finds
    assert done >= INPUTS


@pytest.mark.quick_cases("urdf", "pos", "npy")
def test_sound_files_are_read(kind, tmp_path):
    """The files of which the damaged ones are made: else only the door would be tried."""
    from fuzz.corpus import seeds

    with Reader(tmp_path) as reader:
        for data in seeds(kind):
            verdict = reader.verdict(kind, data)
            assert verdict == "read" or b"package://" in data, verdict
