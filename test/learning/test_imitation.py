# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Imitation in the example that trains: a network without memory learns from a teacher with one."""

import runpy
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

SCRIPT = Path(__file__).resolve().parents[2] / "examples/learning/imitate.py"


class Teacher(torch.nn.Module):
    """Acts by half of the present observation and all of the last one."""

    def __init__(self):
        super().__init__()
        self.register_buffer("hidden_state", torch.zeros(1, 1, 2))
        self.register_buffer("cell_state", torch.zeros(1, 1, 2))

    def forward(self, x):
        action = 0.5 * x + self.hidden_state[0]
        self.hidden_state = x[None]
        return action


class Points:
    """Eight worlds with random observations, and the last ones. Episodes have ten periods."""

    num_envs = 8

    def restart(self):
        self.number, self.last = 0, torch.zeros(8, 2)
        return self.observed()

    def observed(self):
        present, last = torch.randn(8, 2), self.last
        self.last = present
        return {"teacher": present, "policy": torch.cat([present, last], dim=1)}

    def step(self, actions):
        assert actions.shape == (8, 2)
        self.number += 1
        over = torch.full((8,), self.number % 10 == 0)
        if over.any():
            self.last = torch.zeros(8, 2)
        return self.observed(), torch.zeros(8), over, {"time_outs": torch.zeros(8, dtype=bool)}


class Actor(torch.nn.Module):
    """A linear network, with the interface of rsl_rl's models."""

    def __init__(self):
        super().__init__()
        self.mlp = torch.nn.Linear(4, 2)
        self.obs_normalizer = torch.nn.Identity()
        self.obs_normalizer.count = 1

    def forward(self, observed):
        return self.mlp(observed["policy"])


def test_a_network_imitates_a_teacher(tmp_path):
    """Law: if the observation has what the teacher remembers, the error of the actions vanishes.

    The teacher forgets at the end of an episode. All ends count as falls that are no time-outs.
    """
    torch.manual_seed(1)
    torch.jit.script(Teacher()).save(str(tmp_path / "teacher.pt"))
    imitate = runpy.run_path(str(SCRIPT))["imitate"]
    imitate.__globals__.update(ROUNDS=3, PERIODS=40, FITS=300, BATCH=64, RATE=0.02)
    actor = Actor()
    falls, errors = zip(*imitate(actor, Points(), tmp_path / "teacher.pt"))
    assert falls == (4 * 8,) * 3
    assert errors[2] < 1e-3 < 0.1 < errors[0]
    expected = torch.cat([0.5 * torch.eye(2), torch.eye(2)], dim=1)
    assert (actor.mlp.weight - expected).abs().max() < 0.01
