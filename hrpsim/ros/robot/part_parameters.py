# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Parameters that every joint, or every sensor, of a robot has. Needs no ROS itself."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rclpy.node import Node


class PartParameters(ABC):
    """Parameters of a node named `prefix` + joint or sensor; `first` maps these to first values.

    Raises ValueError, or what rclpy raises, for an override that does not fit.
    """

    def __init__(self, node: Node, prefix: str, first: Mapping[str, Any], descriptor):
        self._parts = {prefix + part: part for part in first}
        for name, part in self._parts.items():
            value = node.declare_parameter(name, first[part], descriptor).value
            if problem := self.problem(name, value):
                raise ValueError(problem)
            value = list(value) if isinstance(first[part], list) else value
            if value != first[part]:
                self.change(name, value)

    def knows(self, name: str) -> bool:
        """Return whether a parameter is one of these."""
        return name in self._parts

    def problem(self, name: str, value) -> str:
        """Return what is wrong with a value of the right type and range, or ""."""
        return ""

    @abstractmethod
    def change(self, name: str, value) -> None:
        """Apply a new value of a parameter."""
