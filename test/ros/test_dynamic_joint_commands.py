# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Commands with gains on dynamic_joint_commands, over real topics."""

import math
from pathlib import Path

import numpy as np
import pytest
from control_msgs.msg import DynamicJointState, InterfaceValue
from ros.messages import nanoseconds
from ros.stepped import SteppedSimulation
from sensor_msgs.msg import JointState

import hrpsim

ROOT = Path(__file__).resolve().parents[2]
STATE, COMMAND = "sensor_msgs/msg/JointState", "control_msgs/msg/DynamicJointState"
HEAD, ELBOW = "HEAD_JOINT0", "RARM_JOINT3"
TICKS, STEPS, STEP = 80, 5, 1e-3


def message(*joints, stamp=None):
    """Return the message for (name, {interface: value}) of each joint."""
    found = DynamicJointState(joint_names=[name for name, _ in joints])
    for _, values in joints:
        floats = [float(value) for value in values.values()]
        found.interface_values.append(InterfaceValue(interface_names=list(values), values=floats))
    if stamp is not None:
        found.header.stamp = stamp
    return found


class Commander(SteppedSimulation):
    """A simulation by Euler's explicit method, whose efforts are those of the state before."""

    def __init__(self, listener):
        super().__init__(listener)
        self.publisher = listener.publisher(COMMAND, "dynamic_joint_commands")
        self.others = listener.publisher(STATE, "joint_commands")

    def step(self):
        self.call("step")
        return self.joints()


@pytest.fixture(scope="module")
def shared_commander(module_simulations, module_listener):
    module_simulations.start(start_paused=True, integrator="euler")
    return Commander(module_listener)


@pytest.fixture
def commander(shared_commander):
    shared_commander.listener.call("/hrpsim/reset")
    shared_commander.log.clear()
    return shared_commander


