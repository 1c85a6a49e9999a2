# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The public functions are functions: same input, same bits, and the input stays as it was."""

import threading

import numpy as np
import pytest
from dynamics.oracle import random_state
from dynamics.trees import random_tree

import hrpsim
from robots import HRP2_LIKE

CALLS = {
    "forward_dynamics": lambda m, q, v, a, w: hrpsim.forward_dynamics(m, q, v, a, w),
    "inverse_dynamics": lambda m, q, v, a, w: hrpsim.inverse_dynamics(m, q, v, a, w),
    "forward_dynamics_derivatives": lambda m, q, v, a, w: np.stack(
        hrpsim.forward_dynamics_derivatives(m, q, v, a, w)
    ),
    "inverse_dynamics_derivatives": lambda m, q, v, a, w: np.stack(
        hrpsim.inverse_dynamics_derivatives(m, q, v, a, w)
    ),
    "mass_matrix": lambda m, q, v, a, w: hrpsim.mass_matrix(m, q),
    "center_of_mass": lambda m, q, v, a, w: hrpsim.center_of_mass(m, q),
    "link_pose": lambda m, q, v, a, w: np.vstack(hrpsim.link_pose(m, q, m.link_names[-1])),
    "link_jacobian": lambda m, q, v, a, w: hrpsim.link_jacobian(m, q, m.link_names[-1]),
    "energy": lambda m, q, v, a, w: np.array(hrpsim.energy(m, q, v)),
}


@pytest.fixture(scope="module")
def model():
    return hrpsim.load_model(HRP2_LIKE, xacro_arguments={"bush": True})


@pytest.mark.parametrize("name", CALLS)
def test_the_same_input_gives_the_same_bits_whatever_came_between(model, name):
    first = CALLS[name](model, *random_state(model, 0))
    for other in CALLS.values():
        other(model, *random_state(model, 1))
    again = CALLS[name](model, *random_state(model, 0))
    assert first.tobytes() == again.tobytes()
    fresh = hrpsim.load_model(HRP2_LIKE, xacro_arguments={"bush": True})
    assert CALLS[name](fresh, *random_state(fresh, 0)).tobytes() == first.tobytes()


@pytest.mark.parametrize("name", CALLS)
def test_inputs_are_not_written_to_and_results_are_the_callers_own(model, name):
    q, v, a, wrenches = random_state(model, 0)
    kept = [q.copy(), v.copy(), a.copy(), {k: w.copy() for k, w in wrenches.items()}]
    result = CALLS[name](model, q, v, a, wrenches)
    assert (q == kept[0]).all() and (v == kept[1]).all() and (a == kept[2]).all()
    assert all((w == kept[3][k]).all() for k, w in wrenches.items())
    expected = result.copy()
    result[:] = np.nan
    assert (CALLS[name](model, q, v, a, wrenches) == expected).all()


def test_a_quaternion_counts_by_its_direction_only(model):
    q, v, a, wrenches = random_state(model, 0)
    longer = q.copy()
    longer[3:7] *= 2.0
    for name, call in CALLS.items():
        expected = call(model, q, v, a, wrenches)
        assert call(model, longer, v, a, wrenches) == pytest.approx(
            expected, rel=1e-12, abs=1e-11
        ), name


@pytest.mark.parametrize(
    "disguise",
    [
        list,
        tuple,
        lambda x: np.asfortranarray(np.repeat(x[:, None], 2, axis=1))[:, 0],
        lambda x: np.repeat(x, 2)[::2],
        lambda x: x[::-1].copy()[::-1],
        lambda x: x.astype(">f8"),
    ],
    ids=["list", "tuple", "column", "strided", "reversed", "big-endian"],
)
def test_numbers_may_come_in_any_array(model, disguise):
    q, v, a, _ = random_state(model, 0)
    expected = hrpsim.forward_dynamics(model, q, v, a)
    assert (hrpsim.forward_dynamics(model, disguise(q), disguise(v), disguise(a)) == expected).all()


def test_read_only_input_is_read():
    model = hrpsim.load_model(random_tree(0, 5))
    q, v, a, _ = random_state(model, 0)
    expected = hrpsim.forward_dynamics(model, q, v, a)
    for array in (q, v, a):
        array.flags.writeable = False
    assert (hrpsim.forward_dynamics(model, q, v, a) == expected).all()


def test_threads_do_not_disturb_each_other(model):
    states = [random_state(model, seed) for seed in range(4)]
    expected = [hrpsim.forward_dynamics(model, *state) for state in states]
    wrong = []

    def work(k):
        for _ in range(200):
            if (hrpsim.forward_dynamics(model, *states[k]) != expected[k]).any():
                wrong.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
