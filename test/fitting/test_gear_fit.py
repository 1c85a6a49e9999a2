# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Parameters of gears, from the positions of a joint and its motor."""

import numpy as np
import pytest

import hrpsim
from evidence.benchmarks import fit_mechanics as study
from evidence.benchmarks.fit_mechanics import BACKLASH, GEAR, STIFFNESS, geared
from hrpsim.fitting import unexplained
from hrpsim.fitting.predict import scenario_of

NOISE = study.GEAR_NOISE


def fitted(folder, one, **given):
    """Return the fit of properties of the gear."""
    (folder / "model.urdf").write_text(study.ARM)
    (folder / "arm.yaml").write_text(study.GEARED)
    parameters = {f"{GEAR}.{name}": value for name, value in given.items()}
    return hrpsim.fit(folder / "arm.yaml", [one], parameters, window=1.99)


def test_the_stiffness_of_a_gear_is_found(tmp_path):
    """Law: the twist of a gear under a known load gives the stiffness."""
    found = fitted(tmp_path, geared(0.0), stiffness={"start": 90.0, "between": [10, 500]})
    assert found.values[0] == pytest.approx(STIFFNESS, rel=0.01)
    assert found.errors(False)["motor"][1] < 1.5 * NOISE


@pytest.mark.parametrize(
    ("system", "one", "most"),
    [(0, geared(BACKLASH, None), 5e-6), (1, geared(0.0, None, 0.0, study.LOSSES), 5e-5)],
    ids=["backlash", "losses"],
)
def test_a_gear_with_true_values_moves_as_scipy_integrates_it(tmp_path, system, one, most):
    """Law: without noise the fitted model at the truth has no misfit but that of the time step."""
    gear = study.systems()[system]
    (tmp_path / "model.urdf").write_text(gear.urdf)
    (tmp_path / "arm.yaml").write_text(gear.world)
    world = scenario_of(tmp_path / "arm.yaml").world_of(gear.truth, seed=0)[0]
    arm, (motor,) = world.robots["arm"], one.signals
    steps, found = round(0.01 / world.time_step), []
    for k in range(len(one.time) - 1):
        at = np.searchsorted(one.command_time, one.time[k] + 1e-9) - 1
        arm.command(positions=one.command_positions[at])
        world.step(steps)
        found.append((arm.q[0], arm.actuators["shoulder"].motor_position))
    wanted = np.column_stack([one.positions[1:, 0], motor.values[:, 0]])
    assert np.abs(np.array(found) - wanted).max() < most


def test_a_missing_backlash_leaves_a_residual(tmp_path):
    """Law: a model without the backlash cannot explain the twist, and a model with it can."""
    one = geared(BACKLASH)
    stiffness = {"start": 90.0, "between": [10, 500]}
    without = fitted(tmp_path, one, stiffness=stiffness)
    gap = {"start": 0.02, "between": [0.0, 0.1]}
    found = fitted(tmp_path, one, stiffness=stiffness, backlash=gap)
    least = min(own.autocorrelation[1] for own in unexplained(without))
    assert least > 0.9 > max(own.autocorrelation[1] for own in unexplained(found))
    assert found.values[1] == pytest.approx(BACKLASH, rel=0.1)
    assert found.errors(False)["motor"][1] < 0.3 * without.errors(False)["motor"][1]


def test_stiffness_damping_and_backlash_are_found_together(tmp_path):
    """Law: three unknowns of a gear by scipy's integration are found within 2 %."""
    gear = study.systems()[0]
    found = study.fitted(gear, tmp_path, 0, 0.0)
    assert found.reached
    assert found.values == pytest.approx(list(gear.truth.values()), rel=0.02)


def test_friction_and_compliance_of_a_contact_are_found(tmp_path):
    """Law: a foot by scipy's integration has values within twice the half widths."""
    contact = study.systems()[-1]
    found = study.fitted(contact, tmp_path, 0, 0.0)
    truth = np.array(list(contact.truth.values()))
    assert found.reached
    assert (np.abs(found.values - truth) < found.high - found.low).all()
    assert found.values[:2] == pytest.approx(truth[:2], rel=0.01)
