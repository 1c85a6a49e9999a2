# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Check whether a code change changed any trajectory, by hashes of all worlds in the tests.

In each of two checkouts:  python -m pytest -p tools.trajectories --trajectories FILE [test/...] and
then:                  python tools/trajectories.py FILE_BEFORE FILE_AFTER

Each call of World.step adds a hash of the new positions and velocities, exact to the last bit, to a
sum of the running test. The sum does not depend on the order of a batch's threads. Tests that only
one of the two files has are counted, but not compared.

Hypothesis takes some constants from the sources. A property test may therefore use other examples
after a change, and have another sum.
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
    """Add the option for the output file."""
    parser.addoption("--trajectories", type=Path, required=True)


def pytest_configure(config) -> None:
    """Patch World.step to hash the state after each call."""
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
    """Reset the sum at the start of a test."""
    _running[:] = [0]


def pytest_runtest_teardown(item) -> None:
    """Store the sum of a test that stepped a world."""
    if _running and _running[0]:
        _hashes[item.nodeid] = f"{_running[0]:x}"
    _running.clear()


def pytest_sessionfinish(session) -> None:
    """Write the hashes. xdist workers write separate files, which the main process merges."""
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
    """Print the tests with changed trajectories, and return their number."""
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
