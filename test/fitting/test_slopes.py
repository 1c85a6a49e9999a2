# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Sensitivities are the derivatives that differences give, and are used where they are sound."""

import math
from dataclasses import replace

import numpy as np
import pytest
from fitting.arm import DAMPING, GAIN, MASS, ROTOR, TRUE, commanded, motion, recording, write_world
from grouped import one_compiles
from scipy.spatial.transform import Rotation

import hrpsim
from evidence.benchmarks import fit_signals
from hrpsim.fitting import FitError, Recording, Signal
from hrpsim.fitting.predict import Predictor
from hrpsim.fitting.recordings.measured_motion import BoundRecording
from hrpsim.fitting.sensitivities import sensitivities
from hrpsim.sweeps.executors import process_pool
from hrpsim.sweeps.worlds.world_scenario import WorldScenario

pytestmark = [one_compiles("linearization"), pytest.mark.usefixtures("derivatives_in_python")]

ARM_ROTOR = "robots.arm.joints.shoulder.rotor_inertia"
BOX_MASS = {"bodies.box.mass": 1.0}
TIME = np.arange(0.0, 1.2, 0.03)
COMMAND_TIME, COMMANDS = commanded(1.2, 0.09)
STEP = 1e-5


@pytest.fixture(scope="module")
def arm():
    angles = motion(TIME, COMMANDS, COMMAND_TIME)
    return recording(angles, TIME, COMMAND_TIME, COMMANDS, 0, entity="arm")


def predictor_of(world, one, window):
    scenario = WorldScenario(world, duration=1.0)
    bound = BoundRecording(one, scenario.world_of({}, 0)[0], one.entity)
    return Predictor(scenario, [bound], window, True)


def by_differences(predictor, values, offsets, moves):
    """Return central differences (rows, n) by moves: changes of values and offsets."""
    found = []
    for change, shift in moves:
        ends = [
            ({key: x + sign * change.get(key, 0.0) for key, x in values.items()}, sign * shift)
            for sign in (1.0, -1.0)
        ]
        both = predictor.differences(
            [end[0] for end in ends],
            [[own + end[1] for own in offsets] for end in ends],
            together=True,
        )
        found.append((both[0] - both[1]) / (2.0 * STEP))
    return np.array(found).T


@pytest.mark.long
def test_sensitivities_of_an_arm_are_its_differences(tmp_path, arm):
    """Law: S' = A S + C along a window gives derivatives by gain, damping, rotor, mass, start.

    The acceleration by which a step predicts its middle is left out: 0.1 % is allowed for it.
    """
    predictor = predictor_of(write_world(tmp_path), arm, 0.3)
    values = TRUE | {MASS: 1.1}
    offsets = [np.zeros((len(own), 2)) for own in predictor.windows]
    shares = {path: np.eye(4)[k] for k, path in enumerate(values)}
    shares[MASS] = shares[MASS] / values[MASS]
    found = sensitivities(predictor, values, shares, offsets, True)
    moves = [({path: STEP}, np.zeros(2)) for path in (DAMPING, GAIN, ROTOR, MASS)]
    moves += [({}, STEP * row) for row in np.eye(2)]
    right = by_differences(predictor, values, offsets, moves)
    assert found.known.all()
    whole = np.hstack([found.by_parameters, found.by_starts])
    assert np.abs(whole - right).max(axis=0) == pytest.approx(0.0, abs=2e-3 * np.abs(right).max())
    assert (np.abs(whole - right).max(axis=0) < 2e-3 * np.abs(right).max(axis=0)).all()


def test_sensitivities_of_signals_are_their_differences(tmp_path):
    """Law: torque, current, wrench, IMU, marker and motor, with gains, turns and delays.

    A step reads the gyro in its middle, for which the velocity is extrapolated.
    """
    (tmp_path / "arm.urdf").write_text(fit_signals.URDF)
    (tmp_path / "arm.yaml").write_text(fit_signals.WORLD)
    whole = fit_signals.recording(fit_signals.Arm(), 0, 0.0)
    early = whole.time < 0.09
    motor = Signal("motor_position", "motor", whole.time[1:], whole.positions[1:], whole.joints)
    signals = [
        replace(one, time=one.time[:4], values=one.values[:4]) for one in (*whole.signals, motor)
    ]
    one = replace(
        whole, time=whole.time[early], positions=whole.positions[early], signals=tuple(signals)
    )
    scenario = WorldScenario(tmp_path / "arm.yaml", duration=1.0)
    world = scenario.world_of({}, 0)[0]
    bound = BoundRecording(one, world, "arm")
    bound.bind_signals(world, {path: (0.0, 0.01) for path in fit_signals.TRUTH if "delay" in path})
    predictor = Predictor(scenario, [bound], 1.0, True)
    values = fit_signals.TRUTH | {ARM_ROTOR: 0.01}
    paths = [*list(values)[:2], ARM_ROTOR]
    offsets = [np.zeros((1, 2))]
    shares = {path: np.eye(3)[k] for k, path in enumerate(paths)}
    found = sensitivities(predictor, values, shares, offsets, True)
    moves = [({path: STEP}, np.zeros(2)) for path in paths]
    right = by_differences(
        predictor, values, offsets, moves + [({}, STEP * row) for row in np.eye(2)]
    )
    whole, kinds = np.hstack([found.by_parameters, found.by_starts]), predictor.rows().kind
    assert found.known.all() and len(set(kinds)) == 9
    for kind in set(kinds):
        own = kinds == kind
        sizes = np.abs(right[own]).max(axis=0)
        assert (np.abs(whole[own] - right[own]).max(axis=0) < 2e-3 * sizes + 1e-9).all(), kind


