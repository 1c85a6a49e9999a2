# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""What acts on the world of a Simulation between steps. Needs no ROS."""

from __future__ import annotations

from typing import Protocol


class Input(Protocol):
    """A topic, the hand of the viewer, the pushes of a sweep's run."""

    def poll(self) -> None:
        """Take in what is due by now."""

    def apply(self) -> None:
        """Do what is asked for during the step to come."""

    def steps_to_next(self, most: int) -> int:
        """Return how many steps, at most `most`, can be made before this is needed again."""
