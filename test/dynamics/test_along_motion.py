# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A whole motion at once: each sample is what the functions of one state give."""

import numpy as np
import pytest
from dynamics.oracle import REPRESENTATIVE, random_state, robot_pair

import hrpsim
from hrpsim import ModelError, StateError
from hrpsim.dynamics import centers_of_mass, inverse_dynamics_along
from robots import HRP2_LIKE


@pytest.fixture(scope="module")
def model():
    return hrpsim.load_model(HRP2_LIKE, xacro_arguments={"bush": True})


@pytest.mark.parametrize("base", ["free", "fixed"])
@pytest.mark.parametrize("name", REPRESENTATIVE[:4])
def test_each_sample_is_the_inverse_dynamics_of_its_state(name, base):
    """Law: tau = M dv + h - J^T f in every sample, the wrenches on links included."""
    model = robot_pair(name, base).model
    states = [random_state(model, seed) for seed in range(5)]
    q, v, dv, loads = zip(*states)
    links = sorted(set().union(*loads))
    wrenches = [[load.get(link, np.zeros(6)) for link in links] for load in loads]
    tau = inverse_dynamics_along(model, q, v, dv, links, wrenches)
    one_by_one = np.array([hrpsim.inverse_dynamics(model, *state) for state in states])
    np.testing.assert_allclose(tau, one_by_one, rtol=1e-12, atol=1e-10 * np.abs(one_by_one).max())
    com = np.array([hrpsim.center_of_mass(model, state[0]) for state in states])
    np.testing.assert_allclose(centers_of_mass(model, q), com, rtol=0.0, atol=1e-12)


def test_a_sample_does_not_depend_on_the_one_before(model):
    q, v, dv, loads = random_state(model, 3)
    links, wrenches = list(loads), [list(loads.values())] * 2
    other = random_state(model, 4)
    both = inverse_dynamics_along(
        model, [other[0], q], [other[1], v], [other[2], dv], links, wrenches
    )
    alone = inverse_dynamics_along(model, [q], [v], [dv], links, wrenches[:1])
    assert both[1].tobytes() == alone[0].tobytes()


def test_bad_motions_are_refused_by_name(model):
    q, v, dv, _ = random_state(model, 0)
    with pytest.raises(StateError, match=r"v must have shape \(2, "):
        inverse_dynamics_along(model, [q, q], [v], [dv, dv])
    with pytest.raises(StateError, match=r"dv\[0, 3\] is nan"):
        bad = dv.copy()
        bad[3] = np.nan
        inverse_dynamics_along(model, [q], [v], [bad])
    with pytest.raises(StateError, match="the quaternion x y z w of joint"):
        flat = q.copy()
        flat[3:7] = 0.0
        centers_of_mass(model, [q, flat])
    with pytest.raises(StateError, match="q must have shape"):
        centers_of_mass(model, q)
    with pytest.raises(ModelError, match="link 'l_sool' does not exist"):
        inverse_dynamics_along(model, [q], [v], [dv], ["l_sool"], np.zeros((1, 1, 6)))
