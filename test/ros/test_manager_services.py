# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Services of controller_manager_msgs of a group, with stand-ins for messages and node."""

import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from control.test_controller_group import configured, entry, idle
from ros.conftest import LIMIT
from ros.stand_ins import Log

from hrpsim.control import State
from hrpsim.ros.controller.manager_services import (
    AUTO,
    BEST_EFFORT,
    FORCE_AUTO,
    STRICT,
    ManagerServices,
    offer_manager_services,
)

STATE = State(0.0, np.zeros(3), np.zeros(3), np.zeros(3), {}, {})


class ControllerState(SimpleNamespace):
    """The fields of the message that the oldest release has."""


class Node:
    """Keeps the services that are made on it."""

    def __init__(self):
        self.log, self.services = Log(), {}

    def get_logger(self):
        return self.log

    def create_service(self, kind, name, handler):
        self.services[name.removeprefix("~/")] = handler

    def call(self, service, /, **request):
        lists = {"controller": []} if service == "list_controllers" else {}
        response = Response(ok=None, message="", **lists)
        return self.services[service](SimpleNamespace(**request), response)


class Response(SimpleNamespace):
    """A response of any of the services."""


@pytest.fixture
def rig(monkeypatch):
    """A node with the services of a group of four: one arm, the other, both, and one unloaded."""
    messages = ModuleType("stand_in_msgs.msg")
    messages.ControllerState = ControllerState
    monkeypatch.setitem(sys.modules, "stand_in_msgs", ModuleType("stand_in_msgs"))
    monkeypatch.setitem(sys.modules, "stand_in_msgs.msg", messages)
    monkeypatch.setattr(Response, "__module__", "stand_in_msgs.srv._service")
    kinds = ("List", "Load", "Configure", "Unload", "Switch")
    names = [f"{kind}Controller{'s' * (kind == 'List')}" for kind in kinds]
    release = SimpleNamespace(**dict.fromkeys([*names, "ListControllerTypes"], object))
    members = {
        "left": entry("left"),
        "right": entry("right", active=False),
        "both": entry("*", active=False),
        "late": idle("waist"),
    }
    group, node = configured(members), Node()
    group.initialize(STATE)
    node.manager = ManagerServices(node, group, release)

    def states():
        group.control(STATE)  # a tick: what was asked for is done
        return {c.name: c.state for c in node.call("list_controllers").controller}

    return node, states


def switch(node, begin=(), end=(), strictness=STRICT):
    return node.call(
        "switch_controller",
        activate_controllers=list(begin),
        deactivate_controllers=list(end),
        strictness=strictness,
    )


def test_what_is_listed(rig):
    node, states = rig
    assert states() == {"left": "active", "right": "inactive", "both": "inactive"}
    left = node.call("list_controllers").controller[0]
    assert left.claimed_interfaces == ["left/position", "left/velocity", "left/effort"]
    assert left.type.endswith(":Wave") and left.required_state_interfaces
    assert node.call("list_controllers").controller[1].claimed_interfaces == []
    assert node.call("list_controller_types").types == [left.type]


def test_a_controller_is_loaded_configured_and_unloaded(rig):
    node, states = rig
    assert node.call("load_controller", name="late").ok
    assert states()["late"] == "unconfigured"
    assert not switch(node, ["late"]).ok and "unconfigured" in node.log.lines[-1]
    assert node.call("configure_controller", name="late").ok and states()["late"] == "inactive"
    assert switch(node, ["late"]).ok and states()["late"] == "active"
    assert not node.call("unload_controller", name="late").ok
    assert switch(node, [], ["late"]).ok and states()["late"] == "inactive"
    assert node.call("unload_controller", name="late").ok and "late" not in states()
    answer = node.call("load_controller", name="lat")
    assert not answer.ok and "Did you mean 'late'" in answer.message


def test_strictly_all_or_nothing(rig):
    """Law: STRICT refuses what another's joints, a name or a state stand against."""
    node, states = rig
    before = states()
    refused = switch(node, ["both"])
    assert not refused.ok and "left" in refused.message
    assert not switch(node, ["right"], ["nobody"]).ok
    assert not switch(node, ["nobody"]).ok
    assert not switch(node, ["right"], strictness=9).ok
    assert states() == before
    assert switch(node, ["both"], ["left"]).ok
    assert states() == before | {"left": "inactive", "both": "active"}


def test_best_effort_does_what_it_can(rig):
    node, states = rig
    assert switch(node, ["nobody", "both", "right"], [], BEST_EFFORT).ok
    assert states() == {"left": "active", "right": "active", "both": "inactive"}
    assert not switch(node, ["nobody"], ["none"], 0).ok


@pytest.mark.parametrize("strictness", [AUTO, FORCE_AUTO])
def test_by_force_others_are_put_off(rig, strictness):
    node, states = rig
    answer = switch(node, ["both"], strictness=strictness)
    assert answer.ok and "left is deactivated" in answer.message
    assert states() == {"left": "inactive", "right": "inactive", "both": "active"}


def test_without_the_types_it_is_said_and_nothing_is_offered(monkeypatch):
    monkeypatch.setitem(sys.modules, "controller_manager_msgs", None)
    node = Node()
    assert offer_manager_services(node, None) is None and not node.services
    assert "controller_manager_msgs.srv is not installed" in node.log.lines[0]


def test_with_the_types_the_node_offers_them(simulations, listener, tmp_path):
    """Law: where controller_manager_msgs is installed, `ros2 control` finds what it asks for."""
    pytest.importorskip("controller_manager_msgs", reason="controller_manager_msgs")
    import yaml
    from controller_manager_msgs.srv import ListControllers, SwitchController

    file = tmp_path / "group.yaml"
    wave = entry("RARM_JOINT0")["controller"]
    members = {"arm": {"controller": wave, "joints": "RARM_JOINT*", "active": False}}
    file.write_text(yaml.safe_dump({"members": members}))
    simulations.start(lockstep=True)
    program = simulations.start_program(
        "hrpsim.ros.controller.controller_node",
        *("--ros-args", "-p", "lockstep:=true", "-p", f"parameters_file:={file}"),
        *("-p", "controller:=hrpsim.control:ControllerGroup"),
    )
    assert program.wait_for_line("ready", LIMIT), program.lines
    kind = "controller_manager_msgs/srv/{}"
    node = "/hrpsim_controller"

    def state():
        listed = listener.call(
            f"{node}/list_controllers", ListControllers.Request(), kind.format("ListControllers")
        )
        return listed.controller[0].state

    assert state() == "inactive"
    request = SwitchController.Request(activate_controllers=["arm"], strictness=STRICT)
    answer = listener.call(f"{node}/switch_controller", request, kind.format("SwitchController"))
    assert answer.ok
    assert listener.wait_for(lambda: state() == "active")
