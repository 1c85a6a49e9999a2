# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""R1 to R4: fits find what made the data, errors are what they say, absent data are named."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hrpsim
from evidence.experiments.framework.experiment import Options
from evidence.experiments.framework.fitting import (
    Parameter,
    cross_validate,
    fit,
    held_out,
    profile,
    undecided,
)
from evidence.experiments.framework.measurements import MeasurementsAbsent, measurements
from evidence.experiments.scenes import cassie_landings
from evidence.experiments.studies.r1_cube_tosses import (
    FRAME_RATE,
    WIDTH,
    Cube,
    MujocoCube,
    contestants,
    errors,
    flight,
    read_tosses,
    run,
)
from hrpsim.commands.cli import main
from hrpsim.common.constants import STANDARD_GRAVITY

UPRIGHT = (0.0, 0.0, 0.0, 1.0)


def real(*names: str):
    """Return the paths of measurements, or skip the test, by their names."""
    try:
        return measurements(None, names, "see docs/explanation/real_measurements.md")
    except MeasurementsAbsent as error:
        pytest.skip(str(error))


def toss(position: np.ndarray, velocity: np.ndarray) -> np.ndarray:
    """Return an upright toss from positions and velocities (n, 3)."""
    count = len(position)
    return np.hstack([position, np.tile(UPRIGHT, (count, 1)), velocity, np.zeros((count, 3))])


def slide(friction: float, speed: float = 1.0, frames: int = 50) -> np.ndarray:
    """Return a cube that slides on a face: v t - mu g t^2 / 2 until it stands."""
    t = np.minimum(np.arange(frames) / FRAME_RATE, speed / (friction * STANDARD_GRAVITY))
    v = speed - friction * STANDARD_GRAVITY * t
    x = np.stack([speed * t - friction * STANDARD_GRAVITY * t**2 / 2, 0 * t, 0 * t + WIDTH / 2], 1)
    return toss(x, np.stack([v, 0 * t, 0 * t], 1))


def bounce(restitution: float, speed: float = 1.0, frames: int = 30) -> np.ndarray:
    """Return a cube that falls flat onto the table and rises at `restitution` times its speed."""
    t = np.arange(frames) / FRAME_RATE
    gap, g = 0.05, STANDARD_GRAVITY
    hit = (np.sqrt(speed**2 + 2 * g * gap) - speed) / g
    up = restitution * (speed + g * hit)
    later = t - hit
    fall = gap - speed * t - g * t**2 / 2
    rise = up * later - g * later**2 / 2
    z, vz = np.where(later < 0, fall, rise), np.where(later < 0, -speed - g * t, up - g * later)
    keep = z >= 0.0
    x = np.stack([0 * t, 0 * t, WIDTH / 2 + z], 1)
    return toss(x[keep], np.stack([0 * t, 0 * t, vz], 1)[keep])


def test_a_fit_to_closed_forms_finds_friction_and_restitution():
    """Law: a cube slides v t - mu g t^2 / 2 and leaves an impact at e times its speed."""
    tosses = [slide(0.2), bounce(0.3)]
    rigid = contestants(tosses)[0]
    parameters = {name: rigid.parameters[name] for name in ("friction", "restitution")}
    start = {"friction": 0.1, "restitution": 0.1}
    found = fit(
        lambda values: rigid.losses(values, [0, 1]).mean(), parameters, start, generations=25
    )
    assert found["friction"] == pytest.approx(0.2, abs=0.01)
    assert found["restitution"] == pytest.approx(0.3, abs=0.01)
    assert rigid.losses({"friction": 0.2, "restitution": 0.3}, [0, 1]).max() < 0.5


def test_a_fit_to_mujocos_slides_finds_mujocos_friction():
    """Law: both engines slide by Coulomb's friction; MuJoCo's made the data."""
    mujoco = pytest.importorskip("mujoco")
    starts = [slide(0.2, speed) for speed in (0.5, 1.0, 1.5)]
    paths = MujocoCube(mujoco, 0.25, time_constant=2e-3).follow(starts)
    tosses = [np.hstack([path, one[:, 7:]]) for path, one in zip(paths, starts)]
    rigid = contestants(tosses)[0]
    found = fit(
        lambda values: rigid.losses(values, range(3)).mean(),
        {"friction": rigid.parameters["friction"]},
        {"friction": 0.1},
        generations=4,
    )
    assert found["friction"] == pytest.approx(0.25, abs=0.01)


