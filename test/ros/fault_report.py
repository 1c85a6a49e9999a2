# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Faults that are brought about on purpose, and what came of them: the table of docs/faults.md.

    cd test && python -m ros.fault_report [ROWS ...] > ../docs/faults.md

Each line says what is promised, what happened, and what was lost. Without the names of rows all
are made; those of killed processes (.kills) take an hour.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path

import numpy as np
from ros import kills
from ros.kills import Demonstration

ROOT = Path(__file__).resolve().parents[2]
HEAD = """# Fault injection

Made by `python -m ros.fault_report` in test/, with {cpus} processors under a load of {load:.1f}.

| fault | promise | result | lost and readable data |
| --- | --- | --- | --- |"""
LIMIT = 120.0  # [s]


def stopped(folder: Path) -> None:
    """Stop the node for 5 s in the middle of the walk."""
    demonstration = Demonstration(folder)
    pid = demonstration.wait_for("node")
    time.sleep(12.0)
    os.kill(pid, signal.SIGSTOP)
    time.sleep(5.0)
    os.kill(pid, signal.SIGCONT)
    begin = time.monotonic()
    status = demonstration.end()
    took = time.monotonic() - begin
    row(
        "SIGSTOP of the node for 5 s",
        "lockstep waits and goes on",
        f"status {status} {took:.0f} s later; {last_line(demonstration.log)}",
        "5 s",
    )


def pages(folder: Path) -> None:
    """Step a standing robot beside a viewer with 50 hostile and slow visitors."""
    program = ROOT / "test" / "viewer" / "hostile_visitors.py"
    command = ["nice", "-n", "-15", sys.executable, str(program)]  # what else runs is not the cause
    done = subprocess.run(command, cwd=ROOT / "test", capture_output=True, text=True)
    row(
        "50 slow and hostile visitors of the viewer",
        "steps go on; correct visitors are served",
        (done.stdout.strip() or done.stderr.strip()).splitlines()[-1],
        "pages beyond the eighth, invalid data",
    )


def names_and_floods(folder: Path) -> None:
    """Three publishers at 10 kHz; then a second node of the same name."""
    from ros.conftest import Listener, Simulations

    simulations, listener = Simulations(folder), Listener()
    try:
        node = simulations.start()
        floods = [subprocess.Popen([sys.executable, "-c", FLOOD]) for _ in range(3)]
        for flood in floods:
            flood.wait(LIMIT)
        statuses = listener.collect("diagnostic_msgs/msg/DiagnosticArray", "/diagnostics")
        listener.wait_for(lambda: statuses)
        values = {v.key: v.value for v in statuses[-1].status[1].values}
        row(
            "three publishers of joint_commands at 10 kHz for 10 s",
            "steps go on, the last command acts, lost commands are counted",
            f"node alive: {node.exit_code is None}; {values['accepted']} accepted",
            "commands between two steps, except the last",
        )
        simulations.start(start_paused=True)
        said = node.wait_for_line("another node has the name", 30.0)
        answered = listener.call("/hrpsim/pause").success
        row(
            "two nodes with the same name",
            "both run and warn",
            f"warned: {said}; requests answered: {answered}",
            "a request reaches one of the nodes",
        )
    finally:
        listener.close()
        simulations.stop()


FLOOD = """
import time, rclpy
from sensor_msgs.msg import JointState
rclpy.init()
node = rclpy.create_node("flood")
publisher = node.create_publisher(JointState, "joint_commands", 10)
message = JointState(name=["HEAD_JOINT0"], position=[0.1])
begin, sent = time.monotonic(), 0
while (passed := time.monotonic() - begin) < 10.0:
    while sent < 1e4 * passed:
        publisher.publish(message)
        sent += 1
    time.sleep(1e-4)
rclpy.shutdown()
"""


def clock_jumps(folder: Path) -> None:
    """Let the wall clock of a node jump by a day to and two days fro while it runs in real time.

    A library that HRPSIM_FAKE_CLOCK names stands between the node and its wall clock: to that it
    adds the seconds (int64) at the start of the file that FAKE_OFFSET names. There is none here.
    """
    library = os.environ.get("HRPSIM_FAKE_CLOCK")
    if not library:
        return
    from ros.conftest import Listener, Simulations

    offset = np.memmap(folder / "offset", dtype=np.int64, mode="w+", shape=512)
    faked = {"LD_PRELOAD": library, "FAKE_OFFSET": str(folder / "offset")}
    before = dict(os.environ)
    simulations, listener = Simulations(folder), Listener()
    try:
        os.environ.update(faked)
        node = simulations.start(publish_rate=1000.0)
        os.environ.clear()
        os.environ.update(before)
        arrivals: list[float] = []
        clock = listener.collect("rosgraph_msgs/msg/Clock", "/clock")
        begin, count = time.monotonic(), len(clock)
        for jump in (0, 86_400, -86_400):
            offset[0] = jump
            end = time.monotonic() + 4.0
            while time.monotonic() < end:
                known = len(clock)
                listener.spin(0.002)
                arrivals += [time.monotonic()] * (len(clock) > known)
        passed = time.monotonic() - begin
        stamps = [1e9 * m.clock.sec + m.clock.nanosec for m in clock[count:]]
        gaps = sum(b - a != 1e6 for a, b in pairwise(stamps))
        pause = max(b - a for a, b in pairwise(arrivals))
        answered = listener.call("/hrpsim/pause").success
        row(
            "the wall clock jumps by a day forward and two days back",
            "simulated time keeps pace with elapsed time",
            f"{1e-9 * (stamps[-1] - stamps[0]):.2f} s simulated in {passed:.2f} s, {gaps} stamps "
            f"left out, longest pause of /clock {1e3 * pause:.0f} ms; requests answered: "
            f"{answered}; node alive: {node.exit_code is None}",
            "nothing",
        )
    finally:
        os.environ.clear()
        os.environ.update(before)
        listener.close()
        simulations.stop()