def test_the_effort_is_the_law_with_the_gains_of_the_message(commander):
    """Law: effort + kp (q* - q) + kd (v* - v), q and v those before the step; kp acts with a
    position, kd with a position or velocity; a joint without gains in the message has its own."""
    before = commander.step()
    own = hrpsim.load_world(ROOT / "config" / "stand.yaml").robots["hrp2"]
    kp, kd = (gains[own.joint_names.index(ELBOW)] for gains in own.gains)
    (q, v, _), (p, w, _) = before[HEAD], before[ELBOW]
    full = {"position": q + 0.02, "velocity": 0.1, "effort": 0.3, "proportional": 40.0}
    commander.listener.send(
        commander.publisher,
        message((HEAD, full | {"derivative": 0.5}), (ELBOW, {"position": p + 1e-3})),
    )
    after = commander.step()
    assert after[HEAD][2] == pytest.approx(0.3 + 40.0 * 0.02 + 0.5 * (0.1 - v), abs=1e-12)
    assert after[ELBOW][2] == pytest.approx(kp * 1e-3 - kd * w, rel=1e-9, abs=1e-9)
    (_, v, _) = after[HEAD]
    only = {"velocity": 0.2, "proportional": 40.0, "derivative": 0.7}
    commander.listener.send(commander.publisher, message((HEAD, only)))
    after = commander.step()
    assert after[HEAD][2] == pytest.approx(0.7 * (0.2 - v), abs=1e-12)
    kp, kd = (gains[own.joint_names.index(HEAD)] for gains in own.gains)
    q, v, _ = after[HEAD]
    commander.listener.send(commander.others, JointState(name=[HEAD], position=[q]))
    assert commander.step()[HEAD][2] == pytest.approx(-kd * v, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(
    ("joints", "named"),
    [
        ([("nose", {"position": 0.1})], "nose"),
        ([(HEAD, {"position": 0.1}), (HEAD, {"position": 0.1})], "twice"),
        (
            [(HEAD, {"position": math.nan})],
            "position of joint 'HEAD_JOINT0' must be finite, got nan",
        ),
        ([(HEAD, {"position": 0.1, "derivative": math.inf})], "derivative of joint 'HEAD_JOINT0'"),
        ([(HEAD, {"position": 0.1, "proportional": -1.0})], "kp for joint 'HEAD_JOINT0'"),
        ([(HEAD, {"position": 0.1, "derivative": -2.0})], "kd for joint 'HEAD_JOINT0'"),
        ([(HEAD, {"position": 0.1, "kp": 3.0})], "'kp'"),
        ([(HEAD, {"proportional": 3.0})], "neither position, velocity nor effort"),
        ([(ELBOW, {})], "joint 'RARM_JOINT3' has neither position, velocity nor effort"),
        ([], "no joint"),
    ],
    ids=lambda value: None if isinstance(value, list) else value,
)
def test_bad_commands_are_named_and_change_nothing(commander, joints, named):
    refused(commander, message(*joints), named)


def refused(commander, sent, named):
    """Send a message; check its one warning, and that no joint's effort has changed by it."""
    commander.listener.send(commander.publisher, message((HEAD, {"effort": 0.2})))
    assert commander.step()[HEAD][2] == pytest.approx(0.2, abs=1e-12)
    commander.listener.send(commander.publisher, sent)
    assert commander.step()[HEAD][2] == pytest.approx(0.2, abs=1e-12)
    assert commander.listener.wait_for(commander.warnings)
    (warning,) = commander.warnings()
    assert named in warning and "dynamic_joint_commands" in warning


def test_lists_of_other_lengths_are_refused(commander):
    sent = message((HEAD, {"position": 0.1}))
    sent.interface_values[0].values.append(1.0)
    refused(commander, sent, "2 values for interfaces ['position']")
    commander.log.clear()
    sent = message((HEAD, {"position": 0.1}))
    sent.joint_names.append(ELBOW)
    refused(commander, sent, "interface_values has 1 entries")


def answer(tick):
    """Return the command of a tick: names, positions, velocities, efforts, kp, kd."""
    names = [HEAD, "RLEG_JOINT3", ELBOW]
    phase = np.sin(0.1 * tick + np.arange(3.0))
    positions = np.array([0.0, 0.6, -0.5]) + 0.02 * phase
    kp = np.array([100.0, 4000.0, 300.0]) * (1.0 + 0.2 * phase)
    return names, positions, 0.1 * phase, 0.5 * phase, kp, 0.02 * kp


def in_process():
    """Return {stamp [ns]: positions, velocities, efforts} of the same commands in this process."""
    world = hrpsim.load_world(ROOT / "config" / "stand.yaml")
    robot = world.robots["hrp2"]
    course = {}
    for tick in range(TICKS):
        names, positions, velocities, efforts, kp, kd = answer(tick)
        robot.command(positions, velocities, efforts, names, over=STEPS * STEP, kp=kp, kd=kd)
        world.step(STEPS)
        course[round(world.time * 1e9)] = (
            robot.joint_positions,
            robot.joint_velocities,
            robot.joint_efforts,
        )
    return course


@pytest.mark.long
def test_in_lockstep_the_same_bits_as_in_process(simulations, listener):
    """Law: commands with gains that answer the ticks give each state of `Robot.command`."""
    simulations.start(
        lockstep=True, real_time_factor=0.0, start_paused=True, remap=["__node:=locked"]
    )
    states = {}
    publisher = listener.publisher(COMMAND, "dynamic_joint_commands")

    def reply(state):
        stamp = nanoseconds(state)
        tick, rest = divmod(stamp, STEPS * 1_000_000)
        states[stamp] = state.position, state.velocity, state.effort
        if rest == 0 and tick < TICKS:
            names, *rows = answer(tick)
            kinds = ("position", "velocity", "effort", "proportional", "derivative")
            joints = [(name, dict(zip(kinds, row))) for name, row in zip(names, zip(*rows))]
            publisher.publish(message(*joints, stamp=state.header.stamp))

    listener.node.create_subscription(JointState, "joint_states", reply, 1000)
    assert listener.call("/locked/resume").success
    assert listener.wait_for(lambda: TICKS * STEPS * 1_000_000 in states)
    for stamp, expected in in_process().items():
        for found, values in zip(states[stamp], expected):
            assert np.array_equal(np.array(found), values), stamp


def test_without_control_msgs_the_node_runs_and_says_so_once(simulations, listener, hide_module):
    hide_module("control_msgs")
    node = simulations.start(start_paused=True, remap=["__node:=plain"])
    assert sum("control_msgs is not installed" in line for line in node.lines) == 1
    assert listener.call("/plain/step").success
    assert "/dynamic_joint_commands" not in listener.subscribers_of("plain")
