# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Bags of strangers given to `hrpsim play`: what does not fit is said in one line. No DDS."""

from __future__ import annotations

import json

import numpy as np
import pytest
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

from hrpsim.commands.cli import main
from hrpsim.ros.replay.recorded_run import RecordedState
from hrpsim.ros.replay.replay import StateComparison

TYPES = get_typestore(Stores.ROS2_HUMBLE)
TEXT, JOINTS = "std_msgs/msg/String", "sensor_msgs/msg/JointState"
JOINT = {"name": "LLEG_JOINT0", "gains": [1.0, 1.0], "mode": "commanded"}
SOUND = {
    "version": 1,
    "world": {
        "uri": "package://hrpsim/config/stand.yaml",
        "text": "",
        "xacro_arguments": [],
        "time_step": 0.001,
        "integrator": "semi_implicit",
    },
    "robots": [{"name": "hrp2", "topics": "", "joints": []}],
}


def state(names, lengths):
    time = TYPES.types["builtin_interfaces/msg/Time"](sec=0, nanosec=0)
    header = TYPES.types["std_msgs/msg/Header"](stamp=time, frame_id="")
    return TYPES.types[JOINTS](header, names, *(np.zeros(n) for n in lengths))


def written(path, description, names=("LLEG_JOINT0",), lengths=(1, 1, 1)):
    text = description if isinstance(description, str) else json.dumps(description)
    told = {
        "/simulation_description": (TEXT, TYPES.types[TEXT](text)),
        "/joint_states": (JOINTS, state(list(names), lengths)),
    }
    with Writer(path, version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        for topic, (kind, message) in told.items():
            connection = writer.add_connection(topic, kind, typestore=TYPES)
            writer.write(connection, 1, bytes(TYPES.serialize_cdr(message, kind)))
    return path


def without(key):
    return {name: value for name, value in SOUND.items() if name != key}


@pytest.mark.parametrize(
    "description, named",
    [
        ("{", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[1]", "simulation_description"),
        ("{}", "required key not provided"),
        (SOUND | {"version": 3}, "version"),
        (without("robots"), "robots"),
        (SOUND | {"robots": {}}, "robots"),
        (SOUND | {"robots": [{"name": "hrp2"}]}, "robots"),
        (SOUND | {"robots": [SOUND["robots"][0] | {"joints": [{"name": "x"}]}]}, "joints"),
        (SOUND | {"robots": [SOUND["robots"][0] | {"joints": [JOINT | {"gains": [1]}]}]}, "gains"),
        (SOUND | {"world": {"uri": "x"}}, "world"),
        (SOUND | {"world": SOUND["world"] | {"time_step": 0}}, "time_step"),
        (SOUND | {"world": SOUND["world"] | {"integrator": "x"}}, "integrator"),
        (SOUND | {"world": SOUND["world"] | {"uri": "no_such.yaml"}}, "no_such.yaml"),
        (SOUND | {"world": SOUND["world"] | {"text": "[", "uri": ""}}, "simulation_description"),
        (SOUND | {"settings": {"control_period": -1}}, "control_period"),
        (SOUND | {"settings": {"lockstep": "yes"}}, "lockstep"),
    ],
)
def test_descriptions_that_do_not_fit_are_refused(description, named, tmp_path, capsys):
    """Law: one line that names what is wrong, and status 2 or 1; no traceback."""
    assert main(["play", str(written(tmp_path / "bag", description))]) != 0
    error = capsys.readouterr().err
    assert named in error and error.count("\n") == 1, error


@pytest.mark.parametrize(
    "names, lengths, named",
    [
        (("LLEG_JOINT0",), (1, 1, 0), "efforts"),
        (("LLEG_JOINT0", "x"), (2, 2, 2), "'x'"),
        ((), (3, 0, 0), "positions"),
    ],
)
def test_states_that_do_not_fit_are_refused(names, lengths, named, tmp_path, capsys):
    """Law: as many numbers as names, of joints that the robot has."""
    assert main(["play", str(written(tmp_path / "bag", SOUND, names, lengths))]) != 0
    error = capsys.readouterr().err
    assert named in error and error.count("\n") == 1, error


def test_what_is_no_number_is_not_the_same():
    """Law: NaN in a recording is a departure, whatever the tolerance."""

    class Robot:
        name, joint_names = "r", ("j",)
        joint_positions = joint_velocities = joint_efforts = np.zeros(1)

    comparison = StateComparison(1e300)
    comparison.add(0.0, Robot, RecordedState(["j"], np.array([[0.0], [np.nan], [0.0]])))
    assert comparison.departure.field == "velocity" and comparison.largest["velocity"] == np.inf