def test_a_toss_does_not_depend_on_the_tosses_before_it():
    """Law: each toss begins with its own first state, and nothing of another one."""
    tosses = [slide(0.2), bounce(0.3)]
    cube = Cube(0.3, 0.2)
    first, second = cube.follow(tosses)
    again = cube.follow(tosses[::-1])
    assert (again[0] == second).all() and (again[1] == first).all()


def test_errors_are_per_cent_of_the_width_degrees_and_faces():
    """Law: 1 cm is 100 / 10.48 per cent; a quarter turn is 90 degrees, about z on the same face."""
    measured = slide(0.2)
    turned = measured.copy()[:, :7]
    turned[:, 0] += 0.01
    half = np.sqrt(0.5)
    turned[:, 3:7] = (0.0, 0.0, half, half)
    tipped = measured.copy()[:, :7]
    tipped[:, 3:7] = (half, 0.0, 0.0, half)
    found = errors([turned, tipped], [measured, measured])
    assert found[0] == pytest.approx([1.0 / WIDTH, 90.0, 1.0])
    assert found[1] == pytest.approx([0.0, 90.0, 0.0], abs=1e-9)


@given(st.floats(1e-9, 1e3), st.floats(1.1, 1e6), st.floats(0.0, 1.0), st.booleans())
def test_share_undoes_at(low, factor, share, logarithmic):
    """Law: a parameter's share of its bounds and its value are each other's inverse."""
    parameter = Parameter(low, low * factor, logarithmic)
    assert parameter.share(parameter.at(share)) == pytest.approx(share, abs=1e-6)


@given(st.integers(2, 40), st.integers(2, 8))
def test_each_trial_is_held_out_once(count, folds):
    """Law: the folds are a partition of the trials."""
    assert sorted(np.concatenate(held_out(count, folds))) == list(range(count))


def test_cross_validation_never_shows_a_fit_what_it_holds_out():
    """Law: the trials of a fold's loss are all but those it holds out."""
    shown = []

    def loss(values, trials):
        shown.append(tuple(trials))
        return np.full(len(trials), values["a"])

    found = cross_validate(loss, {"a": Parameter(0.0, 1.0)}, {"a": 0.5}, 6, 3, generations=2)
    assert set(shown) == {(1, 2, 4, 5), (0, 2, 3, 5), (0, 1, 3, 4)} and len(found) == 3


def test_a_loss_that_is_not_finite_is_the_worst():
    """Law: where a simulation fails there is no minimum."""

    def loss(values):
        return float("nan") if values["a"] > 0.5 else (values["a"] - 0.3) ** 2

    found = fit(loss, {"a": Parameter(0.0, 1.0)}, {"a": 0.9})
    assert found["a"] == pytest.approx(0.3, abs=0.02)


def test_a_profile_says_what_the_data_decide():
    """Law: a mean is known to within two standard errors; what the loss ignores is undecided."""
    data = np.random.default_rng(1).normal(0.5, 0.1, 100)
    parameters = {"mean": Parameter(0.0, 1.0), "ignored": Parameter(0.0, 1.0)}
    curves = profile(
        lambda values: (data - values["mean"]) ** 2, parameters, {"mean": 0.5, "ignored": 0.5}, 41
    )
    low, high = undecided(0.5, *curves["mean"])
    assert 0.4 < low < 0.51 and 0.49 < high < 0.6
    assert undecided(0.5, *curves["ignored"]) == (0.0, 1.0)


def test_absent_measurements_are_named_and_nothing_fails(tmp_path, capsys):
    """`reproduce` says what is missing, and where it is from; its status is that of the others.

    A page that was measured elsewhere is left as it is.
    """
    page = tmp_path / "r1.md"
    page.write_text("measured elsewhere")
    folder = str(tmp_path)
    status = main(
        ["reproduce", "R1", "R2", "R3", "R4", "--data", folder, "--pages", folder, "--json"]
    )
    out, shown = capsys.readouterr()
    assert status == 0 and "skipped: cube_tosses.npz" in shown and "cassie_v2.urdf" in shown
    for experiment in json.loads(out)["experiments"]:
        assert "github.com/" in experiment["skipped"] and experiment["rows"] == []
    assert page.read_text() == "measured elsewhere"


