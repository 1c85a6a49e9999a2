# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A walk over ROS 2: simulation node, controller and recorder, each in a process of its own.

They talk over DDS in a private ROS domain, node and controller in lockstep.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from hrpsim.orphans import end_with_parent
from hrpsim.ros.base.domain import PrivateDomain
from hrpsim.ros.base.stop_signal import StopSignal
from hrpsim.ros.demo.demo_run import DemoRun, DemoSettings

DEFAULT_OUTPUT = Path("demo_output")
FILES = ("controller.yaml", "foot_forces.png", "summary.json")
LOGS = ("node.log", "controller.log", "recorder.log", "rviz.log")


def run_demo(settings: DemoSettings, say: Callable[[str], None]) -> dict:
    """Let the robot walk and return the summary, which is in summary.json as well.

    Its `problems` say what went wrong: the robot fell, a topic stayed silent, a process failed.
    say: takes lines about what happens. Raises KeyboardInterrupt where a signal comes before
    anything has begun.
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
    """Make the output folder; remove what an earlier walk left in it, and nothing else."""
    folder.mkdir(parents=True, exist_ok=True)
    if folder == DEFAULT_OUTPUT:
        (folder / ".gitignore").write_text("*\n")
    if (folder / "bag" / "metadata.yaml").exists() or list(folder.glob("bag/*.mcap")):
        shutil.rmtree(folder / "bag")
    for name in (*FILES, *LOGS):
        (folder / name).unlink(missing_ok=True)
