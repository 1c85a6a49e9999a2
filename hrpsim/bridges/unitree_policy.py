# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Policies of unitreerobotics/unitree_rl_gym: `deploy/deploy_mujoco/configs/ROBOT.yaml`, and
`deploy/deploy_real/configs/ROBOT.yaml`.

The file names an MJCF, whose joint order the policy uses. A user can add the entry `joints` to set
the order instead. The observation is the same as in `deploy_mujoco.py`: rate, gravity, command,
positions, velocities, last action, and a clock with a period of 0.8 s.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

from hrpsim.bridges.foreign.foreign_entries import ForeignEntries, located
from hrpsim.common import schema
from hrpsim.common.errors import ModelWarning
from hrpsim.common.file_names import is_file
from hrpsim.common.foreign.yaml_text import YamlText
from hrpsim.common.values import POSITIVE
from hrpsim.control.framework.controller import controlled_joints
from hrpsim.model.load import load_model

_GAIT = 0.8  # [s], in deploy_mujoco.py
_MOTOR_RATE = 10  # updates of the PD control between two evaluations, as in deploy_mujoco's configs
_NUMBERS = schema.listing(schema.numeric())
_NAMES = schema.listing(schema.name)


def is_of_unitree(data: Any) -> bool:
    """Return whether the mapping has the entries of a deployment of unitree_rl_gym."""
    return isinstance(data, dict) and {"policy_path", "kps", "default_angles"} <= data.keys()


def read_unitree(path: Path, text: YamlText) -> dict[str, Any]:
    """Convert a deployment of unitree_rl_gym to the entries of a description.

    Raises:
        ControllerError: an entry is missing, or the file does not determine the joints.
    """
    entries = ForeignEntries(text)
    number = schema.numeric()
    joints = _joints(path, entries)
    count = entries.get(schema.integer(1, 1000), "num_actions")
    scale = entries.get(_NUMBERS, "cmd_scale")
    observations = [
        {"term": "angular_velocity", "scale": entries.get(number, "ang_vel_scale")},
        {"term": "gravity"},
        {"term": "command", "scale": scale},
        {"term": "joint_positions", "scale": entries.get(number, "dof_pos_scale")},
        {"term": "joint_velocities", "scale": entries.get(number, "dof_vel_scale")},
        {"term": "last_action"},
    ]
    total = entries.get(schema.integer(1, 100_000), "num_obs")
    if total == 11 + 3 * count:
        observations.append({"term": "clock"})
    elif total != 9 + 3 * count:
        raise entries.error(
            "num_obs", f"must be {9 + 3 * count}, or {11 + 3 * count} with a clock, got {total}"
        )
    return {
        "policy": str(located(path, entries.get(schema.name, "policy_path"))),
        **_rates(entries),
        "joints": joints,
        "default": entries.get(_NUMBERS, "default_angles"),
        "kp": entries.get(_NUMBERS, "kps"),
        "kd": entries.get(_NUMBERS, "kds"),
        "action": {"scale": entries.get(number, "action_scale")},
        "observations": observations,
        "frequency": 1.0 / _GAIT,
    }


def _rates(entries: ForeignEntries) -> dict[str, Any]:
    positive = schema.numeric(POSITIVE)
    if "control_dt" in entries.data:
        period = entries.get(positive, "control_dt") / _MOTOR_RATE
        return {"period": period, "decimation": _MOTOR_RATE}
    return {
        "period": entries.get(positive, "simulation_dt"),
        "decimation": entries.get(schema.integer(1, 10_000), "control_decimation"),
    }


def _joints(path: Path, entries: ForeignEntries) -> list[str]:
    """Return the joints that the policy commands, in the policy's order."""
    if "joints" in entries.data or "xml_path" not in entries.data:
        if "joints" not in entries.data:
            raise entries.error("joints", "the file names no joints. Add `joints: [NAME, ...]`")
        return entries.get(_NAMES, "joints")
    description = located(path, entries.get(schema.name, "xml_path"))
    if not is_file(description):
        raise entries.error(
            "xml_path", f"{str(description)!r} does not exist. Add `joints: [NAME, ...]` instead"
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)  # check-model lists these elements
        return list(controlled_joints(load_model(description)))
