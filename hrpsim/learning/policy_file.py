# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Write the description with which the controller OnnxPolicy runs a policy learned in a task."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from hrpsim.common.errors import StateError
from hrpsim.common.typed_values import check_arguments
from hrpsim.learning.configs import ObservationGroupCfg, ObservationTermCfg
from hrpsim.learning.task_batch import TaskBatch
from hrpsim.learning.terms.actions import JointPositionActionCfg

# Terms of policy descriptions, by the function of the observation term.
_TERMS = {
    "base_ang_vel": "angular_velocity",
    "base_lin_vel": "linear_velocity",
    "projected_gravity": "gravity",
    "generated_commands": "command",
    "joint_pos_rel": "joint_positions",
    "joint_vel": "joint_velocities",
    "joint_vel_rel": "joint_velocities",
    "last_action": "last_action",
    "gait_phase": "clock",
}
_SAME = 1e-9  # [rad]
_OF_JOINTS = "joint_pos_rel", "joint_vel", "joint_vel_rel"


def policy_description(
    tasks: TaskBatch, network: str | os.PathLike[str], group: str = "policy"
) -> dict[str, Any]:
    """Return the OnnxPolicy description of a policy that was learned in a task.

    Args:
        tasks: the worlds of the task.
        network: path of the ONNX file, relative to the description.
        group: observation group of the policy.

    Raises:
        StateError: descriptions do not support an action or a term of the task. The error names the
            term.
    """
    task, state = tasks.task, tasks.state
    name, cfg = next(iter(task.actions.items()))
    if len(task.actions) != 1 or not isinstance(cfg, JointPositionActionCfg):
        raise StateError(
            f"task {task.name!r}: a policy description has one action of joint positions, and the"
            f" task has {', '.join(task.actions)}"
        )
    if cfg.ramp:
        raise StateError(
            f"task {task.name!r}: the action {name!r} has ramp=True. The targets of a policy"
            " description change at once. Give the action ramp=False"
        )
    action = tasks.actions[name]
    at = state.joints(action.names, preserve_order=True)
    posture = state.default_joint_pos[at]
    if np.abs(action.offset - posture).max() > _SAME:
        k = int(np.argmax(np.abs(action.offset - posture)))
        raise StateError(
            f"task {task.name!r}: the action moves joint {action.names[k]!r} from"
            f" {action.offset[k]:.6g}, and the observation counts from {posture[k]:.6g} rad. A"
            " policy description has one posture. Give the task one by RobotCfg(joint_pos=...)"
        )
    terms = task.groups[group]
    periods = [term.params["period"] for term in terms.terms.values() if term.func == "gait_phase"]
    clock = {"frequency": 1.0 / periods[0]} if periods else {}
    return {
        "policy": os.fspath(network),
        "period": task.time_step,
        "decimation": task.decimation,
        **clock,
        "joints": list(action.names),
        "default": posture.tolist(),
        "kp": state.gains[0][at].tolist(),
        "kd": state.gains[1][at].tolist(),
        "armature": state.armature[at].tolist(),
        "action": {"scale": action.scale.tolist(), "clip": float(action.bound)},
        "observations": [
            _term(name, term, terms, action.names, tasks) for name, term in terms.terms.items()
        ],
    }


def _term(
    name: str,
    cfg: ObservationTermCfg,
    group: ObservationGroupCfg,
    joints: tuple[str, ...],
    tasks: TaskBatch,
) -> dict[str, Any]:
    """Return the description's entry for one observation term."""
    func = cfg.func if isinstance(cfg.func, str) else getattr(cfg.func, "__name__", "?")
    if func not in _TERMS:
        raise StateError(
            f"observation {name!r}: policy descriptions have no term for {func!r}. Supported terms:"
            f" {', '.join(_TERMS)}"
        )
    if func in _OF_JOINTS:
        _check_joints(name, cfg.params, joints, tasks)
    entry: dict[str, Any] = {"term": _TERMS[func]}
    if cfg.scale is not None:
        entry["scale"] = cfg.scale if isinstance(cfg.scale, float | int) else list(cfg.scale)
    if cfg.clip is not None:
        entry["clip"] = _bound(name, cfg)
    length = cfg.history_length if group.history_length is None else group.history_length
    if length > 1:
        entry["history"] = length
    return entry


def _bound(name: str, cfg: ObservationTermCfg) -> float:
    """Return the largest magnitude that a symmetric clip allows.

    Raises StateError for other clips, and for a clip together with a scale.
    """
    assert cfg.clip is not None
    if cfg.scale is not None:
        raise StateError(
            f"observation {name!r}: policy descriptions clip after the scale. Give the term either"
            " clip or scale"
        )
    if cfg.clip[0] != -cfg.clip[1]:
        raise StateError(
            f"observation {name!r}: the bounds {cfg.clip} are not symmetric. Policy descriptions "
            "need clip=(-x, x)"
        )
    return float(cfg.clip[1])


def _check_joints(
    name: str, params: Mapping[str, Any], joints: tuple[str, ...], tasks: TaskBatch
) -> None:
    state = tasks.state
    preserve_order = params.get("preserve_order", False)
    observed = state.joints(params.get("joint_names", (".*",)), preserve_order)
    if tuple(state.joint_names[k] for k in observed) != joints:
        raise StateError(
            f"observation {name!r} has other joints than the action. A policy description needs the"
            " same joints. Give the term the joint_names of the action"
        )


def write_policy(
    path: str | os.PathLike[str],
    tasks: TaskBatch,
    network: str | os.PathLike[str],
    group: str = "policy",
) -> None:
    """Write the result of `policy_description` to a YAML file.

    Args:
        path: path of the file.
        tasks: the worlds of the task.
        network: path of the ONNX file, relative to the description.
        group: observation group of the policy.
    """
    check_arguments(write_policy, locals(), StateError)
    text = yaml.safe_dump(policy_description(tasks, network, group), sort_keys=False)
    Path(path).write_text(text, encoding="utf-8")
