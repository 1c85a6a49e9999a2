# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Motions from files, their differentiation, and which links are fixed when."""

import numpy as np
import pytest
from analysis.motions import SOLES, hrp2_like, squat, walk, write_csv

from hrpsim.analysis import Analyser, analyse_motion
from hrpsim.analysis.fixed_links import detect_fixed_links, parse_fixed_links
from hrpsim.analysis.motion import Motion, differentiated, motion_of, motion_of_sequence
from hrpsim.analysis.motion_files import interpolated, read_motion
from hrpsim.control import SequenceError, write_sequence


def test_derivatives_of_a_sine():
    t = np.linspace(0.0, 2.0, 401)
    x = np.sin(3.0 * t)[:, None]
    values, rates, accelerations = differentiated(t, x)
    assert (values == x).all()
    assert rates[:, 0] == pytest.approx(3.0 * np.cos(3.0 * t), abs=1e-7)
    assert accelerations[:, 0] == pytest.approx(-9.0 * x[:, 0], abs=1e-5)


def test_smoothing_takes_noise_out_and_leaves_slow_motion():
    rng = np.random.default_rng(0)
    t = np.linspace(0.0, 2.0, 401)
    x = np.sin(3.0 * t)
    noisy = (x + 1e-4 * rng.normal(size=len(t)))[:, None]
    raw = differentiated(t, noisy)[2][:, 0]
    smooth = differentiated(t, noisy, smoothing=0.2)[2][:, 0]
    inner = slice(20, -20)
    assert np.std(raw - -9.0 * x) > 5.0
    assert np.std((smooth - -9.0 * x)[inner]) < 0.2
    polynomial = np.stack([t**4, t**3 - t], axis=1)
    _, rates, accelerations = differentiated(t, polynomial, smoothing=0.1)
    assert rates[:, 0] == pytest.approx(4.0 * t**3, abs=1e-9)
    assert accelerations[:, 1] == pytest.approx(6.0 * t, abs=1e-7)


@pytest.mark.parametrize(
    "times, smoothing, named",
    [
        ([0.0, 0.1, 0.3], 1.0, "evenly spaced"),
        (np.linspace(0, 1, 101), 0.03, "At least 7 samples"),
        (np.linspace(0, 1, 101), 3.0, "needs 301 samples, but the motion has 101"),
    ],
)
def test_smoothing_that_makes_no_sense_is_refused(times, smoothing, named):
    with pytest.raises(SequenceError, match=named):
        differentiated(np.asarray(times), np.zeros((len(times), 1)), smoothing)


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 6])
def test_few_samples(count):
    t = np.arange(count) * 0.5
    _, rates, accelerations = differentiated(t, 2.0 * t[:, None])
    assert rates == pytest.approx(np.full((count, 1), 2.0 if count > 1 else 0.0))
    assert accelerations == pytest.approx(np.zeros((count, 1)), abs=1e-9)


TIMES, VALUES = np.array([0.0, 1.0, 3.0]), np.array([[0.0], [2.0], [1.0]])


@pytest.mark.parametrize("kind", ["linear", "cubic", "quintic"])
def test_interpolations_pass_the_keyframes(kind):
    course = interpolated(TIMES, VALUES, kind)
    assert course(TIMES) == pytest.approx(VALUES)
    assert course(0.5)[0] == pytest.approx(
        {"linear": 1.0, "quintic": 1.0}.get(kind, course(0.5)[0])
    )


def test_cubic_is_smooth_and_quintic_rests():
    cubic, quintic = (interpolated(TIMES, VALUES, kind) for kind in ("cubic", "quintic"))
    assert cubic([0.0, 3.0], 1) == pytest.approx(np.zeros((2, 1)), abs=1e-12)
    assert cubic(1.0 - 1e-9, 2) == pytest.approx(cubic(1.0 + 1e-9, 2), abs=1e-6)
    for order in (1, 2):
        for time in (0.0, 1.0, 3.0 - 1e-12):
            assert quintic(time, order) == pytest.approx(0.0, abs=1e-9)


def test_a_csv_file_gives_the_motion(tmp_path):
    names, times, positions = squat()
    links = ["r_sole+l_sole"] + [""] * 50 + ["l_sole"] + [""] * 49
    path = write_csv(tmp_path / "squat.csv", names, times, positions, ("fixed_link", links))
    motion = read_motion(path, hrp2_like())
    columns = [hrp2_like().joint(name).q_index for name in names]
    assert (motion.q[:, columns] == positions).all() and (motion.times == times).all()
    assert [entry.links for entry in motion.fixed] == [("r_sole", "l_sole"), ("l_sole",)]
    assert motion.fixed[1].time == times[51] and motion.place_of(51) == f"{path}:53"
    finer = read_motion(path, hrp2_like(), period=0.005)
    assert len(finer.times) == 201 and finer.place_of(102) == f"{path}:53"


