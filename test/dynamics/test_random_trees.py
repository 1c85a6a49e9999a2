# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Random trees obey the laws of mechanics, and Pinocchio agrees on every number."""

import numpy as np
import pytest
from dynamics.oracle import compare, pair_of, random_q, random_state
from dynamics.trees import random_tree
from hypothesis import given, settings
from hypothesis import strategies as st

import hrpsim

GRAVITY = np.array([0.0, 0.0, -9.80665])

seeds = st.integers(0, 2**32 - 1)
trees = st.builds(random_tree, seeds, st.integers(1, 15))
bases = st.sampled_from(["free", "fixed"])
quick = settings(max_examples=40)


def moving_tree(seed, text, base):
    """Return a model, and a random state of it: q, v, dv or tau, and wrenches of links."""
    model = hrpsim.load_model(text, base=base)
    return model, *random_state(model, seed)


moving = st.builds(moving_tree, seeds, trees, bases)
flying = st.builds(moving_tree, seeds, trees, st.just("free"))


def advanced(model, q, v, h):
    """Move along v for a short time h, to second order in h for a base, exactly for joints."""
    q = q.copy()
    if model.base == "fixed":
        return q + h * v
    x, y, z, w = q[3:7]
    R = hrpsim.link_pose(model, q, model.base_link)[1]
    q[:3] += h * R @ (v[:3] + 0.5 * h * np.cross(v[3:6], v[:3]))
    a, b, c = 0.5 * h * v[3:6]
    turned = np.array([w * a + y * c - z * b, w * b + z * a - x * c, w * c + x * b - y * a,
                       -x * a - y * b - z * c])  # fmt: skip
    q[3:7] += turned - 0.5 * (a * a + b * b + c * c) * q[3:7]
    q[7:] += h * v[6:]
    return q


@quick
@given(seeds, trees, bases)
def test_pinocchio_agrees(seed, text, base):
    pair = pair_of(text, base)
    if pair.model.nv:
        assert max(compare(pair, 2, seed).values()) < 1e-10


@quick
@given(moving)
def test_forward_and_inverse_dynamics_are_inverse(state):
    model, q, v, dv, wrenches = state
    tau = hrpsim.inverse_dynamics(model, q, v, dv, wrenches)
    assert hrpsim.forward_dynamics(model, q, v, tau, wrenches) == pytest.approx(dv, abs=1e-9)
    dv = hrpsim.forward_dynamics(model, q, v, tau := 10.0 * v[::-1], wrenches)
    back = hrpsim.inverse_dynamics(model, q, v, dv, wrenches)
    assert back == pytest.approx(tau, abs=1e-9 * max(1.0, np.abs(dv).max(initial=0.0)))


@quick
@given(moving)
def test_the_mass_matrix_is_symmetric_positive_definite_and_that_of_inverse_dynamics(state):
    """tau = M dv + h(q, v): linear in dv, with M's columns as the answers to unit accelerations."""
    model, q, v, dv, wrenches = state
    M = hrpsim.mass_matrix(model, q)
    assert M == pytest.approx(M.T, abs=1e-12 * np.abs(M).max(initial=1.0))
    assert (np.linalg.eigvalsh(M) > 0.0).all()
    bias = hrpsim.inverse_dynamics(model, q, v, np.zeros(model.nv), wrenches)
    tau = hrpsim.inverse_dynamics(model, q, v, dv, wrenches)
    assert tau - bias == pytest.approx(M @ dv, abs=1e-11 * np.abs(tau).max(initial=1.0))
    kinetic, _ = hrpsim.energy(model, q, v)
    assert kinetic == pytest.approx(0.5 * v @ M @ v, rel=1e-12, abs=1e-15)


@quick
@given(moving)
def test_a_wrench_acts_through_the_transposed_jacobian(state):
    model, q, v, dv, wrenches = state
    without = hrpsim.inverse_dynamics(model, q, v, dv)
    for link, wrench in wrenches.items():
        J, R = hrpsim.link_jacobian(model, q, link), hrpsim.link_pose(model, q, link)[1]
        world = np.concatenate([R @ wrench[:3], R @ wrench[3:]])
        tau = hrpsim.inverse_dynamics(model, q, v, dv, {link: wrench})
        assert without - tau == pytest.approx(J.T @ world, abs=1e-10)


