# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Poses, velocities and Jacobians are each other's derivatives, near the origin and far from it."""

import numpy as np
import pytest
from dynamics.oracle import random_q
from dynamics.trees import random_tree
from hypothesis import given, settings
from hypothesis import strategies as st

import hrpsim
from hrpsim.engine.kinematics.forest import forest_of
from hrpsim.engine.kinematics.forward import new_kinematics, update_poses, update_velocities
from hrpsim.engine.kinematics.layout import (
    acceleration_from_kernel,
    acceleration_to_kernel,
    velocity_from_kernel,
    velocity_to_kernel,
)
from hrpsim.model.system import FREE

quick = settings(max_examples=40)
trees = st.builds(random_tree, st.integers(0, 2**32 - 1), st.integers(2, 12))
given_tree = given(
    seed=st.integers(0, 2**32 - 1), text=trees, base=st.sampled_from(["free", "fixed"])
)


def load(seed, text, base):
    rng = np.random.default_rng(seed)
    model = hrpsim.load_model(text, base=base)
    return model, random_q(model, rng), rng.normal(size=model.nv)


def moved(model, q, v, h):
    """Return q after the time h at the constant public velocity v, exactly up to h^2."""
    q = q.copy()
    for joint in model.joints:
        k, i = joint.v_index, joint.q_index
        if joint.joint_type != FREE:
            q[i] += h * v[k]
            continue
        x, y, z, w = q[i + 3 : i + 7]
        R = hrpsim.link_pose(model, q, model.base_link)[1]
        q[i : i + 3] += h * R @ v[k : k + 3]
        a = 0.5 * h * v[k + 3 : k + 6]
        q[i + 3 : i + 6] += w * a + np.cross((x, y, z), a)
        q[i + 6] -= a @ (x, y, z)
    return q


@quick
@given_tree
def test_the_jacobian_is_the_derivative_of_the_pose(seed, text, base):
    model, q, v = load(seed, text, base)
    h = 1e-6
    for link in model.link_names:
        J = hrpsim.link_jacobian(model, q, link)
        (p1, R1), (p0, R0) = (hrpsim.link_pose(model, moved(model, q, v, s), link) for s in (h, -h))
        spin = (R1 - R0) @ hrpsim.link_pose(model, q, link)[1].T / (2.0 * h)
        twist = J @ v
        assert (p1 - p0) / (2.0 * h) == pytest.approx(twist[:3], abs=1e-7)
        assert (spin[2, 1], spin[0, 2], spin[1, 0]) == pytest.approx(twist[3:], abs=1e-7)


@quick
@given_tree
def test_rotations_are_rotations(seed, text, base):
    model, q, _ = load(seed, text, base)
    for link in model.link_names:
        R = hrpsim.link_pose(model, q, link)[1]
        assert R @ R.T == pytest.approx(np.eye(3), abs=1e-13)
        assert np.linalg.det(R) == pytest.approx(1.0, abs=1e-13)


@quick
@given_tree
def test_the_centre_of_mass_moves_with_the_mean_velocity_of_its_bodies(seed, text, base):
    model, q, v = load(seed, text, base)
    if not model.mass > 0.0:
        return
    links = {frame.body: frame for frame in model.frames.values()}
    momentum = np.zeros(3)
    for body, mass in enumerate(model.system.mass):
        frame = links[body]
        twist = hrpsim.link_jacobian(model, q, frame.name) @ v
        R = hrpsim.link_pose(model, q, frame.name)[1]
        lever = R @ frame.R.T @ (model.system.com[body] - frame.p)
        momentum += mass * (twist[:3] + np.cross(twist[3:], lever))
    h = 1e-6
    ends = [hrpsim.center_of_mass(model, moved(model, q, v, s)) for s in (h, -h)]
    assert model.mass * (ends[0] - ends[1]) / (2.0 * h) == pytest.approx(momentum, abs=1e-6)


@quick
@given_tree
def test_kernel_velocities_are_those_of_the_jacobians(seed, text, base):
    """v of a body is its spatial velocity about the tree's origin, angular part first."""
    model, q, v = load(seed, text, base)
    forest, kinematics = forest_of(model.system), new_kinematics(model.body_count)
    velocity = np.zeros(model.nv)
    update_poses(forest, q, kinematics)
    velocity_to_kernel(forest, q, v, velocity)
    update_velocities(forest, velocity, kinematics)
    for frame in model.frames.values():
        if frame.body < 0:
            continue
        twist = hrpsim.link_jacobian(model, q, frame.name) @ v
        here = kinematics[frame.body]
        point = here["p"] + here["R"] @ frame.p
        assert here["v"][:3] == pytest.approx(twist[3:], abs=1e-10)
        assert here["v"][3:] + np.cross(twist[3:], point) == pytest.approx(twist[:3], abs=1e-10)


@quick
@given_tree
def test_bias_accelerations_are_the_change_of_the_motion_axes(seed, text, base):
    """c = dS/dt (rate), about an origin that stands still in the world."""
    model, q, v = load(seed, text, base)
    if base == "free":
        v[:3] = 0.0  # the tree's origin rides on the base
    forest, h = forest_of(model.system), 1e-6
    axes = []
    for s in (h, -h, 0.0):
        kinematics = new_kinematics(model.body_count)
        update_poses(forest, moved(model, q, v, s), kinematics)
        axes.append(kinematics["S"].copy())
    velocity = np.zeros(model.nv)
    velocity_to_kernel(forest, q, v, velocity)
    update_velocities(forest, velocity, kinematics)
    for joint in model.joints:
        if joint.joint_type != FREE:
            change = (axes[0] - axes[1])[joint.body] / (2.0 * h) * v[joint.v_index]
            assert kinematics["c"][joint.body] == pytest.approx(change, abs=1e-6)


@quick
@given_tree
def test_the_public_layout_and_the_kernels_convert_both_ways(seed, text, base):
    model, q, v = load(seed, text, base)
    dv = v[::-1].copy()
    forest = forest_of(model.system)
    velocity, acceleration, back = np.zeros((3, model.nv))
    velocity_to_kernel(forest, q, v, velocity)
    velocity_from_kernel(forest, q, velocity, back)
    assert back == pytest.approx(v, abs=1e-14)
    acceleration_to_kernel(forest, q, velocity, dv, acceleration)
    acceleration_from_kernel(forest, q, velocity, acceleration, back)
    assert back == pytest.approx(dv, abs=1e-13)


def test_a_robot_far_away_keeps_its_shape():
    """Every link stands beside the base as it does at home, to the resolution of its position."""
    model = hrpsim.load_model(random_tree(3, 12))
    q = random_q(model, np.random.default_rng(0))
    far = q.copy()
    far[:3] += 1e6
    for link in model.link_names:
        (p, R), (p_far, R_far) = (hrpsim.link_pose(model, x, link) for x in (q, far))
        assert (R == R_far).all()
        assert p_far - far[:3] == pytest.approx(p - q[:3], abs=3e-10)
        J, J_far = (hrpsim.link_jacobian(model, x, link) for x in (q, far))
        assert (J == J_far).all()
