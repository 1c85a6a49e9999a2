# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Bushes and tares of feet from foot forces that MuJoCo made."""

import numpy as np
import pytest

from evidence.benchmarks import fit_foot_forces as study

mujoco = pytest.importorskip("mujoco")


@pytest.mark.long
@pytest.mark.timeout(1800)  # a whole fit of a robot on bushes
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_bushes_and_tares_are_found_from_foot_forces(tmp_path):
    """Law: bushes and tares of another simulator's robot are found within 5 %."""
    truth = study.unknowns()[1]
    found = study.fitted(study.swayed(mujoco), tmp_path, 0, 0.0)
    values = dict(zip(found.names, found.values))
    bushes = ["turn stiffness", "turn damping", "slide stiffness", "slide damping"]
    tares = [f"signals.{name}.tare_{column}" for name in study.SENSORS for column in study.FORCES]
    wanted = np.array([truth[name] for name in bushes + tares])
    assert found.reached
    assert np.array([values[name] for name in bushes + tares]) == pytest.approx(wanted, rel=0.05)
    assert min(found.shares()[f"{name}.force"] for name in study.SENSORS) > 0.999
