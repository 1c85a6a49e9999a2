# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A controller made for Unitree's robots connects unchanged: typed messages over DDS."""

import importlib
import struct
import sys
from pathlib import Path

import numpy as np
import pytest
from bridges.quadruped import LEGS, POSTURE, write_world
from bridges.test_unitree_messages import FORMATS, bit_by_bit
from pages.blocks import blocks_of
from ros.conftest import LIMIT

import hrpsim
from hrpsim.bridges.unitree.messages import GO, HG, SPORT_MODE_STATE

pytest.importorskip("unitree_go.msg", reason="no unitree_go: `make setup-test` builds it")
pytest.importorskip("unitree_hg.msg", reason="no unitree_hg: `make setup-test` builds it")

from rclpy.serialization import deserialize_message, serialize_message
from unitree_go.msg import LowCmd, LowState

TICKS, STEPS, KP, KD = 60, 2, 60.0, 2.0
NAMES = [f"{leg}_{part}_joint" for leg in LEGS for part in POSTURE]
TARGETS = [value for _ in LEGS for value in POSTURE.values()]
LAYOUTS = [GO.command, GO.state, HG.command, HG.state, SPORT_MODE_STATE]


@pytest.mark.parametrize("layout", LAYOUTS, ids=[one.name for one in LAYOUTS])
def test_the_middleware_has_the_same_bytes(layout):
    package, name = layout.name.split("/")
    kind = getattr(importlib.import_module(f"{package}.msg"), name)
    record = layout.empty()
    raw = record.reshape(1).view(np.uint8)
    raw[:] = np.random.default_rng(2).integers(0, 60, raw.size)
    data = layout.write(record)
    again = serialize_message(deserialize_message(data, kind))
    assert len(again) == len(data)
    assert layout.write(layout.read(again)) == data


def numbers_of(message):
    """Yield the numbers of a LowCmd in order, as the client of unitree_sdk2_python does."""
    for name in message.get_fields_and_field_types():
        value = getattr(message, name)
        for one in value if hasattr(value, "__len__") else [value]:
            if hasattr(one, "get_fields_and_field_types"):
                yield from numbers_of(one)
            else:
                yield one


def with_crc(message):
    data = struct.pack(FORMATS["unitree_go/LowCmd"], *numbers_of(message))
    message.crc = bit_by_bit(np.frombuffer(data, "<u4")[:-1].tolist())
    return message


def command(state, tick):
    """Return the answer of a controller that holds the posture, and shakes one joint."""
    message = LowCmd(head=[0xFE, 0xEF], level_flag=0xFF)
    for k, (motor, target) in enumerate(zip(message.motor_cmd, TARGETS)):
        motor.mode, motor.q, motor.dq, motor.kp, motor.kd = 1, target, 0.0, KP, KD
        motor.tau = 0.5 * state.motor_state[k].dq if k == 0 else 0.1 * (tick % 7)
    return with_crc(message)


class Client:
    """A controller: one LowCmd for each LowState."""

    def __init__(self, listener):
        self.listener, self.states = listener, []
        self.publisher = listener.publisher("unitree_go/msg/LowCmd", "lowcmd")
        self.answering = True
        listener.node.create_subscription(LowState, "/lowstate", self.hear, 10)

    def hear(self, state):
        if self.states and state.tick == self.states[-1].tick:
            self.states.pop()
        self.states.append(state)
        if self.answering:
            self.publisher.publish(command(state, len(self.states) - 1))


def in_process(path, states):
    """Return the joint positions (n, 12) at the ticks of a run with the same commands."""
    world = hrpsim.load_world(path)
    robot, course = world.robots["go2"], []
    index = [robot.joint_names.index(name) for name in NAMES]
    for tick, state in enumerate(states):
        course.append(robot.joint_positions[index])
        motors = command(state, tick).motor_cmd[:12]
        sent = np.float32([[m.q, m.dq, m.tau, m.kp, m.kd] for m in motors]).astype(float).T
        robot.command(*sent[:3], names=NAMES, kp=sent[3], kd=sent[4])
        world.step(STEPS)
    return np.array(course)


