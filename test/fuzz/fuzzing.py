# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Runs damaged files through their readers, and shrinks those that a reader does not bear."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from fuzz.corpus import seeds
from fuzz.targets import SUFFIXES

WORST_TIME = 5.0  # of the processor [s]
HANGS = 120.0  # time of the clock after which a reader is taken not to come back [s]
WORST_MEMORY = 1 << 30  # [bytes]
_START_TIME = 500.0  # [s] for the first of a kind: imports, and kernels
_SHRINKING = 300  # inputs that are tried to make one smaller


class Find(NamedTuple):
    """A file that its reader did not bear, and what happened."""

    kind: str
    data: bytes
    what: str
    seed: int


def minutes() -> float:
    """Return how long a file of tests may fuzz; 0: a small fixed number of inputs."""
    return float(os.environ.get("HRPSIM_FUZZ_MINUTES", "0"))


def first_seed() -> int:
    """Return the seed of the first input: fixed in tests, else HRPSIM_FUZZ_SEED, else the time."""
    if minutes() == 0.0:
        return 0
    return int(os.environ.get("HRPSIM_FUZZ_SEED") or time.time_ns() // 10**6 % 10**9)


class Reader:
    """A process that reads files; it is started anew after it hung, died, or took much memory."""

    def __init__(self, folder: Path):
        self.folder = folder
        self._process: subprocess.Popen | None = None
        self._imported: set[str] = set()  # kinds whose readers the process has

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, *ignored) -> None:
        self.stop()

    def stop(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None
            self._imported.clear()

    def warm_up(self, kind: str) -> None:
        """Read the sound files first: imports, and kernels that are compiled, are no hang."""
        if kind not in self._imported:
            for sound in seeds(kind):
                self._answer(kind, sound, _START_TIME)
            self._imported.add(kind)

    def verdict(self, kind: str, data: bytes) -> str:
        """Return "read" or "refused", or what went wrong with reading `data`."""
        self.warm_up(kind)
        return self._answer(kind, data, HANGS)

    def _answer(self, kind: str, data: bytes, limit: float) -> str:
        path = self.folder / f"input{SUFFIXES[kind]}"
        path.write_bytes(data)
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, str(Path(__file__).with_name("worker.py"))],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                cwd=Path(__file__).resolve().parents[2],
            )
        try:
            print(json.dumps([kind, str(path)]), file=self._process.stdin, flush=True)
            ready, _, _ = select.select([self._process.stdout], [], [], limit)
            answer = self._process.stdout.readline() if ready else None
        except BrokenPipeError:
            answer = ""
        if not answer:
            self._process.kill()
            status = self._process.wait()
            self.stop()
            return f"hung for {limit:g} s" if answer is None else f"died with status {status}"
        found, peak, took = json.loads(answer)
        if took > WORST_TIME and kind in self._imported:
            self.stop()
            return f"took {took:.0f} s"
        if peak > WORST_MEMORY:
            self.stop()
            return f"took {peak >> 20} MB"
        return found


def fuzz(
    kind: str,
    generate: Callable[[str, int], bytes],
    folder: Path,
    count: int,
    seconds: float,
    seed: int,
) -> tuple[int, list[Find]]:
    """Return how many inputs were read, and the first of each kind of find, shrunk.

    generate(kind, seed) makes an input: `count` of them, and as many more as there is time for.
    """
    finds: dict[str, Find] = {}
    done = 0
    with Reader(folder) as reader:
        reader.warm_up(kind)
        end = time.monotonic() + seconds
        while done < count or time.monotonic() < end:
            data = generate(kind, seed + done)
            what = reader.verdict(kind, data)
            if what not in ("read", "refused") and _sort(what) not in finds:
                data = shrunk(reader, kind, data, what)
                finds[_sort(what)] = Find(kind, data, what, seed + done)
            done += 1
    return done, list(finds.values())


def shrunk(reader: Reader, kind: str, data: bytes, what: str) -> bytes:
    """Return as small a part of `data` as is soon found that fails in the same way."""
    tries, size = 0, max(len(data) // 2, 1)
    while size and tries < _SHRINKING:
        start = 0
        while start < len(data) and tries < _SHRINKING:
            smaller = data[:start] + data[start + size :]
            tries += 1
            if _sort(reader.verdict(kind, smaller)) == _sort(what):
                data = smaller
            else:
                start += size
        size //= 2
    return data


def _sort(what: str) -> str:
    """Return what finds of one cause have in common."""
    return what.split(": ")[0]
