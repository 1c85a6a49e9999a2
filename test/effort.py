# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""How much work code does, as a number that no load of the machine changes."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def counted_calls() -> Iterator[list[int]]:
    """Count the calls of functions, Python's and C's, in a block; the list holds their number."""
    count = [0]

    def note(frame, event, argument):
        count[0] += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        yield count
    finally:
        sys.setprofile(before)
