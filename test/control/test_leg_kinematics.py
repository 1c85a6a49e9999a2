# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Leg inverse kinematics against forward kinematics, on the robots that have such legs."""

import numpy as np
import pytest

import hrpsim
from hrpsim.control import LegKinematics, UnreachableError
from robots import EXAMPLE_ROBOTS, HRP2_LIKE

FEET = {
    HRP2_LIKE: ("l_sole", "r_sole"),
    EXAMPLE_ROBOTS.get("talos_data/talos_reduced"): ("left_sole_link", "right_sole_link"),
    EXAMPLE_ROBOTS.get("romeo_description/romeo"): ("l_sole", "r_sole"),
    EXAMPLE_ROBOTS.get("simple_humanoid_description/simple_humanoid_classical"): (
        "l_ankle",
        "r_ankle",
    ),
}
LEGS = [(path, foot) for path, feet in FEET.items() if path for foot in feet]


def load(path):
    return hrpsim.load_model(str(path), accept_nonphysical_inertia=True)


@pytest.fixture
def hrp2():
    return hrpsim.load_model(str(HRP2_LIKE), xacro_arguments={"bush": "true"})


@pytest.mark.quick_cases("*romeo*", "*hrp2*", "simple*")
@pytest.mark.parametrize("path, foot", LEGS, ids=[f"{p.stem}-{foot}" for p, foot in LEGS])
def test_foot_comes_where_it_is_wanted(path, foot):
    model = load(path)
    leg = LegKinematics(model, foot)
    dofs = [model.joint(name).v_index for name in leg.joint_names]
    lower, upper = model.system.lower[dofs], model.system.upper[dofs]
    rng = np.random.default_rng(1)
    for _ in range(300):
        q = model.neutral()
        q[leg.q_index] = rng.uniform(lower, upper)
        p, R = hrpsim.link_pose(model, q, foot)
        q[leg.q_index] = leg.solve(p, R)
        p_solved, R_solved = hrpsim.link_pose(model, q, foot)
        np.testing.assert_allclose(p_solved, p, atol=1e-9)
        np.testing.assert_allclose(R_solved, R, atol=1e-9)


@pytest.mark.parametrize("foot", ["l_sole", "r_sole"])
def test_angles_of_a_leg_that_stands_come_back(hrp2, foot):
    leg = LegKinematics(hrp2, foot)
    rng = np.random.default_rng(2)
    for _ in range(300):
        hip, knee = rng.uniform(-0.3, 0.3, 3), rng.uniform(0.05, 2.0)
        angles = np.array([*hip[:2], hip[2] - knee / 2, knee, -knee / 2, rng.uniform(-0.3, 0.3)])
        q = hrp2.neutral()
        q[leg.q_index] = angles
        np.testing.assert_allclose(leg.solve(*hrpsim.link_pose(hrp2, q, foot)), angles, atol=1e-9)


def test_leg_is_read_from_the_model(hrp2):
    leg = LegKinematics(hrp2, "l_sole")
    assert leg.joint_names == tuple(f"LLEG_JOINT{i}" for i in range(6))
    assert leg.longest == pytest.approx(0.6)
    assert leg.shortest == pytest.approx(0.0)
    np.testing.assert_allclose(leg.hip_center, (0.0, 0.06, 0.0), atol=1e-12)


def test_target_that_is_too_far_is_refused_or_approached(hrp2):
    leg = LegKinematics(hrp2, "l_sole")
    target = np.array([0.1, 0.15, -0.8])
    with pytest.raises(UnreachableError, match=r"reaches from 0\.0000 to 0\.6000 m"):
        leg.solve(target, np.eye(3))
    q = hrp2.neutral()
    q[leg.q_index] = leg.solve(target, np.eye(3), clamp=True)
    assert q[leg.q_index[3]] == pytest.approx(0.0, abs=1e-7)
    p, R = hrpsim.link_pose(hrp2, q, "l_sole")
    np.testing.assert_allclose(R, np.eye(3), atol=1e-9)
    assert p[2] > target[2] and p[0] < target[0]


def test_hip_beside_the_ankle_axis_is_refused(hrp2):
    leg = LegKinematics(hrp2, "l_sole")
    with pytest.raises(UnreachableError, match="lateral offset"):
        leg.solve((0.3, 0.06, -0.105), np.eye(3))
    assert np.isfinite(leg.solve((0.3, 0.06, -0.105), np.eye(3), clamp=True)).all()


@pytest.mark.parametrize(
    "foot, message",
    [
        ("LLEG_LINK3", "A leg has 6: hip yaw"),
        ("LARM_LINK5", "about x of the waist, got axis"),
        ("no_such_link", "does not exist"),
    ],
)
def test_what_is_no_leg_is_refused(hrp2, foot, message):
    with pytest.raises(hrpsim.ModelError, match=message):
        LegKinematics(hrp2, foot)


def test_axes_that_pass_each_other_are_refused():
    text = hrpsim.load_model(str(HRP2_LIKE)).urdf
    joint = text.index('name="LLEG_JOINT2"')
    moved = text[joint:].replace('xyz="0 0.035 0"', 'xyz="0.02 0.035 0"', 1)
    model = hrpsim.load_model(text[:joint] + moved)
    with pytest.raises(hrpsim.ModelError, match="hip pitch axis and hip centre must intersect"):
        LegKinematics(model, "l_sole")
