# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A task in many worlds: commanded, observed, rewarded and reset independently."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from hrpsim.common.closed import Closed
from hrpsim.common.errors import StateError, require_name
from hrpsim.common.values import whole_count
from hrpsim.learning.bound_terms import bound_term
from hrpsim.learning.observing import ObservationGroups
from hrpsim.learning.scene import make_world
from hrpsim.learning.scheduled_events import ScheduledEvents
from hrpsim.learning.standard_tasks import TASKS
from hrpsim.learning.task import Task
from hrpsim.learning.terms.random_draws import EpisodeRandom
from hrpsim.learning.terms.rewards import REWARDS
from hrpsim.learning.terms.task_state import TaskState
from hrpsim.learning.terms.terminations import TERMINATIONS
from hrpsim.world.batch import Batch
from hrpsim.world.batch_arguments import as_array

Observed = dict[str, np.ndarray]


class TaskBatch(Closed):
    """The worlds of a task, each with a robot.

    Every episode depends only on the seed, the world's number and the episode's number. A step has
    the order of Isaac Lab and mjlab: action, simulation, terminations, rewards, commands, events,
    observation. The events and commands of finished episodes rest until `reset`.

    Args:
        task: a Task, or a name in TASKS.
        count: number of worlds.
        seed: of the episodes.
        threads: number of threads. The default is one for each processor.
        episodes_of: world k has the episodes of world k mod `episodes_of`, to compare policies.

    Raises:
        StateError: a term, joint or link does not exist. The error names the term and lists names.
    """

    def __init__(
        self,
        task: str | Task,
        count: int,
        seed: int = 0,
        threads: int | None = None,
        episodes_of: int | None = None,
    ) -> None:
        if isinstance(task, str):
            require_name("task", task, TASKS, StateError)
            task = TASKS[task]
        self.task = task
        world, robot = make_world(task)
        self.batch = batch = Batch(world, count, threads)
        for one in batch.worlds:
            one.robots[robot.name].report_no_limits()
        draws = EpisodeRandom(count, 0, episodes_of)
        self.state = state = TaskState(
            batch, robot.name, task.step_dt, task.max_episode_length, draws
        )
        self.actions = {name: cfg.make(state) for name, cfg in task.actions.items()}
        sizes = [len(one) for one in self.actions.values()]
        self._ends = np.cumsum([0, *sizes])
        state.action, state.prev_action = np.zeros((2, count, self._ends[-1]))
        self._commands = {name: cfg.make(state) for name, cfg in task.commands.items()}
        state.commands.update({name: one.value for name, one in self._commands.items()})
        self._events = ScheduledEvents(task.events, state)
        self._bind_terms()
        self._observations = ObservationGroups(task.groups, state)
        self.reward_terms = np.zeros((count, len(self._rewards)))
        self.seed(seed)

    def _bind_terms(self) -> None:
        """Find the functions of rewards and terminations."""
        task, state = self.task, self.state
        self._rewards = {
            name: bound_term("reward", name, cfg.func, cfg.params, REWARDS, state)
            for name, cfg in task.rewards.items()
        }
        factor = task.step_dt if task.scale_rewards_by_dt else 1.0
        self._weights = factor * np.array([cfg.weight for cfg in task.rewards.values()])
        self._terminations = [
            (cfg, bound_term("termination", name, cfg.func, cfg.params, TERMINATIONS, state))
            for name, cfg in task.terminations.items()
        ]

    def __len__(self) -> int:
        return self.state.count

    @property
    def observation_sizes(self) -> dict[str, int]:
        """Lengths of the observations by group."""
        found = self._observations.terms.items()
        return {group: sum(term.width for term in terms) for group, terms in found}

    @property
    def action_names(self) -> tuple[str, ...]:
        """The joint of each number of an action."""
        return tuple(name for one in self.actions.values() for name in one.names)

    @property
    def action_bounds(self) -> np.ndarray:
        """Largest magnitude of each number of an action."""
        return np.concatenate([np.full(len(one), one.bound) for one in self.actions.values()])

    def seed(self, seed: int) -> None:
        """Restart with other episodes. Call `reset` next."""
        self.state.random.seed(whole_count("the seed", seed, 0))
        self._events.start("startup", self.state.everywhere)

    def reset(self, worlds: Sequence[int] | np.ndarray | None = None) -> Observed:
        """Start new episodes in some worlds, in one call.

        Args:
            worlds: numbers of m worlds, or a truth value for each world. The default is all worlds.

        Returns:
            The observations (m, size) of these worlds, by group.
        """
        state = self.state
        chosen = np.array(self.batch.numbers(worlds), dtype=np.int64)
        state.random.begin(chosen)
        self.batch.reset(chosen)
        state.refresh()
        state.episode_length[chosen] = 0
        state.terminated[chosen] = state.time_outs[chosen] = False
        state.action[chosen] = state.prev_action[chosen] = 0.0
        self._events.start("reset", chosen)
        state.prev_joint_vel[chosen] = state.joint_vel[chosen]
        for term in self._rewards.values():
            if term.reset is not None:
                term.reset(chosen)
        for command in self._commands.values():
            command.reset(chosen)
        return self._observations.observe(chosen, begins=True)

    def step(self, actions: ArrayLike) -> tuple[Observed, np.ndarray, np.ndarray, np.ndarray]:
        """Simulate one control period of all worlds.

        Args:
            actions: (count, k), of numpy, torch or jax.

        Returns:
            Observations (count, size) by group, rewards (count,), and whether each episode is
            terminated or truncated (count,). A finished episode continues until `reset`.

        Raises:
            StateError: actions of another shape, or not finite. The error names world and joint.
            WorldError: worlds that could not be stepped. The error names the worlds.
        """
        state = self.state
        self._take_actions(actions)
        state.prev_joint_vel[:] = state.joint_vel
        self._events.push()
        self.batch.step(self.task.decimation)
        state.episode_length += 1
        state.refresh()
        terminated, truncated = self._ended()
        reward = self._reward()
        going = np.flatnonzero(~(terminated | truncated))
        for command in self._commands.values():
            command.update(going)
        self._events.pass_period(going)
        observed = self._observations.observe(state.everywhere, begins=False)
        return observed, reward, terminated, truncated

    def _take_actions(self, actions: ArrayLike) -> None:
        """Check the actions and command the joints."""
        state = self.state
        given = np.asarray(as_array(actions), dtype=np.float64)
        if given.shape != state.action.shape:
            raise StateError(
                f"actions must be finite and have shape {state.action.shape}, got {given.shape}"
            )
        if not np.isfinite(given).all():
            world, column = np.argwhere(~np.isfinite(given))[0]
            raise StateError(
                f"actions must be finite and have shape {state.action.shape}: the action of world"
                f" {world}, joint {self.action_names[column]!r}, is {given[world, column]}"
            )
        state.prev_action[:] = state.action
        bounds = self.action_bounds
        np.clip(given, -bounds, bounds, out=state.action)
        for one, first, end in zip(self.actions.values(), self._ends, self._ends[1:]):
            one.command(state.action[:, first:end])

    def _ended(self) -> tuple[np.ndarray, np.ndarray]:
        """Return whether episodes are terminated, and whether they are truncated."""
        state = self.state
        terminated, timed_out = np.zeros((2, state.count), dtype=bool)
        for cfg, term in self._terminations:
            ends = timed_out if cfg.time_out else terminated
            ends |= term.value(state)
        state.terminated[:], state.time_outs[:] = terminated, timed_out
        return terminated, timed_out & ~terminated

    def _reward(self) -> np.ndarray:
        """Return the rewards (count,), and keep their terms."""
        for column, term in enumerate(self._rewards.values()):
            self.reward_terms[:, column] = term.value(self.state)
        self.reward_terms *= self._weights
        return self.reward_terms.sum(axis=1)

    def close(self) -> None:
        """End the threads."""
        self.batch.close()
