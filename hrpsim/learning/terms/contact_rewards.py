# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Reward terms of contacts. Terms with memory are classes, constructed once for each task."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hrpsim.learning.terms.observations import Names
from hrpsim.learning.terms.task_state import TaskState


def _strengths(state: TaskState, link_names: Names) -> np.ndarray:
    """Return the magnitudes of the contact forces on links (count, k) [N]."""
    forces = state.contact_forces[:, state.links(link_names)]
    return np.linalg.norm(forces, axis=2)


def undesired_contacts(state: TaskState, threshold: float, link_names: Names) -> np.ndarray:
    """Return the number of links whose contact force exceeds `threshold` [N], for each world."""
    return (_strengths(state, link_names) > threshold).sum(axis=1).astype(np.float64)


def desired_contacts(state: TaskState, link_names: Names, threshold: float = 1.0) -> np.ndarray:
    """Return 1 for each world in which no link has a contact force above `threshold` [N]."""
    slack = _strengths(state, link_names) <= threshold
    return np.asarray(slack.all(axis=1), dtype=np.float64)


def contact_forces(state: TaskState, threshold: float, link_names: Names) -> np.ndarray:
    """Return the sum of the contact forces in excess of `threshold` [N]."""
    return np.maximum(_strengths(state, link_names) - threshold, 0.0).sum(axis=1)


def feet_slide(state: TaskState, link_names: Names, threshold: float = 1.0) -> np.ndarray:
    """Return the summed horizontal speeds [m/s] of links with a force above `threshold` [N]."""
    touching = _strengths(state, link_names) > threshold
    return (_horizontal_speeds(state, link_names) * touching).sum(axis=1)


def feet_clearance(
    state: TaskState,
    target_height: float,
    link_names: Names,
    command_name: str,
    command_threshold: float = 0.01,
) -> np.ndarray:
    """Return the sum of |z - target| times the horizontal speed of the feet (mjlab) [m^2/s].

    Args:
        state: state of the worlds.
        target_height: height of the links' origins in the world [m].
        link_names: regular expressions of the feet.
        command_name: name of the velocity command.
        command_threshold: norm of the command [m/s] below which the term is 0.
    """
    error = np.abs(state.link_pos_w[:, state.links(link_names), 2] - target_height)
    cost = (error * _horizontal_speeds(state, link_names)).sum(axis=1)
    return cost * _moves(state, command_name, command_threshold)


def foot_clearance_reward(
    state: TaskState, target_height: float, std: float, tanh_mult: float, link_names: Names
) -> np.ndarray:
    """Return exp(-sum((z - target)^2 tanh(tanh_mult * speed)) / std) of the feet (Isaac Lab).

    Args:
        state: state of the worlds.
        target_height: height of the links' origins in the world [m].
        std: sum for which the term is 1/e [m^2].
        tanh_mult: factor of the horizontal speed [s/m].
        link_names: regular expressions of the feet.
    """
    error = state.link_pos_w[:, state.links(link_names), 2] - target_height
    swings = np.tanh(tanh_mult * _horizontal_speeds(state, link_names))
    return np.exp(-(error**2 * swings).sum(axis=1) / std)


def feet_gait(
    state: TaskState,
    period: float,
    offset: Sequence[float],
    link_names: Names,
    threshold: float = 0.5,
    command_name: str | None = None,
) -> np.ndarray:
    """Return the number of feet whose contact matches a periodic gait (unitree_rl_lab).

    Args:
        state: state of the worlds.
        period: time of a gait cycle [s].
        offset: phase of each foot when the episode begins, from 0 to 1.
        link_names: regular expressions of the feet.
        threshold: phase at which stance ends and swing begins.
        command_name: a velocity command. The term is 0 while its norm is at most 0.1.
    """
    touching = _strengths(state, link_names) > 1.0
    phase = (state.gait_phase(period)[:, None] + np.asarray(offset)) % 1.0
    right = (touching == (phase < threshold)).sum(axis=1).astype(np.float64)
    if command_name is None:
        return right
    return right * (np.linalg.norm(state.command(command_name), axis=1) > 0.1)


