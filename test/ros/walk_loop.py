# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The walking demo again and again, recorded: memory, losses, pace, with or without hogs.

    cd test && python -m ros.walk_loop --minutes 60 --csv loop.csv
    cd test && python -m ros.walk_loop --minutes 5 --hogs 2

One node and one recorder run all the time; each lap is a reset, a new controller in lockstep and
its whole walk in real time. The sequence numbers of the recorder and of a listener tell what was
lost; the file gets a line a lap; the last lines printed are the slopes after the first ten minutes
(half of a shorter run) and how late simulated time was, at most, behind wall time.
"""

from __future__ import annotations

import argparse
import csv
import os
import re
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from nav_msgs.msg import Odometry
from ros.conftest import Listener, Simulations
from ros.soak import WARM_UP, Stream, usage
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState

from hrpsim.bag.reader import lost_messages, message_counts
from hrpsim.ros.base import qos
from hrpsim.ros.base.domain import PrivateDomain
from hrpsim.world.fall import FallWatch

WORLD = Path(__file__).parents[2] / "config/walking_demo.yaml"
COLUMNS = ("time", "node_rss", "recorder_rss", "simulated", "factor", "latest", "messages", "lost")
STALL = 60.0  # [s, wall] that a lap may take to begin or stand still
_HOG = "while True: pass"


@dataclass
class Lap:
    """One walk: simulated time, its pace, how late it was at most [s]."""

    simulated: float
    factor: float
    latest: float


class Pace(Stream):
    """The clock of a lap beside the wall clock at which it was sent."""

    def __init__(self, listener: Listener):
        super().__init__(listener, Clock, "/clock")
        self.begin()

    def begin(self) -> None:
        """Forget what was heard: a lap begins."""
        self._times: list[tuple[float, float]] = []

    def heard(self, stamp: int, info: dict) -> None:
        if not self._times or stamp > self._times[-1][0]:
            self._times.append((stamp, info["source_timestamp"]))

    def lap(self) -> Lap:
        """Return the pace of what was heard since `begin`."""
        simulated, wall = 1e-9 * (np.array(self._times[1:]) - self._times[1]).T
        late = wall - simulated
        return Lap(simulated[-1], simulated[-1] / wall[-1], float(late.max()))


class Walks:
    """The node, the recorder, and a controller for each lap."""

    def __init__(self, folder: Path, hogs: int):
        self._simulations, self._listener = Simulations(folder), Listener()
        self._bag = folder / "bag"
        self._node = self._simulations.start(
            world_file=WORLD, lockstep=True, start_paused=True, real_time_factor=1.0
        )
        self._recorder = self._simulations.start_program(
            "hrpsim.ros.recording.recorder", "--output", self._bag
        )
        assert self._recorder.wait_for_line("ready", timeout=100.0), self._recorder.lines
        self._pace = Pace(self._listener)
        self._streams = [self._pace, Stream(self._listener, JointState, "/joint_states")]
        self._fall = FallWatch()
        self._sent = 0
        self._listener.node.create_subscription(Odometry, "odom", self._on_odometry, qos.STATE)
        self._hogs = [
            self._simulations.start_child(f"hog_{k}", sys.executable, "-c", _HOG)
            for k in range(hogs)
        ]

    def lap(self) -> Lap:
        """Reset, walk to the end and pause; return how it went."""
        self._call("pause")
        self._call("reset")
        controller = self._simulations.start_program(
            *("hrpsim.ros.controller.controller_node", "--ros-args", "-p", "lockstep:=true"),
            *("-p", "controller:=hrpsim.control:Walk", "-p", "listeners:=2"),
        )
        assert controller.wait_for_line("ready", timeout=STALL), controller.lines
        self._take()
        self._pace.begin()
        self._call("resume")
        progress = time.monotonic()
        while controller.exit_code is None:
            before = self._pace.count
            self._listener.spin(0.02)
            self._take()
            progress = time.monotonic() if self._pace.count > before else progress
            assert time.monotonic() < progress + STALL, "simulated time stands still"
        assert controller.exit_code == 0, controller.lines
        assert not self._fall.fallen
        (sent,) = re.findall(r"sent (\d+) commands", "\n".join(controller.lines))
        self._sent += int(sent)
        self._simulations.children.remove(controller)
        self._take()
        return self._pace.lap()

    def usage(self) -> tuple[float, float, int, int]:
        """Return the memory of node and recorder [MB], and messages heard and lost here."""
        memory = [usage(child.pid)[0] for child in (self._node, self._recorder)]
        return *memory, sum(s.count for s in self._streams), sum(s.lost for s in self._streams)

    def end(self) -> tuple[dict[str, int], dict[str, int | None]]:
        """End all processes; return their exit codes and what the recorder lost, by topic.

        The commands come from a publisher a lap, so they are counted: those sent, less those in
        the bag, where the first of a lap, sent again while it is not heard, may stand twice. Of
        /rosout and /parameter_events, which have several publishers, it cannot be told.
        """
        for hog in self._hogs:
            hog.stop()
            self._simulations.children.remove(hog)
        self._listener.close()
        codes = self._simulations.stop()
        losses, counts = lost_messages(self._bag), message_counts(self._bag)
        print(f"{self._sent} commands sent, {counts['/joint_commands']} recorded")
        losses["/joint_commands"] = max(0, self._sent - counts["/joint_commands"])
        return codes, losses

    def _call(self, service: str) -> None:
        answer = self._listener.call(f"/hrpsim/{service}")
        assert answer.success, answer.message

    def _take(self) -> None:
        for stream in self._streams:
            stream.take()

    def _on_odometry(self, message: Odometry) -> None:
        pose = message.pose.pose
        turn = pose.orientation
        self._fall.add(pose.position.z, (turn.x, turn.y, turn.z, turn.w))


def walk_on(minutes: float, path: Path, folder: Path, hogs: int) -> bool:
    """Walk for so long; return if nothing was lost and every process ended as it should."""
    walks, rows = Walks(folder, hogs), []
    begin = time.monotonic()
    try:
        with path.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(COLUMNS)
            while time.monotonic() < begin + 60.0 * minutes:
                lap = walks.lap()
                node, recorder, *counts = walks.usage()
                elapsed = time.monotonic() - begin
                rows.append((elapsed, node, recorder, lap.simulated, lap.factor, lap.latest))
                rows[-1] += tuple(counts)
                writer.writerow(f"{value:.10g}" for value in rows[-1])
                file.flush()
    finally:
        codes, losses = walks.end()
    _print_summary(np.array(rows), codes, losses)
    return not (any(codes.values()) or any(losses.values()) or rows[-1][-1])


def _print_summary(table: np.ndarray, codes: dict, losses: dict) -> None:
    kept = table[table[:, 0] > min(WARM_UP, 0.5 * table[-1, 0])]
    print(f"{len(table)} walks in {table[-1, 0]:.0f} s; exit codes {codes}")
    if len(kept) > 1:
        node, recorder = np.polyfit(kept[:, 0] / 3600.0, kept[:, 1:3], 1)[0]
        print(f"slopes an hour: node {node:.2f} MB, recorder {recorder:.2f} MB")
    for name, column in (("node", 1), ("recorder", 2)):
        first, then, last = table[0, column], kept[0, column], table[-1, column]
        print(f"memory of the {name}: {first:.1f} MB at first, {then:.1f} then, {last:.1f} at last")
    print(
        f"real-time factor {table[:, 4].min():.4f} to {table[:, 4].max():.4f}, "
        f"late by {1e3 * np.median(table[:, 5]):.1f} ms in the median walk, "
        f"{1e3 * table[:, 5].max():.1f} ms at most"
    )
    print(f"listener: {table[-1, 6]:.0f} messages, {table[-1, 7]:.0f} lost")
    known = {topic: count for topic, count in losses.items() if count is not None}
    untold = ", ".join(sorted(set(losses) - set(known)))
    print(f"recorder: {sum(known.values())} lost of {len(known)} topics; not to be told: {untold}")


def main() -> int:
    """Walk; return 1 if anything was lost or ended badly."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--csv", type=Path, default=Path("walk_loop.csv"))
    parser.add_argument("--hogs", type=int, default=0, help="processes that compute beside it")
    options = parser.parse_args()
    with PrivateDomain() as domain, tempfile.TemporaryDirectory() as folder:
        os.environ.update(domain.environment())
        done = walk_on(options.minutes, options.csv, Path(folder), options.hogs)
        return 0 if done else 1


if __name__ == "__main__":
    sys.exit(main())
