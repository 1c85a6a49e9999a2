# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A node that runs for hours while entities come and go: memory, descriptors, losses, answers.

    cd test && python -m ros.soak --minutes 120 --csv soak.csv

hrp2_like stands at 1 kHz in real time, all its topics at 1 kHz. Every second an entity is spawned
and deleted: a ball and a pendulum with topics of its own by turns. The sequence numbers and the
stamps of three topics tell what was lost. The file gets a line every 10 s; the last lines printed
are the slopes after the first ten minutes (half of a shorter run).
"""

from __future__ import annotations

import argparse
import csv
import os
import struct
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from geometry_msgs.msg import WrenchStamped
from ros.conftest import Listener, Simulations
from ros.spawning import spawn_request
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from simulation_interfaces.srv import DeleteEntity, SpawnEntity

from hrpsim.ros.base.domain import PrivateDomain
from hrpsim.ros.base.polling import PolledSubscription

PERIOD_NS = 1_000_000
WARM_UP = 600.0  # [s] that do not count for the slopes
LINE_PERIOD = 10.0  # [s]
COLUMNS = ("time", "rss", "descriptors", "threads", "messages", "lost", "gaps", "longest")
BALL = "{name: ball, shape: {sphere: 0.05}, mass: 0.1}"
PENDULUM = """<robot name="pendulum"><link name="world"/><link name="arm"><inertial>
  <origin xyz="0 0 -1"/><mass value="1"/>
  <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="hinge" type="continuous"><parent link="world"/><child link="arm"/>
  <origin xyz="-3 0 2"/><axis xyz="0 1 0"/></joint></robot>"""


class Stream:
    """A topic with one publisher, and what is missing of it."""

    def __init__(self, listener: Listener, kind: type, topic: str):
        self._polled = PolledSubscription(listener.node, kind, topic, 5000, raw=True)
        assert listener.wait_for(lambda: self._polled.publisher_count() > 0), topic
        self.count = self.lost = self.gaps = 0
        self._number = self._stamp = None

    def take(self) -> None:
        """Count what has come since the last call."""
        for data, info in self._polled.take_all():
            number = info["publication_sequence_number"]
            sec, nanosec = struct.unpack_from("<iI", data, 4)  # every type here begins with it
            stamp = sec * 10**9 + nanosec
            if self.count:
                self.lost += abs(number - self._number - 1)
                self.gaps += stamp - self._stamp != PERIOD_NS
            self._number, self._stamp = number, stamp
            self.count += 1
            self.heard(stamp, info)

    def heard(self, stamp: int, info: dict) -> None:
        """Deal with a message of this stamp [ns]; for streams that look at more than numbers."""


class Visitors:
    """Entities that are spawned and deleted, one at a time."""

    def __init__(self, listener: Listener):
        self._spawn = listener.node.create_client(SpawnEntity, "/hrpsim/spawn_entity")
        self._delete = listener.node.create_client(DeleteEntity, "/hrpsim/delete_entity")
        for client in (self._spawn, self._delete):
            assert listener.wait_for(client.service_is_ready)
        self.answers: list[float] = []  # [s] that each took
        self.refused: list[str] = []
        self._turn, self._future, self._asked = 0, None, 0.0

    def advance(self) -> bool:
        """Ask for the next thing once the last is answered; return if all has been answered."""
        if self._future is not None:
            if not self._future.done():
                return False
            self.answers.append(time.monotonic() - self._asked)
            result = self._future.result().result
            if result.result != result.RESULT_OK:
                self.refused.append(result.error_message)
            self._turn, self._future = self._turn + 1, None
            if self._turn % 2 == 0:
                return True
        name = f"visitor_{self._turn // 2}"
        self._asked = time.monotonic()
        if self._turn % 2:
            self._future = self._delete.call_async(DeleteEntity.Request(entity=name))
            return False
        request = spawn_request(BALL if self._turn % 4 == 0 else PENDULUM, name=name)
        if self._turn % 4 == 0:
            request.initial_pose.pose.position.x = 2.0
            request.initial_pose.pose.position.z = 0.5
        self._future = self._spawn.call_async(request)
        return False


def usage(pid: int) -> tuple[float, int, int]:
    """Return resident memory [MB], open descriptors and threads of a process."""
    status = Path(f"/proc/{pid}/status").read_text()
    fields = dict(line.split(":", 1) for line in status.splitlines())
    descriptors = len(os.listdir(f"/proc/{pid}/fd"))
    return int(fields["VmRSS"].split()[0]) / 1024, descriptors, int(fields["Threads"])


def soak(minutes: float, path: Path) -> bool:
    """Run; return if nothing was lost or refused and the node ended as it should."""
    with tempfile.TemporaryDirectory() as folder:
        simulations, listener = Simulations(Path(folder)), Listener()
        try:
            node = simulations.start(publish_rate=1000.0, real_time_factor=1.0)
            streams = [
                Stream(listener, kind, topic)
                for kind, topic in (
                    (Clock, "/clock"),
                    (JointState, "/joint_states"),
                    (WrenchStamped, _wrench_topic(listener)),
                )
            ]
            visitors = Visitors(listener)
            rows = _watch(node, listener, streams, visitors, 60.0 * minutes, path)
            status = node.stop()
        finally:
            listener.close()
            simulations.stop()
    _print_summary(rows, visitors, status)
    return not any((status, rows[-1][5], rows[-1][6], visitors.refused))


def _wrench_topic(listener: Listener) -> str:
    kinds = ["geometry_msgs/msg/WrenchStamped"]
    assert listener.wait_for(lambda: kinds in listener.publishers_of("hrpsim").values())
    return min(topic for topic, of in listener.publishers_of("hrpsim").items() if of == kinds)


def _watch(node, listener, streams, visitors, seconds: float, path: Path) -> list[tuple]:
    """Let time pass, write a line every 10 s, and return the lines."""
    begin = time.monotonic()
    rows, next_line, next_visit, idle = [], begin, begin, True
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        while (now := time.monotonic()) < begin + seconds and node.exit_code is None:
            listener.spin(0.01)
            for stream in streams:
                stream.take()
            if not idle or now >= next_visit:
                next_visit = max(next_visit, now - 1.0) + (1.0 if idle else 0.0)
                idle = visitors.advance()
            if now >= next_line:
                next_line += LINE_PERIOD
                totals = [sum(getattr(s, n) for s in streams) for n in ("count", "lost", "gaps")]
                longest = max(visitors.answers, default=0.0)
                rows.append((now - begin, *usage(node.pid), *totals, longest))
                writer.writerow(f"{value:.10g}" for value in rows[-1])
                file.flush()
    return rows


def _print_summary(rows: list[tuple], visitors: Visitors, status: int) -> None:
    table = np.array(rows)
    kept = table[table[:, 0] > min(WARM_UP, 0.5 * table[-1, 0])]
    hours = kept[:, 0] / 3600.0
    rss, descriptors, threads = np.polyfit(hours, kept[:, 1:4], 1)[0]
    print(f"{table[-1, 0]:.0f} s, the node ended with status {status}")
    print(f"memory {table[0, 1]:.0f} MB at first, {kept[0, 1]:.1f} then, {kept[-1, 1]:.1f} at last")
    print(f"slopes an hour: {rss:.2f} MB, {descriptors:.2f} descriptors, {threads:.2f} threads")
    print(f"descriptors {kept[:, 2].min():.0f} to {kept[:, 2].max():.0f}")
    print("{:.0f} messages, {:.0f} lost, {:.0f} gaps in stamps".format(*table[-1, 4:7]))
    times = np.array(visitors.answers)
    print(
        f"{len(times)} answers, {len(visitors.refused)} refusals {visitors.refused[:3]}; median "
        f"{1e3 * np.median(times):.0f} ms, p99 {1e3 * np.percentile(times, 99):.0f} ms, "
        f"longest {1e3 * times.max():.0f} ms"
    )


def main() -> int:
    """Soak; return 1 if anything was lost or refused."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=120.0)
    parser.add_argument("--csv", type=Path, default=Path("soak.csv"))
    options = parser.parse_args()
    with PrivateDomain() as domain:
        os.environ.update(domain.environment())
        return 0 if soak(options.minutes, options.csv) else 1


if __name__ == "__main__":
    sys.exit(main())
