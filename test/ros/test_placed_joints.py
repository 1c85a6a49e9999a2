# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Joints put elsewhere, and states kept by name, without ROS."""

from types import SimpleNamespace

import numpy as np
import pytest
from ros.stand_ins import Log, Rig, Topic

from hrpsim import WorldError
from hrpsim.ros.base.faults import Faults, Rejections
from hrpsim.ros.base.stamps import MessageQueue
from hrpsim.ros.core.simulation_contents import SavedStates
from hrpsim.ros.robot.placed_joints import PlacedJoints


def placed(rig):
    """Return the input of a rig's arm, its topic and its log."""
    topic, log = Topic(), Log()
    rejections = Rejections(log, Faults(lambda: log))
    return PlacedJoints(MessageQueue(topic), rejections, rig.robot), topic, log


def message(**fields):
    return SimpleNamespace(
        **({"name": ["j"], "position": [], "velocity": [], "effort": []} | fields)
    )


def test_joints_are_there_before_the_step():
    rig = Rig()
    joints, topic, _ = placed(rig)
    topic.arrived += [message(position=[0.5], velocity=[2.0]), message(velocity=[3.0])]
    joints.poll()
    assert rig.robot.q[0] == 0.0  # not before it applies
    joints.apply()
    assert (rig.robot.q[0], rig.robot.v[0]) == (0.5, 3.0)
    assert rig.target == 0.5
    joints.apply()
    assert joints.accepted_count == 2


def test_a_joint_that_holds_no_position_gets_none():
    """Law: a joint commanded by effort stays so."""
    rig = Rig()
    rig.robot.command(efforts=[1.5])
    joints, topic, _ = placed(rig)
    topic.arrived.append(message(position=[0.5]))
    joints.poll()
    joints.apply()
    assert rig.robot.q[0] == 0.5
    assert rig.simulation.world.scene.control["effort"][0] == 1.5
    assert rig.simulation.world.scene.control["kp"][0] == 0.0


def test_a_locked_joint_is_not_put():
    rig = Rig()
    rig.robot.lock(["j"])
    joints, topic, log = placed(rig)
    topic.arrived.append(message(position=[0.5]))
    joints.poll()
    joints.apply()
    assert rig.robot.q[0] == 0.0 and "locked" in log.lines[0]


def test_a_reset_drops_what_waits():
    rig = Rig()
    joints, topic, _ = placed(rig)
    topic.arrived.append(message(position=[0.5]))
    joints.poll()
    joints.reset()
    joints.apply()
    assert rig.robot.q[0] == 0.0


def test_states_are_restored_bit_for_bit():
    """Law: from a saved state the world goes the same way again."""
    rig = Rig()
    simulation = rig.simulation
    rig.robot.command(positions=[1.0])
    simulation.advance(10)
    simulation.save_state("moving")
    time = simulation.world.time

    def course():
        simulation.world.step(50)
        return rig.robot.q.copy(), rig.robot.v.copy()

    first = course()
    rig.robot.command(positions=[-1.0])
    simulation.advance(5)
    simulation.load_state("moving")
    assert simulation.world.time == time
    assert all(np.array_equal(a, b) for a, b in zip(course(), first))
    with pytest.raises(WorldError, match=r"'other' does not exist. Available: moving"):
        simulation.load_state("other")


def test_states_are_bounded_and_named():
    rig = Rig()
    states = SavedStates(limit=2)
    for name in ("a", "b", "a"):
        states.save(name, rig.simulation.world)
    assert states.names == ("a", "b")
    with pytest.raises(WorldError, match="the parameter state_limit, 2,"):
        states.save("c", rig.simulation.world)
    for name in ("", "x" * 201):
        with pytest.raises(WorldError, match="letters"):
            states.save(name, rig.simulation.world)
    states.clear()
    assert states.names == ()
