# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Sets of hrpsys files: what is read, what is refused and how, and what is written."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pytest
from control.hrpsys_fixture import COUNT, START, posture, write_set
from hypothesis import given
from hypothesis import strategies as st

from hrpsim import load_model
from hrpsim.control import (
    Channel,
    MotionSequence,
    SequenceError,
    controlled_joints,
    read_sequence,
    write_sequence,
)
from hrpsim.control.motion.motion_sequence import LARGEST_SAMPLE, SHORTEST_STEP
from robots import HRP2_LIKE

INERTIAL = """<inertial><mass value="1"/>
<inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>"""
ARM = f"""<robot name="arm">
<link name="base"/><link name="upper">{INERTIAL}</link><link name="lower">{INERTIAL}</link>
<joint name="shoulder" type="continuous"><parent link="base"/><child link="upper"/></joint>
<joint name="elbow" type="continuous"><parent link="upper"/><child link="lower"/></joint></robot>"""
NAMES = ("shoulder", "elbow")


@pytest.fixture(scope="module")
def arm():
    return load_model(ARM, base="fixed")


@pytest.fixture(scope="module")
def hrp2():
    return load_model(HRP2_LIKE)


def written(folder, **texts):
    for extension, text in texts.items():
        (folder / f"walk.{extension}").write_bytes(text.encode())
    return folder / "walk"


@st.composite
def channels(draw, width):
    # All numbers that a channel takes: tiny, huge, subnormal, -0.0.
    number = st.floats(-LARGEST_SAMPLE, LARGEST_SAMPLE)
    times: list[float] = []
    for time in sorted(draw(st.sets(number, min_size=1, max_size=6))):
        if not times or time - times[-1] >= SHORTEST_STEP:
            times.append(time)
    row = st.lists(number, min_size=width, max_size=width)
    values = draw(st.lists(row, min_size=len(times), max_size=len(times)))
    return Channel(times, np.reshape(values, (len(times), width)))


def maybe(width):
    return st.none() | channels(width)


SEQUENCES = st.builds(
    MotionSequence,
    st.just(NAMES),
    channels(2),
    zmp=maybe(3),
    waist=maybe(6),
    hip=maybe(3),
    gsens=maybe(3),
    torque=maybe(2),
    wrenches=maybe(12),
    optionaldata=maybe(5),
)


@given(sequence=SEQUENCES)
def test_what_is_read_is_what_was_written_to_the_bit(arm, sequence):
    with tempfile.TemporaryDirectory() as folder:
        paths = write_sequence(sequence, Path(folder) / "walk")
        assert {path.suffix[1:] for path in paths} == {name for name, _ in sequence.channels()}
        back = read_sequence(Path(folder) / "walk", arm)
    assert back == sequence
    for (_, one), (_, other) in zip(back.channels(), sequence.channels()):
        assert one.times.tobytes() == other.times.tobytes()  # -0.0 is not 0.0 here
        assert one.values.tobytes() == other.values.tobytes()


def test_the_layout_is_that_of_hrpsys(arm, tmp_path):
    sequence = MotionSequence(NAMES, Channel([0.0, 0.005], [[0.1, -0.25], [1e-20, 2.0]]))
    assert write_sequence(sequence, tmp_path / "walk.pos") == [tmp_path / "walk.pos"]
    assert (tmp_path / "walk.pos").read_text() == "0.0 0.1 -0.25\n0.005 1e-20 2.0\n"


def test_writing_replaces_a_set_as_a_whole(arm, tmp_path):
    base = written(tmp_path, pos="0 0 0\n", hip="0 0 0 0\n")
    (tmp_path / "walk.yaml").write_text("not of the set")
    sequence = MotionSequence(NAMES, Channel([0.0], [[0.1, 0.2]]))
    write_sequence(sequence, base)
    assert read_sequence(base, arm) == sequence
    assert (tmp_path / "walk.yaml").exists() and not (tmp_path / "walk.hip").exists()


