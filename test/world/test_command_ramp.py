# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Commands that are spread over a control period reach their goal in equal steps."""

from __future__ import annotations

import numpy as np
import pytest

from hrpsim import StateError, World, load_model

ARM = """<robot name="arm"><link name="a"/><link name="b"><inertial><mass value="1"/>
<origin xyz="0.1 0 0"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/>
</inertial></link><joint name="j" type="continuous"><parent link="a"/><child link="b"/>
<axis xyz="0 0 1"/></joint><hrpsim reference="j"><gains kp="1e6" kd="1e3"/></hrpsim></robot>"""


def arm():
    world = World(time_step=1e-3)
    return world, world.add_robot(load_model(ARM, base="fixed"))


def targets(world, robot, steps):
    seen = []
    for _ in range(steps):
        seen.append(float(world.scene.control["target_position"][0]))
        world.step()
    return seen


def test_targets_move_evenly_and_stop_at_the_goal():
    world, robot = arm()
    world.step(3)
    robot.command(positions=[0.5], over=5e-3)
    np.testing.assert_allclose(
        targets(world, robot, 7), [0.1, 0.2, 0.3, 0.4, 0.5, 0.5, 0.5], atol=1e-15
    )
    robot.command(positions=[0.4], over=2e-3)
    np.testing.assert_allclose(targets(world, robot, 3), [0.45, 0.4, 0.4], atol=1e-15)


def test_a_new_command_starts_where_the_last_one_is():
    world, robot = arm()
    robot.command(positions=[1.0], over=10e-3)
    world.step(4)
    robot.command(positions=[0.0], over=5e-3)
    np.testing.assert_allclose(targets(world, robot, 5), [0.4, 0.3, 0.2, 0.1, 0.0], atol=1e-15)
    robot.command(positions=[0.7])
    assert targets(world, robot, 1) == [0.7]


def test_other_commands_end_a_ramp():
    world, robot = arm()
    robot.command(positions=[1.0], over=10e-3)
    robot.command(efforts=[0.0])
    world.step(20)
    np.testing.assert_allclose(robot.q, [0.0], atol=1e-12)


@pytest.mark.parametrize("over", [-1.0, np.nan, np.inf])
def test_impossible_times_are_refused(over):
    world, robot = arm()
    with pytest.raises(StateError, match="over"):
        robot.command(positions=[1.0], over=over)
    assert targets(world, robot, 1) == [0.0]
