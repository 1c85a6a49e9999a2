# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Fits find what made the data, say how well, and refuse recordings that make no sense."""

import json
from itertools import pairwise

import numpy as np
import pytest
from fitting.arm import DAMPING, GAIN, MASS, ROTOR, TRUE, commanded, motion, recording, write_world

import hrpsim
from hrpsim.commands.cli import main
from hrpsim.fitting import FitError, FitWarning, Recording, cross_validate, read_recording
from hrpsim.fitting.predict import scenario_of, unknowns_of, windows_of
from hrpsim.fitting.window_commands import _step_means

TIME = np.arange(0.0, 2.4, 0.03)
COMMAND_TIME, COMMANDS = commanded(2.4, 0.09)
FIRST = {DAMPING: 0.1, GAIN: 10.0, ROTOR: 0.02}
TRUTH = np.array(list(TRUE.values()))


@pytest.fixture(scope="module")
def angles():
    return motion(TIME, COMMANDS, COMMAND_TIME)


@pytest.fixture
def world(tmp_path):
    return write_world(tmp_path)


def made(angles, seed=0, **options):
    return recording(angles, TIME, COMMAND_TIME, COMMANDS, seed, **options)


def test_what_made_the_motion_is_found(world, angles):
    """Law: parameters of the ODE (scipy) lie within three half intervals, and errors are noise."""
    both = [made(angles), made(angles, 1, name="later", held_out=True)]
    found = hrpsim.fit(world, both, FIRST, window=1.2, start="fitted")
    half = 0.5 * (found.high - found.low)
    assert (np.abs(found.values - TRUTH) < 3.0 * half).all()
    assert (half < 0.03 * TRUTH).all()
    assert found.undetermined == ()
    assert found.errors(held_out=False)["position"][1] == pytest.approx(2e-3, rel=0.3)
    before, after = found.errors(held_out=True)["position"]
    assert after < 0.6 * before


@pytest.mark.long
@pytest.mark.timeout(1800)  # 100 fits
def test_intervals_hold_the_truth_in_95_of_100_draws(world, angles):
    """Law: a 95 % interval misses in 5 of 100 draws; 11 or more of 100 have probability 0.01."""
    inside = np.zeros(3)
    for seed in range(100):
        found = hrpsim.fit(world, [made(angles, seed)], FIRST, window=1.2, start="fitted")
        inside += (found.low <= TRUTH) & (TRUTH <= found.high)
    assert (inside >= 90).all()


def test_a_delay_is_found_between_steps(world):
    """Law: commands that come 7.3 ms late (no multiple of the step) are found to be so."""
    late = motion(TIME, COMMANDS, COMMAND_TIME, delay=0.0073)
    first = {"delay": {"start": 0.0, "between": (0.0, 0.05)}, GAIN: 13.0}
    fixed = {
        DAMPING: {"start": 0.25, "prior": (0.25, 1e-4)},
        ROTOR: {"start": 0.05, "prior": (0.05, 1e-4)},
    }
    found = hrpsim.fit(world, [made(late)], first | fixed, window=1.2, start="fitted")
    assert found.values[0] == pytest.approx(0.0073, abs=1e-3)


def test_a_combination_without_effect_is_named(world, angles):
    """Law: mass, gain, damping and rotor times one factor move alike, so it is not determined."""
    first = {GAIN: 10.0, DAMPING: 0.1, ROTOR: 0.02, MASS: 1.0}
    found = hrpsim.fit(world, [made(angles)], first, window=1.2, start="fitted")
    assert len(found.undetermined) == 1
    assert {GAIN, MASS} <= found.undetermined[0].parts.keys()


def test_a_parameter_that_nothing_depends_on_is_named(world, angles):
    """Law: an arm fixed to the world has no friction with the floor; so it keeps its start."""
    text = world.read_text() + "ground: {material: floor}\nfriction:\n"
    world.write_text(text + "  - {between: [floor, default], static: 0.5}\n")
    first = {DAMPING: 0.2, "friction.floor-default.coefficient": 0.5}
    with pytest.warns(FitWarning, match=r"depends on friction\.floor-default"):
        found = hrpsim.fit(world, [made(angles)], first)
    assert found.without_effect == ("friction.floor-default.coefficient",)
    assert found.values[1] == 0.5
    with pytest.raises(FitError, match="any of the parameters"), pytest.warns(FitWarning):
        hrpsim.fit(world, [made(angles)], {"friction.floor-default.coefficient": 0.5})


