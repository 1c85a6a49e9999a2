# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""What a Simulation is handed: those who command it and those who tell of it. Needs no ROS."""

from __future__ import annotations

from typing import Protocol

from hrpsim.ros.robot.lockstep import Lockstep
from hrpsim.world.objects.robot import Robot


class Input(Protocol):
    """What acts on the world between steps: a topic, the hand of the viewer."""

    def poll(self) -> None:
        """Take in what is due by now."""

    def apply(self) -> None:
        """Do what is asked for during the step to come."""

    def steps_to_next(self, most: int) -> int:
        """Return how many steps, at most `most`, can be made before this is needed again."""


class Robots(Protocol):
    """The robots of a world as others see them (RobotInterfaces)."""

    inputs: list[Input]
    locksteps: list[Lockstep]  # those that time waits for

    def wait(self, longest: float) -> bool:
        """Wait for commands, at most `longest` [s, wall]; return whether steps can be made."""

    def add(self, robot: Robot, namespace: str) -> str:
        """Show a robot that has come; return the namespace of its topics."""

    def drop_removed(self) -> None:
        """Forget the robots that have left the world."""

    def check(self, world) -> None:
        """Raise HrpsimError where the robots of another world cannot be shown."""

    def hold(self, world) -> None:
        """Forget the robots of this world and show those of another."""

    def reset(self) -> None:
        """Drop what was asked for before a reset."""


class Publications(Protocol):
    """What is told about the state (StatePublisher)."""

    is_due: bool

    def hold(self, world) -> None:
        """Tell of another world from now on."""

    def steps_to_next(self) -> int:
        """Return how many steps it is to the next publication, at least one."""

    def publish(self, everything: bool = False) -> None:
        """Tell the state; what comes more rarely at its times, or with `everything`."""

    def publish_slowly(self, everything: bool) -> None:
        """Tell only what comes more rarely, if it is due or with `everything`."""

    def repeat_if_due(self) -> None:
        """Tell the state once more, now and then, while time stands still."""
