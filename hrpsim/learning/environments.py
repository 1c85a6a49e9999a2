# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The tasks as environments of gymnasium: one robot, or many in a vector.

    import gymnasium, hrpsim.learning
    envs = gymnasium.make_vec("hrpsim/PushRecovery-v0", num_envs=64)

Observations, actions and initial states are described in humanoids.py, rewards in tasks.py. Needs
gymnasium: pip install 'hrpsim[learning]'.
"""

from typing import Any

import numpy as np

from hrpsim.common.errors import HrpsimError
from hrpsim.learning.humanoids import JOINTS, PERIOD, Humanoids
from hrpsim.learning.tasks import Task

try:
    import gymnasium
    from gymnasium import spaces
    from gymnasium.vector import AutoresetMode, VectorEnv
    from gymnasium.vector.utils import batch_space
except ImportError as cause:
    raise HrpsimError(
        f"environments need gymnasium 1.1 or later ({cause}): pip install 'hrpsim[learning]'"
    ) from cause


def _spaces(humanoids: Humanoids) -> tuple[spaces.Box, spaces.Box]:
    """Return the spaces of observations and actions of one robot."""
    size = humanoids.observation_size
    observed = spaces.Box(-np.inf, np.inf, (size,), np.float32)
    return observed, spaces.Box(-1.0, 1.0, (len(JOINTS),), np.float32)


class HumanoidEnv(gymnasium.Env):
    """One humanoid with a task: a name in TASKS, or a Task."""

    metadata = {"render_modes": [], "render_fps": round(1.0 / PERIOD)}

    def __init__(self, task: str | Task = "standing", render_mode: str | None = None):
        self.humanoids = Humanoids(task, 1, threads=1)
        self.render_mode = render_mode
        self.observation_space, self.action_space = _spaces(self.humanoids)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None):
        """Start an episode. With a seed, start the first episode of this seed."""
        super().reset(seed=seed)
        if seed is not None:
            self.humanoids.seed(seed)
        return self.humanoids.reset()[0].astype(np.float32), {}

    def step(self, action):
        """Simulate one control period."""
        observed, reward, fell, over = self.humanoids.step(np.asarray(action)[None])
        return observed[0].astype(np.float32), float(reward[0]), bool(fell[0]), bool(over[0]), {}

    def close(self) -> None:
        """End the threads."""
        self.humanoids.close()


class HumanoidVectorEnv(VectorEnv):
    """Many humanoids with a task, in one batch on all processors.

    After the end of an episode, the next step of its world starts a new episode and ignores the
    action (gymnasium's next-step autoreset). World k with seed s has the episodes of a HumanoidEnv
    whose humanoids have seed s and number k.

    Args:
        num_envs: number of worlds.
        task: a name in TASKS, or a Task.
        threads: number of threads; by default one per processor.
        render_mode: None, the only mode.
    """

    metadata = {"render_modes": [], "autoreset_mode": AutoresetMode.NEXT_STEP}

    def __init__(
        self,
        num_envs: int = 1,
        task: str | Task = "standing",
        threads: int | None = None,
        render_mode: str | None = None,
    ):
        self.num_envs = num_envs
        self.humanoids = Humanoids(task, num_envs, threads=threads)
        self.render_mode = render_mode
        self.single_observation_space, self.single_action_space = _spaces(self.humanoids)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._over = np.zeros(num_envs, dtype=bool)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None):
        """Start an episode in all worlds. With a seed, start the first episodes of this seed."""
        super().reset(seed=seed)
        if seed is not None:
            self.humanoids.seed(seed)
        self._over[:] = False
        return self.humanoids.reset().astype(np.float32), {}

    def step(self, actions):
        """Simulate one control period. Worlds with a finished episode start the next episode."""
        begins = np.flatnonzero(self._over)
        observed, reward, fell, over = self.humanoids.step(actions)
        if len(begins):
            observed = self.humanoids.reset(begins)
            reward[begins], fell[begins], over[begins] = 0.0, False, False
        self._over = fell | over
        return observed.astype(np.float32), reward, fell, over, {}

    def close_extras(self, **kwargs) -> None:
        """End the threads."""
        self.humanoids.close()
