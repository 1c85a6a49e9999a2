# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The bridge to mc_rtc's interface: what is set and read, in which order and sign."""

from types import SimpleNamespace

import numpy as np
import pytest

import hrpsim
from hrpsim import share_path
from hrpsim.bridges import McRtc
from hrpsim.control import ControllerError, ControlLoop

ORDER = ["LLEG_JOINT3", "HEAD_JOINT0", "RLEG_JOINT3"]


class Recorder:
    """Keeps what is set; answers with what it began with, moved by 0.1."""

    def __init__(self, order=ORDER, runs=3):
        self.order, self.left, self.calls = order, runs, {}

    def timestep(self):
        return 0.01

    def ref_joint_order(self):
        return self.order

    def init(self, q):
        self.q = list(q)

    def run(self):
        self.left -= 1
        return self.left >= 0

    def robot(self):
        q = [[1.0, 0, 0, 0, 0, 0, 0], *([x + 0.1] for x in self.q)]
        return SimpleNamespace(mbc=SimpleNamespace(q=q))

    def __getattr__(self, name):
        def keep(value):
            self.calls[name] = value

        return keep


@pytest.fixture
def robot():
    return hrpsim.load_world(share_path("config/stand.yaml")).robots["hrp2"]


def test_sensors_are_set_in_mc_rtc_s_order_and_q_is_read(robot):
    recorder = Recorder()
    with ControlLoop(robot, McRtc(recorder), interpolate=False) as loop:
        state = loop.control()
    at = [loop.joint_names.index(name) for name in ORDER]
    calls, imu = recorder.calls, state.imus["imu"]
    assert calls["setEncoderValues"] == state.joint_positions[at].tolist()
    assert calls["setEncoderVelocities"] == state.joint_velocities[at].tolist()
    assert calls["setJointTorques"] == state.joint_efforts[at].tolist()
    x, y, z, w = imu.orientation
    assert calls["setSensorOrientation"].tolist() == [w, -x, -y, -z]
    assert calls["setSensorAcceleration"].tolist() == imu.linear_acceleration.tolist()
    force, couple = np.split(state.wrenches["lfsensor"], 2)
    assert calls["setWrenches"]["lfsensor"].tolist() == [*couple, *force]
    places = [robot.model.joint(name).v_index for name in ORDER]
    targets = robot._control()["target_position"][places]
    np.testing.assert_allclose(targets, state.joint_positions[at] + 0.1)


def test_it_ends_when_mc_rtc_does_and_others_are_held(robot):
    recorder = Recorder()
    ControlLoop(robot, McRtc(recorder)).run(1.0)
    assert recorder.left == -1
    assert robot.world.time == pytest.approx(0.04)


def test_joints_that_there_are_not_are_named(robot):
    with pytest.raises(ControllerError, match="ref_joint_order: joint 'NECK' does not exist"):
        ControlLoop(robot, McRtc(Recorder([*ORDER, "NECK"])))
