# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Policies of fan-ziqi/rl_sar: `policy/ROBOT/NAME/config.yaml`, with `../base.yaml`.

`joint_mapping` gives for each joint of the policy the index in `joint_names` of base.yaml. All
other lists use the policy's order. Wheels are velocity controlled, and their angles are observed as
zero (`RL::ComputeObservation`, `RL::ComputeOutput`).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hrpsim.bridges.foreign.foreign_entries import ForeignEntries
from hrpsim.common import schema
from hrpsim.common.errors import unknown_name
from hrpsim.common.file_names import is_file
from hrpsim.common.foreign.yaml_text import YamlText, read_yaml
from hrpsim.common.values import NOT_NEGATIVE, POSITIVE
from hrpsim.control.framework.controller import ControllerError

_BASE = "base.yaml"
_MARK = "observations_history"
_NUMBERS = schema.listing(schema.numeric())
_INDICES = schema.listing(schema.integer(0, 1000))
_NAMES = schema.listing(schema.name)
_SCALE = schema.numeric(NOT_NEGATIVE)
_SCALES = {"commands": _NUMBERS}  # one number for each command
# rl_sar's observation -> term, and the entry with the scale.
_TERMS = {
    "lin_vel": ("linear_velocity", "lin_vel_scale"),
    "ang_vel": ("angular_velocity", "ang_vel_scale"),
    "gravity_vec": ("gravity", ""),
    "commands": ("command", "commands_scale"),
    "dof_pos": ("joint_positions", "dof_pos_scale"),
    "dof_vel": ("joint_velocities", "dof_vel_scale"),
    "actions": ("last_action", ""),
}
_WIDTHS = {"joint_positions": 1, "joint_velocities": 1, "last_action": 1}  # per joint, else 3


def is_of_rl_sar(data: Any) -> bool:
    """Return whether the data consist of one mapping with a key such as "a1/legged_gym"."""
    if not isinstance(data, dict) or len(data) != 1:
        return False
    ((name, entries),) = data.items()
    return "/" in str(name) and isinstance(entries, dict) and "model_name" in entries


def read_rl_sar(path: Path, text: YamlText) -> dict[str, Any]:
    """Convert a configuration of rl_sar to the entries of a description.

    Raises:
        ControllerError: base.yaml is missing, or rl_sar computes an observation from its own files
            or states.
    """
    (name,) = text.data
    entries = ForeignEntries(text, [name], _base_of(path, name))
    joints = _joints(entries)
    wheels = entries.get(_INDICES, "wheel_indices", [])
    if max(wheels, default=-1) >= len(joints):
        raise entries.error("wheel_indices", f"there is no joint {max(wheels)}")
    by_step, newest_first, length = _history(entries)
    observations = _observations(entries, len(joints), wheels, length)
    action = {"scale": entries.get(_NUMBERS, "action_scale"), **_bounds(entries)}
    if wheels:
        action["velocity"] = [joints[k] for k in wheels]
    return {
        "policy": entries.get(schema.name, "model_name"),
        "period": entries.get(schema.numeric(POSITIVE), "dt"),
        "decimation": entries.get(schema.integer(1, 10_000), "decimation"),
        "joints": joints,
        "default": entries.get(_NUMBERS, "default_dof_pos"),
        "kp": entries.get(_NUMBERS, "rl_kp"),
        "kd": entries.get(_NUMBERS, "rl_kd"),
        "action": action,
        "observations": observations,
        "history_by_step": by_step,
        "history_newest_first": newest_first,
        "history_from_zero": length > 1,
    }


def _base_of(path: Path, name: str) -> dict[str, Any]:
    """Return the robot's entries of rl_sar's base.yaml, from a folder above the policy's folder."""
    base = path.parent.parent / _BASE
    robot = name.partition("/")[0]
    for file in (base, base.parent.parent / _BASE):
        if is_file(file):
            data = read_yaml(file, ControllerError, "base of a policy").data
            if isinstance(data, dict) and isinstance(data.get(robot), dict):
                return data[robot]
    raise ControllerError(
        f"{path}: {base} is missing, or has no robot {robot!r}. This file of rl_sar "
        "has the control rates and the names of the joints"
    )


def _joints(entries: ForeignEntries) -> list[str]:
    names = entries.get(_NAMES, "joint_names")
    order = entries.get(_INDICES, "joint_mapping")
    if sorted(order) != list(range(len(order))) or len(order) > len(names):
        raise entries.error(
            "joint_mapping", f"must be a permutation of at most {len(names)} indices, got {order}"
        )
    return [names[k] for k in order]


def _history(entries: ForeignEntries) -> tuple[bool, bool, int]:
    """Return the layout of histories.

    Returns:
        Whether histories are ordered by step, whether the newest value is first, and the length.
    """
    ages = entries.get(_INDICES, _MARK, []) or [0]
    priority = entries.get(schema.one_of("priority", ("time", "term")), f"{_MARK}_priority", "time")
    length = max(ages) + 1
    rising = list(range(length))
    if ages not in (rising, rising[::-1]):
        raise entries.error(_MARK, f"must be consecutive ages that begin or end with 0, got {ages}")
    return priority == "time" and length > 1, length > 1 and ages == rising, length


def _bounds(entries: ForeignEntries) -> dict[str, Any]:
    ends = {end: entries.get(_NUMBERS, f"clip_actions_{end}", []) for end in ("lower", "upper")}
    return {end: numbers for end, numbers in ends.items() if numbers}


def _observations(
    entries: ForeignEntries, count: int, wheels: list[int], length: int
) -> list[dict[str, Any]]:
    clip = entries.get(schema.numeric(POSITIVE), "clip_obs", 100.0)
    result, total = [], 0
    for name in entries.get(_NAMES, "observations"):
        if name not in _TERMS:
            raise entries.error("observations", unknown_name("observation", name, _TERMS))
        term, key = _TERMS[name]
        scale: Any = entries.get(_SCALES.get(name, _SCALE), key) if key else 1.0
        if name == "dof_pos" and wheels:
            scale = [0.0 if k in wheels else scale for k in range(count)]
        result.append({"term": term, "scale": scale, "clip": clip, "history": length})
        total += count if term in _WIDTHS else 3
    declared = entries.get(schema.integer(1, 100_000), "num_observations", total)
    if declared != total:
        raise entries.error(
            "num_observations", f"is {declared}, but the observations have {total} numbers"
        )
    return result
