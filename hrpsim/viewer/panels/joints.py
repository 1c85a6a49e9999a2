# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Sliders for the targets or the positions of a robot's joints."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from hrpsim.bag.world_signals import sources_of_entity
from hrpsim.model.system import PRISMATIC
from hrpsim.viewer.panels.markdown import plain
from hrpsim.viewer.panels.workbench import Panel, Workbench, bounded
from hrpsim.world.objects.robot import Robot

TARGETS, POSITIONS = "command targets", "place joints"
_WIDEST = 3.2  # range of a slider for a joint without limits, in both directions [rad or m]
_DIGITS, _STEP = 3, 1e-3  # digits after the point, step [rad or m]


class JointsPanel(Panel):
    """One slider for each joint of the chosen robot.

    The sliders command targets, or set the joint positions of a paused world. If a controller
    commands the robot, the sliders only show the positions.
    """

    def __init__(self, desk: Workbench) -> None:
        super().__init__(desk)
        self.sliders: dict[str, Any] = {}
        self._list: Any = None
        names = tuple(desk.world.robots) or ("none",)
        self.robot = desk.gui.add_dropdown("Robot", names)
        self.use = desk.gui.add_dropdown("Sliders", (TARGETS, POSITIONS))
        self.use.visible = desk.session.commands
        self.farthest = desk.gui.add_markdown("")
        self._place = desk.gui.add_folder("Joints")
        self.robot.on_update(lambda _: desk.request(self.rebuild))
        self._fill()

    @property
    def _chosen(self) -> Robot | None:
        return self._desk.world.robots.get(self.robot.value)

    def rebuild(self) -> None:
        """Update the list of robots, and the sliders of the chosen robot."""
        names = tuple(self._desk.world.robots) or ("none",)
        if tuple(self.robot.options) != names:
            self.robot.options = names
        self._fill()

    def update(self) -> None:
        """Move the sliders to the targets or positions."""
        robot = self._chosen
        if robot is None or not self.sliders:
            return
        positions = robot.joint_positions
        targets = self._targets(robot)
        values = positions if self._places or not self._desk.session.commands else targets
        for slider, value in zip(self.sliders.values(), values.tolist()):
            value = round(min(max(value, slider.min), slider.max), _DIGITS)
            if slider.value != value:
                slider.value = value
        off = np.abs(targets - positions)
        worst = int(np.argmax(off))
        name, unit = robot.joint_names[worst], "rad"
        if robot.system.joint_type[robot.system.dof_body[robot.joint_index.v[worst]]] == PRISMATIC:
            unit = "m"
        self.farthest.content = f"farthest from its target: {plain(name)}, {off[worst]:.4f} {unit}"

    def move(self, joint: str, value: float) -> None:
        """Command the target of a joint, or pause the world and set the joint's position.

        The world first returns to the present if the page shows the past. Nothing happens if a
        controller commands the robot.

        Args:
            joint: name of a joint of the chosen robot.
            value: target or position [rad or m].
        """
        robot, session = self._chosen, self._desk.session
        if robot is None or joint not in robot.joint_names or not session.commands:
            return
        if not self._places:
            session.edit(lambda: robot.command(positions=[value], names=[joint]))
            return
        session.pause()

        def place() -> None:
            positions = robot.joint_positions.copy()
            positions[robot.joint_names.index(joint)] = value
            robot.joint_positions = positions
            robot.joint_velocities = np.zeros(len(positions))
            robot.command(positions=[value], names=[joint])

        session.edit(place)

    @property
    def _places(self) -> bool:
        return self.use.value == POSITIONS

    def _targets(self, robot: Robot) -> np.ndarray:
        """Return the targets of the joints (n,). A joint without a target returns its position."""
        commands = next(s for s in sources_of_entity(robot, "") if s.topic == "joint_commands")
        targets, positions = commands.read()[: len(robot.joint_names)], robot.joint_positions
        return np.where(np.isnan(targets), positions, targets)

    def _fill(self) -> None:
        """Rebuild the sliders of the chosen robot."""
        robot = self._chosen
        names = robot.joint_names if robot is not None else ()
        if tuple(self.sliders) == names and self._list is robot:
            return
        for slider in self.sliders.values():
            slider.remove()
        self.sliders, self._list = {}, robot
        if robot is None or not names:
            return
        with self._place:
            for k, name in enumerate(names):
                self.sliders[name] = self._slider(robot, k, name)

    def _slider(self, robot: Robot, k: int, name: str) -> Any:
        at = robot.joint_index.v[k]
        low, high = float(robot.system.lower[at]), float(robot.system.upper[at])
        position = round(float(robot.joint_positions[k]), _DIGITS)
        low = min(math.ceil(max(low, -_WIDEST) / _STEP) * _STEP, position)
        high = max(math.floor(min(high, _WIDEST) / _STEP) * _STEP, position, low + _STEP)
        low, high = round(low, _DIGITS), round(high, _DIGITS)
        slider = self._desk.gui.add_slider(name, low, high, _STEP, position)
        slider.disabled = not self._desk.session.commands

        def change(event: Any) -> None:
            if event.client is not None:  # not when the program moves a slider
                self._desk.request(lambda: self.move(name, bounded(slider)))

        slider.on_update(change)
        return slider
