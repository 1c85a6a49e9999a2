# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Faults of sensors in recordings are named, and sound recordings have none."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

import hrpsim
from hrpsim.fitting import FitWarning, Recording, Signal

ARM = """<robot name="arm"><link name="base"/>
<link name="upper"><inertial><origin xyz="0 0 -0.15"/><mass value="1.5"/>
<inertia ixx="0.02" iyy="0.02" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="lower"><inertial><origin xyz="0 0 -0.15"/><mass value="1.0"/>
<inertia ixx="0.02" iyy="0.02" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/>
<limit lower="-3" upper="3" effort="100" velocity="10"/></joint>
<joint name="elbow" type="revolute"><parent link="upper"/><child link="lower"/>
<origin xyz="0 0 -0.3"/><axis xyz="0 1 0"/>
<limit lower="-3" upper="3" effort="100" velocity="10"/></joint></robot>"""
WORLD = """robots:
  - name: arm
    urdf: arm.urdf
    base: fixed
    gains: {shoulder: [40.0, 1.0], elbow: [30.0, 0.5]}
"""
JOINTS = ("shoulder", "elbow")
FIRST = {"robots.arm.joints.shoulder.damping": 0.3}


@pytest.fixture(scope="module")
def arm(tmp_path_factory):
    """Return the world file of an arm, and a recording of the arm with torques."""
    folder = tmp_path_factory.mktemp("arm")
    (folder / "arm.urdf").write_text(ARM)
    (folder / "arm.yaml").write_text(WORLD)
    world, rows = hrpsim.load_world(folder / "arm.yaml"), []
    robot, random = world.robots["arm"], np.random.default_rng(0)
    robot.set_joint_properties("shoulder", damping=0.6)
    for k in range(150):
        command = [0.5 * np.sin(0.07 * k), 0.4 * np.sin(0.09 * k + 1.0) + 0.2 * np.sin(0.23 * k)]
        rows.append((world.time, *robot.q, *command, *robot.joint_efforts))
        robot.command(positions=command)
        world.step(10)
    table = np.array(rows[1:])
    time, positions, commands, torques = np.split(table, [1, 3, 5], axis=1)
    time = time[:, 0]
    positions = positions + random.normal(0.0, 1e-3, positions.shape)
    torque = torques + random.normal(0.0, 0.05, torques.shape)
    one = Recording(
        time,
        JOINTS,
        positions,
        command_time=time,
        command_positions=commands,
        signals=(Signal("torque", "torque", time, torque, JOINTS),),
    )
    return folder / "arm.yaml", one


def fitted(arm, **changes):
    """Return the fit of the changed recording, and the warnings."""
    world, one = arm
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", FitWarning)
        found = hrpsim.fit(world, [replace(one, **changes)], FIRST, window=0.5)
    return found, " ".join(str(own.message) for own in caught)


def test_a_sound_recording_has_no_fault(arm):
    """Law: noise and motion alone are no fault, and the damping is found."""
    found, said = fitted(arm)
    assert said == ""
    assert found.values[0] == pytest.approx(0.6, rel=0.05)
    assert "explains 100 %" in found.verdict() and "hardly" not in found.verdict()


def still(values):
    changed = values.copy()
    changed[60:90, 0] = changed[60, 0]
    return changed


def clipped(values):
    return np.clip(values, -0.2, 0.2)


def lost(values):
    changed = values.copy()
    changed[70, 1] += 2.0
    return changed


FAULTS = [
    (still, "position of 'shoulder' stands still in 30 samples"),
    (clipped, "a clipped, frozen or missing sensor"),
    (lost, "position of 'elbow' jumps to"),
    (lambda values: values[:, ::-1], "'shoulder' follows the commands of 'elbow'"),
    (lambda values: values * [1.0, -1.0], "'elbow' moves against its position commands"),
]


@pytest.mark.parametrize("fault, words", FAULTS)
def test_faults_of_states_are_named(arm, fault, words):
    """Law: a sensor that stands still, jumps, or belongs to another joint is named."""
    assert words in fitted(arm, positions=fault(arm[1].positions))[1]


def test_faults_of_signals_are_named(arm):
    """Law: a clipped signal is named. A signal in another unit has no share of the variance."""
    signal = arm[1].signals[0]
    low = replace(signal, values=np.clip(signal.values, -1.0, 1.0))
    assert "torque shoulder stands still" in fitted(arm, signals=(low,))[1]
    found, _ = fitted(arm, signals=(replace(signal, values=1e3 * signal.values),))
    assert "torque is hardly explained" in found.verdict()


def test_an_offset_or_a_delay_is_noticed(arm):
    """Law: the verdict says that a right model would explain more."""
    late = np.roll(arm[1].command_positions, 8, axis=0)
    assert "A right model explains more" in fitted(arm, command_positions=late)[0].verdict()
    off = arm[1].positions + [0.15, 0.0]
    assert "A right model explains more" in fitted(arm, positions=off)[0].verdict()
