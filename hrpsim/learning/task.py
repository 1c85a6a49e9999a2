# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A learning task: a robot in a world, and the terms of observations, actions and rewards."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from hrpsim.common.errors import ModelWarning, StateError
from hrpsim.common.typed_values import CheckedSettings
from hrpsim.learning.configs import (
    CurriculumTermCfg,
    EventTermCfg,
    ObservationGroupCfg,
    ObservationTermCfg,
    RewardTermCfg,
    RobotCfg,
    TerminationTermCfg,
    TerrainCfg,
)
from hrpsim.learning.terms.actions import ActionCfg, JointPositionActionCfg
from hrpsim.learning.terms.commands import UniformVelocityCommandCfg
from hrpsim.world.objects.plausibility import long_period

_LONGEST = 3600.0  # episode [s]

Observations = Mapping[str, ObservationTermCfg | ObservationGroupCfg]


def _action() -> dict[str, ActionCfg]:
    return {"joint_pos": JointPositionActionCfg()}


def _time_out() -> dict[str, TerminationTermCfg]:
    return {"time_out": TerminationTermCfg("time_out", time_out=True)}


@dataclass(frozen=True)
class Task(CheckedSettings):
    """A learning task of any robot.

    The world is a world file, or the robot's description on level ground.

    Args:
        name: name of the task.
        world: path of a world file, or of a world file of hrpsim, such as "config/stand.yaml".
        robot: the robot, and its posture and gains.
        terrain: ground in addition to the ground of the world.
        observations: observation terms by name, or groups of terms by name. Terms without groups
            form the group "policy".
        actions: action terms by name. A policy's action contains the terms in this order.
        rewards: reward terms by name. The reward is the sum of the weighted terms.
        terminations: conditions that end an episode, by name.
        commands: commands by name.
        events: initial states, random parameters and pushes by name, in the order of execution.
        curriculum: changes of the task during learning, by name.
        episode_length_s: length of an episode [s].
        time_step: time step of the simulation [s].
        decimation: steps of the simulation in a control period.
        accuracy: accuracy of the contact solver, for a robot from a description. See World.
        scale_rewards_by_dt: whether to multiply rewards by the control period [s], as Isaac Lab and
            mjlab do.
        xacro_arguments: arguments of all descriptions of the world file.
        gravity: acceleration of gravity (3,) [m/s^2]. The default is the gravity of the world.

    Raises:
        StateError: neither or both of world file and description are given, or a number is invalid.
    """

    name: str = "task"
    world: str | Path = ""
    robot: RobotCfg = field(default_factory=RobotCfg)
    terrain: TerrainCfg = field(default_factory=TerrainCfg)
    observations: Observations = field(default_factory=dict)
    actions: Mapping[str, ActionCfg] = field(default_factory=_action)
    rewards: Mapping[str, RewardTermCfg] = field(default_factory=dict)
    terminations: Mapping[str, TerminationTermCfg] = field(default_factory=_time_out)
    commands: Mapping[str, UniformVelocityCommandCfg] = field(default_factory=dict)
    events: Mapping[str, EventTermCfg] = field(default_factory=dict)
    curriculum: Mapping[str, CurriculumTermCfg] = field(default_factory=dict)
    episode_length_s: float = 20.0
    time_step: float = 0.005
    decimation: int = 4
    accuracy: str = "fast"
    scale_rewards_by_dt: bool = True
    xacro_arguments: Mapping[str, object] = field(default_factory=dict)
    gravity: tuple[float, float, float] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if bool(self.world) == bool(self.robot.description):
            raise StateError(
                f"task {self.name!r}: give either a world file (world) or a robot's description"
                " (robot=RobotCfg(description=...))"
            )
        if not (self.time_step > 0.0 and self.decimation >= 1):
            raise StateError(
                f"task {self.name!r}: time_step must be positive and decimation at least 1, got"
                f" {self.time_step!r} and {self.decimation!r}"
            )
        if not self.episode_length_s >= self.step_dt * (1.0 - 1e-9):
            raise StateError(
                f"task {self.name!r}: episode_length_s must be at least a control period of"
                f" {self.step_dt:g} s, got {self.episode_length_s!r}"
            )
        label = f"task {self.name!r}: episode_length_s"
        if text := long_period(label, self.episode_length_s, _LONGEST, "an episode"):
            warnings.warn(text, ModelWarning, stacklevel=3)

    @property
    def step_dt(self) -> float:
        """Control period [s]."""
        return self.time_step * self.decimation

    @property
    def max_episode_length(self) -> int:
        """Number of control periods of an episode."""
        return round(self.episode_length_s / self.step_dt)

    @property
    def groups(self) -> dict[str, ObservationGroupCfg]:
        """Groups of observation terms by name."""
        groups = {
            name: group
            for name, group in self.observations.items()
            if isinstance(group, ObservationGroupCfg)
        }
        terms = {
            name: group
            for name, group in self.observations.items()
            if isinstance(group, ObservationTermCfg)
        }
        if terms and groups:
            raise StateError(
                f"task {self.name!r}: observations are either terms or groups. Term"
                f" {next(iter(terms))!r} is next to group {next(iter(groups))!r}"
            )
        return groups or {"policy": ObservationGroupCfg(terms)}
