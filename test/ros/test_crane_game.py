# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The crane game over real topics: node and crane as processes, a joystick and a velocity."""

import os
import signal
import sys
import time

import pytest
from ros.conftest import LIMIT

from evidence.crane.control import JOINTS
from hrpsim.ros.base.child_process import ChildProcess


@pytest.fixture(scope="module")
def game(private_domain, tmp_path_factory):
    log = tmp_path_factory.mktemp("crane") / "crane.log"
    command = [sys.executable, "-m", "hrpsim", "crane", "--ros", "--acceleration", "2"]
    child = ChildProcess("game", command, log, os.environ)
    assert child.wait_for_line("crane: ready", LIMIT), child.lines
    yield child
    child.stop()


class Crane:
    """Where the crane is, by joint_states."""

    def __init__(self, listener):
        self._listener = listener
        self._states = listener.collect("sensor_msgs/msg/JointState", "joint_states")

    def position(self, joint):
        """Return the newest position [m or rad]."""
        self._states.clear()
        assert self._listener.wait_for(lambda: self._states)
        state = self._states[-1]
        return state.position[list(state.name).index(joint)]

    def wait(self, condition, repeat=lambda: None):
        """Wait until a condition of the position holds, and say something again and again."""
        end = time.monotonic() + LIMIT
        while not condition():
            assert time.monotonic() < end
            repeat()


def test_a_joystick_moves_it_and_closes_the_claws(game, listener):
    from sensor_msgs.msg import Joy

    crane, stick = Crane(listener), listener.publisher("sensor_msgs/msg/Joy", "joy")
    start = {joint: crane.position(joint) for joint in JOINTS}

    def push(axes=(0.0,) * 6, buttons=(0, 0)):
        stick.publish(Joy(axes=list(axes), buttons=list(buttons)))

    forward_and_up = (0.02, 1.0, 0.0, 0.0, 0.5, 0.0)  # the first is within the dead zone
    crane.wait(
        lambda: crane.position("crane_x") > start["crane_x"] + 0.05, lambda: push(forward_and_up)
    )
    assert crane.position("crane_z") > start["crane_z"] + 0.01
    assert crane.position("crane_y") == pytest.approx(start["crane_y"], abs=1e-3)
    crane.wait(lambda: crane.position("left_knuckle") < -0.2)  # open, as at first
    push(buttons=(1, 0))
    crane.wait(lambda: crane.position("left_knuckle") > 0.2)
    push(buttons=(0, 1))
    crane.wait(lambda: crane.position("left_knuckle") < 0.0)


def test_a_velocity_moves_it_until_it_is_silent(game, listener):
    from geometry_msgs.msg import Twist, Vector3

    crane, velocity = Crane(listener), listener.publisher("geometry_msgs/msg/Twist", "cmd_vel")
    start = crane.position("crane_y")
    message = Twist(linear=Vector3(y=0.1), angular=Vector3(z=-0.5))
    yaw = crane.position("crane_yaw")
    crane.wait(lambda: crane.position("crane_y") > start + 0.03, lambda: velocity.publish(message))
    assert crane.position("crane_yaw") < yaw - 0.05

    def rests():
        before = crane.position("crane_y")
        listener.spin(0.3)
        return abs(crane.position("crane_y") - before) < 1e-5

    crane.wait(rests)


def test_it_ends_with_a_signal(game):
    os.kill(game.pid, signal.SIGINT)
    assert game.wait(LIMIT) == 0, game.lines
