# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The node in the viewer's page: its state, topics with their rates, diagnostics, saved states.

Its buttons do the same as the node's services.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from diagnostic_msgs.msg import DiagnosticStatus

from hrpsim.errors import HrpsimError
from hrpsim.ros.base.guarded_node import GuardedNode
from hrpsim.ros.core.simulation import Simulation
from hrpsim.ros.simulation.diagnostics import Diagnostics

_PERIOD = 1.0  # between updates [s, wall]
_LEVELS = {
    DiagnosticStatus.OK: "",
    DiagnosticStatus.WARN: "**warning**: ",
    DiagnosticStatus.ERROR: "**error**: ",
    DiagnosticStatus.STALE: "stale: ",
}
_OF_ROS = ("/parameter_events", "/rosout")
_NONE = "(none)"


class Dashboard:
    """A folder of a page's panel; `request` takes actions to be run in the node's thread."""

    def __init__(
        self,
        gui,
        request: Callable[[Callable[[], None]], None],
        node: GuardedNode,
        simulation: Simulation,
        diagnostics: Diagnostics,
    ):
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
        for button, deed in (
            (self.save, self._save),
            (self.load, self._load),
            (self.clear, self._clear),
        ):
            button.on_click(lambda _, deed=deed: request(lambda: self._do(deed)))

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

    def _do(self, deed: Callable[[], str]) -> None:
        """Run a button's action and show its result, as the service would."""
        try:
            self.answer.content = deed()
        except HrpsimError as error:
            self.answer.content = f"refused: {_plain(str(error))}"
        self._next = 0.0

    def _save(self) -> str:
        self._simulation.save_state(self.name.value)
        return f"saved {_plain(self.name.value)}"

    def _load(self) -> str:
        self._simulation.load_state(self.chosen.value)
        return f"loaded {_plain(self.chosen.value)}"

    def _clear(self) -> str:
        return f"{self._simulation.contents.delete_spawned()} spawned entities deleted"

    def _diagnostics_text(self) -> str:
        """Return the last diagnostics as text."""
        lines = []
        for status in self._diagnostics.last:
            name = status.name.partition(": ")[2]
            level = _LEVELS[status.level]
            lines.append(f"**{_plain(name)}**: {level}{_plain(status.message)}")
            lines += [f"- {_plain(v.key)}: {_plain(v.value)}" for v in status.values]
            lines.append("")
        return "\n".join(lines) or "none yet"

    def _rates(self, passed: float) -> str:
        """Return a table of the node's topics: messages a second of wall time, listeners."""
        lines = ["| topic | Hz | subscribers |", "| --- | ---: | ---: |"]
        before, self._sent = self._sent, {}
        for publisher in sorted(self._node.publishers, key=lambda one: one.topic_name):
            topic = publisher.topic_name
            if topic in _OF_ROS:
                continue
            self._sent[topic] = publisher.sent[0]
            rate = (publisher.sent[0] - before.get(topic, publisher.sent[0])) / passed
            heard = publisher.get_subscription_count()
            lines.append(f"| {_plain(topic)} | {rate:.0f} | {heard} |")
        return "\n".join(lines)


def _plain(text: str) -> str:
    """Escape text for markdown: any node in the domain can choose names."""
    return "".join(f"&#{ord(c)};" if c in "\\`*_{}[]()<>#+-!|&$~" else c for c in text)
