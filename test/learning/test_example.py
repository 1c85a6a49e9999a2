# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The example that trains: one generation of it, and the sense of its feedback."""

import runpy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "examples/learning/stand_under_pushes.py"


def test_feedback_without_gains_is_none_and_lateral_feedback_rolls_only():
    example = runpy.run_path(str(SCRIPT))
    observed = np.random.default_rng(0).normal(size=(5, 49))
    assert not example["actions"](np.zeros((5, 15)), observed).any()
    gains = np.zeros((5, 15))
    gains[:, 9:] = 1.0
    moved = example["actions"](gains, observed).any(axis=0)
    rolling = np.isin(np.arange(12), [1, 5, 7, 11])
    np.testing.assert_array_equal(moved, rolling)


@pytest.mark.long
@pytest.mark.timeout(1200)
def test_a_generation_is_run():
    pytest.importorskip("cma")
    example = runpy.run_path(str(SCRIPT))
    learn = example["learn"]
    learn.__globals__.update(
        CANDIDATES=4, PUSHES=1, TASK=replace(example["TASK"], episode_length_s=0.2)
    )
    gains = learn(minutes=1e-9)
    assert gains.shape == (15,) and np.isfinite(gains).all()
