# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The suite runs under a plain pytest: without plugins, and without the oracles of some tests."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

TEST = Path(__file__).resolve().parent

HIDING = """
import sys

HIDDEN = ("hypothesis", "mujoco", "pinocchio", "xdist", "pytest_timeout")

class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in HIDDEN:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Hidden())
"""


@pytest.mark.long
def test_what_is_not_installed_is_skipped_by_name(tmp_path):
    """Law: a missing plugin changes nothing; tests that need a missing oracle say which."""
    (tmp_path / "sitecustomize.py").write_text(HIDING)
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(tmp_path), str(TEST.parent)]),
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    }
    folders = [TEST / name for name in ("spatial", "solvers", "test_errors.py")]
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", "--collect-only"]
    done = subprocess.run(
        [*command, *folders], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "hypothesis is not installed" in done.stdout
    assert int(re.search(r"(\d+) tests collected", done.stdout)[1]) > 20
