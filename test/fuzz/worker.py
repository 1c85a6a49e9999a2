# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Reads the files whose names come in, one a line, and says what came of each, one a line.

It lives in a process of its own, so that one that hangs or dies takes no test with it.
"""

from __future__ import annotations

import json
import os
import re
import resource
import sys
import time
from pathlib import Path

sys.path[:0] = [str(folder) for folder in Path(__file__).resolve().parents[1:3]]

MEMORY = 4 << 30  # address space beyond which the process gets no more [bytes]


def main() -> None:
    """Serve until the input ends."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a library prints is no answer
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    from fuzz.targets import verdict

    for line in sys.stdin:
        kind, name = json.loads(line)
        begin = time.process_time()
        found = verdict(kind, Path(name))
        took = time.process_time() - begin
        print(json.dumps([found, peak_memory(), took]), file=answers, flush=True)


def peak_memory() -> int:
    """Return the most memory that this program has held [bytes].

    getrusage's ru_maxrss would count what the process that started this one held.
    """
    return int(re.search(r"VmHWM:\s*(\d+) kB", Path("/proc/self/status").read_text())[1]) << 10


if __name__ == "__main__":
    main()
