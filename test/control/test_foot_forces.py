# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

import numpy as np
import pytest
from control.walking import RIGID, model_on

from hrpsim.control import controlled_joints
from hrpsim.control.balance.foot import answer_torque, foot_of, foot_records, new_admittance
from hrpsim.control.balance.stabilizing import divide_force, left_share

SOLES = np.array([[0.1, 0.1, 0.0], [-0.05, -0.12, 0.0]])
YAWS = np.array([0.3, -0.2])
COM = np.array([0.05, 0.01, 0.8])
BOTH = np.array([True, True])


def feet_on(bushes):
    return tuple(foot_of(model_on(bushes), sole) for sole in ("l_sole", "r_sole"))


def divided(bushes, zmp):
    """Return the forces and the torques that make a ZMP with 570 N."""
    forces, torques, model = np.empty((2, 3)), np.empty((2, 2)), model_on(bushes)
    feet = foot_records(model, feet_on(bushes), controlled_joints(model))
    share = left_share(np.array(zmp), SOLES, BOTH)
    divide_force(feet, 0.01, np.array(zmp), COM, 570.0, share, SOLES, YAWS, forces, torques)
    return forces, torques


@pytest.mark.parametrize("zmp", [(0.02, 0.0), (0.05, 0.09), (-0.04, -0.1), (0.06, -0.05)])
@pytest.mark.parametrize("bushes", ["openhrp", RIGID])
def test_forces_of_both_feet_make_the_zmp(zmp, bushes):
    feet = feet_on(bushes)
    forces, torques = divided(bushes, zmp)
    total, moment = np.zeros(3), np.zeros(2)
    for sole, foot, force, torque in zip(SOLES, feet, forces, torques):
        pivot = np.add(sole, (0.0, 0.0, foot.pivot_height))
        total += force
        moment += np.cross(pivot, force)[:2] + torque
    assert total[2] == pytest.approx(570.0)
    np.testing.assert_allclose((-moment[1], moment[0]), np.multiply(zmp, 570.0), atol=1e-9)
    # The line of action goes on from the ZMP through the centre of mass.
    np.testing.assert_allclose(total[:2] / total[2], np.subtract(COM[:2], zmp) / COM[2])


def test_pressure_stays_inside_each_sole():
    feet = feet_on("openhrp")
    forces, torques = divided("openhrp", (0.9, -0.9))
    for foot, force, torque, yaw in zip(feet, forces, torques, YAWS):
        if force[2] == 0.0:
            continue
        h = foot.pivot_height
        x, y = -(torque[1] + h * force[0]) / force[2], (torque[0] - h * force[1]) / force[2]
        c, s = np.cos(yaw), np.sin(yaw)
        at = np.array([c * x + s * y, c * y - s * x])
        assert (at > foot.outline.min(axis=0) + 0.01 - 1e-12).all()
        assert (at < foot.outline.max(axis=0) - 0.01 + 1e-12).all()


def test_load_goes_to_the_foot_that_the_zmp_is_near():
    assert left_share(SOLES[0, :2], SOLES, BOTH) == pytest.approx(1.0)
    assert left_share(SOLES[1, :2], SOLES, BOTH) == pytest.approx(0.0)
    assert left_share(SOLES[:, :2].mean(axis=0), SOLES, BOTH) == pytest.approx(0.5)
    assert left_share(np.array([3.0, 3.0]), SOLES, BOTH) == 1.0
    assert left_share(SOLES[1, :2], SOLES, np.array([True, False])) == 1.0
    assert left_share(SOLES[0, :2], SOLES, np.array([False, True])) == 0.0


def leans(bushes, wanted, period):
    """Return the leans (n, 2) of a foot whose servos are stiff, and its stiffness and damping."""
    foot = feet_on(bushes)[0]
    (record,) = new_admittance(foot, (0.0, 0.0), period, answer_time=0.05, fading_time=0.1)
    trajectory = [[answer_torque(record, k, w[k], w[k], True, 1.0) for k in (0, 1)] for w in wanted]
    return np.array(trajectory), foot.turn_stiffness, foot.turn_damping


@pytest.mark.parametrize("bushes", ["openhrp", "jaxon", "hrp2_soft", "hrp2_stiff"])
def test_springs_and_dampers_exert_the_torque_that_the_ankle_leans_for(bushes):
    period = 1e-4
    times = np.arange(3000) * period
    wanted = np.stack([30.0 * np.sin(9.0 * times), 20.0 * np.sin(23.0 * times)], axis=1)
    lean, stiffness, damping = leans(bushes, wanted, period)
    rate = np.gradient(lean, period, axis=0)
    exerted = -(stiffness * lean + damping * rate)
    np.testing.assert_allclose(exerted[300:-1], wanted[300:-1], atol=0.3)


def test_an_error_of_torque_is_answered_within_its_time():
    """On a floor that leans: the spring is under torque where none is wanted."""
    stiffness, slope, period = 2500.0, 0.0175, 0.001
    foot = feet_on("jaxon")[0]
    (record,) = new_admittance(foot, (0.0, 0.0), period, answer_time=0.05, fading_time=0.1)
    felt, trajectory = stiffness * slope, []
    for _ in range(400):
        x = answer_torque(record, 0, 0.0, felt, True, 1.0)
        felt = stiffness * (slope - x)
        trajectory.append(felt / (stiffness * slope))
    assert trajectory[50] == pytest.approx(np.exp(-1.0), abs=0.03)
    assert abs(trajectory[-1]) < 1e-3
    in_air = [answer_torque(record, 0, 0.0, 0.0, False, 1.0) for _ in range(300)]
    assert in_air[100] == pytest.approx(slope * np.exp(-1.0), rel=0.05)
