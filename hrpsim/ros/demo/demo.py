# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A walk over ROS 2: simulation node, controller and recorder, each in a separate process.

The processes communicate over DDS in a private ROS domain. Node and controller run in lockstep.
"""

from __future__ import annotations

import importlib.util
import json
import math
import os
import shutil
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import rclpy
import yaml
from nav_msgs.msg import Odometry
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions
from std_srvs.srv import Trigger

from hrpsim.bag.reader import lost_messages, message_counts
from hrpsim.common.orphans import end_with_parent
from hrpsim.common.resources import share_path
from hrpsim.model.model import Model
from hrpsim.model.sensor_names import sensor_topic
from hrpsim.ros.base import qos
from hrpsim.ros.base.child_process import ChildProcess, Processes
from hrpsim.ros.base.domain import PrivateDomain
from hrpsim.ros.base.geometry_values import numbers_of
from hrpsim.ros.base.program import StopSignal
from hrpsim.world.fall import FallWatch

DEFAULT_OUTPUT = Path("demo_output")
FILES = ("controller.yaml", "foot_forces.png", "summary.json")
LOGS = ("node.log", "controller.log", "recorder.log", "rviz.log")
WORD_PERIOD = 10.0  # period of log entries about the state of the start [s, wall]
STALL_LIMIT = 30.0  # longest time without progress of simulated time [s, wall]
AFTER_FALL = 1.0  # recorded time after a fall [s]
_STATE_TOPICS = "/clock", "/joint_states", "/robot_description", "/odom"


class DemoMonitor:
    """Observer of a demo: subscribes to `odom`, and measures simulated and wall time."""

    def __init__(self, domain_id: int) -> None:
        os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
        self._context = Context()
        rclpy.init(
            context=self._context,
            domain_id=domain_id,
            signal_handler_options=SignalHandlerOptions.NO,
        )
        self._node = Node("demo_monitor", context=self._context)
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self._node)
        self._node.create_subscription(Odometry, "odom", self._on_odometry, qos.STATE)
        self.fall = FallWatch()
        self.simulated = 0.0  # [s]
        self.fell_at: float | None = None  # [s]
        self.last_progress = time.monotonic()
        self._first_progress: tuple[float, float] | None = None  # simulated, wall [s]

    def results(self) -> dict[str, Any]:
        """Return the measured values for the summary."""
        return {
            "verdict": "fell" if self.fell_at else "stands",
            "fell_at": self.fell_at,
            "simulated_seconds": round(self.simulated, 3),
            "real_time_factor": round(self.real_time_factor, 3),
            "greatest_inclination": self.fall.largest_tilt,
        }

    @property
    def real_time_factor(self) -> float:
        """Simulated seconds for each second of wall time since the first progress."""
        if self._first_progress is None:
            return 0.0
        simulated, wall = self._first_progress
        return (self.simulated - simulated) / max(self.last_progress - wall, 1e-9)

    def resume(self, timeout: float, check: Callable[[], object]) -> bool:
        """Call ~/resume. Call `check` while waiting.

        Return whether a response came within `timeout` [s].
        """
        end = time.monotonic() + timeout
        client = self._node.create_client(Trigger, "hrpsim/resume")
        if not self._wait(client.service_is_ready, end, check):
            return False
        self.last_progress = time.monotonic()
        while (now := time.monotonic()) < end:  # an answer can be lost, a second call is harmless
            answer = client.call_async(Trigger.Request())
            if self._wait(answer.done, min(end, now + 5.0), check):
                return answer.result().success
        return False

    def _wait(self, condition: Callable[[], bool], end: float, check: Callable[[], object]) -> bool:
        """Return whether the condition becomes true before `end`."""
        while not condition():
            if time.monotonic() > end:
                return False
            check()
            self._executor.spin_once(timeout_sec=0.05)
        return True

    def update(self, timeout: float) -> None:
        """Process the messages that arrive within `timeout` [s]."""
        end = time.monotonic() + timeout
        while (remaining := end - time.monotonic()) > 0:
            self._executor.spin_once(timeout_sec=remaining)

    def close(self) -> None:
        """Leave the ROS graph."""
        self._executor.shutdown(timeout_sec=1.0)
        self._node.destroy_node()
        self._context.try_shutdown()
        self._context.destroy()

    def _on_odometry(self, message: Odometry) -> None:
        stamp, pose = message.header.stamp, message.pose.pose
        simulated = stamp.sec + 1e-9 * stamp.nanosec
        if simulated > self.simulated:
            self.last_progress = time.monotonic()
            self._first_progress = self._first_progress or (simulated, self.last_progress)
        self.simulated = simulated
        self.fall.add(pose.position.z, numbers_of(pose.orientation))
        if self.fell_at is None and self.fall.fallen:
            self.fell_at = simulated


def node_topics(model: Model) -> tuple[str, ...]:
    """Return the topics that a walk of this robot must deliver, with one for each sensor."""
    return (*_STATE_TOPICS, *(f"/{sensor_topic(sensor)}" for sensor in model.sensors))


class DemoError(RuntimeError):
    """Raised for an error that ends the walk early."""


@dataclass(frozen=True)
class DemoSettings:
    """The settings of a walk."""

    world: Path  # world file
    topics: tuple[str, ...]  # topics that the node must publish
    xacro_arguments: Mapping[str, str]  # override the arguments in the world file
    parameters: Mapping[str, Any]  # parameters of the walking controller
    period: float  # period of the controller [s]
    step_ends: np.ndarray  # planned times of touch-down [s]
    output: Path  # folder for bag, picture, logs and summary
    real_time_factor: float = 1.0  # 0: as fast as possible
    rviz: bool = False
    domain_id: int | None = None  # ROS_DOMAIN_ID instead of a private domain
    start_limit: float = 180.0  # time until everything must be ready [s, wall]


class DemoRun:
    """A demo run: starts the processes, runs the walk, checks the recording, ends the processes."""

    def __init__(
        self,
        settings: DemoSettings,
        domain: PrivateDomain,
        stop: Callable[[], bool],
        say: Callable[[str], None],
    ) -> None:
        self._settings = settings
        self._output = settings.output
        self._stop = stop
        self._print = say
        self._domain_id = domain.domain_id
        self._processes = Processes(settings.output, domain.environment())
        self._controller: ChildProcess | None = None
        self._monitor: DemoMonitor | None = None
        self._problems: list[str] = []
        self._started = time.monotonic()

    def __enter__(self) -> DemoRun:
        return self

    def __exit__(self, *exception) -> None:
        if self._monitor is not None:
            self._monitor.close()
        # The recorder started first, so it ends last.
        for child, code in self._processes.stop(timeout=60.0):
            if code != 0 and not exception[0]:
                self._problems.append(f"{child.name} ended with code {code}. See {child.log}")

    def play(self) -> None:
        """Start all processes, run the walk to the end, and report progress."""
        self._say(f"ROS_DOMAIN_ID {self._domain_id}, this machine only. Output in {self._output}")
        try:
            self._start()
            self._follow()
        except DemoError as error:
            self._problems.append(str(error))

    def summary(self) -> dict:
        """Write the results to summary.json, and return the results."""
        bag, picture = self._output / "bag", self._output / "foot_forces.png"
        counts = message_counts(bag) if (bag / "metadata.yaml").exists() else {}
        expected = [*self._settings.topics, "/joint_commands"]
        if importlib.util.find_spec("tf2_msgs"):
            expected += ["/tf", "/tf_static"]
        silent = [topic for topic in expected if not counts.get(topic)]
        problems = list(self._problems)
        if silent:
            problems.append(f"silent topics: {', '.join(silent)}")
        if not picture.exists():
            problems.append(f"{picture} was not written")
        file = self._output / "summary.json"
        file.touch()
        summary = {
            "verdict": None,
            "steps": self._steps_made(),
            "planned_steps": len(self._settings.step_ends),
            **dict.fromkeys(("fell_at", "simulated_seconds", "real_time_factor")),
            "greatest_inclination": None,
            **(self._monitor.results() if self._monitor else {}),
            "problems": problems,
            "messages": {topic: counts[topic] for topic in sorted(counts)},
            "lost": lost_messages(bag) if counts else {},
            "files": sorted(
                {str(p) for p in self._output.rglob("[!.]*") if p.is_file()} | {str(file)}
            ),
        }
        file.write_text(json.dumps(summary, indent=2) + "\n")
        return summary

    def _start(self) -> None:
        settings = self._settings
        self._say("starting ...")
        recorder = self._processes.start_module(
            "recorder",
            *("hrpsim.ros.recording.recorder", "--output", str(self._output / "bag")),
            *("--plot", str(self._output / "foot_forces.png")),
            # The recorder gives up first, because it knows the missing topics.
            *("--discovery-timeout", str(0.9 * settings.start_limit), "--expect", *settings.topics),
        )
        xacro = [f"{name}:={value}" for name, value in settings.xacro_arguments.items()]
        node = self._processes.start_module(
            "node",
            *("hrpsim.ros.simulation.node", "--ros-args"),
            *("-p", "start_paused:=true", "-p", "lockstep:=true"),
            *("-p", f"world_file:={settings.world}", "-p", f"xacro_arguments:={xacro or ['']}"),
            *("-p", f"control_period:={float(settings.period)}"),
            *("-p", f"real_time_factor:={float(settings.real_time_factor)}"),
        )
        parameters = self._output / "controller.yaml"
        parameters.write_text(yaml.safe_dump(dict(settings.parameters)))
        self._controller = self._processes.start_module(
            "controller",
            *("hrpsim.ros.controller.controller_node", "--ros-args", "-p", "lockstep:=true"),
            *("-p", "controller:=hrpsim.control:Walk"),
            *("-p", "listeners:=2"),  # node and recorder, so that no command is lost
            *("-p", f"parameters_file:={parameters}"),
        )
        if settings.rviz:
            self._show_rviz()
        self._wait_ready([node, recorder, self._controller])
        self._monitor = DemoMonitor(self._domain_id)
        if not self._monitor.resume(STALL_LIMIT, self._check_children):
            raise DemoError(f"the node did not answer ~/resume within {STALL_LIMIT:.0f} s")

    def _follow(self) -> None:
        """Watch until the controller has ended. Report progress regularly."""
        monitor = self._monitor
        every = 1.0 if sys.stdout.isatty() else 5.0
        next_word = time.monotonic() + every
        printed = len(self._controller.lines)  # earlier lines are in the log
        while self._controller.exit_code is None:
            monitor.update(timeout=0.05)
            now = time.monotonic()
            for line in self._controller.lines[printed:]:
                self._say(f"controller: {line}")
                printed += 1
            self._check_children()
            if monitor.fell_at and monitor.simulated > monitor.fell_at + AFTER_FALL:
                break
            if now - monitor.last_progress > STALL_LIMIT:
                raise DemoError(f"simulated time stands still at {monitor.simulated:.2f} s")
            if now > next_word:
                self._say(self._state_of_things())
                next_word = now + every
        monitor.update(timeout=0.1)
        self._say(self._state_of_things())
        if monitor.fell_at:
            raise DemoError(f"the robot fell at {monitor.fell_at:.2f} s, {self._steps_in_words()}")

    def _check_children(self) -> None:
        """Raise DemoError if the user has interrupted the demo, or a process has failed."""
        if self._stop():
            raise DemoError("interrupted")
        for child in self._processes.all:
            if child.exit_code not in (None, 0):
                raise DemoError(f"{child.name} ended early. See {child.log}")

    def _wait_ready(self, children: list[ChildProcess]) -> None:
        """Wait until all processes are ready. Regularly report the processes that are not ready."""
        limit = self._settings.start_limit
        start = time.monotonic()
        next_word = start + WORD_PERIOD
        while waiting := [c for c in children if not c.wait_for_line("ready", timeout=0.05)]:
            for child in waiting:
                # A process may have become ready and ended since the last check.
                if child.exit_code is not None and not child.wait_for_line("ready", timeout=0.0):
                    last = child.lines[-5:]
                    raise DemoError("\n  ".join([f"{child.name} did not start:", *last]))
            self._check_children()
            now = time.monotonic()
            described = ", ".join(map(_describe, waiting))
            if now > start + limit:
                raise DemoError(f"not ready after {limit:g} s: {described}")
            if now > next_word:
                self._say(f"waiting for {described}")
                next_word = now + WORD_PERIOD

    def _show_rviz(self) -> None:
        if not shutil.which("rviz2") or not os.environ.get("DISPLAY"):
            self._say("no rviz2 or no display: running without")
            return
        self._processes.start("rviz", "rviz2", "-d", str(share_path("config/hrpsim.rviz")))

    def _steps_made(self) -> int | None:
        if self._monitor is None:
            return None
        end = min(self._monitor.simulated, self._monitor.fell_at or math.inf)
        return int(np.sum(self._settings.step_ends <= end + 1e-9))

    def _steps_in_words(self) -> str:
        return f"{self._steps_made()} of {len(self._settings.step_ends)} steps made"

    def _state_of_things(self) -> str:
        monitor = self._monitor
        return (
            f"simulated {monitor.simulated:6.2f} s, {self._steps_in_words()}, "
            f"real-time factor {monitor.real_time_factor:.2f}"
        )

    def _say(self, text: str) -> None:
        self._print(f"[{time.monotonic() - self._started:5.1f} s] {text}")


def run_demo(settings: DemoSettings, say: Callable[[str], None]) -> dict:
    """Run the walk, and write the summary to summary.json.

    say: receives lines about progress. Raises KeyboardInterrupt for a signal before the start.

    Returns:
        The summary. Its entry `problems` lists failures.
    """
    fresh_folder(settings.output)
    with StopSignal() as stop, PrivateDomain() as domain:
        end_with_parent()
        if settings.domain_id is not None:
            domain.domain_id = settings.domain_id
        with DemoRun(settings, domain, stop, say) as run:
            run.play()
    return run.summary()


def fresh_folder(folder: Path) -> None:
    """Make the output folder. Remove only the output of an earlier walk."""
    folder.mkdir(parents=True, exist_ok=True)
    if folder == DEFAULT_OUTPUT:
        (folder / ".gitignore").write_text("*\n")
    if (folder / "bag" / "metadata.yaml").exists() or list(folder.glob("bag/*.mcap")):
        shutil.rmtree(folder / "bag")
    for name in (*FILES, *LOGS):
        (folder / name).unlink(missing_ok=True)


def _describe(child: ChildProcess) -> str:
    """Return the name and the last line of a child process."""
    last = child.lines[-1:]
    return f"{child.name} ({last[0]})" if last else child.name
