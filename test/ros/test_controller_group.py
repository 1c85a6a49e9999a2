# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A group of controllers over topics: members switched by service, without a jump."""

import json
from pathlib import Path

import numpy as np
import pytest
import yaml
from ros.conftest import LIMIT
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from std_srvs.srv import SetBool

from hrpsim.ros.base import qos

WAVE = f"{Path(__file__).parents[1] / 'control' / 'test_controller_group.py'}:Wave"
NODE = "/hrpsim_controller"


@pytest.fixture
def group(simulations, listener, tmp_path):
    """A node in lockstep and a group of two members for the right arm, one for the left."""
    members = {
        "right": {"controller": WAVE, "joints": ["RARM_JOINT[03]"]},
        "slow": {
            "controller": WAVE,
            "joints": "RARM_JOINT0",
            "parameters": {"speed": 1.0},
            "active": False,
        },
        "left": {"controller": WAVE, "joints": "LARM_JOINT3", "active": False},
    }
    parameters = tmp_path / "group.yaml"
    parameters.write_text(yaml.safe_dump({"members": members, "blend": 0.2}))
    simulations.start(lockstep=True, real_time_factor=1.0)
    commands = []
    listener.node.create_subscription(JointState, "joint_commands", commands.append, 5000)
    program = simulations.start_program(
        "hrpsim.ros.controller.controller_node",
        *("--ros-args", "-p", "lockstep:=true", "-p", f"parameters_file:={parameters}"),
        *("-p", "controller:=hrpsim.control:ControllerGroup"),
    )
    assert program.wait_for_line("ready", LIMIT), program.lines
    return commands


def switch(listener, name, on):
    answer = listener.call(
        f"{NODE}/activate_{name}", SetBool.Request(data=on), "std_srvs/srv/SetBool"
    )
    return answer.success, answer.message


def test_members_are_switched_by_service_without_a_jump(group, listener):
    told = []
    listener.node.create_subscription(String, f"{NODE}/members", told.append, qos.LATCHED)
    assert listener.wait_for(lambda: told, LIMIT)

    def states():
        return json.loads(told[-1].data)

    assert listener.wait_for(lambda: states()["right"] == "active", LIMIT)
    assert states() == {"right": "active", "slow": "inactive", "left": "inactive"}
    assert listener.wait_for(lambda: len(group) > 100, LIMIT)  # it has swung by 0.2 rad
    assert switch(listener, "left", True) == (True, "left is activated at the next tick")
    assert listener.wait_for(lambda: states()["left"] == "active", LIMIT)
    done, text = switch(listener, "slow", True)
    assert done and "right deactivated" in text
    assert listener.wait_for(lambda: states()["slow"] == "active", LIMIT)
    assert states() == {"right": "inactive", "slow": "active", "left": "active"}
    seen = len(group)
    assert listener.wait_for(lambda: len(group) > seen + 100, LIMIT)
    by_stamp = {(m.header.stamp.sec, m.header.stamp.nanosec): m for m in group}
    course = [by_stamp[key] for key in sorted(by_stamp)]
    names = list(course[0].name)
    targets = np.array([message.position for message in course])
    stamps = np.array([1e3 * sec + 1e-6 * nanosec for sec, nanosec in sorted(by_stamp)])
    assert np.diff(stamps) == pytest.approx(5.0)  # every tick is answered
    arm = [names.index(name) for name in ("RARM_JOINT0", "RARM_JOINT3", "LARM_JOINT3")]
    assert (np.ptp(targets[:, arm], axis=0) > 0.05).all()
    others = np.delete(targets, arm, axis=1)
    assert not np.ptp(others, axis=0).any()  # nobody has them: they are held
    # A weight that goes from 0 to 1 in 0.2 s bends by at most 5.8 / 0.2^2; gaps are below 0.6 rad.
    bends = np.abs(np.diff(targets, 2, axis=0)).max() / 0.005**2
    assert bends < 2.0 * 5.8 * 0.6 / 0.2**2
