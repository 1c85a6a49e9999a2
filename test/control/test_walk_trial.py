# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Where a plan lies in the world of a walk, and what is known of one that was not measured."""

import math

import numpy as np
from control.walking import model_on, pattern, standing
from hypothesis import given
from hypothesis import strategies as st

from hrpsim.control.walk_trial import Trial, plan_in_world, sole_motion
from hrpsim.model.shapes.placement import quaternion_of, rotation_from_rpy

SOLES = ("LLEG_SOLE", "RLEG_SOLE")
far = st.floats(-1e4, 1e4)


def trial_of(rows, times, begin):
    """Return a trial with configurations `rows` and no measurement."""
    return Trial(
        planned_steps=None,
        steps=None,
        fell_at=None,
        times=np.array(times),
        q=np.array(rows),
        tilt=np.zeros(len(rows)),
        wrenches={},
        soles=SOLES,
        begin=begin,
    )


@given(x=far, y=far, z=far, yaw=st.floats(-math.pi, math.pi))
def test_a_plan_lies_where_the_first_posture_is_taken(x, y, z, yaw):
    """Law: the first posture, moved by a planar motion and up, gives that motion.

    It is read where the motion begins, after the transition, whatever came before.
    """
    model, sequence = model_on("rigid"), pattern("forward")
    R, p = rotation_from_rpy((0.0, 0.0, yaw)), np.array([x, y, z])
    waist, R_waist = sequence.waist_pose_at(0.0)
    q = model.neutral()
    q[[model.joint(name).q_index for name in sequence.joint_names]] = sequence.pos.values[0]
    q[:3], q[3:7] = p + R @ waist, quaternion_of(R @ R_waist)
    plan = plan_in_world(model, trial_of([model.neutral(), q], [1.0, 1.005], 1.005), sequence)
    np.testing.assert_allclose(plan.R, R, atol=1e-9)
    np.testing.assert_allclose(plan.p, p, atol=1e-7)


def test_creep_is_not_known_where_no_foot_stood_alone():
    model, sequence = model_on("rigid"), standing(1.0)
    rows = [model.neutral()] * 3
    moved = sole_motion(model, trial_of(rows, [0.0, 0.5, 1.0], 0.0))
    assert moved.creep is None and moved.creep_step == 0 and moved.distance == 0.0
    assert plan_in_world(model, trial_of(rows, [0.0, 0.5, 1.0], 0.0), sequence).p.shape == (3,)
