# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A task in many worlds. Each world has its own actions, observations, rewards and resets."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from hrpsim.common.closed import Closed
from hrpsim.common.errors import StateError, require_different, require_name
from hrpsim.common.typed_values import require_fit
from hrpsim.common.values import numeric_array, whole_count
from hrpsim.learning.bound_terms import BoundTerm, bound_term
from hrpsim.learning.observing import ObservationGroups
from hrpsim.learning.scene import make_world
from hrpsim.learning.scheduled_events import ScheduledEvents
from hrpsim.learning.standard_tasks import TASKS
from hrpsim.learning.task import Task
from hrpsim.learning.terms.curriculum import CURRICULA
from hrpsim.learning.terms.random_draws import EpisodeRandom
from hrpsim.learning.terms.rewards import REWARDS
from hrpsim.learning.terms.task_state import TaskState
from hrpsim.learning.terms.terminations import TERMINATIONS
from hrpsim.world.batch import Batch

Observed = dict[str, np.ndarray]


class TaskBatch(Closed):
    """The worlds of a task, each with a robot.

    Every episode depends only on the seed, the index of the world and the index of the episode.
    With a curriculum, the episode also depends on the number of earlier control periods. The order
    within a step is the order of Isaac Lab and mjlab: action, simulation, terminations, rewards,
    commands, events, observation. After an episode has ended, events and commands stop until
    `reset`.

    Args:
        task: a Task, or a name in TASKS.
        count: number of worlds.
        seed: seed of the episodes.
        threads: number of threads. The default is one for each processor.
        episodes_of: world k has the same episodes as world k mod `episodes_of`, to compare
            policies.

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
        require_fit("the task of a TaskBatch", task, Task)
        self.task = task
        world, robot = make_world(task)
        self.batch = batch = Batch(world, count, threads)
        for member in batch.worlds:
            member.robots[robot.name].report_no_limits()
        draws = EpisodeRandom(count, 0, episodes_of)
        self.state = state = TaskState(
            batch,
            robot.name,
            task.step_dt,
            task.max_episode_length,
            draws,
            task.robot.soft_joint_pos_limit_factor,
        )
        self.actions = {name: cfg.make(state) for name, cfg in task.actions.items()}
        require_different("joints of the task's actions", self.action_names, StateError)
        sizes = [len(action) for action in self.actions.values()]
        self._ends, self._bounds = np.cumsum([0, *sizes]), self.action_bounds
        state.action, state.prev_action = np.zeros((2, count, self._ends[-1]))
        self._commands = {name: cfg.make(state) for name, cfg in task.commands.items()}
        state.command_terms.update(self._commands)
        state.commands.update({name: command.value for name, command in self._commands.items()})
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
        self._factor = task.step_dt if task.scale_rewards_by_dt else 1.0
        state.reward_names = tuple(task.rewards)
        self._curriculum = [
            bound_term("curriculum", name, cfg.func, cfg.params, CURRICULA, state, leading=2)
            for name, cfg in task.curriculum.items()
        ]
        self._terminations = {
            name: bound_term("termination", name, cfg.func, cfg.params, TERMINATIONS, state)
            for name, cfg in task.terminations.items()
        }

    def __len__(self) -> int:
        return self.state.count

    @property
    def observation_sizes(self) -> dict[str, int]:
        """Length of the observation of each group."""
        groups = self._observations.terms.items()
        return {group: sum(term.width for term in terms) for group, terms in groups}

    @property
    def action_names(self) -> tuple[str, ...]:
        """The joint commanded by each entry of an action."""
        return tuple(name for action in self.actions.values() for name in action.names)

    @property
    def action_bounds(self) -> np.ndarray:
        """Largest magnitude of each entry of an action."""
        return np.concatenate(
            [np.full(len(action), action.bound) for action in self.actions.values()]
        )

    def seed(self, seed: int) -> None:
        """Restart with other episodes and the first stage of the curriculum. Call `reset` next."""
        state, task = self.state, self.task
        state.random.seed(whole_count("the seed", seed, 0))
        state.common_step_counter = 0
        state.reward_weights = np.array([cfg.weight for cfg in task.rewards.values()], dtype=float)
        for name, cfg in task.commands.items():
            self._commands[name].ranges = cfg.ranges
        self._events.start("startup", state.everywhere)

    def reset(self, worlds: Sequence[int] | np.ndarray | None = None) -> Observed:
        """Start new episodes in some worlds, in one call.

        Args:
            worlds: indices of m worlds, or a truth value for each world. The default is all worlds.

        Returns:
            The observations (m, size) of these worlds, by group.
        """
        state = self.state
        chosen = np.array(self.batch.numbers(worlds), dtype=np.int64)
        for term in self._curriculum:
            term.value(state, chosen)
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
            actions: array (count, k) of numpy, torch or jax.

        Returns:
            Observations (count, size) by group, rewards (count,), whether each episode is
            terminated (count,), and whether each episode is truncated (count,). An ended episode
            keeps running until `reset`.

        Raises:
            StateError: actions have the wrong shape or are not finite, no episode has begun, or the
                result of a term has the wrong shape or is NaN. The error names world and joint, or
                the term.
            WorldError: some worlds could not be stepped. The error names the worlds.
        """
        state = self.state
        self._take_actions(actions)
        state.prev_joint_vel[:] = state.joint_vel
        self._events.push()
        self.batch.step(self.task.decimation)
        state.episode_length += 1
        state.common_step_counter += 1
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
        if (state.random.episodes < 0).any():
            raise StateError("the worlds of a TaskBatch have no episode yet. Call reset() first")
        values = numeric_array("actions", actions)
        if values.shape != state.action.shape:
            raise StateError(
                f"actions must be finite and have shape {state.action.shape}, got {values.shape}"
            )
        if not np.isfinite(values).all():
            world, column = np.argwhere(~np.isfinite(values))[0]
            raise StateError(
                f"actions must be finite and have shape {state.action.shape}: the action of world"
                f" {world}, joint {self.action_names[column]!r}, is {values[world, column]}"
            )
        state.prev_action[:] = state.action
        np.clip(values, -self._bounds, self._bounds, out=state.action)
        for term, first, end in zip(self.actions.values(), self._ends, self._ends[1:]):
            term.command(state.action[:, first:end])

    def _ended(self) -> tuple[np.ndarray, np.ndarray]:
        """Return whether episodes are terminated, and whether they are truncated."""
        state = self.state
        terminated, timed_out = np.zeros((2, state.count), dtype=bool)
        for name, term in self._terminations.items():
            ends = timed_out if self.task.terminations[name].time_out else terminated
            ends |= self._result("termination", name, term, "b")
        state.terminated[:], state.time_outs[:] = terminated, timed_out
        return terminated, timed_out & ~terminated

    def _reward(self) -> np.ndarray:
        """Return the rewards (count,), and store the individual terms."""
        for column, (name, term) in enumerate(self._rewards.items()):
            self.reward_terms[:, column] = self._result("reward", name, term, "biuf")
        self.reward_terms *= self._factor * self.state.reward_weights
        rewards = self.reward_terms.sum(axis=1)
        if np.isnan(rewards).any():
            world, column = np.argwhere(np.isnan(self.reward_terms))[0]
            raise StateError(f"reward {list(self._rewards)[column]!r} of world {world} is NaN")
        return rewards

    def _result(self, kind: str, name: object, term: BoundTerm, kinds: str) -> np.ndarray:
        """Evaluate a term (count,). Raises StateError if the result has the wrong shape or type."""
        values = np.asarray(term.value(self.state))
        if values.shape != (self.state.count,) or values.dtype.kind not in kinds:
            needed = "truth values" if kinds == "b" else "numbers"
            raise StateError(
                f"{kind} {name!r}: the term returns {values.dtype} of the shape {values.shape}. It"
                f" should return {needed} of the shape ({self.state.count},)"
            )
        return values

    def close(self) -> None:
        """End the threads."""
        self.batch.close()
