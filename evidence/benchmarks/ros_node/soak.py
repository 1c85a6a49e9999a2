# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Losses, cost and jitter of all topics at 1 kHz, with one listener per topic or a recorder."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from ros_node.processes import Graph, Processes, processor_time, step_time

from hrpsim.bag.reader import lost_messages, message_counts
from hrpsim.ros.base.child_process import ChildProcess

RATE = 1000.0  # [Hz]
PERIOD_NS = 1_000_000
DRAIN = 4.0  # [s, wall]: lost messages are repeated within 3 s
SETTLING = 3.0  # running time before the measurement [s, wall]
UNTIMED = {"/tf_static", "/robot_description", "/diagnostics", "/rosout", "/parameter_events"}
UNREPEATED = {"/tf", "/contact_markers"}  # not published while the node is paused


def soak(duration: float) -> bool:
    """Measure a node with one listener process per topic. Return whether no message was lost."""
    with Processes() as processes, _simulation(processes) as (node, graph):
        listeners = {
            topic: processes.program(f"listener {topic}", topic, kind)
            for topic, kind in graph.topics().items()
            if topic not in ("/rosout", "/parameter_events")
        }
        costs = _let_run(graph, duration, {"node": node})
        reports = {}
        for topic, child in listeners.items():
            child.stop()
            reports[topic] = json.loads(child.lines[-1])
    _print_costs(f"soak, {len(reports)} subscriber processes", costs)
    median, p99 = np.percentile(reports["/clock"]["jitter"], (50, 99))
    longest = max(reports["/clock"]["jitter"])
    print("  step jitter: period of /clock less 1 ms, median / p99 / longest ", end="")
    print(f"{median:.0f} / {p99:.0f} / {longest:.0f} us")
    complete = True
    for topic, report in sorted(reports.items()):
        lost, gaps = report["lost"], report["gaps"]
        complete &= lost == 0 and gaps == 0 and report["count"] > 0
        print(f"  {topic:20} {report['count']:8d} messages, {lost} lost, {gaps} gaps in stamps")
    ends = {report["last"] for report in reports.values() if report["period"] == PERIOD_NS}
    print(f"  last stamp {', '.join(f'{1e-9 * end:.3f}' for end in sorted(ends))} s")
    return complete and len(ends) == 1


def record(duration: float) -> bool:
    """Measure a node recorded by `hrpsim record`. Return whether no message was lost."""
    with Processes() as processes, _simulation(processes) as (node, graph):
        bag = processes.folder / "bag"
        timed = [topic for topic in graph.topics() if topic not in UNTIMED]
        repeated = [topic for topic in timed if topic not in UNREPEATED]
        recorder = processes.start(
            "recorder", *("-m", "hrpsim", "record", "--output", bag, "--expect", *repeated)
        )
        costs = _let_run(graph, duration, {"node": node, "recorder": recorder})
        recorder.stop(timeout=60.0)
        counts, lost = message_counts(bag), lost_messages(bag)
        size = sum(file.stat().st_size for file in bag.iterdir())
    _print_costs(f"hrpsim record, {size / 2**20:.0f} MB", costs)
    for topic in timed:
        print(f"  {topic:20} {counts[topic]:8d} messages, {lost[topic]} lost")
    return not any(lost[topic] for topic in timed)


@contextmanager
def _simulation(processes: Processes) -> Iterator[tuple[ChildProcess, Graph]]:
    """Start a node at 1 kHz in real time, paused, and return its graph."""
    node = processes.node(publish_rate=RATE, tf_rate=100.0, real_time_factor=1.0)
    with processes.graph() as graph:
        yield node, graph


def _let_run(graph: Graph, duration: float, children: dict[str, ChildProcess]) -> dict[str, float]:
    """Run for `duration` [s, wall time], and let the listeners receive all messages.

    Return the processor time of each child per second of simulated time. On a busy machine, less
    simulated time than wall time passes.
    """
    before = os.getloadavg()[0]
    graph.call("resume")
    time.sleep(SETTLING)
    first = graph.call("resume")
    begin = {name: processor_time(child.pid) for name, child in children.items()}
    start = time.monotonic()
    time.sleep(duration)
    simulated = graph.call("pause") - first
    costs = {n: (processor_time(c.pid) - begin[n]) / simulated for n, c in children.items()}
    elapsed = time.monotonic() - start
    load = os.getloadavg()[0]
    time.sleep(DRAIN)
    return {"seconds": simulated, "rate": simulated / elapsed, **costs, "loads": (before, load)}


def _print_costs(title: str, costs: dict) -> None:
    physics = RATE * step_time()
    print(f"\n{title}, {costs['seconds']:.0f} s simulated, real-time factor {costs['rate']:.2f}")
    print("  load average {:.1f} before, {:.1f} at the end".format(*costs["loads"]))
    print(
        f"  node {costs['node']:.1%} of a core, of that physics {physics:.1%} "
        f"(measured alone); beyond physics {costs['node'] - physics:.1%}"
    )
    if "recorder" in costs:
        print(f"  recorder {costs['recorder']:.1%} of a core")
