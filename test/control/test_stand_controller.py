# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The standing demo as a controller in the simulator's process."""

import numpy as np
import pytest

import hrpsim
from hrpsim.control import ControllerError, ControlLoop, StandController
from robots import HRP2_LIKE

STAND = HRP2_LIKE.parents[1] / "config" / "stand.yaml"


def tilt_of(robot):
    x, y = robot.q[3:5]
    return np.degrees(np.arccos(1.0 - 2.0 * (x * x + y * y)))


def test_it_stands_through_the_motion_and_ends_with_it():
    world = hrpsim.load_world(STAND)
    robot = world.robots["hrp2"]
    tilts, left = [], []
    with ControlLoop(robot, controller := StandController()) as loop:
        while not controller.finished:
            state = loop.tick()
            tilts.append(tilt_of(robot))
            left.append(state.wrenches["lfsensor"][2])
    duration = controller.motion.duration
    assert world.time == pytest.approx(duration, abs=0.011)
    assert max(tilts) < 1.0
    assert min(left) < 5.0  # [N]: the foot left the ground


def test_it_begins_where_the_robot_stands():
    world = hrpsim.World()
    world.add_ground()
    model = hrpsim.load_model(str(HRP2_LIKE), xacro_arguments={"bush": False})
    q = model.neutral()
    q[2] = 0.705  # straight legs
    robot = world.add_robot(model, q=q)
    world.step(300)
    controller = StandController()
    ControlLoop(robot, controller, {"duration": 4.0, "period": 0.002}).run()
    assert world.time == pytest.approx(4.3, abs=0.003)
    assert tilt_of(robot) < 2.0
    knee = robot.q[model.joint("RLEG_JOINT3").q_index]
    assert knee > 0.8


def test_unknown_parameters_are_named():
    robot = hrpsim.load_world(STAND).robots["hrp2"]
    with pytest.raises(
        ControllerError, match=r"parameter 'squat_dept' does not exist. Did you mean"
    ):
        ControlLoop(robot, StandController(), {"squat_dept": 0.1})
