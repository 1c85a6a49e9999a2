# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Imitation for track_velocity.py: a network learns the actions of a teacher, by DAgger.

The teacher is a recurrent policy in TorchScript, and observes the group "teacher" of the task. The
teacher acts in the first round. In the later rounds the network acts, and the teacher provides its
action for each state that the network reaches. The network has no memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import torch

ROUNDS = 8
PERIODS = 400  # control periods of a round
FITS, BATCH, RATE = 2000, 512, 1e-3  # of the optimiser in a round
LARGEST = 12.0  # action of a teacher that has not lost its way


class Teacher:
    """A policy of unitree_rl_gym, in all worlds.

    Args:
        path: path of the TorchScript file.
        count: number of worlds.
    """

    def __init__(self, path: Path, count: int) -> None:
        self._network = torch.jit.load(path)
        self._count = count
        self.reset()

    def reset(self) -> None:
        """Clear the memory in all worlds."""
        for name in ("hidden_state", "cell_state"):
            layers, _, width = getattr(self._network, name).shape
            setattr(self._network, name, torch.zeros(layers, self._count, width))

    def forget(self, over: torch.Tensor) -> None:
        """Clear the memory in worlds whose episode has ended.

        over: whether the episode has ended (count,).
        """
        self._network.hidden_state[:, over] = 0.0
        self._network.cell_state[:, over] = 0.0

    def __call__(self, observed) -> torch.Tensor:
        """Return the teacher's actions (count, k)."""
        with torch.no_grad():
            return self._network(observed["teacher"])


def imitate(actor, worlds, path: Path) -> Iterator[tuple[int, float]]:
    """Fit the network to the teacher, round by round.

    Args:
        actor: MLPModel of rsl_rl, which is trained in place.
        worlds: Worlds of track_velocity.py.
        path: path of the teacher's file.

    Yields:
        Number of falls in the round, and root mean square error of the actions.
    """
    teacher = Teacher(path, worlds.num_envs)
    optimiser = torch.optim.Adam(actor.mlp.parameters(), lr=RATE)
    states, actions = [], []
    for number in range(ROUNDS):
        observed, falls = worlds.restart(), 0
        teacher.reset()
        for _ in range(PERIODS):
            advice = teacher(observed)
            sound = advice.abs().amax(dim=1) < LARGEST
            states.append(observed["policy"][sound])
            actions.append(advice[sound])
            with torch.no_grad():
                taken = actor(observed) if number else advice
            observed, _, over, extras = worlds.step(taken)
            teacher.forget(over)
            falls += int((over & ~extras["time_outs"]).sum())
        yield falls, fit(actor, optimiser, torch.cat(states), torch.cat(actions))


def fit(actor, optimiser, states: torch.Tensor, actions: torch.Tensor) -> float:
    """Fit a network to actions (n, k) for states (n, m). Return the root mean square error."""
    actor.train()
    if not actor.obs_normalizer.count:
        actor.obs_normalizer.update(states)
    squares = 0.0
    for number in range(FITS):
        optimiser.param_groups[0]["lr"] = RATE * (1.0 - 0.9 * number / FITS)
        chosen = torch.randint(len(states), (BATCH,))
        answer = actor.mlp(actor.obs_normalizer(states[chosen]))
        loss = (answer - actions[chosen]).square().mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        squares += loss.item()
    actor.eval()
    return (squares / FITS) ** 0.5
