# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The interface of inputs that act on the world of a Simulation between steps. Needs no ROS."""

from __future__ import annotations

from typing import Protocol


class Input(Protocol):
    """An input, such as a topic, a drag in the viewer, or the pushes of a sweep's run."""

    def poll(self) -> None:
        """Read the messages that are due."""

    def apply(self) -> None:
        """Apply the requests for the next step."""

    def steps_to_next(self, most: int) -> int:
        """Return how many steps, at most `most`, can be made before this is needed again."""