def test_keyframes_in_yaml(tmp_path):
    path = tmp_path / "nod.yaml"
    path.write_text(
        "interpolation: quintic\n"
        "keyframes:\n"
        "- {time: 0.0, joints: {HEAD_JOINT1: 0.1}, fixed_link: r_sole}\n"
        "- {time: 1.0, joints: {HEAD_JOINT1: 0.3, HEAD_JOINT0: 0.2}}\n"
        "- {time: 2.0, joints: {HEAD_JOINT0: 0.0}, fixed_link: [l_sole, r_sole]}\n"
    )
    model = hrp2_like()
    motion = read_motion(path, model, period=0.25)
    nod, turn = (motion.q[:, model.joint(f"HEAD_JOINT{k}").q_index] for k in (1, 0))
    assert nod[[0, 2, 4, 8]] == pytest.approx([0.1, 0.2, 0.3, 0.3])
    assert turn[[0, 2, 4, 6, 8]] == pytest.approx([0.0, 0.1, 0.2, 0.1, 0.0])
    rate = motion.v[2, model.joint("HEAD_JOINT1").v_index]
    assert rate == pytest.approx(0.2 * 1.875)  # 15/8 of the mean in the middle of a quintic
    assert [entry.links for entry in motion.fixed] == [("r_sole",), ("l_sole", "r_sole")]
    assert motion.place_of(5) == f"{path}:4"


def test_a_sequence_with_its_waist_keeps_the_base(tmp_path):
    """The base that is recovered from the detected feet is the generator's, over a whole walk."""
    write_sequence(walk().sequence, tmp_path / "walk")
    motion = read_motion(tmp_path / "walk", hrp2_like())
    assert motion.base_known
    found = analyse_motion(Analyser(hrp2_like()), motion).found
    assert np.abs(found.q[:, :3] - walk().motion[:, :3]).max() < 1e-12
    assert found.samples["com"] == pytest.approx(walk().com, abs=1e-12)
    zmp_off = np.linalg.norm(found.samples["zmp"][:, :2] - walk().zmp, axis=1)
    assert zmp_off.max() < 5e-4  # splines here, differences there
    assert found.samples["margin"].min() > 0.05


def test_fixed_feet_are_detected_without_the_base():
    """From the joints alone, those that the pattern generator puts on the floor."""
    names = walk().sequence.joint_names
    motion = motion_of(hrp2_like(), "walk", walk().times, names, walk().sequence.pos.values)
    assert not motion.base_known
    analyser = Analyser(hrp2_like())
    phases = detect_fixed_links(analyser, motion)
    found = analyser.analyse(motion.q, motion.v, motion.dv, phases)
    wrong = (found.fixed != walk().contacts).any(axis=1)
    assert wrong.mean() < 0.04  # a few samples about each touchdown and lift-off
    edges = np.flatnonzero((walk().contacts[1:] != walk().contacts[:-1]).any(axis=1))
    distance = np.abs(np.flatnonzero(wrong)[:, None] - edges).min(axis=1)
    assert distance.max() <= 5  # 25 ms
    references = [phase.links[0] for phase in phases]
    assert references[0] in SOLES
    for k, contact in enumerate(walk().contacts):
        if not contact.all():
            assert found.phases[found.phase_of[k]].links[0] == SOLES[int(np.argmax(contact))]


def test_a_squat_stands_on_both_feet_all_the_time():
    names, times, positions = squat()
    motion = motion_of(hrp2_like(), "squat", times, names, positions)
    result = analyse_motion(Analyser(hrp2_like()), motion)
    assert result.found.fixed.all() and len(result.found.phases) == 1
    assert result.found.samples["zmp"][:, 2] == pytest.approx(np.zeros(len(times)), abs=1e-15)
    assert result.fixed_by == "detected"


def test_fixed_links_on_the_command_line():
    fixed = parse_fixed_links(["0.5:l_sole", "r_sole+l_sole"], hrp2_like())
    assert [(entry.time, entry.links) for entry in fixed] == [
        (-np.inf, ("r_sole", "l_sole")),
        (0.5, ("l_sole",)),
    ]


def test_a_motion_of_a_single_sample():
    motion = motion_of(hrp2_like(), "posture", [0.0], ["HEAD_JOINT0"], [[0.1]])
    result = analyse_motion(Analyser(hrp2_like()), motion)
    assert result.found.samples["force"][0, 2] == pytest.approx(58.0 * 9.80665, rel=1e-6)
    assert isinstance(motion, Motion)


def test_resampled_sequences_follow_their_channel():
    motion = motion_of_sequence(hrp2_like(), "walk", walk().sequence, period=0.013)
    column = hrp2_like().joint("RLEG_JOINT3").q_index
    index = walk().sequence.joint_names.index("RLEG_JOINT3")
    expected = walk().sequence.pos.at(motion.times)[:, index]
    assert motion.q[:, column] == pytest.approx(expected)
