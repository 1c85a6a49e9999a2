# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""TSID's torques carry published robots through four slow steps: the example, with their files."""

import runpy
import sys
from pathlib import Path

import pytest

from robots import EXAMPLE_ROBOTS

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "tsid_walking.py"


@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", ["talos_data/talos_reduced", "romeo_description/romeo_small"])
def test_published_robots_walk_by_the_example(name, monkeypatch):
    """The example's own check: upright, and three strides ahead."""
    pytest.importorskip("tsid")
    monkeypatch.setattr(sys, "argv", [str(EXAMPLE), str(EXAMPLE_ROBOTS[name])])
    runpy.run_path(str(EXAMPLE), run_name="__main__")
