"""One run of the demonstration: the processes, their start and end, and the verdict."""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import re
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path

from hrpsim.resources import share_path
from hrpsim.ros.bag_reader import lost_messages, message_counts
from hrpsim.ros.child_process import ChildProcess
from hrpsim.ros.demo_monitor import DemoMonitor
from hrpsim.ros.domain import PrivateDomain

WORD_PERIOD = 10.0  # [s, wall] between two words about what the start waits for
STALL_LIMIT = 30.0  # [s, wall] without simulated time passing
RUN_LIMIT = 900.0  # [s, wall]
NODE_TOPICS = (
    *("/clock", "/joint_states", "/robot_description", "/imu/data", "/odom"),
    *("/lfsensor", "/rfsensor", "/lhsensor", "/rhsensor"),
)


class DemoError(RuntimeError):
    """Something that ends the demonstration before its time."""


class DemoRun:
    """Starts the processes, lets the motion run, and judges what was recorded.

    Use it as a context manager: whatever happens, its processes have ended afterwards.
    """

    def __init__(
        self,
        options: argparse.Namespace,
        output: Path,
        domain: PrivateDomain,
        stop: Callable[[], bool],
    ):
        self._options = options
        self._output = output
        self._stop = stop
        self._domain_id = domain.domain_id
        self._environment = domain.environment()
        self._children: list[ChildProcess] = []
        self._node: ChildProcess | None = None
        self._controller: ChildProcess | None = None
        self._monitor: DemoMonitor | None = None
        self._problems: list[str] = []
        self._started = time.monotonic()

    def __enter__(self) -> DemoRun:
        return self

    def __exit__(self, *exception) -> None:
        if self._monitor is not None:
            self._monitor.close()
        for child in reversed(self._children):  # the recorder started first, so it ends last
            code = child.stop(timeout=20.0)
            if code != 0 and not exception[0]:
                self._problems.append(f"{child.name} ended with code {code}, see {child.log}")

    def play(self) -> None:
        """Start everything, run the motion to its end, and say how it goes."""
        self._say(f"ROS_DOMAIN_ID {self._domain_id}, this machine only; output in {self._output}")
        try:
            self._start()
            self._follow()
        except DemoError as error:
            self._problems.append(str(error))

    def verdict(self) -> int:
        """Print the summary, write it to summary.json, and return the exit code."""
        summary = self._summary()
        (self._output / "summary.json").write_text(json.dumps(summary, indent=2) + "\n")
        self._print_summary(summary)
        return 1 if summary["problems"] else 0

    def _start(self) -> None:
        options, bag = self._options, self._output / "bag"
        self._say("starting (the first time compiles for about half a minute) ...")
        recorder = self._child(
            "recorder",
            *("hrpsim.ros.recorder", "--output", str(bag)),
            *("--plot", str(self._output / "foot_forces.png")),
            # It gives up first: it can tell which topics are silent.
            *("--discovery-timeout", str(0.9 * options.start_limit), "--expect", *NODE_TOPICS),
        )
        self._node = self._child(
            "node",
            *("hrpsim.ros.node", "--ros-args", "-p", "start_paused:=true"),
            *("-p", f"world_file:={options.world}"),
            *("-p", f"real_time_factor:={float(options.real_time_factor)}"),
        )
        self._controller = self._child(
            "controller",
            *("hrpsim.ros.controller_node", "--ros-args"),
            *("-p", "controller:=hrpsim.control.stand_controller:StandController"),
            *("-p", f"parameters:=['duration:={float(options.duration)}']"),
        )
        self._show_rviz()
        self._wait_ready([self._node, recorder, self._controller])
        self._monitor = DemoMonitor(self._domain_id)
        if not self._monitor.resume(timeout=STALL_LIMIT):
            raise DemoError(f"the node did not answer ~/resume within {STALL_LIMIT:.0f} s")

    def _follow(self) -> None:
        """Watch until the controller has ended; say where things stand now and then."""
        monitor, end = self._monitor, time.monotonic() + RUN_LIMIT
        every = 1.0 if sys.stdout.isatty() else 5.0
        next_word = time.monotonic() + every
        told = 1  # the line that said it is ready
        while self._controller.exit_code is None:
            monitor.update(timeout=0.05)
            now = time.monotonic()
            for line in self._controller.lines[told:]:
                self._say(f"controller: {line}")
                told += 1
            if self._stop():
                raise DemoError("interrupted")
            for child in self._children:
                if child.exit_code not in (None, 0):
                    raise DemoError(f"{child.name} ended early, see {child.log}")
            if monitor.fall.fallen:
                raise DemoError(f"the robot fell at {monitor.simulated:.2f} s")
            if now - monitor.last_progress > STALL_LIMIT:
                raise DemoError(f"simulated time stands still at {monitor.simulated:.2f} s")
            if now > end:
                raise DemoError(f"not finished after {RUN_LIMIT:.0f} s")
            if now > next_word:
                self._say(monitor.describe())
                next_word = now + every
        monitor.update(timeout=0.1)
        self._say(monitor.describe())

    def _child(self, name: str, module: str, *arguments: str) -> ChildProcess:
        command = [sys.executable, "-m", module, *arguments]
        child = ChildProcess(name, command, self._output / f"{name}.log", self._environment)
        self._children.append(child)
        return child

    def _wait_ready(self, children: list[ChildProcess]) -> None:
        """Wait until all of them are ready; say now and then which of them are not."""
        limit = self._options.start_limit
        start = time.monotonic()
        next_word = start + WORD_PERIOD
        while waiting := [c for c in children if not c.wait_for_line("ready", timeout=0.05)]:
            if self._stop():
                raise DemoError("interrupted")
            for child in waiting:
                if child.exit_code is not None:
                    last = child.lines[-5:]
                    raise DemoError("\n  ".join([f"{child.name} did not start:", *last]))
            now = time.monotonic()
            described = ", ".join(map(_describe, waiting))
            if now > start + limit:
                raise DemoError(f"not ready after {limit:g} s: {described}")
            if now > next_word:
                self._say(f"waiting for {described}")
                next_word = now + WORD_PERIOD

    def _show_rviz(self) -> None:
        if self._options.headless:
            return
        if not shutil.which("rviz2") or not os.environ.get("DISPLAY"):
            self._say("no rviz2 or no display: running headless")
            return
        command = ["rviz2", "-d", str(share_path("config/stand.rviz"))]
        log = self._output / "rviz.log"
        self._children.insert(0, ChildProcess("rviz", command, log, self._environment))

    def _summary(self) -> dict:
        bag, picture = self._output / "bag", self._output / "foot_forces.png"
        counts = message_counts(bag) if (bag / "metadata.yaml").exists() else {}
        losses = lost_messages(bag) if counts else {}
        expected = [*NODE_TOPICS, "/joint_commands"]
        if importlib.util.find_spec("tf2_msgs"):
            expected += ["/tf", "/tf_static"]
        silent = [topic for topic in expected if not counts.get(topic)]
        problems = list(self._problems)
        if silent:
            problems.append(f"silent topics: {', '.join(silent)}")
        if not picture.exists():
            problems.append(f"{picture} was not written")
        monitor = self._monitor
        return {
            "problems": problems,
            "fell": monitor.fall.fallen if monitor else None,
            "real_time_factor": round(monitor.real_time_factor, 3) if monitor else None,
            "simulated_seconds": round(monitor.simulated, 3) if monitor else None,
            "steps": self._step_count(),
            "lowest_base_height": monitor.fall.lowest_height if monitor else None,
            "largest_tilt": monitor.fall.largest_tilt if monitor else None,
            "messages": {topic: counts[topic] for topic in sorted(counts)},
            "lost": losses,
            "files": sorted(str(path) for path in self._output.rglob("*") if path.is_file()),
        }

    def _step_count(self) -> int | None:
        """Return the number of steps that the node gave as its last word."""
        for line in reversed(self._node.lines if self._node else []):
            if found := re.search(r"in (\d+) steps", line):
                return int(found[1])
        return None

    def _print_summary(self, summary: dict) -> None:
        print()
        if self._monitor:
            print(
                f"{summary['steps']} steps, {summary['simulated_seconds']:.2f} s simulated, "
                f"real-time factor {summary['real_time_factor']:.2f}; the robot "
                + ("FELL" if summary["fell"] else "stands")
            )
        for topic, count in summary["messages"].items():
            lost = summary["lost"].get(topic)
            print(f"  {topic:24s} {count:8d}" + (f"  {lost} lost" if lost else ""))
        for name in summary["files"]:
            print(f"wrote {name}")
        for problem in summary["problems"]:
            print(f"FAILED: {problem}")
        if not summary["problems"]:
            print("ok")

    def _say(self, text: str) -> None:
        print(f"[{time.monotonic() - self._started:5.1f} s] {text}", flush=True)


def _describe(child: ChildProcess) -> str:
    """Return the name of a child process and the last thing it said."""
    last = child.lines[-1:]
    return f"{child.name} ({last[0]})" if last else child.name