@quick
@given(moving)
def test_energy_changes_by_the_power_of_the_efforts(state):
    """dE/dt = tau . v, by a central difference along the motion."""
    model, q, v, tau, _ = state
    dv = hrpsim.forward_dynamics(model, q, v, tau)
    h = 1e-5 / max(1.0, np.abs(v).max(initial=0.0), np.sqrt(np.abs(dv).max(initial=0.0)))
    ends = [
        sum(hrpsim.energy(model, advanced(model, q, v + 0.5 * s * dv, s), v + s * dv))
        for s in (h, -h)
    ]
    kinetic, potential = hrpsim.energy(model, q, v)
    scale = (abs(kinetic) + abs(potential)) * np.abs(dv).max(initial=1.0)
    assert (ends[0] - ends[1]) / (2.0 * h) == pytest.approx(tau @ v, abs=1e-6 * max(1.0, scale))


@quick
@given(flying)
def test_without_wrenches_the_centre_of_mass_falls_and_angular_momentum_stays(state):
    """Momentum from the mass matrix: the base rows of M v are force and moment impulses."""
    model, q, v, tau, _ = state
    tau[:6] = 0.0
    dv = hrpsim.forward_dynamics(model, q, v, tau)

    def momenta(q, v):
        p, R = hrpsim.link_pose(model, q, model.base_link)
        M = hrpsim.mass_matrix(model, q) - np.diag(model.system.rotor_inertia)
        linear, angular = R @ (M @ v)[:3], R @ (M @ v)[3:6]
        return linear, angular + np.cross(p, linear)

    h = 1e-5 / max(1.0, np.abs(v).max(), np.sqrt(np.abs(dv).max()))
    after, before = (momenta(advanced(model, q, v + 0.5 * s * dv, s), v + s * dv) for s in (h, -h))
    linear_rate, angular_rate = ((a - b) / (2.0 * h) for a, b in zip(after, before, strict=True))
    weight = model.mass * GRAVITY
    scale = 1e-6 * model.mass * max(10.0, np.abs(dv).max())
    assert linear_rate == pytest.approx(weight, abs=scale)
    lever = np.cross(hrpsim.center_of_mass(model, q), weight)
    assert angular_rate == pytest.approx(lever, abs=5.0 * scale)


@quick
@given(flying, seeds)
def test_nothing_depends_on_where_the_world_has_its_origin_and_axes(state, seed):
    """Move and turn the base with gravity, up to 1e6 m away: the accelerations stay."""
    model, q, v, tau, wrenches = state
    at_home = hrpsim.forward_dynamics(model, q, v, tau, wrenches)
    rng = np.random.default_rng(seed)
    turn = random_q(model, rng)[3:7]
    spun = q.copy()
    spun[:7] = 0.0, 0.0, 0.0, *turn
    R_turn = hrpsim.link_pose(model, spun, model.base_link)[1]
    (x, y, z, w), u = q[3:7], turn
    moved = q.copy()
    moved[:3] = R_turn @ q[:3] + 1e6 * rng.uniform(-1.0, 1.0, 3)
    moved[3:6] = u[3] * q[3:6] + w * u[:3] + np.cross(u[:3], (x, y, z))
    moved[6] = u[3] * w - u[:3] @ (x, y, z)
    away = hrpsim.forward_dynamics(model, moved, v, tau, wrenches, gravity=R_turn @ GRAVITY)
    assert away == pytest.approx(at_home, abs=1e-9 * max(1.0, np.abs(at_home).max()))
    efforts = [
        hrpsim.inverse_dynamics(model, p, v, at_home, wrenches, gravity=g)
        for p, g in ((q, GRAVITY), (moved, R_turn @ GRAVITY))
    ]
    assert efforts[1] == pytest.approx(efforts[0], abs=1e-9 * max(1.0, np.abs(tau).max()))
