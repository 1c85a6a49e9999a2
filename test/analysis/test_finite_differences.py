# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""What is said to be a rate is one: central differences of positions, momenta and energies."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import hrpsim
from hrpsim.analysis import Analyser, FixedPhase
from robots import HRP2_LIKE

H = 1e-4  # [s]
LINKS = ("base_link", "r_sole", "RARM_LINK4", "HEAD_LINK1")


@pytest.fixture(scope="module", params=LINKS)
def course(request):
    """Sines of all joints at t - h, t, t + h for some t, analysed with one link held fixed."""
    model = hrpsim.load_model(HRP2_LIKE)
    rng = np.random.default_rng(3)
    amplitude, pace = rng.uniform(0.2, 0.6, (2, model.nq - 7))
    pace = 2.0 + 4.0 * pace
    shift = rng.uniform(0.0, 6.0, model.nq - 7)
    times = np.add.outer(np.linspace(0.0, 3.0, 20), H * np.array([-2, -1, 0, 1, 2])).ravel()
    q, v, dv = (np.zeros((len(times), n)) for n in (model.nq, model.nv, model.nv))
    q[:, 6] = 1.0
    angle = np.outer(times, pace) + shift
    q[:, 7:] = amplitude * np.sin(angle)
    v[:, 6:] = amplitude * pace * np.cos(angle)
    dv[:, 6:] = -amplitude * pace**2 * np.sin(angle)
    pose = (np.array([0.3, -0.2, 0.9]), Rotation.from_rotvec([0.4, -0.7, 1.1]).as_matrix())
    found = Analyser(model, model.link_names).analyse(
        q, v, dv, [FixedPhase(0, (request.param,), pose)]
    )
    return found, request.param


def rate(values):
    """Return the derivative in the middle of each five, fourth-order central differences."""
    a, b, _, d, e = np.moveaxis(np.asarray(values).reshape(-1, 5, *np.shape(values)[1:]), 1, 0)
    return (8.0 * (d - b) - (e - a)) / (12.0 * H)


def middle(values):
    return np.asarray(values)[2::5]


def test_base_velocity_and_acceleration(course):
    found, _ = course
    R = Rotation.from_quat(middle(found.q[:, 3:7]))
    p_rate = rate(found.q[:, :3])
    assert R.apply(middle(found.v[:, :3])) == pytest.approx(p_rate, abs=1e-9)
    turn = found.q[:, 3:7].reshape(-1, 5, 4)
    turn = turn * np.sign(np.sum(turn * turn[:, 2:3], axis=2, keepdims=True))
    quaternion_rate = rate(turn.reshape(-1, 4))
    x = Rotation.from_quat(middle(found.q[:, 3:7]))
    spin = 2.0 * quaternion_product(x.inv().as_quat(), quaternion_rate)[:, :3]
    sign = np.sign(np.sum(x.inv().as_quat()[:, 3:] * middle(found.q[:, 6:7]), axis=1))
    assert middle(found.v[:, 3:6]) == pytest.approx(spin * sign[:, None], abs=1e-9)
    assert middle(found.dv[:, :6]) == pytest.approx(rate(found.v[:, :6]), abs=1e-7)


def quaternion_product(a, b):
    """Return a b for rows x y z w."""
    u, v = a[:, :3], b[:, :3]
    vector = a[:, 3:] * v + b[:, 3:] * u + np.cross(u, v)
    return np.column_stack([vector, a[:, 3] * b[:, 3] - np.sum(u * v, axis=1)])


def test_center_of_mass(course):
    samples = course[0].samples
    assert middle(samples["com_velocity"]) == pytest.approx(rate(samples["com"]), abs=1e-10)
    expected = rate(samples["com_velocity"])
    assert middle(samples["com_acceleration"]) == pytest.approx(expected, abs=1e-8)


def test_angular_momentum(course):
    samples = course[0].samples
    expected = rate(samples["angular_momentum"])
    assert middle(samples["angular_momentum_rate"]) == pytest.approx(expected, abs=1e-7)


def test_velocities_of_all_links(course):
    supports = course[0].supports
    assert middle(supports["velocity"]) == pytest.approx(rate(supports["position"]), abs=1e-9)
    R, R_rate = middle(supports["R"]), rate(supports["R"])
    spin = R_rate @ np.swapaxes(R, -1, -2)
    vector = np.stack([spin[..., 2, 1], spin[..., 0, 2], spin[..., 1, 0]], axis=-1)
    assert middle(supports["angular_velocity"]) == pytest.approx(vector, abs=1e-9)


def test_the_joints_do_the_work_that_the_energy_gains(course):
    """A fixed link does none, so power is torque times rate."""
    found, _ = course
    total = found.samples["kinetic_energy"] + found.samples["potential_energy"]
    power = np.sum(found.tau * found.v, axis=1)
    assert middle(power) == pytest.approx(rate(total), abs=1e-5 * np.abs(power).max())


def test_the_link_stays(course):
    found, link = course
    support = found.support(link)
    assert np.abs(support["position"] - found.phases[0].pose[0]).max() < 1e-15
    assert np.abs(support["R"] - found.phases[0].pose[1]).max() < 1e-14
    assert np.abs(support["velocity"]).max() < 1e-13
