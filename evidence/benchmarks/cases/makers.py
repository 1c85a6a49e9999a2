# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Unchanged robot descriptions of manufacturers, with meshes and self-collision, in both engines.

The variable HRPSIM_ROBOTS names folders with MJCF files, in the format of PATH. Every file with a
floor and a free base is used. No motor acts. Steps are timed in the initial pose of the file, in
free fall, and after the robot has collapsed.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np

from evidence.benchmarks.results import Case, CaseResult, Claim
from evidence.benchmarks.timing import Effort, Subject
from hrpsim import HrpsimError, ModelWarning, World, load_world

VARIABLE = "HRPSIM_ROBOTS"
STEPS = 200  # number of steps of a turn, the first of which finds pairs again
HIGHER, FALL, HEAP = 5.0, 0.4, 1.5  # additional height of the robot in the air [m], times [s]


class Ours:
    """The robot of a file in hrpsim: the world, and snapshots of its states."""

    def __init__(self, path: Path) -> None:
        self.world = load_world(path)

    def raise_base(self) -> None:
        """Lift the base of the robot into the air."""
        (robot,) = self.world.robots.values()
        q = robot.q.copy()
        q[2] += HIGHER
        robot.q = q

    def advance(self, duration: float) -> None:
        """Simulate for `duration` [s]."""
        self.world.step(round(duration / self.world.time_step))

    def contacts(self) -> int:
        """Return the number of contact points of the last step."""
        return self.world.stats.contact_count

    def subject(self) -> Subject:
        """Return a subject that repeats steps from the present state."""
        state, world = self.world.snapshot(), self.world
        return Subject("hrpsim", world.step, True, lambda: world.restore(state), STEPS)


class Theirs:
    """The robot of a file in MuJoCo, with the settings of the file."""

    def __init__(self, path: Path) -> None:
        import mujoco

        self.engine = mujoco
        self.model = mujoco.MjModel.from_xml_path(str(path))
        self.data = mujoco.MjData(self.model)

    def raise_base(self) -> None:
        """Lift the base of the robot into the air."""
        self.data.qpos[2] += HIGHER

    def advance(self, duration: float) -> None:
        """Simulate for `duration` [s]."""
        self.engine.mj_step(self.model, self.data, round(duration / self.model.opt.timestep))

    def contacts(self) -> int:
        """Return the number of contact points of the last step."""
        return int(self.data.ncon)

    def subject(self) -> Subject:
        """Return a subject that repeats steps from the present state."""
        step, model, data, set_state = (
            self.engine.mj_step, self.model, self.data, self.engine.mj_setState,
        )  # fmt: skip
        all_of_it = self.engine.mjtState.mjSTATE_INTEGRATION
        state = np.empty(self.engine.mj_stateSize(model, all_of_it))
        self.engine.mj_getState(model, data, state, all_of_it)
        return Subject(
            "mujoco",
            lambda n: step(model, data, n),
            False,
            lambda: set_state(model, data, state, all_of_it),
            STEPS,
        )


def files() -> list[Path]:
    """Return the MJCF files in the folders that have a floor and a free base."""
    paths = []
    for folder in filter(None, os.environ.get(VARIABLE, "").split(os.pathsep)):
        for path in sorted(Path(folder).rglob("*.xml")):
            text = path.read_text(encoding="utf-8", errors="replace")
            for name in re.findall(r'<include file="([^"]+)"', text):
                other = path.parent / name
                text += other.read_text(errors="replace") if other.is_file() else ""
            if 'type="plane"' in text and re.search(r'<freejoint|type="free"', text):
                paths.append(path)
    return paths


def opened(path: Path, result: CaseResult) -> list[Ours | Theirs]:
    """Open a file in both engines. Return both robots.

    If an engine refuses the file, the result is None, and `result` receives a note.
    """
    made: list[Callable[[Path], Ours | Theirs]] = [Theirs, Ours]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ModelWarning)
            engines = [make(path) for make in made]
    except (HrpsimError, ValueError) as error:
        result.notes.append(f"{path.name} of {path.parent.name}, refused: {str(error)[:120]}")
        return []
    if not isinstance(engines[1].world, World) or len(engines[1].world.robots) != 1:
        return []
    return engines


def run(result: CaseResult, effort: Effort) -> None:
    """Measure every file in the initial pose, in the air and collapsed."""
    ratios: dict[str, list[float]] = {"standing": [], "in the air": [], "in a heap": []}
    for path in files():
        for state in ratios:
            engines = opened(path, result)
            if not engines:
                break
            ratios[state].append(_measure(path, state, engines, result, effort))
    for state, values in ratios.items():
        if values:
            worst = Claim(f"{state}: hrpsim's time over mujoco's, worst of all", max(values), 1.0)
            result.claims += [worst]
    if not files():
        result.notes.append(f"no robots: {VARIABLE} names no folder with MJCF files")


def _measure(path: Path, state: str, engines, result: CaseResult, effort: Effort) -> float:
    """Bring a robot into a state, and time its steps. Return hrpsim's time divided by MuJoCo's."""
    for engine in engines:
        if state == "in the air":
            engine.raise_base()
        engine.advance({"standing": 0.01, "in the air": FALL, "in a heap": HEAP}[state])
    name = f"{path.parent.name}/{path.stem}, {state}"
    times = result.measure(name, [engine.subject() for engine in engines], effort)
    counts = ", ".join(str(engine.contacts()) for engine in engines)
    result.notes.append(f"{name}: contacts of mujoco and hrpsim {counts}")
    return float(np.min(times["hrpsim"]) / np.min(times["mujoco"]))


CASE = Case("Robots of their makers", run)