@pytest.mark.parametrize(
    "text",
    [
        "0 0.5 -1\n0.005 0.25 2e-3\n",
        "0 0.5 -1\n0.005 0.25 2e-3",  # no end of the last line
        "0\t+.5 -1.\r\n5E-03\t\t.25   0.002 \t \r\n",
        "\n   \n  0   0.5   -1   \n\n0.00500 2.5e-1 2.0E-003\n \n\n",
        "# time shoulder elbow\n0 0.5 -1\n%\n0.005 0.25 2e-3\n",
        "\ufeff0 0.5 -1\r0.005 0.25 2e-3\r",
    ],
    ids=["plain", "no end", "tabs, CRLF", "blank lines", "comments", "BOM, CR"],
)
@pytest.mark.parametrize("name", ["walk", "walk.pos", "walk.zmp"])
def test_what_is_accepted(arm, tmp_path, text, name):
    written(tmp_path, pos=text)
    sequence = read_sequence(tmp_path / name, arm)
    np.testing.assert_array_equal(sequence.pos.times, [0.0, 0.005])
    np.testing.assert_array_equal(sequence.pos.values, [[0.5, -1.0], [0.25, 0.002]])
    assert sequence.joint_names == NAMES
    assert [kind for kind, _ in sequence.channels()] == ["pos"]


def test_a_basename_may_have_dots(arm, tmp_path):
    (tmp_path / "walk.v2.pos").write_text("3.5 1 2\n")
    for name in ("walk.v2", "walk.v2.pos"):
        assert read_sequence(str(tmp_path / name), arm).pos.times.tolist() == [3.5]


def test_both_spellings_of_optional_data(arm, tmp_path):
    for extension in ("optionaldata", "optionalData"):
        folder = tmp_path / extension
        folder.mkdir()
        base = written(folder, pos="0 1 2\n", **{extension: "0 1 1\n"})
        assert read_sequence(base, arm).optionaldata.values.tolist() == [[1.0, 1.0]]


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ({"pos": "0 1 2\n\n0.1 1 abc\n"}, r"walk.pos:3: column 2 \(elbow\): 'abc' is not a number"),
        ({"pos": "0 1 2\n0.1 1_0 2\n"}, r"walk.pos:2: column 1 \(shoulder\): '1_0' is not a num"),
        ({"pos": "0,1,2\n"}, r"walk.pos:1: column 0 \(time\): '0,1,2' is .*Separate .* by blanks"),
        ({"pos": "0 1 2\n0.1 nan 2\n"}, r"walk.pos:2: column 1 \(shoulder\): 'nan' is not finite"),
        ({"pos": "0 1 1e999\n"}, r"walk.pos:1: column 2 \(elbow\): '1e999' is not finite"),
        ({"pos": "0 1 2\n0.1 1 2\n0.1 3 4\n"}, r"walk.pos:3: column 0 \(time\): 0.1 s is not after "
         "0.1 s in line 2"),
        ({"pos": "# q\n2 1 2\n\n1 1 2\n"}, r"walk.pos:4: .* 1.0 s is not after 2.0 s in line 2"),
        ({"pos": "0 1 2 3\n"}, "walk.pos:1: column 3: 3 values after the time, expected 2, one for "
         "each of the joints shoulder, elbow. For other columns, pass joint_names"),
        ({"pos": "0 1\n"}, "walk.pos:1: column 2: 1 value after the time, expected 2"),
        ({"pos": "0 1 2\n0.1 1\n"}, "walk.pos:2: column 2: 1 value .* seems to be cut off"),
        ({"pos": "0 1 2\n0.1 1\n0.2 1 2\n"}, "walk.pos:2: column 2: 1 value .* None for "
         "each column to ignore$"),
        ({"pos": ""}, "walk.pos: the file contains no samples"),
        ({"pos": "\n# nothing\n"}, "walk.pos: the file contains no samples"),
        ({"pos": "0 1 2\n", "zmp": "0 1 2\n"}, "walk.zmp:1: .* expected 3: x, y, z"),
        ({"pos": "0 1 2\n", "waist": "0 1 2 3\n"}, "walk.waist:1: .* 3 values .* expected 6: x, y, "
         "z, roll, pitch, yaw"),
        ({"pos": "0 1 2\n", "hip": "0 0 x 0\n"}, r"walk.hip:1: column 2 \(pitch\): 'x' is not"),
        ({"pos": "0 1 2\n", "torque": "0 1\n"}, "walk.torque:1: .* joints shoulder, elbow"),
        ({"pos": "0 1 2\n", "wrenches": "0 1 2 3\n"}, "walk.wrenches:1: .* a multiple of 6"),
        ({"pos": "0 1 2\n", "optionaldata": "0 1 2\n1 1\n"}, "walk.optionaldata:2: .* expected 2 "
         "as in the lines before"),
        ({"pos": "0 1 2\n", "optionaldata": "0\n"}, "walk.optionaldata:1: .* expected at least 1"),
        ({"pos": "0 1 \x00\n"}, r"walk.pos:1: column 2 \(elbow\): '\\x00' is not a number"),
    ],
)  # fmt: skip
def test_what_is_refused_says_where(arm, tmp_path, texts, message):
    base = written(tmp_path, **texts)
    with pytest.raises(SequenceError, match=message):
        read_sequence(base, arm)


