# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The viewer in the node: the same world, in a browser, and a panel with the state of the node."""

from __future__ import annotations

import time
from collections.abc import Callable
from urllib.parse import urlsplit

from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.node import Node

from hrpsim.common.errors import HrpsimError
from hrpsim.engine.compile.lazy_kernels import KernelsAbsent
from hrpsim.ros.base import parameters
from hrpsim.ros.base.guarded_node import GuardedNode
from hrpsim.ros.core.simulation import Simulation
from hrpsim.ros.simulation.diagnostics import Diagnostics
from hrpsim.viewer.gate import page_faults
from hrpsim.viewer.panels.markdown import plain
from hrpsim.viewer.session import Grabbing, Grip, TimeAdvance
from hrpsim.viewer.viewer import Viewer

_PERIOD = 1.0  # between updates [s, wall]
_LEVELS = {
    DiagnosticStatus.OK: "",
    DiagnosticStatus.WARN: "**warning**: ",
    DiagnosticStatus.ERROR: "**error**: ",
    DiagnosticStatus.STALE: "stale: ",
}
_OF_ROS = ("/parameter_events", "/rosout")
_NONE = "(none)"
_FRAME = 1.0 / 30.0  # [s, wall]


class Dashboard:
    """A folder in the panel of the viewer's page, with the state of the node and buttons.

    `request` receives actions to be run in the node's thread.
    """

    def __init__(
        self,
        gui,
        request: Callable[[Callable[[], None]], None],
        node: GuardedNode,
        simulation: Simulation,
        diagnostics: Diagnostics,
    ) -> None:
        self._request = request
        self._node, self._simulation, self._diagnostics = node, simulation, diagnostics
        self._next, self._then = 0.0, time.monotonic()
        self._sent: dict[str, int] = {}
        with gui.add_folder("ROS"):
            self.state = gui.add_markdown("")
            self.answer = gui.add_markdown("")
        with gui.add_folder("States", expand_by_default=False):
            self.name = gui.add_text("Name", "state")
            self.save = gui.add_button("Save")
            self.chosen = gui.add_dropdown("Saved", (_NONE,))
            self.load = gui.add_button("Load")
            self.clear = gui.add_button("Delete what was spawned")
        with gui.add_folder("Diagnostics"):
            self.report = gui.add_markdown("")
        with gui.add_folder("Topics", expand_by_default=False):
            self.topics = gui.add_markdown("")
        for button, action in (
            (self.save, self._save),
            (self.load, self._load),
            (self.clear, self._clear),
        ):
            button.on_click(lambda _, action=action: request(lambda: self._do(action)))

    def update(self) -> None:
        """Update the display, once a second."""
        now = time.monotonic()
        if now < self._next:
            return
        passed, self._then, self._next = now - self._then, now, now + _PERIOD
        simulation = self._simulation
        self.state.content = (
            f"`{self._node.get_fully_qualified_name()}` is **{simulation.state}**, "
            f"/clock {simulation.clock.seconds:.3f} s"
        )
        self.report.content = self._diagnostics_text()
        self.topics.content = self._rates(passed)
        names = simulation.states.names or (_NONE,)
        if tuple(self.chosen.options) != names:
            self.chosen.options = names

    def _do(self, action: Callable[[], str]) -> None:
        """Run a button's action and show the result, as the service would."""
        try:
            self.answer.content = action()
        except HrpsimError as error:
            self.answer.content = f"refused: {plain(str(error))}"
        self._next = 0.0

    def _save(self) -> str:
        self._simulation.save_state(self.name.value)
        return f"saved {plain(self.name.value)}"

    def _load(self) -> str:
        self._simulation.load_state(self.chosen.value)
        return f"loaded {plain(self.chosen.value)}"

    def _clear(self) -> str:
        return f"{self._simulation.contents.delete_spawned()} spawned entities deleted"

    def _diagnostics_text(self) -> str:
        """Return the last diagnostics as text."""
        lines = []
        for status in self._diagnostics.last:
            name = status.name.partition(": ")[2]
            level = _LEVELS[status.level]
            lines.append(f"**{plain(name)}**: {level}{plain(status.message)}")
            lines += [f"- {plain(v.key)}: {plain(v.value)}" for v in status.values]
            lines.append("")
        return "\n".join(lines) or "none yet"

    def _rates(self, passed: float) -> str:
        """Return a table of topics: messages per second of wall time, and subscribers."""
        lines = ["| topic | Hz | subscribers |", "| --- | ---: | ---: |"]
        before, self._sent = self._sent, {}
        for publisher in sorted(self._node.publishers, key=lambda publisher: publisher.topic_name):
            topic = publisher.topic_name
            if topic in _OF_ROS:
                continue
            self._sent[topic] = publisher.sent[0]
            rate = (publisher.sent[0] - before.get(topic, publisher.sent[0])) / passed
            heard = publisher.get_subscription_count()
            lines.append(f"| {plain(topic)} | {rate:.0f} | {heard} |")
        return "\n".join(lines)


class NodeSession(Grabbing):
    """Controls a node's Simulation from the viewer's page. Buttons act like the node's services.

    As an input of the Simulation, this object applies the spring force of a drag in the next steps.
    A node stores no past states, so the page cannot replay them.
    """

    keeps_past = False
    edits = commands = False  # topics and services edit and command instead
    looking_back = 0.0

    def __init__(self, node: Node, simulation: Simulation) -> None:
        self._node = node
        self._simulation = simulation
        self.world = simulation.world
        self.motion = TimeAdvance(simulation.world.time_step, self.step, rewinds=False)

    @property
    def playing(self) -> bool:
        """Whether the simulation plays."""
        return not self._simulation.paused

    @property
    def problem(self) -> str:
        """The reason why a step failed, or ""."""
        return self._simulation.failure

    @property
    def speed(self) -> float:
        """Simulated seconds for each wall second. An assignment changes the speed."""
        return self._simulation.pacer.real_time_factor

    @speed.setter
    def speed(self, factor: float) -> None:
        self._simulation.pacer.real_time_factor = factor

    def play(self) -> None:
        """Resume the simulation."""
        self._simulation.resume()

    def pause(self) -> None:
        """Pause the simulation."""
        self._simulation.pause()

    def step(self) -> None:
        """Pause, then make and publish one step."""
        self._simulation.pause()
        try:
            self._simulation.contents.require_world()
            self._simulation.advance(1)
            self._simulation.publish_last()
        except KernelsAbsent as absent:
            self._node.get_logger().warning(f"no step: {absent}. Try again later")
        except HrpsimError as error:
            self._node.get_logger().error(str(error))

    def reset(self) -> None:
        """Reset the simulation."""
        self.grip = None
        self._simulation.reset()

    def grab(self, entity: str, link: str, point) -> None:
        """Attach a spring to `point` [m], in the world, of a link or body."""
        period = 1.0 / parameters.value_of(self._node, "publish_rate")
        period = max(period, self.world.time_step)
        self.grip = Grip(self.world.entities[entity], link, point, period)

    def frame(self, duration: float) -> int:
        """Do nothing, because the node makes the steps. Return 0."""
        return 0

    def poll(self) -> None:
        """Do nothing, because `ViewerBeside.turn` serves the page."""

    def apply(self) -> None:
        """Apply the spring. Release an entity that was removed."""
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
    """The viewer's web server, which shows the world on `port` of this machine only.

    Raise ValueError if viser is not installed.
    """

    def __init__(
        self, node: GuardedNode, simulation: Simulation, diagnostics: Diagnostics, port: int
    ) -> None:
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