def test_the_variable_names_the_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("HRPSIM_MEASUREMENTS", str(tmp_path))
    (tmp_path / "a.npz").touch()
    assert measurements(None, ("a.npz",), "nowhere") == [tmp_path / "a.npz"]
    with pytest.raises(MeasurementsAbsent, match=r"b\.npz not found.*nowhere"):
        measurements(None, ("a.npz", "b.npz"), "nowhere")


def test_real_tosses_fly_on_their_parabola_and_come_down_as_simulated():
    """Law: until it touches, a cube falls freely; then rigid contact is within a fifth of it."""
    (path,) = real("cube_tosses.npz")
    tosses = read_tosses(path)[::10]
    assert len(tosses) == 12
    flown = [one[: flight(one)] for one in tosses]
    assert errors(Cube(0.18, 0.125).follow(flown), flown)[:, 0].max() < 6.0
    assert errors(Cube(0.18, 0.125).follow(tosses), tosses)[:, 0].mean() < 20.0


def test_r1_runs_on_the_real_tosses():
    """The quick run has every row, and its errors are those of tosses that the fit has not seen."""
    (path,) = real("cube_tosses.npz")
    result = run(Options(quick=True, data=path.parent))
    rows = {row.what: row.ours for row in result.rows}
    assert 5.0 < rows["rigid contact: position error, mean over frames"] < 20.0


@pytest.fixture(scope="module")
def cassie():
    """Return Cassie's model and its landings."""
    data, description = real("cassie_landings.npz", "cassie_v2.urdf")
    model = cassie_landings.cassie_model(description)
    return model, cassie_landings.read_landings(data, model)


def rods(model, q):
    """Return the lengths of both rods [m]."""
    ends = cassie_landings.ROD_ENDS.items()
    still = np.zeros(model.nv)
    at = cassie_landings.point_motion
    return [
        np.linalg.norm(
            at(model, q, still, f"heel_spring_{side}", heel)[0]
            - at(model, q, still, f"thigh_{side}", thigh)[0]
        )
        for side, (heel, thigh) in ends
    ]


def test_cassies_rods_keep_their_length_through_a_landing(cassie):
    """Law: the loops are closed at the start, their rate is zero, and they stay closed."""
    model, landings = cassie
    one = landings[0]
    after = cassie_landings.moved(one.q[0], one.v[0], 1e-5)
    assert rods(model, after) == pytest.approx([cassie_landings.ACHILLES] * 2, abs=1e-8)
    ((q, _),) = cassie_landings.Cassie(model).follow([one])
    assert rods(model, q) == pytest.approx([cassie_landings.ACHILLES] * 2, abs=1e-4)


def test_with_stiff_contacts_mujocos_cassie_lands_as_ours(cassie):
    """Law: the same robot, stopped as hard, has the same velocities 20 ms later."""
    mujoco = pytest.importorskip("mujoco")
    model, landings = cassie
    (ours,) = cassie_landings.Cassie(model).follow(landings[:1])
    theirs = cassie_landings.MujocoCassie(mujoco, model, time_constant=1e-3).follow(landings[:1])
    change = np.abs(ours[1] - landings[0].v[0]).max()
    assert np.abs(ours[1] - theirs[0][1]).max() < 0.2 * change


def test_mujocos_cassie_is_the_same_robot(cassie):
    """Law: the mass matrix is ours; MuJoCo's base velocity is along the world's axes."""
    mujoco = pytest.importorskip("mujoco")
    model, landings = cassie
    q = landings[0].q[0]
    theirs = cassie_landings.MujocoCassie(mujoco, model)
    theirs.data.qpos[theirs.at_q] = q
    mujoco.mj_forward(theirs.mj, theirs.data)
    mass = np.zeros((model.nv, model.nv))
    for column, unit in zip(mass, np.eye(model.nv)):
        mujoco.mj_mulM(theirs.mj, theirs.data, column, unit)
    turn = np.eye(model.nv)
    turn[:3, :3] = hrpsim.link_pose(model, q, model.base_link)[1]
    mass = turn.T @ mass[np.ix_(theirs.at_v, theirs.at_v)] @ turn
    assert np.abs(mass - hrpsim.mass_matrix(model, q)).max() < 1e-7
