# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""What does not fit is refused by file, line and name; what is refused changes nothing."""

import math

import numpy as np
import pytest
from analysis.motions import hrp2_like, squat, walk, write_csv

import hrpsim
from hrpsim import ModelError, StateError
from hrpsim.analysis import Analyser, FixedPhase, Observer, analyse_motion
from hrpsim.analysis.fixed_links import parse_fixed_links
from hrpsim.analysis.motion import motion_of
from hrpsim.analysis.motion_files import read_motion
from hrpsim.commands.cli import main
from hrpsim.control import SequenceError, write_sequence
from robots import HRP2_LIKE


def good_lines(tmp_path):
    path = write_csv(tmp_path / "squat.csv", *squat())
    return path, path.read_text().splitlines()


def changed(lines, line, old, new):
    lines = list(lines)
    assert old in lines[line - 1]
    lines[line - 1] = lines[line - 1].replace(old, new, 1)
    return lines


@pytest.mark.parametrize(
    "line, change, named",
    [
        (1, ("RLEG_JOINT3,", ""), ":1: missing columns: RLEG_JOINT3"),
        (1, ("time,", ""), ":1: missing columns: time"),
        (1, ("RLEG_JOINT3", "RLEG_KNEE"), ":1: column 'RLEG_KNEE' does not exist"),
        (1, ("RLEG_JOINT3", "RLEG_JOINT2"), ":1: column 'RLEG_JOINT2' appears more than once"),
        (5, (",", ",,", ), ":5: has 32 values, but the first line names 31 columns"),
        (7, ("0.05", "0.02"), ":7: column 'time': 0.02 s is not after 0.04 s in line 6"),
        (9, ("0.0,0.0", "0.0,fast"), "is not a finite number"),
        (9, ("0.0,0.0", "0.0,nan"), "'nan' is not a finite number"),
    ],
)  # fmt: skip
def test_csv(tmp_path, line, change, named):
    path, lines = good_lines(tmp_path)
    path.write_text("\n".join(changed(lines, line, *change)))
    with pytest.raises(SequenceError) as caught:
        read_motion(path, hrp2_like())
    assert str(caught.value).startswith(f"{path}:{line}: ") and named in str(caught.value)


def test_csv_names_the_column_of_a_bad_number(tmp_path):
    path, lines = good_lines(tmp_path)
    cells = lines[8].split(",")
    cells[lines[0].split(",").index("RLEG_JOINT3")] = "x15"
    path.write_text("\n".join([*lines[:8], ",".join(cells), *lines[9:]]))
    with pytest.raises(
        SequenceError, match=r":9: column 'RLEG_JOINT3': 'x15' is not a finite number"
    ):
        read_motion(path, hrp2_like())


KEYFRAMES = """interpolation: cubic
keyframes:
- {time: 0.0, joints: {HEAD_JOINT0: 0.1}, fixed_link: r_sole}
- {time: 1.0, joints: {HEAD_JOINT0: 0.2}}
- {time: 2.0, joints: {HEAD_JOINT0: 0.2}}
"""


@pytest.mark.parametrize(
    "old, new, named",
    [
        (
            "cubic",
            "septic",
            ":1:1: interpolation: interpolation 'septic' does not exist. Available: linear, cubic",
        ),
        ("time: 1.0", "time: 0.0", ":4: time 0 s is not after 0 s of the keyframe before"),
        ("time: 1.0", "time: soon", ":4:4: keyframes[1].time: must be a number, got 'soon'"),
        ("time: 1.0, ", "", ":4:3: keyframes[1]: missing entry: time"),
        (
            "{HEAD_JOINT0: 0.2}}",
            "{HEAD: 0.2}}",
            ":4:24: keyframes[1].joints.HEAD: entry 'HEAD' does not exist. Available: CHEST",
        ),
        (
            "0.2",
            ".inf",
            ":4:24: keyframes[1].joints.HEAD_JOINT0: must be finite, from -1e+09 to 1e+09, got inf",
        ),
        (
            "r_sole",
            "r_foot",
            ":3:43: keyframes[0].fixed_link: link 'r_foot' does not exist. Available: base_link",
        ),
        ("joints", "angles", ":3:15: keyframes[0].angles: entry 'angles' does not exist"),
        ("keyframes", "frames", ":2:1: frames: entry 'frames' does not exist"),
        (
            "- {time: 2.0, joints: {HEAD_JOINT0: 0.2}}",
            "- 3.0",
            ":5:3: keyframes[2]: must be a mapping with keys from time, joints, fixed_link, got",
        ),
        ("HEAD_JOINT0: 0.1}", "HEAD_JOINT0: 0.1", ":4:"),
        (
            "{HEAD_JOINT0: 0.2}}",
            "{}, fixed_link: []}",
            ":4:27: keyframes[1].fixed_link: must be a link or a list of links, got []",
        ),
        (", fixed_link: r_sole}", "}", None),
    ],
)
def test_keyframes(tmp_path, old, new, named):
    path = tmp_path / "nod.yaml"
    assert old in KEYFRAMES
    path.write_text(KEYFRAMES.replace(old, new, 1))
    if named is None:
        assert read_motion(path, hrp2_like()).fixed == ()
        return
    with pytest.raises(SequenceError) as caught:
        read_motion(path, hrp2_like())
    assert str(caught.value).startswith(str(path)) and named in str(caught.value)


