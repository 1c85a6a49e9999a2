# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The state of the robots of all worlds at one time. Terms read this state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from hrpsim.common.errors import StateError
from hrpsim.learning.terms import rotations, selection
from hrpsim.learning.terms.random_draws import EpisodeRandom
from hrpsim.model.system import FREE
from hrpsim.world.batch import Batch


@dataclass
class PushState:
    """Forces and torques on a link of all worlds, for a number of control periods."""

    forces: np.ndarray  # (count, 3) [N], along the world's axes
    torques: np.ndarray  # (count, 3) [Nm]
    left: np.ndarray  # remaining control periods (count,)


class TaskState:
    """The state of the robots of all worlds, for terms.

    `q`, `v`, `action` and the arrays in `commands` keep their memory from step to step.
    `torch.from_dlpack` uses these arrays without a copy, so the tensor always has the present
    state.

    Args:
        batch: the worlds.
        robot: name of the robots.
        step_dt: control period [s].
        max_episode_length: number of control periods of an episode.
        random: random numbers of the worlds.
        soft_limit_factor: ratio of `joint_pos_limits` to the position limits of the robot.
    """

    def __init__(
        self,
        batch: Batch,
        robot: str,
        step_dt: float,
        max_episode_length: int,
        random: EpisodeRandom,
        soft_limit_factor: float = 1.0,
    ) -> None:
        self.batch, self.robot_name, self.step_dt = batch, robot, step_dt
        self.max_episode_length, self.random = max_episode_length, random
        first = batch.worlds[0].robots[robot]
        self.model, self.count = first.model, len(batch)
        self.joint_names, self.q_index, self.v_index = (
            first.joint_names,
            first.joint_index.q,
            first.joint_index.v,
        )
        self.link_names = tuple(frame.name for frame in first.frames)
        self.default_q = first.q.copy()
        self.default_joint_pos = self.default_q[self.q_index]
        self.default_targets = first._control()["target_position"][self.v_index].copy()
        system = first.system
        limits = np.column_stack([system.lower, system.upper])[self.v_index]
        self.joint_pos_limits = _narrowed(limits, soft_limit_factor)
        self.armature = system.rotor_inertia[self.v_index]  # [kg m^2 or kg]
        self.joint_vel_limits = system.velocity_limit[self.v_index]
        self.has_base = bool(len(system.joint_type)) and system.joint_type[0] == FREE
        self.gains = first.gains
        self.everywhere = np.arange(self.count)
        self.q, self.v = np.zeros((self.count, first.nq)), np.zeros((self.count, first.nv))
        self.action = self.prev_action = np.zeros((self.count, 0))
        self.commands: dict[str, np.ndarray] = {}
        self.command_terms: dict[str, Any] = {}
        self.reward_names: tuple[str, ...] = ()
        self.reward_weights = np.zeros(0)
        self.common_step_counter = 0
        self.pushes: dict[str, PushState] = {}
        self.episode_length = np.zeros(self.count, dtype=np.int64)
        self.terminated = np.zeros(self.count, dtype=bool)
        self.time_outs = np.zeros(self.count, dtype=bool)
        self.prev_joint_vel = np.zeros((self.count, len(self.joint_names)))
        self._moved, self._sped = np.zeros((2, self.count), dtype=bool)
        self._selected: dict[tuple, np.ndarray] = {}
        self.refresh()

    def refresh(self) -> None:
        """Read the present state of all worlds."""
        self.batch.q(self.robot_name, out=self.q)
        self.batch.v(self.robot_name, out=self.v)
        self._forget()

    def _forget(self) -> None:
        for name in _OF_THE_MOMENT:
            self.__dict__.pop(name, None)

    def note_change(self, worlds: np.ndarray, moved: bool = True) -> None:
        """Record that an event has changed rows of `v`, and of `q` if `moved`.

        `write_changes` later writes all recorded changes in one call.

        worlds: indices of the worlds (m,).
        """
        self._sped[worlds] = True
        self._moved[worlds] |= moved
        self._forget()

    def write_changes(self) -> None:
        """Write the rows of `q` and `v` that events have changed to the worlds. Read all states."""
        moved, only_sped = np.flatnonzero(self._moved), np.flatnonzero(self._sped & ~self._moved)
        if len(moved):
            self.batch.place(self.robot_name, self.q, self.v, worlds=moved)
        if len(only_sped):
            self.batch.place(self.robot_name, v=self.v, worlds=only_sped)
        self._moved[:] = self._sped[:] = False
        self.refresh()

    def joints(
        self, names: str | Sequence[str] = selection.EVERY, preserve_order: bool = False
    ) -> np.ndarray:
        """Return the indices of joints whose names match regular expressions.

        Args:
            names: one or several regular expressions.
            preserve_order: whether the joints have the order of `names` instead of the robot's
                order.

        Raises:
            StateError: an expression matches no joint. The error lists the joints.
        """
        return self._chosen("joint", names, self.joint_names, preserve_order)

    def links(self, names: str | Sequence[str]) -> np.ndarray:
        """Return the indices of links whose names match regular expressions.

        Raises StateError if an expression matches no link.
        """
        return self._chosen("link", names, self.link_names)

    def _chosen(
        self,
        kind: str,
        names: str | Sequence[str],
        known: Sequence[str],
        preserve_order: bool = False,
    ) -> np.ndarray:
        key = (kind, names if isinstance(names, str) else tuple(names), preserve_order)
        if key not in self._selected:
            indices = selection.chosen(kind, names, known, self.robot_name, preserve_order)
            self._selected[key] = np.array(indices, dtype=np.int64)
        return self._selected[key]

    def gait_phase(self, period: float) -> np.ndarray:
        """Return the phase (count,) of gait cycles of `period` [s], in the range [0, 1)."""
        return (self.episode_length * self.step_dt / period) % 1.0

    def command(self, name: str) -> np.ndarray:
        """Return the command (count, k) called `name`. Raises StateError for an unknown name."""
        if name not in self.commands:
            known = ", ".join(self.commands) or "none"
            raise StateError(f"command {name!r} does not exist in the task. Available: {known}")
        return self.commands[name]

    def push(self, link: str) -> PushState:
        """Return the push on a link, initially zero. Raises StateError for an unknown link."""
        if link not in self.pushes:
            index = self.links(link)
            forces, torques = np.zeros((2, self.count, 3))
            name = self.link_names[index[0]]
            left = np.zeros(self.count, dtype=np.int64)
            self.pushes[link] = self.pushes.setdefault(name, PushState(forces, torques, left))
        return self.pushes[link]

    def require_base(self) -> None:
        """Raise StateError for a robot with a fixed base."""
        if not self.has_base:
            raise StateError(
                f"robot {self.robot_name!r} has a fixed base, and a term uses the motion of its"
                " base. Remove the term, or load the description with base='free'"
            )

    @property
    def default_base_height(self) -> float:
        """Initial height of the base in the world [m]. Raises StateError for a fixed base."""
        self.require_base()
        return float(self.default_q[2])

    # -- of the moment ----------------------------------------------------------------------------

    @cached_property
    def joint_pos(self) -> np.ndarray:
        """Joint positions (count, joints) [rad or m]."""
        return self.q[:, self.q_index]

    @cached_property
    def joint_vel(self) -> np.ndarray:
        """Joint velocities (count, joints) [rad/s or m/s]."""
        return self.v[:, self.v_index]

    @cached_property
    def joint_acc(self) -> np.ndarray:
        """Mean joint accelerations over the last control period (count, joints) [rad/s^2]."""
        return (self.joint_vel - self.prev_joint_vel) / self.step_dt

    @cached_property
    def joint_effort(self) -> np.ndarray:
        """Efforts of the actuators in the last step (count, joints) [Nm or N]."""
        return self.batch.efforts(self.robot_name)

    @cached_property
    def contact_forces(self) -> np.ndarray:
        """Contact forces on the links in the last step, in world axes (count, links, 3) [N]."""
        return self.batch.contact_forces(self.robot_name)

    @cached_property
    def link_pos_w(self) -> np.ndarray:
        """Positions of the links' origins in the world (count, links, 3) [m]."""
        return self.batch.link_poses(self.robot_name)[0]

    @cached_property
    def link_lin_vel_w(self) -> np.ndarray:
        """Velocities of the links' origins, in world axes (count, links, 3) [m/s]."""
        return self.batch.link_velocities(self.robot_name)[0]

    @cached_property
    def root_pos_w(self) -> np.ndarray:
        """Position of the base in the world (count, 3) [m]."""
        self.require_base()
        return self.q[:, :3]

    @cached_property
    def root_quat_w(self) -> np.ndarray:
        """Orientation of the base, quaternion x y z w (count, 4)."""
        self.require_base()
        return self.q[:, 3:7]

    @cached_property
    def rotation(self) -> np.ndarray:
        """Rotation matrices R_wb (count, 3, 3) of the base."""
        return rotations.rotation_matrices(self.root_quat_w)

    @cached_property
    def root_lin_vel_b(self) -> np.ndarray:
        """Velocity of the base's origin in the base's frame (count, 3) [m/s]."""
        self.require_base()
        return self.v[:, :3]

    @cached_property
    def root_ang_vel_b(self) -> np.ndarray:
        """Angular velocity of the base in the base's frame (count, 3) [rad/s]."""
        self.require_base()
        return self.v[:, 3:6]

    @cached_property
    def root_lin_vel_w(self) -> np.ndarray:
        """Velocity of the base's origin along the world's axes (count, 3) [m/s]."""
        return rotations.in_world(self.rotation, self.root_lin_vel_b)

    @cached_property
    def root_ang_vel_w(self) -> np.ndarray:
        """Angular velocity of the base along the world's axes (count, 3) [rad/s]."""
        return rotations.in_world(self.rotation, self.root_ang_vel_b)

    @cached_property
    def projected_gravity_b(self) -> np.ndarray:
        """Direction of gravity in the base's frame (count, 3), (0, 0, -1) upright."""
        return rotations.gravity_in_frame(self.rotation)

    @cached_property
    def heading_w(self) -> np.ndarray:
        """Yaw of the base (count,) [rad]."""
        return rotations.headings(self.rotation)


def _narrowed(limits: np.ndarray, factor: float) -> np.ndarray:
    """Narrow limits (joints, 2) about their middle by a factor. Infinite limits stay infinite."""
    lower, upper = limits.T
    cut = 0.5 * (1.0 - factor) * np.where(np.isfinite(upper - lower), upper - lower, 0.0)
    return np.column_stack([lower + cut, upper - cut])


_OF_THE_MOMENT = tuple(
    name for name, value in vars(TaskState).items() if isinstance(value, cached_property)
)
