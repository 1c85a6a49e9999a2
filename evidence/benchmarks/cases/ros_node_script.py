# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The ROS node: a short run of bench_ros_node.py. The page has the figures of a long run."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

from evidence.benchmarks.machine import core_count, use_cores
from evidence.benchmarks.results import Case, CaseResult
from evidence.benchmarks.timing import Effort

SCRIPT = Path(__file__).resolve().parent.parent / "bench_ros_node.py"
RUNS = (("soak", "--duration", "10"), ("lockstep", "--steps", "5000"))


def run(result: CaseResult, effort: Effort) -> None:
    """Run the script and quote its output. Without ROS, add a note instead."""
    if importlib.util.find_spec("rclpy") is None:
        result.notes.append("rclpy is not installed: not measured")
        return
    use_cores(core_count())
    for arguments in RUNS:
        done = subprocess.run(
            [sys.executable, str(SCRIPT), *arguments],
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )
        lines = [line for line in done.stdout.splitlines() if line.strip()]
        result.notes += [f"`{line.strip()}`" for line in lines]
        if done.returncode != 0:
            raise RuntimeError(f"{SCRIPT.name} {arguments[0]}: {done.stderr.strip()[-300:]}")


CASE = Case("The ROS node at 1 kHz", run, cores=2)
