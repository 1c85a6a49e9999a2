# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""colcon builds hrpsim in a workspace as a package of ROS 2, and runs its programs and tests."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
TOOLS = ROOT / ".venv" / "colcon"  # make setup-colcon
MADE = {"build", "dist", "install", "log", "output"}  # by colcon, setuptools and `make demo`
PROGRAMS = {"hrpsim", "hrpsim_node", "hrpsim_controller", "wrench_recorder", "dynamics_observer"}

pytestmark = [
    pytest.mark.skipif(not TOOLS.is_dir(), reason="make setup-colcon installs colcon"),
    pytest.mark.xdist_group("colcon"),
    pytest.mark.timeout(1200),
    pytest.mark.long,
]


def _left_out(folder: str, names: list[str]) -> set[str]:
    """Return what is no source: hidden files, caches, and what was made at the top."""
    made = MADE if Path(folder) == ROOT else set()
    return {name for name in names if name[0] == "." or name == "__pycache__" or name in made}


class Workspace:
    """A workspace with hrpsim in src, and what colcon has made of it."""

    def __init__(self, folder: Path):
        self.folder, self.install = folder, folder / "install"
        shutil.copytree(ROOT, folder / "src" / "hrpsim", ignore=_left_out)

    def colcon(self, *arguments: str) -> str:
        """Run colcon; return what it printed, both streams."""
        command = [sys.executable, str(TOOLS / "bin/colcon"), *arguments]
        return self._run(command, PYTHONPATH=str(TOOLS), COLCON_HOME=str(self.folder / "home"))

    def sourced(self, command: str) -> str:
        """Run a command of the shell as one does who has sourced the workspace."""
        return self._run(["sh", "-c", f". install/setup.sh; {command}"])

    def _run(self, command: list[str], **environment: str) -> str:
        kept = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        done = subprocess.run(
            command,
            cwd=self.folder,
            env={**kept, **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert done.returncode == 0, done.stdout
        return done.stdout


@pytest.fixture(scope="module", params=[(), ("--symlink-install",)], ids=["copied", "linked"])
def workspace(request, tmp_path_factory):
    """Return a workspace that colcon has built."""
    workspace = Workspace(tmp_path_factory.mktemp("workspace"))
    workspace.colcon("build", *request.param)
    return workspace


def test_files_are_where_ros2_run_and_launch_look_for_them(workspace):
    package = workspace.install / "hrpsim"
    assert {path.name for path in (package / "lib/hrpsim").iterdir()} >= PROGRAMS
    share = package / "share"
    assert (share / "ament_index/resource_index/packages/hrpsim").exists()
    for folder, suffix in (("launch", ".py"), ("config", ".yaml"), ("urdf", ".xacro")):
        installed = {path.name for path in (share / "hrpsim" / folder).iterdir()}
        assert installed >= {path.name for path in (ROOT / folder).glob(f"*{suffix}")}


def test_what_is_sourced_is_what_runs(workspace):
    where = "import hrpsim.common.resources as r; print(r.__file__); print(r.share_path())"
    told = workspace.sourced(f'echo "${{AMENT_PREFIX_PATH%%:*}}"; {sys.executable} -c "{where}"')
    for place in told.split():
        assert Path(place).is_relative_to(workspace.folder), told


def test_the_node_runs(workspace):
    pytest.importorskip("rclpy")
    said = workspace.sourced("install/hrpsim/lib/hrpsim/hrpsim_node --ros-args -p duration:=0.1")
    assert "simulated 0.100 s in 100 steps" in said


def test_colcon_runs_the_tests(workspace):
    chosen = "test/spatial/test_spatial.py"
    workspace.colcon("test", "--pytest-args", chosen)
    summary = workspace.colcon("test-result", "--verbose")
    assert "0 errors, 0 failures" in summary and not summary.startswith("Summary: 0 tests")
