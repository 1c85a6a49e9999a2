# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Services and a topic of a group of controllers: switching, and which are active."""

from __future__ import annotations

import json

from rclpy.node import Node
from std_msgs.msg import String
from std_srvs.srv import SetBool

from hrpsim.control.controller_group import ControllerGroup
from hrpsim.errors import HrpsimError
from hrpsim.ros.base import qos


class GroupServices:
    """Offers ~/activate_<member> for each member; ~/members, latched, has the state of each.

    A switch is made at the next control tick; the service answers before.
    """

    def __init__(self, node: Node, group: ControllerGroup):
        self._group = group
        self._last = ""
        self._publisher = node.create_publisher(String, "~/members", qos.LATCHED)
        self._services = [
            node.create_service(SetBool, f"~/activate_{name}", self._switching(name))
            for name in group.members
        ]
        self.publish_states()

    def publish_states(self) -> None:
        """Publish the states of the members, if they have changed."""
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
            what = "activated" if request.data else "deactivated"
            instead = f", {', '.join(rivals)} deactivated" if rivals else ""
            response.message = f"{name} is {what}{instead} at the next tick"
            return response

        return _answer
