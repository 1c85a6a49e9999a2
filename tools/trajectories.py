# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Whether a change of the code changed any trajectory: hashes of all worlds in the tests.

In each of two checkouts:  python -m pytest -p tools.trajectories --trajectories FILE [test/...]
and then:                  python tools/trajectories.py FILE_BEFORE FILE_AFTER

Each call of World.step adds a hash of the positions and velocities that it leads to, to the last
bit, to the sum of the test that calls it, in whatever order the threads of a batch do so. Tests
that only one of two files has are counted, not compared.

Hypothesis takes some numbers from sources: another sum of a property test may be of other examples.
"""

from __future__ import annotations

import hashlib
import json
import sys
import threading
from pathlib import Path

_hashes: dict[str, str] = {}
_one_at_a_time = threading.Lock()
_running: list[int] = []  # the sum of the test that runs


def pytest_addoption(parser) -> None:
    """Take the file that the hashes are written to."""
    parser.addoption("--trajectories", type=Path, required=True)


def pytest_configure(config) -> None:
    """Hash the state after each call of World.step."""
    from hrpsim import World

    plain = World.step

    def step(self, n: int = 1) -> None:
        try:
            plain(self, n)
        finally:
            if _running:
                state = self.scene.q.tobytes() + self.scene.velocity.tobytes()
                digest = int.from_bytes(hashlib.sha256(state).digest(), "big")
                with _one_at_a_time:
                    _running[0] += digest

    World.step = step


def pytest_runtest_setup(item) -> None:
    """Begin the sum of a test."""
    _running[:] = [0]


def pytest_runtest_teardown(item) -> None:
    """Keep the sum of a test that stepped a world."""
    if _running and _running[0]:
        _hashes[item.nodeid] = f"{_running[0]:x}"
    _running.clear()


def pytest_sessionfinish(session) -> None:
    """Write the hashes; each worker of xdist writes a file of its own, which the first reads."""
    file = session.config.getoption("--trajectories")
    worker = getattr(session.config, "workerinput", None)
    if worker is not None:
        file.with_suffix(f".{worker['workerid']}").write_text(json.dumps(_hashes))
        return
    for part in file.parent.glob(f"{file.stem}.gw*"):
        _hashes.update(json.loads(part.read_text()))
        part.unlink()
    file.write_text(json.dumps(dict(sorted(_hashes.items())), indent=0))


def compare(before: dict[str, str], after: dict[str, str]) -> int:
    """Print which tests have other trajectories; return how many do."""
    common = before.keys() & after.keys()
    changed = sorted(test for test in common if before[test] != after[test])
    for test in changed:
        print(f"changed: {test}")
    print(
        f"{len(common)} tests in both, {len(changed)} changed; "
        f"{len(before) - len(common)} only before, {len(after) - len(common)} only after"
    )
    return len(changed)


if __name__ == "__main__":
    files = [json.loads(Path(name).read_text()) for name in sys.argv[1:3]]
    sys.exit(1 if compare(*files) else 0)
