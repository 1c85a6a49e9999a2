# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Signals of sensors are outputs of a fit."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from fitting.arm import commanded, motion, write_world

import hrpsim
from evidence.benchmarks import fit_signals
from hrpsim.fitting import FitError, Recording, Signal, read_recording, unexplained
from hrpsim.fitting.signals.signal_kinds import SIGNAL_KINDS

JOINT = ("shoulder",)
TIME = np.arange(0.0, 1.2, 0.02)


def still(**changes):
    """Return the recording of an arm that hangs still."""
    return Recording(TIME, JOINT, np.zeros((len(TIME), 1)), **changes)


@pytest.mark.long
def test_unknowns_of_all_sensors_are_found(tmp_path):
    """Law: sensors that follow from the equation of motion give their gains, offsets and delays.

    At most three of twenty true values lie outside their 95 % intervals, and all within three
    times the half width. Four misses of twenty have probability 0.016.
    """
    found = fit_signals.fitted(fit_signals.Arm(), tmp_path, 0, 0.0)
    truth = np.array(list(fit_signals.TRUTH.values()))
    half = 0.5 * (found.high - found.low)
    assert found.reached
    assert np.sum(np.abs(found.values - truth) > half) <= 3
    assert (np.abs(found.values - truth) < 3.0 * half).all()
    assert min(found.shares().values()) > 0.99
    errors, noise = found.errors(False), fit_signals.NOISE
    for kind, of in {"current": "current", "force.force": "force", "imu.gyro": "gyro"}.items():
        assert errors[kind][1] == pytest.approx(noise[of], rel=0.1)


def test_a_wrong_constant_is_named(tmp_path):
    """Law: a wrong gear ratio leaves a residual that follows the signal, a right one does not."""
    command_time, commands = commanded(1.2, 0.09)
    fine = np.arange(0.0, 1.2, 0.001)
    angles = motion(fine, commands, command_time)
    noise = np.random.default_rng(0).normal(0.0, 1.0, (2, len(TIME), 1))
    at = np.searchsorted(command_time, TIME - 1e-9, side="right") - 1
    torque = 14.0 * (commands[np.maximum(at, 0)] - np.interp(TIME, fine, angles))
    current = torque[:, None] / 0.8 + 0.05 * noise[0]
    between = (TIME % 0.09 > 0.001) & (TIME % 0.09 < 0.0895)  # no jump of the command
    given = {"robots.arm.joints.shoulder.kp": 10.0, "robots.arm.joints.shoulder.damping": 0.1}
    given["robots.arm.joints.shoulder.rotor_inertia"] = 0.02
    named = {}
    for constant in (0.8, 0.4):
        signal = Signal(
            "current",
            "current",
            TIME[between],
            current[between],
            JOINT,
            known={"shoulder.constant": constant},
        )
        one = Recording(
            TIME,
            JOINT,
            np.interp(TIME, fine, angles)[:, None] + 1e-3 * noise[1],
            command_time=command_time,
            command_positions=commands[:, None],
            signals=(signal,),
        )
        found = hrpsim.fit(write_world(tmp_path), [one], given, window=0.6, start="fitted")
        rest = next(own for own in unexplained(found) if own.kind == "current")
        named[constant] = rest.related, abs(rest.correlation), found.shares()["current"]
    assert named[0.4][0] == "current of shoulder"
    assert named[0.4][1] > 0.9 > named[0.8][1]
    assert named[0.8][2] > 0.99 > named[0.4][2]


def test_a_pattern_ties_unknowns(tmp_path):
    """Law: a pattern gives all paths that fit one value. A pattern that fits none is refused."""
    world = write_world(tmp_path)
    with pytest.raises(FitError, match="no parameter fits the pattern"):
        hrpsim.fit(world, [still()], {"all": {"start": 1.0, "paths": ["robots.arm.*.knee"]}})
    given = {"all": {"start": 0.1, "paths": ["robots.arm.joints.*.damping"]}}
    from hrpsim.fitting.unknowns import Unknowns
    from hrpsim.sweeps.worlds.world_scenario import WorldScenario

    known = WorldScenario(world, duration=1.0).parameters()
    assert Unknowns(given, known, []).paths == [("robots.arm.joints.shoulder.damping",)]


@pytest.mark.parametrize(
    "signal, message",
    [
        (("wrench", "force", TIME, np.zeros((len(TIME), 6))), "has no sensor 'force'|sensor"),
        (("torque", "torque", TIME, np.zeros((len(TIME), 1)), ("knee",)), "joint"),
        (("point", "hand", TIME, np.zeros((len(TIME), 3))), "link"),
        (("contact", "rod", TIME + 100.0, np.zeros((len(TIME), 1))), "has no samples from"),
        (("current", "current", TIME, np.zeros((len(TIME), 1)), JOINT), "constant is not known"),
    ],
)
def test_signals_that_do_not_fit_are_refused(tmp_path, signal, message):
    """Law: a signal without its sensor, joint, link, time or constant is refused by name."""
    one = still(signals=(Signal(*signal),))
    with pytest.raises(FitError, match=message):
        hrpsim.fit(write_world(tmp_path), [one], {"encoders.shoulder.offset": 0.0}, window=0.5)


