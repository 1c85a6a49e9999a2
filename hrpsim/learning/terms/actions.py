# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Actions of learning tasks: the conversion of a policy's output to joint commands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from hrpsim.common.typed_values import CheckedSettings, Finite
from hrpsim.common.values import LIMIT
from hrpsim.learning.terms.selection import EVERY, values_by_name
from hrpsim.learning.terms.task_state import TaskState

Scale = Finite | Mapping[str, Finite]


@dataclass(frozen=True)
class _JointActionCfg(CheckedSettings):
    """Settings that all joint actions have in common."""

    joint_names: str | Sequence[str] = EVERY
    scale: Scale = 1.0
    offset: Scale = 0.0
    bound: Annotated[float, LIMIT] = 100.0
    preserve_order: bool = False


@dataclass(frozen=True)
class JointPositionActionCfg(_JointActionCfg):
    """Targets of joint positions: offset + scale * action. Joints need gains.

    Args:
        joint_names: regular expressions of the joints.
        scale: change of the target for an action of 1 [rad or m], one number or {regular
            expression: value}.
        offset: target for an action of 0 [rad or m], in the same form. Ignored with
            `use_default_offset`.
        use_default_offset: whether the offset is the target that holds the default posture. If a
            world file settles under load, this target differs from the posture.
        bound: largest magnitude of an action. Larger actions are clipped.
        preserve_order: whether the joints have the order of `joint_names` instead of the robot's
            order.
        ramp: whether targets change linearly over the control period, instead of at once.
    """

    use_default_offset: bool = True
    ramp: bool = False

    def make(self, state: TaskState) -> JointAction:
        """Construct the action for all worlds."""
        offset = state.default_targets if self.use_default_offset else None
        return JointAction(self, state, "positions", offset)


@dataclass(frozen=True)
class JointVelocityActionCfg(_JointActionCfg):
    """Targets of joint velocities: offset + scale * action [rad/s or m/s].

    Args:
        joint_names: regular expressions of the joints.
        scale: change of the target for an action of 1 [rad/s or m/s], one number or {regular
            expression: value}.
        offset: target for an action of 0 [rad/s or m/s], in the same form.
        bound: largest magnitude of an action. Larger actions are clipped.
        preserve_order: whether the joints have the order of `joint_names` instead of the robot's
            order.
    """

    def make(self, state: TaskState) -> JointAction:
        """Construct the action for all worlds."""
        return JointAction(self, state, "velocities", None)


@dataclass(frozen=True)
class JointEffortActionCfg(_JointActionCfg):
    """Joint efforts: offset + scale * action [Nm or N].

    Args:
        joint_names: regular expressions of the joints.
        scale: change of the effort for an action of 1 [Nm or N], one number or {regular expression:
            value}.
        offset: effort for an action of 0 [Nm or N], in the same form.
        bound: largest magnitude of an action. Larger actions are clipped.
        preserve_order: whether the joints have the order of `joint_names` instead of the robot's
            order.
    """

    def make(self, state: TaskState) -> JointAction:
        """Construct the action for all worlds."""
        return JointAction(self, state, "efforts", None)


ActionCfg = JointPositionActionCfg | JointVelocityActionCfg | JointEffortActionCfg


class JointAction:
    """The commands of some joints of all worlds.

    Args:
        cfg: the settings.
        state: state of the worlds.
        what: "positions", "velocities" or "efforts".
        rest: offset of all joints [unit of the target], which replaces the offset in `cfg`.
    """

    def __init__(
        self, cfg: ActionCfg, state: TaskState, what: str, rest: np.ndarray | None
    ) -> None:
        self._state, self._quantity = state, what
        at = state.joints(cfg.joint_names, cfg.preserve_order)
        self.names = tuple(state.joint_names[k] for k in at)
        owner = state.robot_name
        self.scale = values_by_name("scale", cfg.scale, self.names, owner, 1.0)
        offset = values_by_name("offset", cfg.offset, self.names, owner, 0.0)
        self.offset = offset if rest is None else rest[at]
        self.bound = cfg.bound
        self._over = state.step_dt if getattr(cfg, "ramp", False) else 0.0
        self.targets = np.zeros((state.count, len(at)))

    def __len__(self) -> int:
        return len(self.names)

    def command(self, actions: np.ndarray) -> None:
        """Clip actions (count, joints) to the bound, and command the joints of all worlds."""
        np.multiply(actions, self.scale, out=self.targets)
        self.targets += self.offset
        values = {self._quantity: self.targets}
        self._state.batch.command(self._state.robot_name, self.names, over=self._over, **values)


ACTIONS: dict[str, type[ActionCfg]] = {
    "JointPositionActionCfg": JointPositionActionCfg,
    "JointVelocityActionCfg": JointVelocityActionCfg,
    "JointEffortActionCfg": JointEffortActionCfg,
}
