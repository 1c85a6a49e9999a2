# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Recordings for rerun: what is in the file, and what is said without the package."""

import importlib.util
import re
import subprocess
import sys

import pytest

from hrpsim import Box, HrpsimError, World
from hrpsim.viewer import make_film

HAS_RERUN = importlib.util.find_spec("rerun") is not None


def falling_box():
    world = World()
    world.add_ground()
    world.add_body(Box((0.4, 0.4, 0.4)), 1.0, (0.0, 0.0, 0.21), name="box")
    return world


@pytest.mark.skipif(HAS_RERUN, reason="rerun-sdk is installed")
def test_without_rerun_the_error_says_what_to_install(tmp_path):
    with pytest.raises(HrpsimError, match="needs rerun: pip install rerun-sdk"):
        make_film(falling_box(), tmp_path / "box.rrd", 0.1)


@pytest.mark.skipif(not HAS_RERUN, reason="rerun-sdk is not installed")
def test_a_recording_has_links_forces_and_signals(tmp_path):
    """Law: 50 samples a second of pose and signals, of meshes one; the ground is no mesh."""
    path = tmp_path / "box.rrd"
    assert make_film(falling_box(), path, 0.2) == 11
    command = [sys.executable, "-m", "rerun", "rrd"]
    subprocess.run([*command, "verify", path], check=True, timeout=100)
    shown = subprocess.run(
        [*command, "stats", path], check=True, capture_output=True, text=True, timeout=100
    ).stdout
    paths = set(re.findall(r"^(/\S*(?:\\ \S*)*):", shown, re.MULTILINE))
    assert {"/world/box/box", "/world/box/box/0", "/world/contacts"} <= paths
    assert r"/signals/box\/odom.position.z\ \[m\]" in paths
    assert not any("ground/" in path for path in paths)