def test_hrpsys_sets(tmp_path):
    write_sequence(walk().sequence, tmp_path / "walk")
    pos = tmp_path / "walk.pos"
    lines = pos.read_text().splitlines()
    pos.write_text("\n".join([*lines[:10], lines[10].rsplit(" ", 1)[0], *lines[11:]]))
    with pytest.raises(SequenceError, match=r"walk\.pos:11: .* 29 values after the time"):
        read_motion(tmp_path / "walk", hrp2_like())
    pos.write_text("\n".join([*lines[:10], lines[8], *lines[11:]]))
    with pytest.raises(SequenceError, match=r"walk\.pos:11: column 0 \(time\)"):
        read_motion(tmp_path / "walk", hrp2_like())


def test_a_fixed_link_that_is_lifted(tmp_path):
    """Named with file and line: of the sample, and where it was said to be fixed."""
    names, times, positions = squat()
    positions[:, names.index("LLEG_JOINT3")] += np.linspace(0.0, 0.5, len(times))
    both = ["r_sole+l_sole"] * len(times)
    path = write_csv(tmp_path / "lift.csv", names, times, positions, ("fixed_link", both))
    with pytest.raises(SequenceError) as caught:
        analyse_motion(Analyser(hrp2_like()), read_motion(path, hrp2_like()))
    message = str(caught.value)
    line = int(message.removeprefix(f"{path}:").split(":")[0])
    assert 2 < line < 40
    assert "link 'l_sole' is given as fixed from 0 s on (line 2), but is" in message
    assert f"mm from its first position at {times[line - 2]:g} s" in message
    loose = analyse_motion(
        Analyser(hrp2_like()), read_motion(path, hrp2_like()), lift_tolerance=10.0
    )
    assert loose.fixed_by == "file"


def test_a_single_fixed_sole_that_another_stands_below(tmp_path):
    """Of two soles on one floor the higher one cannot be the fixed one."""
    names = walk().sequence.joint_names
    path = write_csv(tmp_path / "walk.csv", names, walk().times, walk().sequence.pos.values)
    motion = read_motion(path, hrp2_like())
    fixed = parse_fixed_links(["r_sole"], hrp2_like())
    with pytest.raises(SequenceError) as caught:
        analyse_motion(Analyser(hrp2_like()), motion, fixed)
    assert "link 'r_sole' is given as fixed from the beginning on, but is higher than" in str(
        caught.value
    )
    assert "'l_sole' by 5." in str(caught.value)
    sample = int(str(caught.value).removeprefix(f"{path}:").split(":")[0]) - 2
    first = walk().contacts[:, 1].tolist().index(False)
    assert 0 < sample - first < 40


@pytest.mark.parametrize(
    "text, named",
    [
        ("left_foot", "link 'left_foot' does not exist"),
        ("x:l_sole", "'x' is not a time"),
        ("1.0:l_sole+", "link '' does not exist"),
    ],
)
def test_fixed_link_options(text, named):
    with pytest.raises(SequenceError, match=named):
        parse_fixed_links([text], hrp2_like())


def test_fixed_links_that_begin_too_late():
    motion = motion_of(hrp2_like(), "squat", *(squat()[k] for k in (1, 0, 2)))
    fixed = parse_fixed_links(["0.5:l_sole"], hrp2_like())
    with pytest.raises(SequenceError, match="no fixed link is given at the first sample, 0 s"):
        analyse_motion(Analyser(hrp2_like()), motion, fixed)