def recorded_box(tmp_path):
    """Return a predictor of the motion of a free box, and offsets of its starts."""
    text = "bodies:\n  - {name: box, shape: {box: [0.1, 0.2, 0.3]}, mass: 1.0}\n"
    (tmp_path / "box.yaml").write_text(text)
    random, time = np.random.default_rng(1), np.arange(0.0, 0.2, 0.01)
    turns = Rotation.from_rotvec(random.normal(0.0, 0.05, (20, 3)) + [0.3, 1.0, -0.5])
    base = np.hstack([random.normal(0.0, 0.01, (20, 3)), turns.as_quat()])
    speeds = random.normal(0.0, 1.0, (20, 6))
    one = Recording(time, base=base, base_velocity=speeds, entity="box")
    predictor = predictor_of(tmp_path / "box.yaml", one, 0.05)
    return predictor, [np.zeros((len(own), 12)) for own in predictor.windows]


def test_sensitivities_of_a_free_body_are_its_differences(tmp_path):
    """Law: a start is moved along the body's own axes; poses that differ from the measured too."""
    predictor, offsets = recorded_box(tmp_path)
    found = sensitivities(predictor, BOX_MASS, {"bodies.box.mass": np.ones(1)}, offsets, True)
    moves = [({}, STEP * row) for row in np.eye(12)]
    right = by_differences(predictor, BOX_MASS, offsets, moves)
    assert found.by_starts == pytest.approx(right, abs=2e-4)
    assert np.abs(found.by_parameters).max() < 1e-12


@pytest.mark.long
def test_processes_that_share_windows_find_the_same_bits(tmp_path, monkeypatch):
    monkeypatch.setattr("hrpsim.fitting.sensitivities._TOGETHER", 1)
    predictor, offsets = recorded_box(tmp_path)
    given = predictor, BOX_MASS, {"bodies.box.mass": np.ones(1)}, offsets, True
    assert predictor.recordings[0].is_whole and len(predictor.windows[0]) > 2
    with process_pool(2) as make:
        shared = sensitivities(*given, make())
    assert (shared.by_starts == sensitivities(*given).by_starts).all() and shared.known.all()


@pytest.mark.long
@pytest.mark.parametrize("start", ["measured", "fitted"])
def test_both_kinds_of_derivatives_find_the_same(tmp_path, arm, start):
    """Law: least squares do not depend on how their derivatives are found; the report says it."""
    world, first = write_world(tmp_path), {DAMPING: 0.2, GAIN: 12.0, ROTOR: 0.04}
    found = {
        how: hrpsim.fit(world, [arm], first, window=0.3, start=start, derivatives=how)
        for how in ("exact", "differences", "auto")
    }
    right = found["differences"]
    half = 0.5 * (right.high - right.low)
    assert (np.abs(found["exact"].values - right.values) < 0.05 * half).all()
    assert (found["auto"].values == right.values).all()
    assert set(found["exact"].report()["derivatives"].values()) == {"exact"}
    assert set(right.report()["derivatives"].values()) == {"differences"}
    with pytest.raises(FitError, match=r"derivatives: .*'exakt'"):
        hrpsim.fit(world, [arm], first, derivatives="exakt")


@pytest.mark.parametrize("given", [0, 1.5, math.nan, math.inf, "2", True])
def test_processes_are_a_whole_number(tmp_path, arm, given):
    with pytest.raises(FitError, match=r"processes must be a whole number"):
        hrpsim.fit(write_world(tmp_path), [arm], {DAMPING: 0.1}, processes=given)


def test_steps_without_derivatives_leave_a_fit_to_differences(tmp_path, arm):
    """Law: a world whose steps have no derivatives is fitted too, and the report says why."""
    world = write_world(tmp_path)
    world.write_text(world.read_text().replace("0.0005}", "0.0005, integrator: rk4}"))
    first = {DAMPING: 0.2, "delay": {"start": 0.0, "between": (0.0, 0.01)}}
    how = hrpsim.fit(world, [arm], first, window=0.3, derivatives="exact").report()["derivatives"]
    assert how[DAMPING] == how["delay"] == "differences"
    assert "rk4" in how["a step that is not differentiated"]


def test_a_ramp_begins_each_window_where_the_last_one_left_it(tmp_path):
    """Law: a prediction from exact starts of a recorded motion is that motion, in every window."""
    world = write_world(tmp_path)
    one = hrpsim.load_world(world)
    robot, rows = one.robots["arm"], []
    for k in range(60):
        command = np.sin(0.3 * k)
        rows.append((one.time, robot.q[0], robot.v[0], command))
        robot.command(positions=[command], over=0.01)
        one.step(20)
    time, q, v, commands = np.array(rows).T
    own = Recording(
        time,
        ("shoulder",),
        q[:, None],
        v[:, None],
        command_time=time,
        command_positions=commands[:, None],
        interpolate=True,
    )
    predictor = predictor_of(world, Recording(**vars(own) | {"entity": "arm"}), 0.05)
    found = predictor.differences([{}])[0]
    assert np.abs(found).max() < 1e-6
