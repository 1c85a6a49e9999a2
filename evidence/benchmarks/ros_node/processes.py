# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The processes of one measurement, and their processor time."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path

from hrpsim import share_path
from hrpsim.ros.base.child_process import ChildProcess
from hrpsim.ros.base.domain import PrivateDomain

HERE = Path(__file__).parent
WORLD = "config/stand.yaml"
XACRO_ARGUMENTS = {"bush": "true"}
START_LIMIT = 120.0  # [s, wall]
TICKS = os.sysconf("SC_CLK_TCK")


class Processes:
    """Processes of one measurement in a separate ROS domain.

    The context manager ends all processes.
    """

    def __init__(self) -> None:
        self._domain = PrivateDomain()
        self._folder = tempfile.TemporaryDirectory()
        self.folder = Path(self._folder.name)
        self._children: list[ChildProcess] = []

    def __enter__(self) -> Processes:
        return self

    def __exit__(self, *exception) -> None:
        for child in reversed(self._children):
            child.stop()
        self._domain.release()
        self._folder.cleanup()

    def program(self, name: str, *arguments) -> ChildProcess:
        """Start a program of this folder, and wait for its line that begins with "ready"."""
        return self.start(name, HERE / f"{name.partition(' ')[0]}.py", *arguments)

    def start(self, name: str, *arguments) -> ChildProcess:
        """Start Python with `arguments`, and wait for the line that begins with "ready"."""
        child = self.begin(name, *arguments)
        if not child.wait_for_line("ready", START_LIMIT):
            raise SystemExit("\n".join([f"{name} did not start", *child.lines]))
        return child

    def begin(self, name: str, *arguments) -> ChildProcess:
        """Start Python with `arguments`."""
        log = self.folder / f"{name.replace('/', '_').replace(' ', '')}.log"
        command = [sys.executable, *map(str, arguments)]
        child = ChildProcess(name, command, log, self._domain.environment())
        self._children.append(child)
        return child

    def node(self, **parameters) -> ChildProcess:
        """Start the simulation node, paused."""
        arguments = [f"{name}:={value}" for name, value in XACRO_ARGUMENTS.items()]
        settings = {"world_file": share_path(WORLD), "xacro_arguments": arguments}
        settings |= {"start_paused": "true"} | parameters
        ros = [f"{name}:={value}" for name, value in settings.items()]
        return self.program("node", *(word for rule in ros for word in ("-p", rule)))

    def graph(self) -> Graph:
        """Return a ROS node of this process in the domain."""
        return Graph(self._domain.domain_id)


class Graph:
    """A ROS node that lists topics, and pauses and resumes the simulation."""

    def __init__(self, domain_id: int) -> None:
        import rclpy
        from rclpy.context import Context
        from rclpy.executors import SingleThreadedExecutor

        os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
        self._context = Context()
        rclpy.init(context=self._context, domain_id=domain_id)
        self._node = rclpy.create_node("bench", context=self._context)
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self._node)

    def __enter__(self) -> Graph:
        return self

    def __exit__(self, *exception) -> None:
        self._executor.shutdown(timeout_sec=1.0)
        self._node.destroy_node()
        self._context.try_shutdown()

    def topics(self) -> dict[str, str]:
        """Return the topics that the simulation node publishes, by name."""
        deadline = time.monotonic() + 10.0
        while time.monotonic() < deadline:
            names = self._node.get_node_names()
            if "hrpsim" in names:
                publishers = self._node.get_publisher_names_and_types_by_node("hrpsim", "/")
                topics = {topic: types[0] for topic, types in publishers}
                if {"/clock", "/joint_states", "/tf"} <= topics.keys():
                    return topics
            time.sleep(0.1)
        raise SystemExit("the simulation node does not show its topics")

    def call(self, service: str) -> float:
        """Call a std_srvs/Trigger service of the simulation. Return the simulated time [s]."""
        from std_srvs.srv import Trigger

        client = self._node.create_client(Trigger, f"/hrpsim/{service}")
        if not client.wait_for_service(10.0):
            raise SystemExit(f"no service {service}")
        future = client.call_async(Trigger.Request())
        self._executor.spin_until_future_complete(future, 20.0)
        if not future.done() or not future.result().success:
            raise SystemExit(f"{service} failed")
        self._node.destroy_client(client)
        return float(future.result().message.split("time ")[1].split()[0])


def processor_time(pid: int) -> float:
    """Return the processor time of a process, over all threads [s]."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def step_time() -> float:
    """Return the processor time of a step of the same world, called from Python [s]."""
    from hrpsim import load_world

    world = load_world(share_path(WORLD), xacro_arguments=XACRO_ARGUMENTS)
    world.step(1000)
    begin = time.process_time()
    for _ in range(10_000):
        world.step()
    return (time.process_time() - begin) / 10_000
