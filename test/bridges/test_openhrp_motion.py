# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Motions and gains of OpenHRP and Choreonoid: their columns, and what is wrong with bad files."""

import numpy as np
import pytest

import hrpsim
from hrpsim import share_path
from hrpsim.bridges import read_body_motion, read_gains
from hrpsim.bridges.openhrp_motion import GainError
from hrpsim.control import SequenceError, controlled_joints

SEQ = """\
type: CompositeSeq
content: BodyMotion
frameRate: {rate}
components:
  - {{type: MultiSE3Seq, content: LinkPosition, frames: [[0, 0, 0, 1, 0, 0, 0]]}}
  -
    type: MultiValueSeq
    content: JointDisplacement
    frames:
{frames}"""


@pytest.fixture(scope="module")
def model():
    return hrpsim.load_model(share_path("urdf/hrp2_like.urdf.xacro"))


def written(path, frames, rate=50):
    rows = "".join(f"      - {row}\n" for row in frames)
    path.write_text(SEQ.format(rate=rate, frames=rows))
    return path


def test_a_body_motion_has_its_frames_at_its_rate(model, tmp_path):
    frames = np.random.default_rng(0).normal(size=(4, 30)).round(6)
    motion = read_body_motion(written(tmp_path / "a.seq", frames.tolist()), model)
    assert motion.joint_names == controlled_joints(model)
    np.testing.assert_array_equal(motion.pos.values, frames)
    np.testing.assert_allclose(motion.pos.times, [0.0, 0.02, 0.04, 0.06])


@pytest.mark.parametrize(
    ("frames", "rate", "message"),
    [
        ([[0.0] * 29], 50, r"for 30 joints.*shape \(1, 29\)"),
        ([[0.0] * 30, [0.0]], 50, "of equal length"),
        ([[".nan"] + [0.0] * 29], 50, "frames"),
        ([[0.0] * 30], 0, "frameRate must be a number of Hz, got 0"),
        ([[0.0] * 30], "fast", "frameRate must be a number of Hz, got 'fast'"),
    ],
)
def test_what_is_no_motion_of_this_robot_is_refused(model, tmp_path, frames, rate, message):
    with pytest.raises(SequenceError, match=message):
        read_body_motion(written(tmp_path / "a.seq", frames, rate), model)


def test_a_file_without_joints_is_refused(model, tmp_path):
    (tmp_path / "a.seq").write_text("components: []\n")
    with pytest.raises(SequenceError, match="no component is a JointDisplacement or JointPosition"):
        read_body_motion(tmp_path / "a.seq", model)
    (tmp_path / "a.seq").write_text("- 1\n")
    with pytest.raises(SequenceError, match="not a Choreonoid motion"):
        read_body_motion(tmp_path / "a.seq", model)


def test_gains_go_to_the_joints_in_their_order(model, tmp_path):
    file = tmp_path / "PDgain.dat"
    file.write_text("# kp kd\n8000 100 1\n3000 50\n\n")
    kp, kd, names = read_gains(file, model)
    assert names == controlled_joints(model)[:2]
    assert (kp.tolist(), kd.tolist()) == ([8000.0, 3000.0], [100.0, 50.0])
    robot = hrpsim.World().add_robot(model)
    robot.set_gains(kp, kd, names)
    assert robot.gains[0][robot.joint_names.index(names[1])] == 3000.0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("8000 100\nmuch\n", "PDgain.dat:2: must be two numbers 'kp kd', got 'much'"),
        ("-1 0\n", "PDgain.dat:1: gains must be >= 0"),
        ("nan 0\n", "PDgain.dat:1: gains must be >= 0"),
        ("1 1\n" * 31, "gains of 1 to 30 joints of 'hrp2_like', got 31"),
        ("", "gains of 1 to 30 joints of 'hrp2_like', got 0"),
    ],
)
def test_what_are_no_gains_is_refused_with_its_line(model, tmp_path, text, message):
    (tmp_path / "PDgain.dat").write_text(text)
    with pytest.raises(GainError, match=message):
        read_gains(tmp_path / "PDgain.dat", model)
