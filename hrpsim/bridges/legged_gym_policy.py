# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Policies of legged_gym: a YAML file with the entries `legged_gym` and `policy`.

`legged_gym` names the Python file of a configuration, such as `go2_config.py`. The classes of that
file are read without running the file. `class` selects one of several configurations. All other
entries of the YAML file are entries of a description, and override the configuration.

The observation follows `LeggedRobot.compute_observations`: linear velocity, rate, gravity, command,
positions, velocities, last action. Some forks of legged_gym omit the linear velocity, or append a
clock with a period of 0.8 s (unitree_rl_gym). `env.num_observations` identifies the fork.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hrpsim.bridges.foreign.class_values import Attribute, Attributes, PythonClasses
from hrpsim.bridges.foreign.foreign_entries import located
from hrpsim.bridges.foreign.joint_order import joints_in_order
from hrpsim.common import schema
from hrpsim.common.errors import require_name
from hrpsim.common.foreign.yaml_text import YamlText
from hrpsim.common.resources import user_path
from hrpsim.common.values import NOT_NEGATIVE, POSITIVE
from hrpsim.control.framework.controller import ControllerError

MARK = "legged_gym"
_CLASS = "class"
_OWN = (MARK, _CLASS)
_MARK_OF_TRAINING = "PPO"
_GAIT = 0.8  # period of the gait clock in unitree_rl_gym [s]
_MOST_FILES = 200
_GAINS = schema.table(schema.numeric(NOT_NEGATIVE), "from parts of names to gains")
_ANGLES = schema.table(schema.numeric(), "from joints to angles")
# The attributes of legged_gym's base class that are used here.
_BASE = """
class LeggedRobotCfg:
    class env:
        num_observations = 235
        num_actions = 12
    class init_state:
        default_joint_angles = {}
    class control:
        control_type = "P"
        stiffness = {}
        damping = {}
        action_scale = 0.5
        decimation = 4
    class asset:
        file = ""
        armature = 0.0
    class normalization:
        class obs_scales:
            lin_vel = 2.0
            ang_vel = 0.25
            dof_pos = 1.0
            dof_vel = 0.05
        clip_observations = 100.0
        clip_actions = 100.0
    class sim:
        dt = 0.005
class LeggedRobotCfgPPO:
    pass
class BaseConfig:
    pass
"""
_OUTSIDE = dict.fromkeys(("LeggedRobotCfg", "LeggedRobotCfgPPO", "BaseConfig"), _BASE)


def is_of_legged_gym(data: Any) -> bool:
    """Return whether the mapping names a configuration of legged_gym."""
    return isinstance(data, dict) and MARK in data


def read_legged_gym(path: Path, text: YamlText) -> dict[str, Any]:
    """Convert a configuration of legged_gym to the entries of a description.

    Raises:
        ControllerError: the file is not a configuration, an attribute is not a literal, or hrpsim
            does not simulate a feature, such as height measurements of the ground.
    """
    data: dict[str, Any] = text.data
    if not isinstance(data[MARK], str):
        raise ControllerError(f"{text.location([MARK])}: {MARK}: must be a path")
    file = path.parent / user_path(data[MARK])
    config = _Config(file, data.get(_CLASS), text)
    joints = data.get("joints") or _joints(config)
    entries = {
        "period": config.get(schema.numeric(POSITIVE), "sim.dt"),
        "decimation": config.get(schema.integer(1, 10_000), "control.decimation"),
        "joints": joints,
        "default": _angles(config, joints),
        **_law(config, joints),
    }
    if armature := config.get(schema.numeric(NOT_NEGATIVE), "asset.armature"):
        entries["armature"] = armature
    if "observations" not in data:
        entries |= _observed(config, len(joints))
    return {**entries, **{key: value for key, value in data.items() if key not in _OWN}}


class _Config:
    """The attributes of one configuration class."""

    def __init__(self, file: Path, name: Any, text: YamlText) -> None:
        self.file = file
        classes = PythonClasses(file, _files_beside(file), _OUTSIDE)
        if name is None:
            name = _only(file, classes)
        require_name("class", name, classes.names, ControllerError, where=text.location([_CLASS]))
        self.name = name
        self._attributes: Attributes = classes.attributes(name)

    def has(self, key: str) -> bool:
        """Return whether an attribute exists."""
        return key in self._attributes

    def get(self, kind: schema.Kind, key: str) -> Any:
        """Return an attribute, such as "control.stiffness". Raise an error if its type is wrong."""
        attribute = self._attribute(key)
        value, _, mistake = schema.first_mistake(kind, attribute.value)
        if not attribute.is_read:
            mistake = "is not a literal. Write its value in the description or the file"
        if mistake:
            raise self.error(key, mistake)
        return value

    def error(self, key: str, problem: str) -> ControllerError:
        """Return an error about an attribute."""
        where = self._attribute(key).where
        return ControllerError(f"{where}: {self.name}.{key}: {problem}")

    def _attribute(self, key: str) -> Attribute:
        if key not in self._attributes:
            raise ControllerError(f"{self.file}: {self.name}.{key} is missing")
        return self._attributes[key]


