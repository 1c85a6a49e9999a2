# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Learning tasks as gymnasium environments: one world, or many worlds in a vector.

    import gymnasium, hrpsim.learning
    envs = gymnasium.make_vec("hrpsim/PushRecovery-v0", num_envs=64)

Needs gymnasium: pip install 'hrpsim[learning]'.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hrpsim.common.errors import HrpsimError, StateError, require_name, require_names
from hrpsim.learning.autoreset import reset_mask_of, seed_of
from hrpsim.learning.filming import Filming
from hrpsim.learning.task import Task
from hrpsim.learning.task_batch import Observed, TaskBatch

try:
    import gymnasium
    from gymnasium import spaces
    from gymnasium.vector import AutoresetMode, VectorEnv
    from gymnasium.vector.utils import batch_space
except ImportError as cause:
    raise HrpsimError(
        f"environments need gymnasium 1.1 or later ({cause}): pip install 'hrpsim[learning]'"
    ) from cause

RENDER_MODES = ["rgb_array"]


def _spaces(tasks: TaskBatch) -> tuple[spaces.Space, spaces.Box]:
    """Return the spaces of observations and actions of one world."""
    boxes: dict[str, spaces.Space] = {
        group: spaces.Box(-np.inf, np.inf, (size,), np.float32)
        for group, size in tasks.observation_sizes.items()
    }
    observed = spaces.Dict(boxes) if len(boxes) > 1 else next(iter(boxes.values()))
    bounds = tasks.action_bounds.astype(np.float32)
    return observed, spaces.Box(-bounds, bounds, dtype=np.float32)


def _in_single_precision(observed: Observed) -> Any:
    """Convert observations to single precision. Return an array, or a mapping of several groups."""
    narrow = {group: values.astype(np.float32) for group, values in observed.items()}
    return narrow if len(narrow) > 1 else next(iter(narrow.values()))


def _check_render_mode(render_mode: str | None) -> None:
    if render_mode is not None:
        require_name("render_mode", render_mode, RENDER_MODES, StateError)


class TaskEnv(gymnasium.Env):
    """One world of a task.

    Args:
        task: a Task, or a name in TASKS.
        render_mode: None, or "rgb_array" for pictures (`hrpsim[camera]`).

    Raises:
        StateError: the task or the render mode does not exist.
    """

    metadata: dict[str, Any] = {"render_modes": RENDER_MODES, "render_fps": 50}

    def __init__(self, task: str | Task = "standing", render_mode: str | None = None) -> None:
        _check_render_mode(render_mode)
        self.tasks = TaskBatch(task, 1, threads=1)
        self.render_mode = render_mode
        self._filming = Filming(self.tasks)
        self.metadata = {**self.metadata, "render_fps": round(1.0 / self.tasks.task.step_dt)}
        self.observation_space, self.action_space = _spaces(self.tasks)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None):
        """Start an episode. With a seed, start the first episode of this seed.

        Raises:
            StateError: options are given, or the seed is not a whole number >= 0.
        """
        require_names("option of reset", options or (), (), StateError)
        single = seed_of(seed, np.ones(1, dtype=bool))
        super().reset(seed=single)
        if single is not None:
            self.tasks.seed(single)
        return _row(_in_single_precision(self.tasks.reset()), 0), {}

    def step(self, action):
        """Simulate one control period."""
        observed, reward, terminated, truncated = self.tasks.step(np.asarray(action)[None])
        ended = bool(terminated[0]), bool(truncated[0])
        return _row(_in_single_precision(observed), 0), float(reward[0]), *ended, {}

    def render(self) -> np.ndarray | None:
        """Return a picture (height, width, 3) uint8, or None without a render mode."""
        return self._filming.frame(0) if self.render_mode else None

    def close(self) -> None:
        """End the threads of the environment."""
        self.tasks.close()


def _row(observed: Any, k: int) -> Any:
    if isinstance(observed, dict):
        return {group: values[k] for group, values in observed.items()}
    return observed[k]