def test_a_set_without_positions_says_what_there_is(arm, tmp_path):
    written(tmp_path, zmp="0 0 0 0\n", waist="0 0 0 0 0 0 0\n")
    with pytest.raises(SequenceError, match=r"walk.pos does not exist. .* walk.zmp, walk.waist$"):
        read_sequence(tmp_path / "walk", arm)
    (tmp_path / "squat.pos").write_text("0 0 0\n")
    with pytest.raises(SequenceError, match=r"wlk.pos does not exist. Sequences in .*: squat$"):
        read_sequence(tmp_path / "wlk", arm)
    with pytest.raises(SequenceError, match=r"There is no folder .*nowhere"):
        read_sequence(tmp_path / "nowhere" / "walk", arm)


def test_columns_are_mapped_by_name(arm, tmp_path):
    base = written(tmp_path, pos="0 7 2 1\n", torque="0 70 20 10\n")
    sequence = read_sequence(base, arm, joint_names=(None, "elbow", "shoulder"))
    assert sequence.joint_names == ("elbow", "shoulder")
    assert sequence.pos.values.tolist() == [[2.0, 1.0]]
    assert sequence.torque.values.tolist() == [[20.0, 10.0]]
    only = read_sequence(base, arm, joint_names=[None, None, "elbow"])
    assert only.joint_names == ("elbow",) and only.pos.values.tolist() == [[1.0]]


def test_names_of_columns_are_checked(arm, tmp_path):
    base = written(tmp_path, pos="0 1 2\n")
    with pytest.raises(SequenceError, match=r"'wrist', 'thumb' do not exist. .* shoulder, elbow"):
        read_sequence(base, arm, joint_names=["wrist", "thumb"])
    with pytest.raises(SequenceError, match=r"joint 'elbo' does not exist. Did you mean 'elbow'"):
        read_sequence(base, arm, joint_names=["shoulder", "elbo"])
    with pytest.raises(SequenceError, match="'elbow' more than once"):
        read_sequence(base, arm, joint_names=["elbow", "elbow"])


def test_a_set_from_outside(hrp2, tmp_path):
    sequence = read_sequence(write_set(tmp_path), hrp2)
    assert sequence.joint_names == controlled_joints(hrp2)
    assert len(sequence.pos.times) == COUNT and sequence.pos.times[0] == START
    np.testing.assert_allclose(sequence.pos.values, posture(sequence.pos.times), atol=5e-6)
    assert sequence.waist is None and sequence.torque is None
    assert [len(getattr(sequence, kind).times) for kind in ("zmp", "hip", "gsens")] == [700, 151, 2]
    assert sequence.wrenches.values.shape == (31, 24)
    assert sequence.optionaldata.values.tolist() == [[1.0, 1.0, 0.0, 0.0]] * 2
    assert sequence.duration == pytest.approx(START + 1.5)
    # Six digits of angles every 5 ms: what lies between is as near as a straight line is.
    between = np.arange(START, START + 1.5, 0.001)
    far = np.abs(np.diff(posture(sequence.pos.times), 2, axis=0)).max() / 8.0  # a h^2 / 8
    assert np.abs(sequence.pos.at(between) - posture(between)).max() < far + 5e-6


def test_hands_of_a_real_hrp2_can_be_left_out(hrp2, tmp_path):
    joints = controlled_joints(hrp2)
    row = " ".join(str(0.01 * k) for k in range(40))
    base = written(tmp_path, pos=f"0 {row}\n")
    with pytest.raises(SequenceError, match="40 values after the time, expected 30"):
        read_sequence(base, hrp2)
    sequence = read_sequence(base, hrp2, joint_names=[*joints, *[None] * 10])
    np.testing.assert_allclose(sequence.pos.values[0], 0.01 * np.arange(30))