@pytest.mark.parametrize(
    "shape, named",
    [
        ((3, 36), r"q must have shape \(T, 37\), got \(3, 36\)"),
        ((37,), r"q must have shape \(T, 37\)"),
        ((0, 37), "at least one sample"),
    ],
)
def test_wrong_joint_count(shape, named):
    rates = np.zeros((3, 36))
    with pytest.raises(StateError, match=named):
        Analyser(hrp2_like()).analyse(np.zeros(shape), rates, rates, "r_sole")


def test_arrays_that_do_not_fit():
    analyser, q = Analyser(hrp2_like()), np.tile(hrp2_like().neutral(), (3, 1))
    rates, rest = np.zeros((2, 3, 36))
    with pytest.raises(StateError, match=r"v must have shape \(3, 36\), got \(2, 36\)"):
        analyser.analyse(q, rates[:2], rates, "r_sole")
    rates[1, 7] = np.nan
    with pytest.raises(StateError, match=r"dv\[1, 7\] is nan"):
        analyser.analyse(q, rest, rates, "r_sole")
    with pytest.raises(ModelError, match="Available: l_sole, r_sole"):
        analyser.analyse(q, rest, rest, "hand")
    with pytest.raises(StateError, match="increasing samples"):
        analyser.analyse(q, rest, rest, [FixedPhase(1, ("r_sole",))])


@pytest.mark.parametrize(
    "arguments, named",
    [
        ({"links": ["foot"]}, "link 'foot' does not exist"),
        ({"links": ["r_sole", "r_sole"]}, "must be named once"),
        ({"split": "evenly"}, "split 'evenly' does not exist. Available: minimum_norm"),
    ],
)
def test_analyser_arguments(arguments, named):
    with pytest.raises(ModelError, match=named):
        Analyser(hrp2_like(), **arguments)


def test_a_fixed_base_is_refused():
    with pytest.raises(ModelError, match="Load the model with base='free'"):
        Analyser(hrpsim.load_model(HRP2_LIKE, base="fixed"))


def test_the_observer_keeps_its_results_when_it_refuses():
    observer = Observer(Analyser(hrp2_like()), ("r_sole",))
    rest = np.zeros(30)
    observer.update(rest, rest, rest)
    before = observer.tau.copy()
    with pytest.raises(StateError, match=r"velocities must have shape \(30,\), got \(29,\)"):
        observer.update(rest, rest[:29], rest)
    with pytest.raises(StateError, match="accelerations must be finite, got nan"):
        observer.update(rest + 0.1, rest, np.full(30, np.nan))
    for bad, message in (
        ([0.0] * 29, r"positions must have shape \(30,\), got \(29,\)"),
        ([0.0] * 29 + [math.inf], r"positions\[29\] is inf: every entry must be finite"),
        (["0"] * 30, "positions must be 30 numbers, got "),
        (None, "positions must be 30 numbers, got None"),
    ):
        with pytest.raises(StateError, match=message):
            observer.update(bad, rest, rest)
    assert (observer.tau == before).all()


@pytest.mark.parametrize(
    "arguments, named",
    [
        (["nowhere"], "nowhere.pos does not exist"),
        (["nowhere.csv"], "nowhere.csv"),
        (["MOTION", "--fixed-link", "foot"], "link 'foot' does not exist"),
        (["MOTION", "--sole", "l_sole=1,2,3"], "four numbers XMIN,XMAX,YMIN,YMAX"),
        (["MOTION", "--split", "evenly"], "split 'evenly' does not exist"),
        (
            ["MOTION", "--period", "9"],
            "the period of 9 s must be positive and at most the motion's duration of 1 s",
        ),
        (["MOTION", "MOTION", "--csv"], "--csv and --plot need a single motion"),
    ],
)
def test_command(tmp_path, arguments, named, capsys):
    motion = str(write_csv(tmp_path / "squat.csv", *squat()))
    arguments = [motion if text == "MOTION" else text for text in arguments]
    assert main(["inverse-dynamics", str(HRP2_LIKE), *arguments]) == 1
    error = capsys.readouterr().err
    assert named in error and error.startswith("hrpsim: ") and error.count("\n") == 1
