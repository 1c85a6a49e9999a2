# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A humanoid learns to keep standing under pushes, by evolution of a small linear feedback.

The feedback moves the targets of hips, knees and ankles in proportion to the tilt, the rate of the
tilt and the velocity of the waist. CMA-ES (pip install 'hrpsim[learning]') searches the 15 gains.
All candidates of a generation run in parallel in one batch of worlds, and receive the same pushes.
The result is compared with the plain servos under new pushes.

    python examples/learning/stand_under_pushes.py --minutes 12
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace

import numpy as np

from hrpsim.learning import TASKS, EventTermCfg, TaskBatch

CANDIDATES, PUSHES = 12, 12  # of a generation; worlds for each candidate
PUSH = {"impulse_range": (10.0, 50.0), "link": "BODY", "duration": 0.1}
TASK = replace(
    TASKS["push_recovery"],
    episode_length_s=5.0,
    events={
        **TASKS["push_recovery"].events,
        "pushes": EventTermCfg("push_by_impulse", "interval", (1.5, 3.5), PUSH),
    },
)
# Joints of a leg: yaw, roll and pitch of the hip, knee, pitch and roll of the ankle.
PITCH, ROLL = (2, 3, 4), (1, 5)
SCALES = np.array([1.0, 0.2, 1.0])  # of the features [rad, rad/s, m/s]


def actions(gains: np.ndarray, observed: np.ndarray) -> np.ndarray:
    """Return the actions (n, 12) for gains (n, 15).

    The first 9 gains map 3 features to the pitch joints of a leg, the other 6 to the roll joints.
    """
    gravity, velocity, rate = observed[:, 0:3], observed[:, 3:6], observed[:, 6:9]
    forward = np.stack([-gravity[:, 0], rate[:, 1], velocity[:, 0]], axis=1) * SCALES
    sideways = np.stack([gravity[:, 1], rate[:, 0], -velocity[:, 1]], axis=1) * SCALES
    pitch = np.einsum("njf,nf->nj", gains[:, :9].reshape(-1, 3, 3), forward)
    roll = np.einsum("njf,nf->nj", gains[:, 9:].reshape(-1, 2, 3), sideways)
    action = np.zeros((len(observed), 12))
    for leg in (0, 6):
        action[:, [leg + k for k in PITCH]] = pitch
        action[:, [leg + k for k in ROLL]] = roll
    return action


def stand(tasks: TaskBatch, gains: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Simulate one episode.

    Return standing time [s] and sum of rewards until the fall (worlds,).
    """
    tasks.seed(seed)
    observed = tasks.reset()["policy"]
    stands = np.ones(len(tasks), dtype=bool)
    times, rewards = np.zeros((2, len(tasks)))
    while stands.any():
        observations, reward, fell, over = tasks.step(actions(gains, observed))
        observed = observations["policy"]
        rewards += np.where(stands, reward, 0.0)
        times += np.where(stands, 0.02, 0.0)
        stands &= ~(fell | over)
        if over.any():
            break
    return times, rewards


def learn(minutes: float, seed: int = 1) -> np.ndarray:
    """Search the gains (15,) for some minutes, and return the best gains."""
    import cma

    tasks = TaskBatch(TASK, CANDIDATES * PUSHES, episodes_of=PUSHES)
    search = cma.CMAEvolutionStrategy(
        np.zeros(15), 0.5, {"popsize": CANDIDATES, "seed": seed, "verbose": -9}
    )
    begin = time.monotonic()
    while search.countiter == 0 or time.monotonic() < begin + 60.0 * minutes:
        candidates = search.ask()
        _, rewards = stand(tasks, np.repeat(candidates, PUSHES, axis=0), search.countiter)
        scores = rewards.reshape(CANDIDATES, PUSHES).mean(axis=1)
        search.tell(candidates, (-scores).tolist())
        print(f"generation {search.countiter}: mean reward {scores.mean():.1f}", flush=True)
    tasks.close()
    return search.result.xfavorite


def compare(gains: np.ndarray, count: int = 128, seed: int = 987) -> tuple[float, float]:
    """Return the fractions that stand under new pushes, with plain servos and with feedback."""
    tasks = TaskBatch(TASK, count)
    shares = []
    for tried in (np.zeros(15), gains):
        times, _ = stand(tasks, np.tile(tried, (count, 1)), seed)
        shares.append(float((times > TASK.episode_length_s - 0.03).mean()))
    tasks.close()
    return shares[0], shares[1]


def main() -> None:
    """Learn the gains, compare, and print the result."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=12.0)
    options = parser.parse_args()
    gains = learn(options.minutes)
    plain, learnt = compare(gains)
    print(f"gains: {np.round(gains, 2).tolist()}")
    print(f"standing through new pushes: plain servos {plain:.0%}, with feedback {learnt:.0%}")
    assert learnt > plain


if __name__ == "__main__":
    main()
