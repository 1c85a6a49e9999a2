# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Messages that are obeyed, but seem wrong or have parts without effect, are warned of by name."""

import re

import pytest
from ros.stand_ins import ARM, Log, Topic

from hrpsim import World, load_model
from hrpsim.ros.base.faults import Faults, Rejections
from hrpsim.ros.base.stamps import MessageQueue, SimulationClock
from hrpsim.ros.robot.joint_trajectory import JointTrajectories

pytest.importorskip("trajectory_msgs.msg")
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

LIMITED = ARM.replace('"continuous"', '"revolute"').replace(
    "</joint>", '<limit lower="-1" upper="1" effort="9" velocity="2"/></joint>'
)


def point(position, seconds, **fields):
    made = JointTrajectoryPoint(positions=[position], **fields)
    made.time_from_start.sec, made.time_from_start.nanosec = divmod(round(seconds * 1e9), 10**9)
    return made


@pytest.mark.parametrize(
    ("points", "words"),
    [
        ([point(0.1, 1.0)], None),
        ([point(0.1, 1.0, effort=[3.0])], "efforts of points have no effect"),
        ([point(0.1, 1.0, accelerations=[3.0])], "accelerations .* no effect without velocities"),
        ([point(0.1, 500.0)], "between two points is 500 s.* If 500 ms are meant, write 0.5"),
        ([point(0.1, 1.0), point(0.9, 1.001)], "velocity 800 of 'j' is not within -2 to 2"),
    ],
)
def test_a_trajectory_that_seems_wrong_is_obeyed_and_warned_of(points, words):
    log, topic, world = Log(), Topic(), World()
    robot = world.add_robot(load_model(LIMITED, base="fixed"))
    rejections = Rejections(log, Faults(lambda: log))
    followed = JointTrajectories(MessageQueue(topic), rejections, robot, SimulationClock(1e-3))
    topic.arrived.append(JointTrajectory(joint_names=["j"], points=points))
    followed.poll()
    assert followed.accepted_count == 1 and len(log.lines) == (words is not None)
    assert words is None or re.search(words, log.lines[0])
