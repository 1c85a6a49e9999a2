# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The services of a group of controllers: hrpsim's own and controller_manager's.

`ros2 control list_controllers -c /hrpsim_controller` and similar commands work with the group.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable
from typing import Any

from rclpy.node import Node
from std_msgs.msg import String
from std_srvs.srv import SetBool

from hrpsim.common.errors import HrpsimError, optional_module, require_name
from hrpsim.control.controller_group import FINISHED, INACTIVE, UNLOADED, ControllerGroup, Member
from hrpsim.control.framework.controller import ControllerError
from hrpsim.ros.base import qos

PACKAGE = "controller_manager_msgs"
BEST_EFFORT, STRICT, AUTO, FORCE_AUTO = 1, 2, 3, 4  # of SwitchController
_INTERFACES = ("position", "velocity", "effort")


class GroupServices:
    """Offers ~/activate_<member> for each member. The latched topic ~/members has all states.

    A switch takes place at the next control tick, after the response of the service.
    """

    def __init__(self, node: Node, group: ControllerGroup) -> None:
        self._group = group
        self._last = ""
        self._publisher = node.create_publisher(String, "~/members", qos.LATCHED)
        self._services = [
            node.create_service(SetBool, f"~/activate_{name}", self._switching(name))
            for name in group.members
        ]
        self.publish_states()

    def publish_states(self) -> None:
        """Publish the states of the members if a state has changed."""
        states = {name: member.state for name, member in self._group.members.items()}
        text = json.dumps(states)
        if text != self._last:
            self._last = text
            self._publisher.publish(String(data=text))

    def _switching(self, name: str):
        def _answer(request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
            try:
                rivals = self._group.switch(name, request.data)
            except HrpsimError as error:
                response.success, response.message = False, str(error)
                return response
            response.success = True
            state = "activated" if request.data else "deactivated"
            instead = f", {', '.join(rivals)} deactivated" if rivals else ""
            response.message = f"{name} is {state}{instead} at the next tick"
            return response

        return _answer


class ManagerServices:
    """Offers ~/list_controllers, ~/list_controller_types, load, configure, unload and switch.

    A controller is a member of the group. Other controllers cannot be loaded, because the joints of
    a controller are part of its entry in the group. A whole switch takes place at the next control
    tick, after the response of the service. `release` is the module of the service types, whose
    fields differ by release.
    """

    def __init__(self, node, group: ControllerGroup, release) -> None:
        self._group = group
        self._logger = node.get_logger()
        handlers = {
            "ListControllers": ("list_controllers", self._list),
            "ListControllerTypes": ("list_controller_types", self._list_types),
            "LoadController": ("load_controller", self._doing(group.load)),
            "ConfigureController": ("configure_controller", self._doing(group.configure_member)),
            "UnloadController": ("unload_controller", self._doing(group.unload)),
            "SwitchController": ("switch_controller", self._switch),
        }
        self._services = [
            node.create_service(getattr(release, kind), f"~/{name}", handler)
            for kind, (name, handler) in handlers.items()
            if hasattr(release, kind)
        ]

    def _list(self, request, response):
        package = type(response).__module__.partition(".")[0]
        state_type = importlib.import_module(f"{package}.msg").ControllerState
        for member in self._group.members.values():
            if member.state != UNLOADED:
                response.controller.append(self._described(member, state_type()))
        return response

    def _described(self, member: Member, message):
        joints = [self._group.joint_names[k] for k in member.mine]
        commands = [f"{joint}/{kind}" for joint in joints for kind in _INTERFACES]
        message.name, message.type = member.name, member.plugin
        message.state = INACTIVE if member.state == FINISHED else member.state
        message.required_command_interfaces = commands
        message.claimed_interfaces = commands if member.active else []
        message.required_state_interfaces = commands
        if hasattr(message, "update_rate") and member.controller is not None:
            message.update_rate = round(1.0 / member.controller.period)
        return message

    def _list_types(self, request, response):
        plugins = sorted({member.plugin for member in self._group.members.values()})
        response.types = plugins
        response.base_classes = ["hrpsim.control:Controller"] * len(plugins)
        return response

    def _doing(self, action: Callable[[str], None]):
        def answer(request, response):
            return self._answered(response, lambda: action(request.name))

        return answer

    def _switch(self, request, response):
        return self._answered(response, lambda: self._switch_members(request))

    def _switch_members(self, request) -> str:
        begin, end = list(request.activate_controllers), list(request.deactivate_controllers)
        strictness = request.strictness or BEST_EFFORT
        if strictness not in (BEST_EFFORT, STRICT, AUTO, FORCE_AUTO):
            raise ControllerError(f"strictness must be from 1 to 4, got {strictness}")
        if strictness == BEST_EFFORT:
            begin, end = self._possible(begin), self._possible(end)
            if len(begin) + len(end) == 0:
                raise ControllerError("none of these controllers can be switched")
        if strictness in (BEST_EFFORT, STRICT):
            begin = self._unhindered(begin, end, refuse=strictness == STRICT)
        rivals = self._group.switch_several(begin, end)
        changes = [f"{name} is activated" for name in begin]
        changes += [f"{name} is deactivated" for name in [*end, *rivals]]
        return ", ".join(changes) + " at the next tick"

    def _possible(self, names: list[str]) -> list[str]:
        members = self._group.members
        return [n for n in names if n in members and members[n].is_configured]

    def _unhindered(self, begin: list[str], end: list[str], refuse: bool) -> list[str]:
        """Return the members of `begin` that share no joint with a member that stays active."""
        unhindered = []
        for name in begin:
            require_name("controller", name, self._group.members, ControllerError)
            rivals = [rival for rival in self._group.active_rivals(name) if rival not in end]
            if not rivals:
                unhindered.append(name)
            elif refuse:
                raise ControllerError(
                    f"{name!r} cannot be activated, because {', '.join(rivals)} commands its "
                    f"joints. Deactivate {', '.join(rivals)}, or request strictness {FORCE_AUTO}"
                )
        return unhindered

    def _answered(self, response, action: Callable[[], Any]):
        """Report in a response whether an action, which may be the user's code, succeeded."""
        try:
            text, response.ok = action() or "", True
        except Exception as error:
            text, response.ok = str(error), False
            if not isinstance(error, HrpsimError):
                text = f"{type(error).__name__}: {error}"
            self._logger.error(text)
        if hasattr(response, "message"):
            response.message = text
        return response


def offer_manager_services(node, group: ControllerGroup) -> ManagerServices | None:
    """Offer the services if the types are installed. Otherwise log the absence."""
    consequence = "members are switched by ~/activate_<member> only"
    release = optional_module(f"{PACKAGE}.srv", consequence, node.get_logger().info)
    return release and ManagerServices(node, group, release)
