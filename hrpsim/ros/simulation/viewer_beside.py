# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The viewer in the node: the same world, in the same process, in a browser."""

from __future__ import annotations

import time
from urllib.parse import urlsplit

from rclpy.node import Node

from hrpsim.errors import HrpsimError
from hrpsim.jit.lazy_kernels import KernelsAbsent
from hrpsim.ros.base import parameters
from hrpsim.ros.base.guarded_node import GuardedNode
from hrpsim.ros.core.simulation import Simulation
from hrpsim.ros.simulation.dashboard import Dashboard
from hrpsim.ros.simulation.diagnostics import Diagnostics
from hrpsim.viewer.dragging import Grabbing, Grip
from hrpsim.viewer.page_faults import page_faults
from hrpsim.viewer.session import Motion
from hrpsim.viewer.viewer import Viewer

_FRAME = 1.0 / 30.0  # [s, wall]


class NodeSession(Grabbing):
    """The page's control of a node's Simulation: its buttons act as the node's services.

    As an input of the Simulation it applies the spring of a drag in the next steps. A node stores
    no past states: they cannot be replayed.
    """

    keeps_past = False
    looking_back = 0.0

    def __init__(self, node: Node, simulation: Simulation):
        self._node = node
        self._simulation = simulation
        self.world = simulation.world
        self.motion = Motion(simulation.world.time_step, self.step, rewinds=False)

    @property
    def playing(self) -> bool:
        """Whether the simulation plays."""
        return not self._simulation.paused

    @property
    def problem(self) -> str:
        """Why the simulation has stopped, if a step failed."""
        return self._simulation.failure

    @property
    def speed(self) -> float:
        """Simulated seconds for each wall second; assign to change it."""
        return self._simulation.pacer.real_time_factor

    @speed.setter
    def speed(self, factor: float) -> None:
        self._simulation.pacer.real_time_factor = factor

    def play(self) -> None:
        """Resume."""
        self._simulation.resume()

    def pause(self) -> None:
        """Pause."""
        self._simulation.pause()

    def step(self) -> None:
        """Pause, then make one step and publish it."""
        self._simulation.pause()
        try:
            self._simulation.contents.require_world()
            self._simulation.advance(1)
            self._simulation.publish_last()
        except KernelsAbsent as absent:
            self._node.get_logger().warning(f"no step: {absent}; try again later")
        except HrpsimError as error:
            self._node.get_logger().error(str(error))

    def reset(self) -> None:
        """Reset."""
        self.grip = None
        self._simulation.reset()

    def grab(self, entity: str, link: str, point) -> None:
        """Attach a spring to `point` [m], in the world, of a link or body."""
        period = 1.0 / parameters.value_of(self._node, "publish_rate")
        period = max(period, self.world.time_step)
        self.grip = Grip(self.world.entities[entity], link, point, period)

    def frame(self, duration: float) -> int:
        """Make no step: the node does."""
        return 0

    def poll(self) -> None:
        """Do nothing: `ViewerBeside.turn` serves the page."""

    def apply(self) -> None:
        """Apply the spring; release an entity that was removed."""
        if self.grip is not None:
            try:
                self.grip.pull()
            except HrpsimError as error:
                self.release()
                page_faults.note(error)

    def steps_to_next(self, most: int) -> int:
        """Return `most`: the force is constant during a call of `World.step`."""
        return most


class ViewerBeside:
    """Serves the world of a node's Simulation on `port`, this machine only.

    Raises ValueError if viser is not installed.
    """

    def __init__(
        self, node: GuardedNode, simulation: Simulation, diagnostics: Diagnostics, port: int
    ):
        self.session = NodeSession(node, simulation)
        try:
            self.viewer = Viewer(simulation.world, session=self.session, port=port)
        except HrpsimError as error:
            raise ValueError(f"viewer: {error}") from error
        viewer = self.viewer
        dashboard = Dashboard(
            viewer.server.gui, viewer.controls.request, node, simulation, diagnostics
        )
        viewer.panels.append(dashboard)
        self._next_frame = 0.0
        node.get_logger().info(f"{self.viewer.url} shows the world")

    @property
    def port(self) -> int:
        """The port of the page."""
        return urlsplit(self.viewer.url).port or 0

    def turn(self) -> None:
        """Process requests of the page and show the world, if a frame is due."""
        now = time.monotonic()
        if now >= self._next_frame:
            self.viewer.show()
            self._next_frame = now + _FRAME

    def close(self) -> None:
        """Close the page."""
        self.viewer.stop()
