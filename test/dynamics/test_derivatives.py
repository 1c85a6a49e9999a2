# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Derivatives of the dynamics: closed forms, Pinocchio, central differences, algebra."""

import numpy as np
import pytest
from dynamics.oracle import DERIVATIVES, compare, random_q, robot_pair
from dynamics.test_random_trees import advanced, moving, quick
from hypothesis import given

import hrpsim

PENDULUM = """<robot name="r"><link name="a"/><link name="b"><inertial><mass value="2"/>
  <origin xyz="0 0 -0.5"/><inertia ixx="1" iyy="0.25" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
  </link><joint name="j" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 1 0"/>
  </joint></robot>"""


def test_a_pendulum_has_the_derivatives_of_its_equation():
    """tau = I q'' + m g l sin q: d tau/dq = m g l cos q, d tau/dv = 0."""
    model = hrpsim.load_model(PENDULUM, "fixed")
    inertia, weight = 0.25 + 2.0 * 0.5**2, 2.0 * 9.80665 * 0.5
    for angle, rate, last in ((0.0, 1.0, 2.0), (0.7, -3.0, 0.5), (2.5, 0.0, -1.0)):
        by_q, by_v, M = hrpsim.inverse_dynamics_derivatives(model, [angle], [rate], [last])
        assert by_q[0, 0] == pytest.approx(weight * np.cos(angle), abs=1e-13)
        assert by_v[0, 0] == pytest.approx(0.0, abs=1e-13)
        assert M[0, 0] == pytest.approx(inertia, rel=1e-14)
        by_q, by_v, inverse = hrpsim.forward_dynamics_derivatives(model, [angle], [rate], [last])
        assert by_q[0, 0] == pytest.approx(-weight * np.cos(angle) / inertia, abs=1e-13)
        assert by_v[0, 0] == pytest.approx(0.0, abs=1e-13)
        assert inverse[0, 0] == pytest.approx(1.0 / inertia, rel=1e-14)


def test_a_free_body_has_the_derivatives_of_newton_and_euler():
    """f = m (a + w x v - R^T g), n = I a_w + w x I w about the centre of mass, in its frame."""
    text = """<robot name="r"><link name="a"><inertial><mass value="2"/>
      <inertia ixx="1" iyy="2" izz="2.5" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>"""
    model = hrpsim.load_model(text)
    rng = np.random.default_rng(0)
    q, v, dv = random_q(model, rng), *rng.normal(size=(2, 6))
    R = hrpsim.link_pose(model, q, "a")[1]
    m, inertia, (linear, w) = 2.0, np.diag([1.0, 2.0, 2.5]), (v[:3], v[3:])
    by_q, by_v = np.zeros((6, 6)), np.zeros((6, 6))
    by_q[:3, 3:] = m * cross_matrix(R.T @ [0.0, 0.0, 9.80665])
    by_v[:3] = m * np.hstack([cross_matrix(w), -cross_matrix(linear)])
    by_v[3:, 3:] = cross_matrix(w) @ inertia - cross_matrix(inertia @ w)
    found = hrpsim.inverse_dynamics_derivatives(model, q, v, dv)
    assert found[0] == pytest.approx(by_q, abs=1e-13)
    assert found[1] == pytest.approx(by_v, abs=1e-13)


def cross_matrix(a) -> np.ndarray:
    """Return the matrix of a x, whose rows are e_k x a."""
    return np.cross(np.eye(3), a)


@pytest.mark.parametrize("base", ["free", "fixed"])
@pytest.mark.parametrize(
    "name", ["hrp2_like bush", "talos_data/talos_full_v2", "panda_description/panda"]
)
def test_pinocchio_has_the_same_derivatives_to_1e_10(name, base):
    worst = compare(robot_pair(name, base), 5, seed=1)
    assert max(worst[quantity] for quantity in DERIVATIVES) < 1e-10


def differences(function, model, q, v, last, h=1e-5) -> list[np.ndarray]:
    """Return central differences of `function` (q, v, last) by each argument (nv, nv)."""

    def column(step, which):
        ends = [
            (
                advanced(model, q, s * step, 1.0) if which == 0 else q,
                v + s * step if which == 1 else v,
                last + s * step if which == 2 else last,
            )
            for s in (h, -h)
        ]
        return (function(*ends[0]) - function(*ends[1])) / (2.0 * h)

    units = np.eye(model.nv)
    return [np.array([column(e, k) for e in units]).reshape(units.shape).T for k in range(3)]


@quick
@given(moving)
def test_inverse_dynamics_changes_as_its_derivatives_say(state):
    """Central differences along the velocities e_k of q, of v and of dv; wrenches turn along."""
    model, q, v, dv, wrenches = state
    found = hrpsim.inverse_dynamics_derivatives(model, q, v, dv, wrenches)

    def tau(*arguments):
        return hrpsim.inverse_dynamics(model, *arguments, wrenches)

    for ours, expected in zip(found, differences(tau, model, q, v, dv), strict=True):
        assert ours == pytest.approx(expected, abs=1e-6 * np.abs(expected).max(initial=1.0))


@quick
@given(moving)
def test_forward_dynamics_has_the_derivatives_of_the_implicit_function(state):
    """tau(q, v, dv(q, v, tau)) = tau: M d dv/dq = -d tau/dq, the same by v, and M M^-1 = 1."""
    model, q, v, tau, wrenches = state
    dv = hrpsim.forward_dynamics(model, q, v, tau, wrenches)
    *inverse, M = hrpsim.inverse_dynamics_derivatives(model, q, v, dv, wrenches)
    *forward, M_inverse = hrpsim.forward_dynamics_derivatives(model, q, v, tau, wrenches)
    scale = np.abs(M).max(initial=1.0) * np.abs(M_inverse).max(initial=1.0)
    assert M @ M_inverse == pytest.approx(np.eye(model.nv), abs=1e-13 * scale)
    assert M == pytest.approx(hrpsim.mass_matrix(model, q), abs=1e-12 * np.abs(M).max(initial=1.0))
    for ours, theirs in zip(forward, inverse, strict=True):
        size = np.abs(theirs).max(initial=1.0)
        assert M @ ours == pytest.approx(-theirs, abs=1e-12 * scale * size)


def test_gravity_and_a_model_without_joints():
    """Without gravity nothing depends on the attitude of a body; nv = 0 gives empty matrices."""
    model = hrpsim.load_model(PENDULUM, "fixed")
    by_q, _, _ = hrpsim.inverse_dynamics_derivatives(
        model, [0.3], [1.0], [1.0], gravity=(0.0, 0.0, 0.0)
    )
    assert by_q[0, 0] == pytest.approx(0.0, abs=1e-15)
    rigid = hrpsim.load_model('<robot name="r"><link name="a"/></robot>', "fixed")
    for function in (hrpsim.forward_dynamics_derivatives, hrpsim.inverse_dynamics_derivatives):
        assert [m.shape for m in function(rigid, [], [], [])] == 3 * [(0, 0)]
