"""Engines in processes of their own: what is asked of them, and for how long."""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.simbenchmark.engines import KINDS
from benchmarks.timing import Subject

ROOT = Path(__file__).resolve().parents[2]
_START = 300.0  # [s] for imports, compilation and building a scene


class Child:
    """An engine; what dies or takes too long is begun anew at the next request."""

    def __init__(self, name: str):
        self.name, self._process = name, None

    def ask(self, patience: float = _START, **request) -> dict:
        """Return the answer to a request, or {"unable": why}."""
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
            [sys.executable, "-m", "benchmarks.simbenchmark.child", self.name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, path))},
            cwd=tempfile.gettempdir(),  # where MuJoCo writes its log
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


class RideSubject(Subject):
    """A scene that a child steps; the time is the child's own processor time."""

    def timed(self, count: int, clock=None) -> float:
        """Return the seconds of a step, of `count`."""
        return self.run(count)


def ride(child: Child, scene: str, time_step: float, count: int, ours: bool):
    """Return (RideSubject, settings) of a scene, or (None, why not)."""
    answer = child.ask(task="begin", scene=scene, time_step=time_step, count=count)
    if "unable" in answer:
        return None, answer["unable"]

    def run(steps: int) -> float:
        found = child.ask(task="run", steps=steps)
        if "unable" in found:
            raise RuntimeError(f"{child.name}, {scene}: {found['unable']}")
        return found["seconds"]

    subject = RideSubject(child.name, run, ours=ours, most=min(answer["steps"], 100_000))
    return subject, answer["settings"]
