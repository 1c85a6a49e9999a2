# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Run the events of a task: at startup, at the start of episodes, and at intervals."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from hrpsim.learning.bound_terms import BoundTerm, bound_term
from hrpsim.learning.configs import EventTermCfg
from hrpsim.learning.terms.events import EVENTS
from hrpsim.learning.terms.task_state import TaskState


class ScheduledEvents:
    """Schedules the events of all worlds.

    Args:
        events: events by name.
        state: state of the worlds.

    Raises:
        StateError: an event does not exist, or its arguments do not match.
    """

    def __init__(self, events: Mapping[str, EventTermCfg], state: TaskState) -> None:
        self._state = state
        self._bound: list[tuple[EventTermCfg, BoundTerm]] = [
            (cfg, bound_term("event", name, cfg.func, cfg.params, EVENTS, state, leading=2))
            for name, cfg in events.items()
        ]
        self._remaining = np.zeros((len(self._bound), state.count))  # until the next event [s]

    def start(self, mode: str, worlds: np.ndarray) -> None:
        """Apply the events of a mode, "startup" or "reset", to worlds (m,)."""
        for cfg, term in self._bound:
            if cfg.mode == mode:
                term.value(self._state, worlds)
        if mode == "reset":
            for push in self._state.pushes.values():
                push.left[worlds] = 0
            for number in range(len(self._bound)):
                self._draw_interval(number, worlds)
        self._state.write_changes()

    def _draw_interval(self, number: int, worlds: np.ndarray) -> None:
        bounds = self._bound[number][0].interval_range_s
        if bounds is not None:
            self._remaining[number, worlds] = self._state.random.uniform(worlds, *bounds)[:, 0]

    def pass_period(self, worlds: np.ndarray) -> None:
        """Advance the intervals of worlds (m,) by a control period. Run the events that are due."""
        self._remaining[:, worlds] -= self._state.step_dt
        acted = False
        for number, (cfg, term) in enumerate(self._bound):
            due = worlds[self._remaining[number, worlds] < 1e-9]
            if cfg.mode != "interval" or not len(due):
                continue
            self._draw_interval(number, due)
            term.value(self._state, due)
            acted = True
        if acted:
            self._state.write_changes()

    def push(self) -> None:
        """Apply the forces and torques of active pushes in the next control period."""
        state = self._state
        for link, push in state.pushes.items():
            on = (push.left > 0)[:, None]
            if on.any():
                forces, torques = push.forces * on, push.torques * on
                state.batch.apply_wrench(state.robot_name, forces, torques, link=link)
                push.left -= on[:, 0]
