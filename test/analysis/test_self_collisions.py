# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Self-collisions of a motion are among its violations: which links, when, how deep."""

import json

import numpy as np
import pytest

import hrpsim
from hrpsim import share_path
from hrpsim.commands.cli import main
from hrpsim.control import Channel, MotionSequence, controlled_joints, write_sequence

URDF = share_path("urdf/hrp2_like.urdf.xacro")


def test_an_arm_that_goes_through_the_trunk_is_told(tmp_path, capsys):
    pytest.importorskip("coal")
    names = controlled_joints(hrpsim.load_model(URDF))
    times = np.linspace(0.0, 2.0, 101)
    values = np.zeros((101, len(names)))
    swing = -0.6 * np.sin(0.5 * np.pi * times) ** 2  # inwards and back
    values[:, names.index("LARM_JOINT1")] = swing
    write_sequence(MotionSequence(names, Channel(times, values)), tmp_path / "arm")
    command = ["inverse-dynamics", str(URDF), str(tmp_path / "arm"), "--fixed-link", "l_sole"]
    told = {}
    for option in ([], ["--self-collisions"]):
        assert main([*command, "--json", *option]) == 0
        (report,) = json.loads(capsys.readouterr().out)
        told[bool(option)] = [v for v in report["violations"] if v["kind"] == "collision"]
    assert told[False] == []
    trunk = next(v for v in told[True] if v["name"] == "BODY - LARM_LINK5")
    assert 0.2 < trunk["begin"] < 1.0 < trunk["end"] < 1.8
    assert trunk["begin"] == pytest.approx(2.0 - trunk["end"], abs=0.02)  # there and back alike
    assert trunk["worst"] > 0.01 and trunk["unit"] == "m"
