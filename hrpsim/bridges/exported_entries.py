# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Entries of a policy's description that mjlab and Isaac Lab write into the ONNX file.

mjlab writes `joint_names`, `joint_stiffness`, `joint_damping`, `default_joint_pos`, `action_scale`,
`command_names` and `observation_names` (mjlab's `exporter.py`). The file does not contain the
rates.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hrpsim.bridges.network_files import open_network
from hrpsim.bridges.policy_terms import REFERENCE
from hrpsim.common.errors import unknown_name
from hrpsim.common.file_names import is_file
from hrpsim.common.foreign.file_bytes import read_bytes
from hrpsim.common.foreign.json_text import parse_json
from hrpsim.control.framework.controller import ControllerError

NAMES = ("joint_names", "dof_names")
# Exporters' names of the entries of a description.
ENTRIES = {
    "kp": ("kp", "joint_stiffness", "stiffness"),
    "kd": ("kd", "joint_damping", "damping"),
    "default": ("default_joint_pos", "default_dof_pos"),
    "action_scale": ("action_scale",),
}
RATES = {"period": 0.005, "decimation": 4}  # of the tasks of mjlab and Isaac Lab
TERMS = {
    "base_lin_vel": "linear_velocity",
    "base_ang_vel": "angular_velocity",
    "projected_gravity": "gravity",
    "command": "command",
    "velocity_commands": "command",
    "joint_pos": "joint_positions",
    "joint_pos_rel": "joint_positions",
    "joint_vel": "joint_velocities",
    "joint_vel_rel": "joint_velocities",
    "actions": "last_action",
    "last_action": "last_action",
}
_MOTION, _TIME = "motion", "time_step"
_FROM_NETWORK = ("joints", "default", "kp", "observations")  # entries that a description needs


def from_metadata(path: Path, data: dict[str, Any]) -> dict[str, Any]:
    """Return the entries of a description, completed with entries from the network's metadata.

    The network is opened only if a needed entry is missing. A network without metadata adds no
    entries.

    Raises:
        ControllerError: for an observation in the network that is not a term of hrpsim.
    """
    network = data.get("policy")
    file = path.parent / network if isinstance(network, str) else None
    is_whole = all(entry in data for entry in _FROM_NETWORK)
    if is_whole or file is None or file.suffix != ".onnx" or not is_file(file):
        return data
    opened = open_network(file, _further(file, data))
    opened.close()
    added = entries_of(file, opened.metadata)
    if not added:
        return data
    rates = {} if "period" in data else RATES
    action = {"scale": added.pop("action_scale", 1.0), **(data.get("action") or {})}
    return {**rates, **added, "action": action, **{k: v for k, v in data.items() if k != "action"}}


def _further(file: Path, data: Mapping[str, Any]) -> list[str]:
    """Return the names of the network's additional inputs.

    The names are the keys of `inputs` in the description. If the description has no `inputs`, the
    only name is `time_step`, provided that the file of the network contains this text.
    """
    inputs = data.get("inputs")
    if isinstance(inputs, dict):
        return list(map(str, inputs))
    return (
        [_TIME]
        if _TIME.encode() in read_bytes(file, ControllerError, "NETWORK_SIZE", "network")
        else []
    )


def entries_of(file: Path, metadata: Mapping[str, str]) -> dict[str, Any]:
    """Return the entries of a description that the metadata of a network contain."""
    result: dict[str, Any] = {}
    for entry, keys in {"joints": NAMES, **ENTRIES}.items():
        values = next((list_in(metadata[key]) for key in keys if key in metadata), [])
        if values:
            result[entry] = values[0] if entry == "action_scale" and len(values) == 1 else values
    if "observation_names" in metadata:
        result |= _observed(file, metadata)
    return result


def _observed(file: Path, metadata: Mapping[str, str]) -> dict[str, Any]:
    by_motion = _MOTION in list_in(metadata.get("command_names", ""))
    observations: list[dict[str, Any]] = []
    for name in map(str, list_in(metadata["observation_names"])):
        if name not in TERMS:
            raise ControllerError(
                f"{file}: {unknown_name('observation', name, TERMS)}. List the `observations` in a "
                "YAML file that describes the policy"
            )
        if by_motion and TERMS[name] == "command":
            outputs = ("joint_pos", "joint_vel")
            observations += [{"term": REFERENCE, "output": output} for output in outputs]
        else:
            observations.append({"term": TERMS[name]})
    inputs = {"inputs": {_TIME: [{"term": "step"}]}} if by_motion else {}
    return {"observations": observations, **inputs}


def list_in(text: str) -> list:
    """Parse a metadata text as a list, in JSON or separated by commas.

    The result is empty if an entry is neither a text nor a number.
    """
    try:
        values = parse_json(text)
    except ValueError:
        values = [_number(part) for part in text.split(",")]
    values = values if isinstance(values, list) else [values]
    return values if all(isinstance(value, str | int | float) for value in values) else []


def _number(text: str) -> str | float:
    try:
        return float(text)
    except ValueError:
        return text.strip()