def full_disk(folder: Path) -> None:
    """Record to a file system of 8 MB until it is full."""
    from ros.conftest import Simulations

    from hrpsim.bag.reader import message_counts

    if os.geteuid() != 0:
        return
    simulations, bag = Simulations(folder), folder / "kept"
    record = f'"{sys.executable}" -m hrpsim record --output /mnt/bag'
    script = f"mount -t tmpfs -o size=8M none /mnt && {record}; code=$?; "
    script += f"cp -r /mnt/bag {bag}; exit $code"
    try:
        simulations.start(real_time_factor=0.0)
        done = subprocess.run(
            ["unshare", "-m", "sh", "-c", script],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=LIMIT,
        )
    finally:
        simulations.stop()
    size = sum(file.stat().st_size for file in bag.iterdir())
    row(
        "full disk: a recorder on a file system of 8 MB",
        "it names the file and ends with status 1; the written part can be read",
        f"status {done.returncode}: {(done.stdout.splitlines() or [''])[-1][-120:]}",
        f"messages after {size} bytes; {sum(message_counts(bag).values())} messages read",
    )


def places(folder: Path) -> None:
    """Run the node where it can write nowhere, and as somebody whose it is not."""
    for name, promise, options in (
        ("no writable folder for logs", "one line, status 1", {"ROS_LOG_DIR": "/proc/none"}),
        (
            "no writable home and kernel cache",
            "one line; the node compiles and runs",
            {
                "HOME": "/proc/none",
                "HRPSIM_CACHE_DIR": "/proc/none",
                "ROS_LOG_DIR": str(folder / "log"),
            },
        ),
    ):
        done = run_node({**os.environ, **options})
        said = [line for line in done.stdout.splitlines() if line.startswith("hrpsim: ")]
        kept = [line[:200] for line in said if "compil" not in line or "cannot be kept" in line]
        row(name, promise, f"status {done.returncode}: {'; '.join(kept)}", "nothing")
    if os.geteuid() == 0:
        done = run_node(dict(os.environ), before=confined("mount --bind -o ro {0} {0}", ROOT))
        row(
            "read-only installation and kernel cache",
            "the node runs with the stored kernels",
            f"status {done.returncode}: {(done.stdout.splitlines() or [''])[-1][-90:]}",
            "nothing",
        )
        done = run_node(dict(os.environ), before=confined("mount -t tmpfs -o ro none /dev/shm"))
        row(
            "no /dev/shm",
            "DDS uses UDP",
            f"status {done.returncode}: {(done.stdout.splitlines() or [''])[-1][-90:]}",
            "nothing",
        )


def confined(mount: str, *paths: Path) -> tuple[str, ...]:
    """Return what begins a command that sees another file system."""
    return "unshare", "-m", "sh", "-c", mount.format(*paths) + ' && exec "$@"', "sh"


def run_node(environment: dict[str, str], before: tuple[str, ...] = ()):
    """Return how a node of half a simulated second ended."""
    command = [
        *before,
        sys.executable,
        "-m",
        "hrpsim.ros.simulation.node",
        "--ros-args",
        "-p",
        "duration:=0.5",
    ]
    return subprocess.run(
        command,
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=600,
    )


def last_line(log: Path) -> str:
    """Return the last line of a log, without its time."""
    return (log.read_text().splitlines() or [""])[-1].rpartition("] ")[2][:120]


def row(*cells: str) -> None:
    """Print a line of the table."""
    print("| " + " | ".join(cell.replace("|", "/").replace("\n", " ") for cell in cells) + " |")
    sys.stdout.flush()


def killed(folder: Path) -> None:
    """Kill a hundred of each kind of process."""
    options = kills.parsed([])
    for kind in kills.KINDS:
        print(kills.told(kind, kills.campaign(kind, options, folder)), flush=True)


ROWS = {
    "floods": names_and_floods,
    "clock": clock_jumps,
    "disk": full_disk,
    "places": places,
    "pages": pages,
    "stopped": stopped,
    "killed": killed,
}


def main() -> None:
    """Print the page, or some of its rows."""
    wanted = sys.argv[1:] or list(ROWS)
    print(HEAD.format(cpus=os.cpu_count(), load=os.getloadavg()[0]))
    from hrpsim.ros.base.domain import PrivateDomain

    with tempfile.TemporaryDirectory() as name, PrivateDomain() as domain:
        os.environ.update(domain.environment())
        for row_name in wanted:
            ROWS[row_name](Path(name))


if __name__ == "__main__":
    main()