def test_a_prior_holds_what_recordings_do_not(world, angles):
    """Law: with its mass known to 1 % the rest of that combination is determined."""
    first = {GAIN: 10.0, DAMPING: 0.1, ROTOR: 0.02, MASS: {"start": 1.0, "prior": (1.0, 0.01)}}
    found = hrpsim.fit(world, [made(angles)], first, window=1.2, start="fitted")
    assert found.undetermined == ()
    assert found.values[0] == pytest.approx(TRUE[GAIN], rel=0.05)


BAD = {
    "clocks do not overlap": {"command_time": COMMAND_TIME + 1.7e9},
    r"positions of 'shoulder' in sample 3 is nan": {
        "positions": np.where(TIME == TIME[3], np.nan, 0.1)[:, None]
    },
    "time does not increase": {"time": TIME[::-1]},
    r"must have shape \(80, 1\)": {"positions": np.zeros((80, 2))},
    r"joint 'sholder' does not exist. Did you mean 'shoulder'": {"joints": ("sholder",)},
}


@pytest.mark.parametrize("said", BAD)
def test_recordings_that_make_no_sense_are_refused(world, angles, said):
    good = made(angles)
    fields = {name: getattr(good, name) for name in good.__dataclass_fields__} | BAD[said]
    with pytest.raises((FitError, hrpsim.HrpsimError), match=said):
        hrpsim.fit(world, [Recording(**fields)], FIRST)


def test_wrong_requests_are_refused(world, angles):
    good = made(angles)
    for first, said in {
        "robots.arm.joints.shoulder.dampin": "does not exist. Did you mean",
        GAIN: "start 50 must lie between 0 and 20",
        ROTOR: "start: .*-1",
    }.items():
        given = {GAIN: {"start": 50.0, "between": (0.0, 20.0)}, ROTOR: -1.0}.get(first, 1.0)
        with pytest.raises(FitError, match=said):
            hrpsim.fit(world, [good], {first: given})
    with pytest.raises(FitError, match="two recordings have the name 'recording'"):
        hrpsim.fit(world, [good, good], FIRST)
    with pytest.raises(FitError, match="at least two samples"):
        hrpsim.fit(world, [good.part(0.0, 0.0)], FIRST)
    with pytest.raises(FitError, match="all are held out"):
        hrpsim.fit(world, [made(angles, held_out=True)], FIRST)


def test_joints_that_are_missing_are_named(world, angles):
    text = (world.parent / "arm.urdf").read_text()
    wrist = """<link name="hand"><inertial><mass value="0.1"/>
<inertia ixx="1e-3" iyy="1e-3" izz="1e-3" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="wrist" type="continuous"><parent link="rod"/><child link="hand"/><axis xyz="0 1 0"/>
</joint></robot>"""
    gains = world.read_text().replace("[10.0, 0.0]", "[10.0, 0.0], wrist: [0.0, 0.0]")
    world.write_text(gains)
    (world.parent / "arm.urdf").write_text(text.replace("</robot>", wrist))
    with pytest.warns(FitWarning, match="without measurements keep .*: wrist"):
        hrpsim.fit(world, [made(angles)], {DAMPING: 0.1})


