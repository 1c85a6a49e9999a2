# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Run engines in separate processes, with requests and time limits."""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from evidence.benchmarks.simbenchmark.engines import KINDS

ROOT = Path(__file__).resolve().parents[3]
_START = 300.0  # [s] for imports, compilation and building a scene
_BUILD = 60.0  # the same, or one turn, for a scene with a time limit [s]


class Child:
    """The process of an engine. If the process ends or times out, the next request restarts it."""

    def __init__(self, name: str) -> None:
        self.name, self._process = name, None

    def ask(self, patience: float = _START, **request) -> dict:
        """Send a request, and return the reply.

        If the process fails or needs more than `patience` [s], the result is {"unable": reason}.
        """
        if self._process is None:
            self._begin()
        try:
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
            line = self._line(patience)
        except (BrokenPipeError, TimeoutError) as reason:
            self.end()
            return {"unable": str(reason) or "the process ended"}
        if not line:
            code = self._process.poll()
            self.end()
            return {"unable": f"the process ended ({code})"}
        return json.loads(line)

    def _begin(self) -> None:
        path = [str(ROOT), os.environ.get("PYTHONPATH", "")]
        if KINDS[self.name].path is not None:
            path.insert(0, str(KINDS[self.name].path))
        self._process = subprocess.Popen(
            [sys.executable, "-m", "evidence.benchmarks.simbenchmark.child", self.name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, path))},
            cwd=tempfile.gettempdir(),  # MuJoCo writes its log here
        )

    def _line(self, patience: float) -> str:
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            until = time.monotonic() + patience
            while not selector.select(max(until - time.monotonic(), 0.0)):
                if time.monotonic() >= until:
                    raise TimeoutError(f"no answer after {patience:.0f} s")
        return self._process.stdout.readline()

    def end(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process.stdin.close()
            self._process.stdout.close()
        self._process = None


class RideFailure(Exception):
    """Raised if an engine fails during timing. `engine` is the name of the engine."""

    def __init__(self, engine: str, reason: str) -> None:
        super().__init__(reason)
        self.engine = engine


class Ride:
    """A scene that a child process steps."""

    def __init__(self, child: Child, begin: dict, answer: dict) -> None:
        self._child, self._begin = child, begin
        self.settings, self.steps = answer["settings"], answer["steps"]

    def restart(self) -> None:
        """Restart the scene."""
        self._answer_to(self._begin)

    def run(self, steps: int) -> tuple[float, float]:
        """Make `steps` steps. Return processor time and wall time of one step in the child [s]."""
        times = self._answer_to({"task": "run", "steps": steps})
        return times["seconds"], times["wall"]

    def _answer_to(self, request: dict) -> dict:
        answer = self._child.ask(_BUILD, **request)
        if "unable" in answer:
            raise RideFailure(self._child.name, answer["unable"])
        return answer


def ride(child: Child, scene: str, time_step: float, count: int) -> Ride | str:
    """Return a new scene in the child process, or the reason why the engine cannot simulate it."""
    begin = {"task": "begin", "scene": scene, "time_step": time_step, "count": count}
    answer = child.ask(_BUILD, **begin)
    return answer["unable"] if "unable" in answer else Ride(child, begin, answer)
