# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Demonstrations one of whose processes is killed at a random moment, and what came of them.

    cd test && python -m ros.kills [--count 100] [--seed 15] [--csv FILE] [KIND ...]

`hrpsim walk --ros` makes two steps, as fast as it goes. Each kind of process is
killed by SIGKILL `count` times, at moments that are spread evenly over its life: while it starts,
while the others wait for it, while the robot walks, while it ends. A row of the table of
docs/faults.md is printed for each kind, and a line for each kill goes to the file
that --csv names, where a campaign that was broken off goes on.
"""

from __future__ import annotations

import argparse
import csv
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import NamedTuple

from hrpsim import load_model, share_path
from hrpsim.bag import BagError, messages
from hrpsim.bag.reader import lost_messages, message_counts
from hrpsim.control import Footsteps, walking_pattern, write_sequence
from hrpsim.control.pattern.footsteps import in_place
from hrpsim.ros.base.child_process import mapped_shared_memory

ROOT = Path(__file__).resolve().parents[2]
KINDS = {
    "node": "hrpsim.ros.simulation.node",
    "controller": "controller_node",
    "recorder": "recording.recorder",
    "demonstration": "hrpsim.commands.cli",
}
LIMIT = 120.0  # [s] until a demonstration has to be over
GONE_AFTER = 60.0  # [s] that its processes are waited for
PERIOD_NS = 5_000_000  # between two messages of /clock


class Demonstration:
    """`hrpsim walk --ros` as fast as it goes, as a process."""

    def __init__(self, folder: Path, *arguments: str):
        self.output = folder / "demo"
        shutil.rmtree(self.output, ignore_errors=True)
        command = [sys.executable, "-m", "hrpsim", "walk", "--ros", "--rate", "0"]
        with (folder / "demo.log").open("w") as log:
            self.process = subprocess.Popen(
                [*command, "--output", str(self.output), *arguments],
                cwd=ROOT,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        self.log = folder / "demo.log"

    def processes(self) -> dict[str, int]:
        """Return the ids of the processes that there are now, by their kind."""
        found = {"demonstration": self.process.pid} if self.process.poll() is None else {}
        for entry in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                if int(_fields(int(entry.name))[1]) == self.process.pid:
                    line = (entry / "cmdline").read_text()
                    found |= {kind: int(entry.name) for kind, word in KINDS.items() if word in line}
        return found

    def wait_for(self, kind: str) -> int | None:
        """Return the id of a process, or None if the demonstration ends before it starts."""
        while self.process.poll() is None:
            if kind in (found := self.processes()):
                return found[kind]
            time.sleep(0.02)
        return None

    def end(self) -> int | None:
        """Wait for the end and return the exit status, None if it has none within the limit."""
        try:
            return self.process.wait(LIMIT)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            return None


class Kill(NamedTuple):
    """What came of a demonstration one of whose processes was killed."""

    kind: str
    number: int  # of the plan, from the seed
    moment: float  # of the killed one's life in an undisturbed run, 0 to 1
    status: int | None
    took: float  # [s] until the demonstration had ended
    gone: float | None  # [s] until none of its processes was left; None: some stayed
    named: bool  # whether the demonstration says who ended early
    messages: int | None  # that can be read of its bag; -1: none can, None: there is no bag
    holes: int  # messages of /clock missing between its first and last, and losses noted
    until: float  # simulated time of the bag's end [s]
    segments: int  # files of shared memory that stay of those that the killed one used

    @classmethod
    def from_texts(cls, kind: str, named: str, **numbers: str) -> Kill:
        """Return what a line of a file tells; an empty field is None."""
        values = {name: float(text) if text else None for name, text in numbers.items()}
        whole = {
            name: values[name] for name in ("number", "status", "messages", "holes", "segments")
        }
        whole = {name: None if value is None else int(value) for name, value in whole.items()}
        return cls(kind=kind, named=named == "True", **{**values, **whole})


def short_walk(folder: Path) -> Path:
    """Write two steps in place as sequence files; return their basename."""
    model = load_model(share_path("urdf/hrp2_like.urdf.xacro"))
    base = folder / "two_steps"
    write_sequence(walking_pattern(model, Footsteps((in_place(2),))).sequence, base)
    return base


def lives(folder: Path, *arguments: str) -> dict[str, float]:
    """Let a demonstration come to its end; return how long each kind of process lived [s]."""
    begin: dict[str, float] = {}
    end: dict[str, float] = {}
    demonstration = Demonstration(folder, *arguments)
    while demonstration.process.poll() is None:
        now = time.monotonic()
        for kind in demonstration.processes():
            begin.setdefault(kind, now)
            end[kind] = now
        time.sleep(0.02)
    assert demonstration.process.returncode == 0, demonstration.log.read_text()
    return {kind: end[kind] - begin[kind] for kind in begin}


def lives_beside(count: int, folder: Path, pattern: tuple[str, ...]) -> list[dict[str, float]]:
    """Return `lives` of several demonstrations beside each other."""
    places = [folder / f"undisturbed_{number}" for number in range(count)]
    for place in places:
        place.mkdir(exist_ok=True)
    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(lambda place: lives(place, *pattern), places))


def campaign(kind: str, options: argparse.Namespace, folder: Path) -> list[Kill]:
    """Kill one process of `kind` in each of `count` demonstrations, those in the file included."""
    done = [kill for kill in read(options.csv) if kill.kind == kind][: options.count]
    if len(done) == options.count:
        return done
    pattern = ("--pattern", str(short_walk(folder)))
    life = min(undisturbed[kind] for undisturbed in lives_beside(options.at_once, folder, pattern))
    print(f"{kind}: lives {life:.1f} s undisturbed", file=sys.stderr, flush=True)
    chance = random.Random(f"{kind} {options.seed}")
    plans = [(number, chance.random()) for number in range(3 * options.count)]
    plans = plans[max((kill.number + 1 for kill in done), default=0) :]

    def broken(plan: tuple[int, float]) -> Kill | None:
        place = folder / f"{kind}_{plan[0]}"
        place.mkdir()
        try:
            return kill_one(Demonstration(place, *pattern), kind, *plan, life)
        finally:
            shutil.rmtree(place, ignore_errors=True)

    with ThreadPoolExecutor(options.at_once) as pool:
        while len(done) < options.count and plans:
            some, plans = plans[: options.at_once], plans[options.at_once :]
            kills = [kill for kill in pool.map(broken, some) if kill is not None]
            done += kills
            write(kills, options.csv)
    return done[: options.count]


def read(path: Path | None) -> list[Kill]:
    """Return the kills that a file tells of, none without a file."""
    if path is None or not path.exists():
        return []
    with path.open(newline="") as file:
        return [Kill.from_texts(**line) for line in csv.DictReader(file)]


def write(kills: list[Kill], path: Path | None) -> None:
    """Add a line for each kill to a file."""
    if path is not None:
        is_new = not path.exists()
        with path.open("a", newline="") as file:
            lines = csv.writer(file)
            lines.writerows([Kill._fields] if is_new else [])
            lines.writerows(kills)


def kill_one(
    demonstration: Demonstration, kind: str, number: int, moment: float, life: float
) -> Kill | None:
    """Kill a process at a moment (0 to 1) of its life [s]; None if it was over already."""
    pid = demonstration.wait_for(kind)
    deadline = time.monotonic() + moment * life
    while (left := deadline - time.monotonic()) > 0.0 and demonstration.process.poll() is None:
        time.sleep(min(0.01, left))
    there = demonstration.processes()
    if pid is None or there.get(kind) != pid:
        demonstration.end()
        return None
    memory = [name for name in mapped_shared_memory(pid) if "_port" not in name]
    begin = time.monotonic()
    os.kill(pid, signal.SIGKILL)
    status = demonstration.end()
    took, gone = time.monotonic() - begin, seconds_until_gone(there.values(), begin)
    said = demonstration.log.read_text()
    count, holes, until = kept_in(demonstration.output / "bag")
    return Kill(
        kind,
        number,
        moment,
        status,
        took,
        gone,
        any(f"{kind} {word}" in said for word in ("ended", "did not start")),
        count,
        holes,
        until,
        sum(Path("/dev/shm", name).exists() for name in memory),
    )


def seconds_until_gone(pids, begin: float) -> float | None:
    """Wait until no process is left; return how long after `begin` that is, None if some stay."""
    while any(map(is_there, pids)):
        if time.monotonic() > begin + GONE_AFTER:
            return None
        time.sleep(0.05)
    return time.monotonic() - begin


def is_there(pid: int) -> bool:
    """Whether a process runs."""
    with suppress(OSError):
        return _fields(pid)[0] != "Z"
    return False


def _fields(pid: int) -> list[str]:
    """Return the state of a process, its parent's id and so on."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def kept_in(bag: Path) -> tuple[int | None, int, float]:
    """Return how many messages can be read, how many are missing between them, and until when.

    Missing are steps between the first and the last of /clock, and what the recorder noted as lost.
    The number is None without a bag, -1 for one that is refused. The time [s] is /clock's last.
    """
    if not bag.exists() or not any(file.stat().st_size for file in bag.iterdir()):
        return None, 0, 0.0
    try:
        counts = message_counts(bag)
        missing = sum(count or 0 for count in lost_messages(bag).values())
        stamps = sorted(
            {m.clock.sec * 10**9 + m.clock.nanosec for m in messages(bag, "/clock")}
            if counts.get("/clock")
            else {0}
        )
    except BagError:
        return -1, 0, 0.0
    missing += sum((b - a) // PERIOD_NS - 1 for a, b in pairwise(stamps))
    return sum(counts.values()), missing, 1e-9 * stamps[-1]


def told(kind: str, done: list[Kill]) -> str:
    """Return the row of the table for the kills of one kind of process."""
    statuses = Counter(kill.status for kill in done)
    ends = ", ".join(f"{count} with status {status}" for status, count in statuses.most_common())
    gone = [kill.gone for kill in done if kill.gone is not None]
    bags = [kill for kill in done if kill.messages is not None]
    is_whole = kind == "demonstration"
    cells = (
        f"kill -9 of the {kind} at {len(done)} random moments of a short walk",
        "the other processes end"
        if is_whole
        else "the demonstration names the killed process and ends with status 1 (0 after the "
        "walk); all processes end",
        f"{ends}; {median([kill.took for kill in done]):.1f} s, "
        f"at most {max(kill.took for kill in done):.1f} s; "
        + ("" if is_whole else f"{sum(kill.named for kill in done)} name the process; ")
        + f"nothing runs {max(gone, default=0.0):.1f} s later in {len(gone)} of {len(done)}",
        f"{sum(kill.messages >= 0 for kill in bags)} of {len(bags)} bags read, up to "
        f"{max((kill.messages for kill in bags), default=0)} messages, "
        f"{sum(kill.holes for kill in bags)} missing between the first and the last; "
        f"{sum(kill.segments for kill in done)} files of shared memory",
    )
    return "| " + " | ".join(cells) + " |"


def parsed(arguments: list[str] | None = None) -> argparse.Namespace:
    """Return what a command line asks for; [] is for what it asks for by default."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=", ".join(KINDS))
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=15)
    parser.add_argument("--at-once", type=int, default=1, help="demonstrations beside each other")
    parser.add_argument("--csv", type=Path, help="gets a line for each kill; it goes on there")
    return parser.parse_args(arguments)


def main() -> None:
    """Print a row for each kind of process."""
    options = parsed()
    with tempfile.TemporaryDirectory() as name:
        for kind in options.kinds or KINDS:
            print(told(kind, campaign(kind, options, Path(name))), flush=True)


if __name__ == "__main__":
    main()