class TaskVectorEnv(VectorEnv):
    """Many worlds of a task, in one batch on all processors.

    `autoreset_mode` defines how a world with a finished episode continues (gymnasium's
    AutoresetMode):

    - NEXT_STEP: the next step starts a new episode, ignores the action and rewards 0.
    - SAME_STEP: the step that ends an episode starts the next one. `info["final_obs"]` has the last
      observations, and `info["_final_obs"]` marks these worlds.
    - DISABLED: the user must call `reset(options={"reset_mask": mask})`.

    With seed s, world k has the same episodes as world k of a TaskBatch with seed s.

    Args:
        num_envs: number of worlds.
        task: a Task, or a name in TASKS.
        threads: number of threads. The default is one for each processor.
        render_mode: None, or "rgb_array" for pictures (`hrpsim[camera]`).
        autoreset_mode: as above.

    Raises:
        StateError: the task, the render mode or the autoreset mode does not exist.
    """

    metadata: dict[str, Any] = {
        "render_modes": RENDER_MODES,
        "render_fps": 50,
        "autoreset_mode": AutoresetMode.NEXT_STEP,
    }

    def __init__(
        self,
        num_envs: int = 1,
        task: str | Task = "standing",
        threads: int | None = None,
        render_mode: str | None = None,
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
    ) -> None:
        _check_render_mode(render_mode)
        self.num_envs, self.render_mode = num_envs, render_mode
        modes = [mode.value for mode in AutoresetMode]
        if not isinstance(autoreset_mode, AutoresetMode):
            require_name("autoreset_mode", autoreset_mode, modes, StateError)
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.tasks = TaskBatch(task, num_envs, threads=threads)
        self._filming = Filming(self.tasks)
        self.metadata = {
            **self.metadata,
            "render_fps": round(1.0 / self.tasks.task.step_dt),
            "autoreset_mode": self.autoreset_mode,
        }
        self.single_observation_space, self.single_action_space = _spaces(self.tasks)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._over = np.zeros(num_envs, dtype=bool)
        self._observed: Observed = {}

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None):
        """Start an episode in all worlds, or in some worlds.

        Args:
            seed: start the first episodes of this seed. A seed restarts all worlds.
            options: `reset_mask` (num_envs,) bool selects the worlds. Other worlds continue.

        Returns:
            Observations of all worlds, and an empty mapping.

        Raises:
            StateError: the mask is not one truth value for each world, or selects no world.
        """
        mask = reset_mask_of(options, self.num_envs)
        single = seed_of(seed, mask)
        super().reset(seed=single)
        if single is not None:
            self.tasks.seed(single)
        chosen = np.flatnonzero(mask)
        self._begin(chosen)
        return _in_single_precision(self._observed), {}

    def _begin(self, worlds: np.ndarray) -> None:
        """Start episodes in worlds (m,), and store the first observations."""
        for group, values in self.tasks.reset(worlds).items():
            if group not in self._observed:
                self._observed[group] = np.zeros((self.num_envs, values.shape[1]))
            self._observed[group][worlds] = values
        self._over[worlds] = False

    def step(self, actions):
        """Simulate one control period, and start episodes as `autoreset_mode` defines.

        Raises:
            StateError: the actions have the wrong shape or are not finite, or with the mode
                DISABLED, a world with a finished episode was not reset.
        """
        over, mode, info = self._over.copy(), self.autoreset_mode, {}
        if mode == AutoresetMode.DISABLED and over.any():
            raise StateError(
                f"the episode of world {np.flatnonzero(over)[0]} is finished. Reset the world by"
                " reset(options={'reset_mask': ...})"
            )
        self._observed, reward, terminated, truncated = self.tasks.step(actions)
        self._over = terminated | truncated
        if mode == AutoresetMode.NEXT_STEP and over.any():
            self._begin(np.flatnonzero(over))
            reward[over], terminated[over], truncated[over] = 0.0, False, False
        elif mode == AutoresetMode.SAME_STEP and self._over.any():
            info = self._final_info()
            self._begin(np.flatnonzero(self._over))
        return _in_single_precision(self._observed), reward, terminated, truncated, info

    def _final_info(self) -> dict[str, Any]:
        """Return the last observations of finished episodes, in gymnasium's format."""
        observed, over = _in_single_precision(self._observed), self._over
        final = np.full(self.num_envs, None, dtype=object)
        for k in np.flatnonzero(over).tolist():
            final[k] = _row(observed, k)
        return {
            "final_obs": final,
            "_final_obs": over.copy(),
            "final_info": {},
            "_final_info": over.copy(),
        }

    def render(self) -> tuple[np.ndarray, ...] | None:
        """Return a picture (height, width, 3) uint8 of each world, or None without a mode."""
        if not self.render_mode:
            return None
        return tuple(self._filming.frame(k) for k in range(self.num_envs))

    def close_extras(self, **kwargs: Any) -> None:
        """End the threads of the environments."""
        self.tasks.close()