@pytest.mark.parametrize(
    "arguments, message",
    [
        (("wrenches", "force", TIME, np.zeros((len(TIME), 6))), "kind"),
        (("wrench", "force", TIME, np.zeros((len(TIME), 5))), "shape"),
        (("wrench", "force", -TIME, np.zeros((len(TIME), 6))), "does not increase"),
        (("torque", "torque", TIME, np.zeros((len(TIME), 1))), "joints"),
        (("point", "hand", TIME, np.full((len(TIME), 3), np.inf)), "not finite"),
    ],
)
def test_damaged_signals_are_refused(arguments, message):
    """Law: values that make no signal are refused, and the message says why."""
    with pytest.raises(FitError, match=message):
        Signal(*arguments)


def test_an_open_delay_is_refused(tmp_path):
    """Law: the delay of a signal needs bounds, which say what samples a window can predict."""
    signal = Signal("point", "rod", TIME, np.zeros((len(TIME), 3)))
    with pytest.raises(FitError, match="Give `between`"):
        given = {"signals.rod.delay": 0.0}
        hrpsim.fit(write_world(tmp_path), [still(signals=(signal,))], given, window=0.5)


def test_columns_of_a_csv_are_signals(tmp_path):
    """Law: columns KIND.NAME.COLUMN make signals; NaN means no sample."""
    columns = ["time", "position.shoulder", "torque.shoulder", "contact.rod"]
    columns += [f"wrench.force.{name}" for name in SIGNAL_KINDS["wrench"].columns]
    table = np.arange(float(4 * len(columns))).reshape(4, -1)
    table[:, 0] = 0.01 * np.arange(4)
    table[1, 2] = np.nan
    path = Path(tmp_path) / "arm.csv"
    np.savetxt(path, table, delimiter=",", header=",".join(columns), comments="")
    more = {"force": {"of": "wrist", "known": {"delay": 0.002}}}
    found = {one.name: one for one in read_recording(path, signals=more).signals}
    assert (found["force"].of, found["force"].known) == ("wrist", {"delay": 0.002})
    assert found["rod"].of == "rod"
    with pytest.raises(FitError, match="signal"):
        read_recording(path, signals={"wrist": {"of": "force"}})
    assert found.keys() == {"torque", "rod", "force"}
    assert found["rod"].values[:, 0].tolist() == table[:, 3].tolist()
    assert found["force"].values.tolist() == table[:, 4:].tolist()
    torque = found["torque"]
    assert torque.time.tolist() == [0.0, 0.02, 0.03]
    assert torque.joints == JOINT


def test_a_contact_is_a_smooth_function_of_the_force():
    """Law: a body at rest on the floor reads m g / (m g + threshold), and in the air 0."""
    world = hrpsim.World()
    world.add_ground()
    ball = world.add_body(hrpsim.Sphere(0.1), mass=2.0, position=(0.0, 0.0, 0.3), name="ball")
    kind = SIGNAL_KINDS["contact"]
    world.step()
    assert kind.read(ball, "ball", ("state",)).tolist() == [0.0]
    world.step(2000)
    raw = kind.read(ball, "ball", ("state",))
    weight = 2.0 * 9.80665
    assert raw[0] == pytest.approx(weight, rel=1e-3)
    found = kind.predict(raw[None], {"threshold": 5.0, "delay": 0.0}, ("state",))
    assert found[0, 0] == pytest.approx(weight / (weight + 5.0), rel=1e-3)


@pytest.mark.parametrize("suffix", ["npz", "mcap"])
def test_topics_of_recordings_are_signals(tmp_path, suffix):
    """Law: signals are the wrench, IMU and efforts that the topics of a recording have."""
    (tmp_path / "arm.urdf").write_text(fit_signals.URDF)
    (tmp_path / "arm.yaml").write_text(fit_signals.WORLD)
    world = hrpsim.load_world(tmp_path / "arm.yaml")
    arm = world.robots["arm"]
    arm.command(positions=[0.3])
    path, rows = tmp_path / f"run.{suffix}", []
    log = hrpsim.Logger(world, every=0.005)
    for _ in range(20):
        world.step(10)
        rows.append([*arm.sensors["force"].reading, *arm.sensors["imu"].reading, arm.tau[0]])
    log.save(path)
    wanted = {"force": "force", "imu": {"topic": "imu/data", "known": {"delay": 0.001}}}
    wanted |= {"torque": "joint_states"}
    one = read_recording(path, signals=wanted)
    found = {signal.name: signal for signal in one.signals}
    table = np.array(rows)
    count = len(found["force"].values)
    assert count >= 10
    for name, columns in {"force": slice(6), "imu": slice(6, 12), "torque": slice(12, 13)}.items():
        assert found[name].values[-10:] == pytest.approx(table[-10:, columns], abs=1e-9)
        assert len(found[name].time) == count
    assert found["imu"].known == {"delay": 0.001}
    with pytest.raises(FitError, match="needs a topic"):
        read_recording(path, signals={"force": {"of": "force"}})


@pytest.mark.long
def test_processes_give_the_same_bits(tmp_path):
    """Law: the values do not depend on the number of processes that simulate worlds."""
    one = fit_signals.recording(fit_signals.Arm(), 0, 0.0)
    one = replace(one, signals=one.signals[:1])
    given = {"robots.arm.joints.shoulder.kp": 10.0, "robots.arm.joints.shoulder.damping": 0.1}
    given |= {"signals.current.shoulder.constant": 0.5, "encoders.shoulder.offset": 0.0}
    (tmp_path / "arm.urdf").write_text(fit_signals.URDF)
    (tmp_path / "arm.yaml").write_text(fit_signals.WORLD)
    found = [
        hrpsim.fit(tmp_path / "arm.yaml", [one], given, window=1.1, processes=count)
        for count in (1, 2)
    ]
    assert found[0].values.tolist() == found[1].values.tolist()