def _horizontal_speeds(state: TaskState, link_names: Names) -> np.ndarray:
    """Return the horizontal speeds of links (count, k) [m/s]."""
    return np.linalg.norm(state.link_lin_vel_w[:, state.links(link_names), :2], axis=2)


class ContactTimes:
    """The durations of the present contact and air phases of links, updated each control period.

    Args:
        state: state of the worlds.
        link_names: regular expressions of the links.
        force: contact force above which a link is in contact [N].
    """

    def __init__(self, state: TaskState, link_names: Names, force: float = 1.0) -> None:
        self._links, self._force = link_names, force
        self.air, self.contact, self.last_air = np.zeros(
            (3, state.count, len(state.links(link_names)))
        )
        self.first_contact = np.zeros(self.air.shape, dtype=bool)

    def update(self, state: TaskState) -> None:
        """Advance the durations by one control period."""
        touching = _strengths(state, self._links) > self._force
        self.first_contact = touching & (self.air > 0.0)
        self.last_air = np.where(self.first_contact, self.air + state.step_dt, self.last_air)
        self.air = np.where(touching, 0.0, self.air + state.step_dt)
        self.contact = np.where(touching, self.contact + state.step_dt, 0.0)

    def reset(self, worlds: np.ndarray) -> None:
        """Clear the durations in worlds (m,)."""
        for times in (self.air, self.contact, self.last_air, self.first_contact):
            times[worlds] = 0


class _StepReward:
    """Base class of rewards for stepping while the robot is commanded to move."""

    def __init__(
        self,
        state: TaskState,
        link_names: Names,
        command_name: str,
        threshold: float = 0.5,
        command_threshold: float = 0.1,
    ) -> None:
        self._times = ContactTimes(state, link_names)
        self._command, self._threshold, self._least = command_name, threshold, command_threshold

    def reset(self, worlds: np.ndarray) -> None:
        """Clear the contact and air times in worlds (m,)."""
        self._times.reset(worlds)


class FeetAirTime(_StepReward):
    """Reward of long steps: the sum of (air time - threshold) [s] over the feet that land.

    Args:
        state: state of the worlds.
        link_names: regular expressions of the feet.
        command_name: name of the velocity command.
        threshold: air time [s] above which a step is rewarded.
        command_threshold: norm of the command [m/s] below which the term is 0.
    """

    def __call__(self, state: TaskState) -> np.ndarray:
        """Return the term (count,) [s]."""
        times = self._times
        times.update(state)
        reward = ((times.last_air - self._threshold) * times.first_contact).sum(axis=1)
        return reward * _moves(state, self._command, self._least)


class FeetAirTimeOfBiped(_StepReward):
    """Reward of single support: the duration for which one foot stands and the other swings [s].

    Args:
        state: state of the worlds.
        link_names: regular expressions of the two feet.
        command_name: name of the velocity command.
        threshold: largest reward [s].
        command_threshold: norm of the command [m/s] below which the term is 0.
    """

    def __call__(self, state: TaskState) -> np.ndarray:
        """Return the term (count,) [s]."""
        times = self._times
        times.update(state)
        stands = times.contact > 0.0
        in_mode = np.where(stands, times.contact, times.air)
        single = stands.sum(axis=1) == 1
        reward = np.where(single, in_mode.min(axis=1), 0.0)
        return np.minimum(reward, self._threshold) * _moves(state, self._command, self._least)


def _moves(state: TaskState, command_name: str, least: float) -> np.ndarray:
    """Return whether the norm of the commanded velocity exceeds `least` [m/s] (count,)."""
    return np.linalg.norm(state.command(command_name)[:, :2], axis=1) > least
