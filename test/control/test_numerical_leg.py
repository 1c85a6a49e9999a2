# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Inverse kinematics by iteration: the pose that was asked for, whatever the order of the axes."""

import numpy as np
import pytest
from control.bipeds import biped
from hypothesis import given, settings
from hypothesis import strategies as st

import hrpsim
from hrpsim.control import LegKinematics, UnreachableError
from hrpsim.control.motion.numerical_leg import NumericalLeg, leg_of
from robots import HRP2_LIKE

HRP2 = hrpsim.load_model(HRP2_LIKE)
ORDERS = [("yxz", "yx"), ("xyz", "yx"), ("yxz", "xy"), ("zxy", "yx")]
ROBOTS = {order: hrpsim.load_model(biped(*order)) for order in ORDERS}
HIP = st.floats(-0.5, 0.5)
ANGLES = st.tuples(HIP, HIP, HIP, st.floats(0.2, 1.8), HIP, HIP)


def pose(model, leg, angles, foot):
    q = model.neutral()
    q[leg.q_index] = angles
    return hrpsim.link_pose(model, q, foot)


@pytest.mark.parametrize("order", ORDERS, ids="-".join)
@settings(deadline=None, max_examples=60)
@given(angles=ANGLES)
def test_it_takes_the_foot_where_the_angles_of_a_bent_leg_took_it(order, angles):
    """Forward kinematics of what it returns is the pose that it was given."""
    model = ROBOTS[order]
    leg = NumericalLeg(model, "left_5_link")
    p, R = pose(model, leg, angles, "left_5_link")
    found = leg.solve(p, R)
    p_found, R_found = pose(model, leg, found, "left_5_link")
    assert np.abs(p_found - p).max() < 1e-9 and np.abs(R_found - R).max() < 1e-8


@pytest.mark.parametrize("sense", [1, -1])
def test_a_knee_that_may_bend_to_both_sides_alike_takes_the_foot_backward(sense):
    """Law: the knee is in front, as with one-sided limits; both postures reach the target."""
    model = hrpsim.load_model(biped(sense=sense, knees=(-1.05 - 0.05 * sense, 1.05)))
    leg = NumericalLeg(model, "left_5_link")
    bent = np.array([-0.4, 0.0, 0.0, 0.8 * sense, -0.4, 0.0])
    found = leg.solve(*pose(model, leg, bent, "left_5_link"))
    assert np.abs(found - bent).max() < 1e-6


@settings(deadline=None, max_examples=60)
@given(angles=ANGLES, tilt=st.floats(-0.4, 0.4))
def test_it_agrees_with_the_closed_form(angles, tilt):
    """Of HRP-2's leg, the sole within 0.9 rad of level, both find the knee in front."""
    yaw, roll, lean, knee, _, ankle_roll = angles
    angles = (yaw, roll, lean - 0.5 * knee, knee, tilt - lean - 0.5 * knee, ankle_roll)
    closed, numerical = LegKinematics(HRP2, "l_sole"), NumericalLeg(HRP2, "l_sole")
    target = pose(HRP2, closed, angles, "l_sole")
    assert np.abs(closed.solve(*target) - numerical.solve(*target)).max() < 1e-7
    assert numerical.longest == pytest.approx(closed.longest, abs=1e-12)


def test_the_same_target_always_gives_the_same_angles():
    """No search begins where another one ended."""
    leg = NumericalLeg(ROBOTS[ORDERS[0]], "left_5_link")
    target = (0.05, 0.1, -0.5), np.eye(3)
    first = leg.solve(*target)
    leg.solve((0.2, 0.05, -0.45), np.eye(3))
    assert (leg.solve(*target) == first).all()


def test_a_foot_out_of_reach_is_refused_or_approached():
    """Clamped, the leg is stretched towards the target, and the foot level within 2 degrees."""
    model = ROBOTS[ORDERS[0]]
    leg = NumericalLeg(model, "left_5_link")
    far = np.array([0.0, 0.08, -0.60])
    with pytest.raises(UnreachableError, match=r"does not reach the foot's position .* by 0\.0"):
        leg.solve(far, np.eye(3))
    p, R = pose(model, leg, leg.solve(far, np.eye(3), clamp=True), "left_5_link")
    assert np.linalg.norm(p - (0.0, 0.08, -0.56)) < 3e-3 and R[2, 2] > np.cos(np.radians(2.0))


def test_the_closed_form_is_taken_where_there_is_one():
    assert isinstance(leg_of(HRP2, "l_sole"), LegKinematics)
    assert isinstance(leg_of(ROBOTS[ORDERS[0]], "left_5_link"), NumericalLeg)
    with pytest.raises(hrpsim.ModelError, match="A leg has 6"):
        leg_of(HRP2, "HEAD_LINK1")
