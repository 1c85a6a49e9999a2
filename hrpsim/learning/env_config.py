# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Read the configuration that Isaac Lab and mjlab write next to a policy (params/env.yaml).

The trainers write Python's tags into the file. The tags are removed as text, and nothing in the
file is executed.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from hrpsim.common.errors import ModelWarning, StateError, shown_value
from hrpsim.common.foreign.text import read_text
from hrpsim.common.foreign.yaml_text import parse_yaml
from hrpsim.learning.configs import RobotCfg
from hrpsim.learning.env_terms import OwnTermError, event, observation_group, reward, termination
from hrpsim.learning.section import Section
from hrpsim.learning.task import Task
from hrpsim.learning.terms.actions import ACTIONS, ActionCfg
from hrpsim.learning.terms.commands import UniformVelocityCommandCfg, VelocityRanges
from hrpsim.learning.terms.selection import EVERY

_NAME = re.compile(r"!!python/name:([\w.:]+)(\s*'')?")
_TAG = re.compile(r"!!python/[\w/]+(:[\w.]+)?")
_GAINS = "stiffness", "damping", "armature"


class JointOrder(NamedTuple):
    """The joints of a policy in their order. No names mean the robot's order."""

    names: tuple[str, ...]

    def params(self) -> dict[str, Any]:
        """Return the arguments of a term of joints."""
        return {"joint_names": self.names, "preserve_order": True} if self.names else {}


def load_env_config(
    path: str | Path,
    robot: RobotCfg | None = None,
    world: str | Path = "",
    joint_order: Sequence[str] = (),
) -> Task:
    """Return the task of a configuration that Isaac Lab or mjlab wrote (params/env.yaml).

    Posture and gains of the robot, time step, observations, actions, commands, rewards,
    terminations and events are read. A ModelWarning names rewards, terminations and events that
    hrpsim does not have. The description stays that of `robot`, because the configuration names
    files of the other simulator.

    Args:
        path: path of the file.
        robot: description of the robot, or its name in `world`. Gains and posture are replaced.
        world: path of a world file, for a robot without a description.
        joint_order: joints in the order of the policy. The default is the robot's order. Isaac Lab
            orders joints by their distance from the base, and does not write the order.

    Raises:
        StateError: an entry is missing or of another kind, or an observation, an action or a
            command is unknown. The error names the file and the entry.
    """
    path = Path(path).expanduser()
    text = read_text(path, StateError, "YAML_SIZE", "configuration")
    plain = _TAG.sub("", _NAME.sub(r"\1", text))
    file = Section(str(path), parse_yaml(plain, str(path), StateError).data)
    order = JointOrder(tuple(joint_order))
    sim = file.section("sim")
    step = sim.number("dt") if "dt" in sim else sim.section("mujoco").number("timestep")
    scene = file.section("scene")
    theirs = (scene.section("entities") if "entities" in scene else scene).section("robot")
    return Task(
        path.stem,
        world=world,
        robot=_robot(theirs, robot or RobotCfg()),
        observations={
            name: observation_group(one, order.params())
            for name, one in file.section("observations").sections()
        },
        actions={name: _action(one, order) for name, one in file.section("actions").sections()},
        rewards=_known(file, "rewards", reward),
        terminations=_known(file, "terminations", termination),
        commands={name: _command(one) for name, one in file.section("commands", {}).sections()},
        events=_known(file, "events", event),
        episode_length_s=file.number("episode_length_s", 20.0),
        time_step=step,
        decimation=file.whole("decimation"),
    )


def _known(file: Section, kind: str, convert: Callable[[Section], Any]) -> dict[str, Any]:
    """Return the terms of a kind that hrpsim has. A ModelWarning names the others."""
    found, others = {}, []
    for name, one in file.section(kind, {}).sections():
        try:
            found[name] = convert(one)
        except OwnTermError as error:
            others.append(f"{name} ({error})")
    if others:
        warnings.warn(
            f"{file.where}: {kind} that hrpsim does not have are left out: {', '.join(others)}",
            ModelWarning,
            stacklevel=4,
        )
    return found


def _robot(theirs: Section, own: RobotCfg) -> RobotCfg:
    """Return a robot with the posture and gains of the configuration."""
    start = theirs.section("init_state")
    actuators = theirs.get("actuators")
    if actuators is None and "articulation" in theirs:
        actuators = theirs.section("articulation").get("actuators")
    each = list(actuators.values()) if isinstance(actuators, Mapping) else actuators
    if not isinstance(each, list):
        raise StateError(f"{theirs.where}: actuators should be a mapping or a list")
    gains: dict[str, dict[str, float]] = {what: {} for what in _GAINS}
    for k, data in enumerate(each):
        one = Section(f"{theirs.where}.actuators[{k}]", data)
        names = one.names("joint_names_expr")
        for what in _GAINS:
            gains[what].update(_gains_of(one, what, names))
    position = start.numbers("pos", 3)
    return replace(
        own,
        position=position,
        joint_pos=_by_name(start, "joint_pos"),
        stiffness=gains["stiffness"] or None,
        damping=gains["damping"] or None,
        armature=gains["armature"] or None,
    )


def _gains_of(actuator: Section, what: str, names: tuple[str, ...]) -> dict[str, float]:
    value = actuator.get(what)
    if value is None:
        return {}
    if isinstance(value, Mapping):
        return _by_name(actuator, what)
    return dict.fromkeys(names, actuator.number(what))


def _by_name(section: Section, key: str) -> dict[str, float]:
    values = section.section(key, {})
    return {name: values.number(name) for name in values}


def _scale(section: Section, key: str, rest: float) -> float | dict[str, float]:
    if isinstance(section.get(key), Mapping):
        return _by_name(section, key)
    return section.number(key, rest)


def _action(one: Section, order: JointOrder) -> ActionCfg:
    """Return an action of joints."""
    kind = one.text("class_type").rpartition(":")[2].rpartition(".")[2]
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
    return cfg(scale=_scale(one, "scale", 1.0), offset=_scale(one, "offset", 0.0), **own)


def _command(one: Section) -> UniformVelocityCommandCfg:
    """Return a velocity command."""
    kind = one.text("class_type").rpartition(":")[2].rpartition(".")[2]
    if kind != "UniformVelocityCommand":
        raise StateError(
            f"{one.where}: command {shown_value(kind)} does not exist. Available:"
            " UniformVelocityCommand"
        )
    ranges = one.section("ranges")
    heading = bool(one.get("heading_command")) and ranges.get("heading") is not None
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