@pytest.mark.long
def test_a_clock_that_begins_again_does_not_change_what_is_found(world, angles, capsys):
    """Law: the true parameters are found from the segments, within three half intervals."""
    index = np.searchsorted(COMMAND_TIME, TIME + 1e-9, side="right") - 1
    time = np.where(TIME >= 1.2, TIME - 1.19, TIME)
    table = np.column_stack([time, made(angles).positions, COMMANDS[index]])
    header = "time,position.shoulder,command.shoulder"
    np.savetxt(world.parent / "arm.csv", table, delimiter=",", header=header, comments="")
    (world.parent / "fit.yaml").write_text(
        f"world: arm.yaml\nrecordings: [{{file: arm.csv}}]\nwindow: 1.2\nstart: fitted\n"
        f"parameters: {{{GAIN}: 10.0, {DAMPING}: 0.1, {ROTOR}: 0.02}}\n"
    )
    assert main(["fit", str(world.parent / "fit.yaml"), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    for name, truth in TRUE.items():
        low, high = report["parameters"][name]["interval"]
        assert abs(report["parameters"][name]["value"] - truth) < 1.5 * (high - low), name
    assert any("2 segments" in text for text in report["warnings"])


@pytest.mark.long
def test_a_study_is_fitted_by_the_command(world, angles, capsys):
    """Law: the command finds the same gain from a CSV file, and writes a figure."""
    good = made(angles)
    index = np.searchsorted(COMMAND_TIME, TIME + 1e-9, side="right") - 1
    table = np.column_stack([TIME, good.positions, COMMANDS[index]])
    header = "time,position.shoulder,command.shoulder"
    folder = world.parent
    np.savetxt(folder / "arm.csv", table, delimiter=",", header=header, comments="")
    np.savez(folder / "arm.npz", time=TIME, joints=["shoulder"], positions=good.positions)
    assert read_recording(folder / "arm.npz").joints == ("shoulder",)
    (folder / "fit.yaml").write_text(
        f"world: arm.yaml\nrecordings:\n  - {{file: arm.csv}}\n"
        f"  - {{file: arm.csv, name: end, begin: 1.2, held_out: true}}\n"
        f"parameters:\n  {GAIN}: {{start: 10.0, between: [1, 100]}}\n  {DAMPING}: 0.2\n"
        f"  {ROTOR}: 0.03\nwindow: 1.2\nstart: fitted\n"
    )
    picture = folder / "fit.png"
    assert main(["fit", str(folder / "fit.yaml"), "--json", "--plot", str(picture)]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["verdict"].startswith("The model explains 100 % of the measured motion, and 99")
    assert report["parameters"][GAIN]["value"] == pytest.approx(TRUE[GAIN], rel=0.03)
    assert "position [rad or m]" in report["held_out_error"]
    assert picture.stat().st_size > 1000
    table[:, 1] = np.random.default_rng(0).permutation(table[:, 1])  # no motion of an arm
    np.savetxt(folder / "arm.csv", table, delimiter=",", header=header, comments="")
    assert main(["fit", str(folder / "fit.yaml"), "--json"]) == 1
    assert "The values therefore mean nothing" in json.loads(capsys.readouterr().out)["verdict"]
    (folder / "fit.yaml").write_text("world: arm.yaml\nrecordigs: []\n")
    assert main(["fit", str(folder / "fit.yaml")]) == 1
    assert "recordigs" in capsys.readouterr().err


def test_folds_predict_each_recording_once(world, angles):
    """Law: errors of recordings that a fit has not seen fall too, where the model is right."""
    both = [made(angles, seed, name=f"take {seed}") for seed in range(2)]
    before, after = cross_validate(world, both, {GAIN: 10.0}, 2, window=0.3)["position"]
    assert after < before


def test_step_means_are_those_of_held_values():
    """Law: the mean over a step is the integral of the held values over it."""
    time, values = np.array([0.0, 1.0, 1.4]), np.array([[2.0], [5.0], [-1.0]])
    ends = np.array([0.0, 0.5, 1.25, 2.0])
    fine = np.linspace(0.0, 2.0, 200_001)[:-1] + 5e-6
    held = values[np.searchsorted(time, fine, side="right") - 1, 0]
    means = [held[(fine >= a) & (fine < b)].mean() for a, b in pairwise(ends)]
    assert _step_means(time, values, ends)[:, 0] == pytest.approx(means, abs=1e-4)


@pytest.mark.parametrize("starts", [False, True])
def test_windows_cover_every_sample_once(starts):
    """Law: each sample is compared in one window; the first of all only where it is fitted."""
    windows = windows_of(TIME, 0.2, starts)
    compared = [k for w in windows for k in range(w.first, w.last + 1)]
    assert compared == list(range(0 if starts else 1, len(TIME)))


def test_a_step_far_beyond_the_bounds_stays_a_number(world, angles):
    """Law: values of the log scale are positive numbers for any u, also where exp overflows."""
    path = "robots.arm.joints.shoulder.rotor_inertia"
    found = unknowns_of({path: {"start": 0.02, "scale": "log"}}, scenario_of(world), [made(angles)])
    for u in (-1e4, 1e4):
        assert 0.0 < found.to_values(np.array([u]))[0] < np.inf