def _files_beside(file: Path) -> list[Path]:
    """Return the files to search for base classes: in a parent folder `envs`, or beside `file`."""
    above = next((folder for folder in file.absolute().parents if folder.name == "envs"), None)
    files = file.parent.glob("*.py") if above is None else above.rglob("*config*.py")
    return sorted(path for path in files if path.is_file() and path.name != file.name)[:_MOST_FILES]


def _only(file: Path, classes: PythonClasses) -> str:
    """Return the name of the only robot configuration in a file."""
    names = [name for name in classes.names if not name.endswith(_MARK_OF_TRAINING)]
    if len(names) != 1:
        raise ControllerError(
            f"{file}: must have one class that configures a robot, got "
            f"{', '.join(names) or 'none'}."
            f" Choose one by `{_CLASS}: NAME`"
        )
    return names[0]


def _joints(config: _Config) -> list[str]:
    """Return the joints in the order of Isaac Gym."""
    named = str(config.get(schema.scalar, "asset.file"))
    file = located(config.file, named) if named else None
    if file is None or not file.is_file():
        raise config.error(
            "asset.file",
            f"{named!r} does not exist. Add `joints: [NAME, ...]` in the policy's order",
        )
    joints = joints_in_order(file)
    count = config.get(schema.integer(1, 1000), "env.num_actions")
    if len(joints) != count:
        raise config.error(
            "env.num_actions",
            f"is {count}, but the robot has {len(joints)} joints. Add `joints: [NAME, ...]`",
        )
    return joints


def _angles(config: _Config, joints: Sequence[str]) -> list[float]:
    key = "init_state.default_joint_angles"
    angles = config.get(_ANGLES, key)
    for joint in joints:
        if joint not in angles:
            raise config.error(key, f"the angle of joint {joint!r} is missing")
    return [angles[joint] for joint in joints]


def _law(config: _Config, joints: Sequence[str]) -> dict[str, Any]:
    """Return the entries for gains, actions and actuators, by the configuration's control type."""
    more: dict[str, Any] = {}
    if config.has("control.use_actuator_network") and config.get(
        schema.flag, "control.use_actuator_network"
    ):
        file = located(config.file, str(config.get(schema.name, "control.actuator_net_file")))
        more["actuators"] = [{"network": str(file)}]
    kind = config.get(schema.one_of("type", ("P", "V", "T")), "control.control_type")
    number = schema.numeric()
    action = {
        "scale": config.get(number, "control.action_scale"),
        "clip": config.get(schema.numeric(POSITIVE), "normalization.clip_actions"),
    }
    kp, kd = (
        _by_part(config.get(_GAINS, f"control.{name}"), joints) for name in ("stiffness", "damping")
    )
    if kind == "T":
        return {"kp": 0.0, "kd": 0.0, "action": {**action, "effort": list(joints)}}
    if kind == "V":
        if any(kd):
            raise config.error("control.damping", "damping by acceleration is not simulated")
        return {"kp": 0.0, "kd": kp, "action": {**action, "velocity": list(joints)}}
    return {"kp": kp, "kd": kd, "action": action, **more}


def _by_part(gains: Mapping[str, float], joints: Sequence[str]) -> list[float]:
    """Return the gain of each joint: the value of the last key that the joint's name contains.

    A joint that matches no key has gain 0, as in legged_gym.
    """
    matches = [[gain for part, gain in gains.items() if part in joint] for joint in joints]
    return [own[-1] if own else 0.0 for own in matches]


def _observed(config: _Config, count: int) -> dict[str, Any]:
    number = schema.numeric()
    scales = {
        name: config.get(number, f"normalization.obs_scales.{name}")
        for name in ("lin_vel", "ang_vel", "dof_pos", "dof_vel")
    }
    command = [scales["lin_vel"], scales["lin_vel"], scales["ang_vel"]]
    terms: list[dict[str, Any]] = [
        {"term": "angular_velocity", "scale": scales["ang_vel"]},
        {"term": "gravity"},
        {"term": "command", "scale": command},
        {"term": "joint_positions", "scale": scales["dof_pos"]},
        {"term": "joint_velocities", "scale": scales["dof_vel"]},
        {"term": "last_action"},
    ]
    total = config.get(schema.integer(1, 100_000), "env.num_observations")
    others = total - 3 * count
    if others == 12:
        terms.insert(0, {"term": "linear_velocity", "scale": scales["lin_vel"]})
    elif others == 11:
        terms.append({"term": "clock"})
    elif others != 9:
        known = ", ".join(str(3 * count + more) for more in (9, 11, 12))
        raise config.error(
            "env.num_observations",
            f"is {total}, but only {known} are supported. Heights of the ground are not. List the "
            "`observations` in the description",
        )
    clip = config.get(schema.numeric(POSITIVE), "normalization.clip_observations")
    return {"observations": [{**term, "clip": clip} for term in terms], "frequency": 1.0 / _GAIT}
