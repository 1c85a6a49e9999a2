# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Settings and results of terms of another kind are refused by name."""

from contextlib import closing

import numpy as np
import pytest
from learning.walker import task

from hrpsim import StateError
from hrpsim.learning import (
    JointEffortActionCfg,
    ObservationTermCfg,
    RewardTermCfg,
    RobotCfg,
    Task,
    TaskBatch,
    TerminationTermCfg,
    UniformNoiseCfg,
)


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: Task(world="w", rewards={"a": 1.0}), r"rewards\['a'\] must be a RewardTermCfg"),
        (lambda: Task(world="w", decimation=2.5), "Task.decimation must be a whole number"),
        (lambda: RewardTermCfg("is_alive", "1"), "RewardTermCfg.weight must be a number, got '1'"),
        (lambda: ObservationTermCfg("joint_pos", clip=(1, -1)), "clip must be a range"),
        (lambda: ObservationTermCfg("joint_pos", history_length=-1), "history_length must be >= 0"),
        (lambda: UniformNoiseCfg(1.0, -1.0), "n_min and n_max must be a range"),
        (lambda: JointEffortActionCfg(scale="2"), "scale must be .*got '2'"),
        (lambda: RobotCfg(joint_pos={"j": float("nan")}), r"joint_pos\['j'\] must be a number"),
    ],
)
def test_settings_of_another_kind_are_named(make, error):
    """Law: settings are checked when they are given, by field and place."""
    with pytest.raises(StateError, match=error):
        make()


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"rewards": {"a": RewardTermCfg(lambda s: np.zeros((2, 1)), 1.0)}}, r"shape \(2, 1\)"),
        ({"rewards": {"a": RewardTermCfg(lambda s: np.full(2, np.nan), 1.0)}}, "'a' of world 0"),
        ({"terminations": {"t": TerminationTermCfg(lambda s: np.ones(2))}}, "truth values"),
    ],
)
def test_results_of_terms_are_checked(changes, error):
    """Law: a term that returns another shape, another type or NaN is named. Steps need a reset."""
    with closing(TaskBatch(task(**changes), 2, threads=1)) as tasks:
        with pytest.raises(StateError, match=r"no episode yet\. Call reset"):
            tasks.step(np.zeros((2, 4)))
        tasks.reset()
        with pytest.raises(StateError, match=error):
            tasks.step(np.zeros((2, 4)))


def test_an_observation_of_nan_is_named():
    wrong = {"o": ObservationTermCfg(lambda s: np.full((2, 1), np.nan))}
    with closing(TaskBatch(task(observations=wrong), 2, threads=1)) as tasks:
        with pytest.raises(StateError, match="observation 'o' of world 0 has NaN"):
            tasks.reset()
