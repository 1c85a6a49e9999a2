# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""PPO of stable-baselines3 learns to keep a humanoid standing under pushes, in many worlds at once.

stable-baselines3 takes vectors of its own kind, older than gymnasium's: a world whose episode is
over begins the next one in the same step, and what it observed last is told beside. `Humanoids`
does that in a few lines. The result is compared with the plain servos under pushes that it has not
seen.

    pip install 'hrpsim[learning]' stable-baselines3
    python examples/learning/ppo_under_pushes.py --minutes 8
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from typing import Any

import numpy as np
from gymnasium import spaces
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import VecEnv, VecMonitor, VecNormalize

from hrpsim.learning.humanoids import JOINTS, Humanoids
from hrpsim.learning.tasks import TASKS

TASK = replace(TASKS["push_recovery"], duration=5.0, push_impulse=(10.0, 50.0))


class HumanoidVecEnv(VecEnv):
    """`Humanoids` as stable-baselines3 takes them."""

    def __init__(self, humanoids: Humanoids):
        self.humanoids = humanoids
        observed = spaces.Box(-np.inf, np.inf, (humanoids.observation_size,), np.float32)
        super().__init__(len(humanoids), observed, spaces.Box(-1.0, 1.0, (len(JOINTS),)))

    def seed(self, seed=None):
        """Begin anew with the episodes of a seed; `reset` must follow."""
        self.humanoids.seed(0 if seed is None else seed)
        return [seed] * self.num_envs

    def reset(self):
        """Begin an episode everywhere."""
        return self.humanoids.reset().astype(np.float32)

    def step_async(self, actions):
        """Keep what to do."""
        self._actions = actions

    def step_wait(self):
        """Let one control period pass; worlds whose episode is over begin the next one at once."""
        observed, rewards, fell, over = self.humanoids.step(self._actions)
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        ended = np.flatnonzero(fell | over)
        for k in ended:
            infos[k]["terminal_observation"] = observed[k].astype(np.float32)
            infos[k]["TimeLimit.truncated"] = bool(over[k])
        if len(ended):
            observed = self.humanoids.reset(ended)
        return observed.astype(np.float32), rewards.astype(np.float32), fell | over, infos

    def close(self):
        """Let the threads end."""
        self.humanoids.close()

    # What stable-baselines3 asks of an environment in a process of its own.

    def get_attr(self, attr_name, indices=None):
        """Return an attribute, the same for all."""
        return [getattr(self, attr_name, None) for _ in self._get_indices(indices)]

    def set_attr(self, attr_name, value, indices=None):
        """Set an attribute of all."""
        setattr(self, attr_name, value)

    def env_method(self, method_name, *arguments, indices=None, **named):
        """Refuse: there is no object for each world."""
        raise NotImplementedError(f"worlds of a batch have no method {method_name!r}")

    def env_is_wrapped(self, wrapper_class, indices=None):
        """Return that no world is wrapped by itself."""
        return [False for _ in self._get_indices(indices)]


class UntilTime(BaseCallback):
    """Ends the training after so many minutes."""

    def __init__(self, minutes: float):
        super().__init__()
        self._end = time.monotonic() + 60.0 * minutes

    def _on_step(self) -> bool:
        return time.monotonic() < self._end


def learn(minutes: float, worlds: int = 64, seed: int = 1, verbose: int = 1):
    """Return a policy, a function from observations (n, 49) to actions (n, 12)."""
    envs = VecNormalize(VecMonitor(HumanoidVecEnv(Humanoids(TASK, worlds))), gamma=0.98)
    model = PPO(
        "MlpPolicy",
        envs,
        n_steps=50,
        batch_size=800,
        n_epochs=5,
        gamma=0.98,
        learning_rate=1e-3,
        # Begins as the plain servos do, nearly, and tries what does not throw it over.
        policy_kwargs={"log_std_init": -3.0, "net_arch": [64, 64]},
        seed=seed,
        verbose=verbose,
    )
    model.learn(10**9, callback=UntilTime(minutes))
    envs.training = False
    envs.close()

    def policy(observed: np.ndarray) -> np.ndarray:
        return model.predict(envs.normalize_obs(observed), deterministic=True)[0]

    return policy


def standing_share(policy, count: int = 128, seed: int = 987) -> float:
    """Return which share of robots stand through an episode of pushes."""
    humanoids = Humanoids(TASK, count)
    humanoids.seed(seed)
    observed, stands, over = humanoids.reset(), np.ones(count, dtype=bool), np.zeros(1)
    while stands.any() and not over.any():
        observed, _, fell, over = humanoids.step(policy(observed))
        stands &= ~fell
    humanoids.close()
    return float(stands.mean())


def main() -> None:
    """Learn, compare, and say how it went."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=8.0)
    options = parser.parse_args()
    policy = learn(options.minutes)
    plain = standing_share(lambda observed: np.zeros((len(observed), len(JOINTS))))
    learnt = standing_share(policy)
    print(f"standing through new pushes: plain servos {plain:.0%}, with the policy {learnt:.0%}")
    assert learnt > plain


if __name__ == "__main__":
    main()
