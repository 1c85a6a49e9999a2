# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Programs that find each other late: nobody hangs, nothing is missed, and one line says so."""

import re
from pathlib import Path

import pytest
from ros.conftest import LIMIT
from ros.messages import nanoseconds

from hrpsim.ros.base import qos

CONTROLLER = f"{Path(__file__).with_name('feedback_controller.py')}:Feedback"
STATE, TEXT = "sensor_msgs/msg/JointState", "std_msgs/msg/String"
LATE = 5.0  # [s, wall]


def start_controller(simulations, namespace):
    arguments = ["-p", f"controller:={CONTROLLER}", "-p", "lockstep:=true"]
    arguments += ["-r", f"__ns:={namespace}"]
    return simulations.start_program(
        "hrpsim.ros.controller.controller_node", "--ros-args", *arguments
    )


@pytest.mark.long
def test_in_lockstep_either_side_may_come_late(simulations, listener):
    early_controller = start_controller(simulations, "/late_node")
    early_node = simulations.start(
        namespace="/late_controller", remap=["/clock:=clock"], lockstep=True, lockstep_timeout=0.5
    )
    assert early_node.wait_for_line("lockstep waits for", LIMIT)
    assert early_controller.wait_for_line("waiting for robot_description", LIMIT)
    listener.spin(LATE)

    # A subscriber that comes late hears what was said once, and the state in which time stands.
    description = listener.collect(TEXT, "/late_controller/robot_description", qos.LATCHED)
    states = listener.collect(STATE, "/late_controller/joint_states")
    assert listener.wait_for(lambda: description and states, LIMIT)
    assert "<robot" in description[0].data
    assert nanoseconds(states[0]) == 0

    start_controller(simulations, "/late_controller")
    late_node = simulations.start(
        namespace="/late_node", remap=["/clock:=clock"], lockstep=True, lockstep_timeout=LIMIT
    )
    late_states = listener.collect(STATE, "/late_node/joint_states")
    for heard in (states, late_states):
        assert listener.wait_for(lambda: heard and nanoseconds(heard[-1]) > 200_000_000, LIMIT)  # noqa: B023
    for node in (early_node, late_node):
        assert node.stop() == 0
        assert ", 0 rejected" in node.lines[-1]
    # Where an answer takes longer than the time-out on a busy machine, that is said again, once.
    waits = [line for line in early_node.lines if "lockstep waits for" in line]
    assert [line for line in waits if "The topic has 0 publishers" in line] == waits[:1]
    stamps = [re.search(r"the stamp (\S+) s\.", line)[1] for line in waits]
    assert stamps[0] == "0.000000000" and len(stamps) == len(set(stamps))
    goes_on = [line for line in early_node.lines if "lockstep continues after" in line]
    assert 1 <= len(goes_on) <= len(waits) <= len(goes_on) + 1
    assert early_controller.lines.count("waiting for robot_description") == 1