def test_a_controller_of_the_robot_runs_in_lockstep(simulations, listener, tmp_path):
    """Laws: each state has one answer, and acts for its tick; the run is that in process."""
    path = write_world(tmp_path)
    node = simulations.start(
        world_file=path,
        unitree="go2",
        lockstep=True,
        control_period=STEPS * 1e-3,
        real_time_factor=0.0,
        lockstep_timeout=0.5,
    )
    sport = listener.collect("unitree_go/msg/SportModeState", "sportmodestate")
    client = Client(listener)
    assert listener.wait_for(lambda: len(client.states) >= TICKS)
    client.answering = False
    states = client.states[:TICKS]
    assert [state.tick for state in states] == [STEPS * k for k in range(TICKS)]
    measured = np.array([[m.q for m in s.motor_state[:12]] for s in states])
    expected = in_process(path, states)
    assert measured == pytest.approx(expected.astype(np.float32), abs=0)
    last = states[-1]
    data = struct.pack(FORMATS["unitree_go/LowState"], *numbers_of(last))
    assert last.crc == bit_by_bit(np.frombuffer(data, "<u4")[:-1].tolist())
    assert last.imu_state.quaternion[0] == pytest.approx(1.0, abs=1e-3)
    assert np.linalg.norm(last.imu_state.accelerometer) == pytest.approx(9.8, abs=3.0)
    assert sum(last.foot_force) > 0 and sport[-1].position[2] == pytest.approx(0.3, abs=0.03)

    # Without an answer time stands still, and the log names what is missing.
    assert node.wait_for_line("lockstep waits for /lowcmd in answer to the state of", 60.0)
    reached = STEPS * TICKS
    assert listener.wait_for(lambda: client.states[-1].tick == reached)
    wrong = command(client.states[-1], 0)
    wrong.crc ^= 1
    listener.send(client.publisher, wrong)
    assert node.wait_for_line("/lowcmd rejected: crc of unitree_go/LowCmd is wrong", 60.0)
    assert client.states[-1].tick == reached
    client.answering = True
    client.publisher.publish(command(client.states[-1], 0))
    assert listener.wait_for(lambda: client.states[-1].tick > reached + STEPS)
    listener.call("/hrpsim/reset")
    after = client.states[-1].tick
    assert listener.wait_for(lambda: client.states[-1].tick > after + 10 * STEPS)


@pytest.mark.parametrize(
    "kind, imu, fault", [("g1", True, "is not a g1: joints are missing"), ("go2", False, "no IMU")]
)
def test_a_robot_that_does_not_fit_is_refused(simulations, tmp_path, kind, imu, fault):
    path = write_world(tmp_path, imu)
    arguments = ["--ros-args", "-p", f"world_file:={path}", "-p", f"unitree:={kind}"]
    node = simulations.start_program("hrpsim.ros.simulation.node", *arguments)
    assert node.wait_for_line(fault, 60.0)


def test_the_controller_of_the_page_runs(simulations, tmp_path):
    """docs/howto/unitree.md: 100 states, 100 answers, and the knees keep their angle."""
    page = Path(__file__).resolve().parents[2] / "docs" / "howto" / "unitree.md"
    file = next(block for block in blocks_of(page) if block.argument == "hold.py")
    (tmp_path / "hold.py").write_text(file.text)
    node = simulations.start(
        world_file=write_world(tmp_path),
        unitree="go2",
        lockstep=True,
        control_period=0.002,
        unitree_check_crc=False,
        real_time_factor=0.0,
        duration=0.2,
    )
    controller = simulations.start_child("hold", sys.executable, str(tmp_path / "hold.py"))
    assert node.wait_for_line("simulated 0.200 s in 200 steps", LIMIT)
    assert controller.wait_for_line("100 ms, knee -1.6", LIMIT)
    assert any("100 commands accepted, 0 rejected" in line for line in node.lines)
