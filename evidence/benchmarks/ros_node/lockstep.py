# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Lockstep round trips at 1 kHz, as fast as possible, with a controller in another process."""

from __future__ import annotations

import json
import os
import time

import numpy as np
from ros_node.processes import HERE, Processes


def lockstep(steps: int) -> bool:
    """Measure round trips with two controllers. Return whether every step received a command."""
    host = ["-m", "hrpsim.ros.controller.controller_node", "--ros-args", "-p", "lockstep:=true"]
    host += ["-p", f"controller:={HERE / 'hold.py'}:Hold"]
    runs = [("a plain controller", [HERE / "controller.py"]), ("hrpsim_controller", host)]
    return all([_lockstep_with(*run, steps) for run in runs])


def _lockstep_with(name: str, command: list, steps: int) -> bool:
    with Processes() as processes:
        node = processes.node(
            lockstep="true",
            control_period=0.001,
            publish_rate=1000.0,
            real_time_factor=0.0,
            duration=steps * 1e-3,
        )
        controller = processes.start("controller", *command)
        before = os.getloadavg()[0]
        with processes.graph() as graph:
            graph.call("resume")
            start = time.monotonic()
            if node.wait(timeout=60.0 + 3e-3 * steps) != 0:
                print("\n".join(["the node did not come to its end", *node.lines[-5:]]))
                return False
            took = time.monotonic() - start
        load = os.getloadavg()[0]
        controller.stop()
    report = json.loads(node.lines[-1])
    median, p99 = np.percentile(report["trips"], (50, 99))
    print(f"\nlockstep at 1 ms with {name}: {report['steps']} steps in {took:.1f} s")
    print(f"  load average {before:.1f} before, {load:.1f} at the end")
    print(
        f"  round trip, from before the state is published to its command: median {median:.0f} us, "
        f"p99 {p99:.0f} us, longest {max(report['trips']):.0f} us"
    )
    print(
        f"  {steps - report['accepted']} commands lost, {report['rejected']} rejected, "
        f"{report['held']} ticks without, {report['stalls']} stalls"
    )
    for line in controller.lines[1:]:
        print(f"  controller {line}")
        if line.startswith("heard") and not line.endswith(", 0 out of order"):
            return False
    return report["accepted"] == report["steps"] == steps and not report["rejected"]
