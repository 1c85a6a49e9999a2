# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Read the configuration that Isaac Lab and mjlab write next to a policy (params/env.yaml).

The trainers write Python tags into the file. The tags are removed from the text, and no code is
executed.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from hrpsim.common.errors import ModelWarning, StateError, shown_value
from hrpsim.common.foreign.text import read_text
from hrpsim.common.foreign.yaml_text import parse_yaml
from hrpsim.common.resources import user_path
from hrpsim.learning.configs import RobotCfg
from hrpsim.learning.env_left_out import entries_left_out
from hrpsim.learning.env_robot import robot_of, scale_of, short_name
from hrpsim.learning.env_terms import (
    OwnTermError,
    curriculum,
    event,
    observation_group,
    reward,
    termination,
)
from hrpsim.learning.section import Section
from hrpsim.learning.task import Task
from hrpsim.learning.terms.actions import ACTIONS, ActionCfg
from hrpsim.learning.terms.commands import UniformVelocityCommandCfg, VelocityRanges
from hrpsim.learning.terms.selection import EVERY

_NAME = re.compile(r"!!python/name:([\w.:]+)(\s*'')?")
_TAG = re.compile(r"!!python/[\w/]+(:[\w.]+)?")


class JointOrder(NamedTuple):
    """The joints of a policy in order. Without names, the order is the robot's order."""

    names: tuple[str, ...]

    def params(self) -> dict[str, Any]:
        """Return the arguments with which an observation or action term selects these joints."""
        return {"joint_names": self.names, "preserve_order": True} if self.names else {}


def load_env_config(
    path: str | Path,
    robot: RobotCfg | None = None,
    world: str | Path = "",
    joint_order: Sequence[str] = (),
) -> Task:
    """Return the task of a configuration that Isaac Lab or mjlab wrote (params/env.yaml).

    The function reads pose, posture, gains and limits of the robot, time step, gravity,
    observations, actions, commands, rewards, terminations, events and curriculum. A ModelWarning
    names terms that hrpsim does not have. Another ModelWarning names all other entries that hrpsim
    does not simulate. Some entries cause no warning (`WITHOUT_EFFECT` and `SAME` in
    `env_left_out`): pictures, files, memory, the other simulator's solver, and entries with the
    value that hrpsim always has. The configuration names description files of the other simulator,
    so `robot` provides the description.

    Args:
        path: path of the file.
        robot: description of the robot, or its name in `world`. Gains and posture are replaced.
        world: path of a world file, if `robot` is a name.
        joint_order: joints in the order of the policy. The default is the robot's order. Isaac Lab
            orders joints by their distance from the base, and does not write the order.

    Raises:
        StateError: an entry is missing or has the wrong type, or an observation, an action or a
            command is unknown. The error names the file and the entry.
    """
    path = user_path(path)
    text = read_text(path, StateError, "YAML_SIZE", "configuration")
    file = Section(str(path), parse_yaml(plain_text(text), str(path), StateError).data)
    order = JointOrder(tuple(joint_order))
    sim = file.section("sim")
    step = sim.number("dt") if "dt" in sim else sim.section("mujoco").number("timestep")
    scene = file.section("scene")
    theirs = (scene.section("entities") if "entities" in scene else scene).section("robot")
    task = Task(
        path.stem,
        world=world,
        robot=robot_of(theirs, robot or RobotCfg()),
        observations={
            name: observation_group(term, order.params())
            for name, term in file.section("observations").sections()
        },
        actions={name: _action(term, order) for name, term in file.section("actions").sections()},
        rewards=_known(file, "rewards", reward),
        terminations=_known(file, "terminations", termination),
        commands={name: _command(term) for name, term in file.section("commands", {}).sections()},
        events=_known(file, "events", event),
        curriculum=_known(file, "curriculum", curriculum),
        episode_length_s=file.number("episode_length_s", 20.0),
        time_step=step,
        decimation=file.whole_number("decimation"),
        gravity=_gravity(sim),
        scale_rewards_by_dt=file.get("scale_rewards_by_dt") is not False,
    )
    if left_out := entries_left_out(file):
        message = "entries that hrpsim does not simulate"
        warnings.warn(f"{path}: {message}: {', '.join(left_out)}", ModelWarning, stacklevel=2)
    return task


def plain_text(text: str) -> str:
    """Return a configuration without Python's tags."""
    return _TAG.sub("", _NAME.sub(r"\1", text))


def _known(file: Section, kind: str, convert: Callable[[Section], Any]) -> dict[str, Any]:
    """Convert the terms of a kind that hrpsim has. A ModelWarning names all other terms."""
    result, others = {}, []
    for name, term in file.section(kind, {}).sections():
        try:
            result[name] = convert(term)
        except OwnTermError as error:
            others.append(f"{name} ({error})")
            term.pass_over()
    if others:
        message = f"{kind} that hrpsim does not have are left out"
        warnings.warn(f"{file.where}: {message}: {', '.join(others)}", ModelWarning, stacklevel=4)
    return result


def _gravity(sim: Section) -> tuple[float, float, float] | None:
    holder = sim if sim.has("gravity") else sim.section("mujoco", {})
    return holder.numbers("gravity", 3) if holder.has("gravity") else None


def _action(one: Section, order: JointOrder) -> ActionCfg:
    """Convert an action of a configuration to an action of joints."""
    kind = short_name(one.text("class_type"))
    cfg = ACTIONS.get(f"{kind}Cfg")
    if cfg is None:
        known = ", ".join(name.removesuffix("Cfg") for name in ACTIONS)
        raise StateError(
            f"{one.where}: action {shown_value(kind)} does not exist. Available: {known}"
        )
    key = "joint_names" if "joint_names" in one else "actuator_names"
    names = one.names(key)
    own: dict[str, Any] = {"joint_names": names}
    if order.names and tuple(names) == EVERY:
        own = order.params()
    elif one.get("preserve_order"):
        own["preserve_order"] = True
    if "use_default_offset" in one and kind == "JointPositionAction":
        own["use_default_offset"] = bool(one.get("use_default_offset"))
    return cfg(scale=scale_of(one, "scale", 1.0), offset=scale_of(one, "offset", 0.0), **own)


def _command(one: Section) -> UniformVelocityCommandCfg:
    """Convert a command of a configuration to a velocity command."""
    kind = short_name(one.text("class_type"))
    if kind != "UniformVelocityCommand":
        raise StateError(
            f"{one.where}: command {shown_value(kind)} does not exist. Available:"
            " UniformVelocityCommand"
        )
    ranges = one.section("ranges")
    heading = bool(one.get("heading_command"))
    if not heading:
        ranges.whole("heading")  # has no effect then
    return UniformVelocityCommandCfg(
        VelocityRanges(
            ranges.pair("lin_vel_x"),
            ranges.pair("lin_vel_y"),
            ranges.pair("ang_vel_z"),
            ranges.pair("heading") if heading else None,
        ),
        one.pair("resampling_time_range"),
        one.number("rel_standing_envs", 0.0),
        heading,
        one.number("heading_control_stiffness", 1.0),
        one.number("rel_heading_envs", 1.0),
    )
