# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Torques, centre of mass, momenta and energies are Pinocchio's, whatever link is fixed.

At each random state some link is fixed at a random place. Pinocchio is given the recovered base
and the wrench on that link; that the link then stands still is checked with its kinematics.
"""

import numpy as np
import pinocchio
import pytest
from dynamics.oracle import pinocchio_q, random_q, robot_pair

import hrpsim
from hrpsim.analysis import Analyser, FixedPhase

HUMANOIDS = (
    "hrp2_like",
    "hrp2_like bush",
    "talos_data/talos_full_v2",
    "romeo_description/romeo",
    "icub_description/icub",
    "g1_description/g1_29dof_rev_1_0",
    "simple_humanoid_description/simple_humanoid",
)
STATES = 200
WORLD = pinocchio.ReferenceFrame.LOCAL_WORLD_ALIGNED


def random_motion(model, rng, count=STATES):
    q = np.array([random_q(model, rng) for _ in range(count)])
    return q, rng.normal(size=(count, model.nv)), 5.0 * rng.normal(size=(count, model.nv))


def random_phases(model, rng, count=STATES):
    phases = []
    for k in range(count):
        R = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        pose = (rng.normal(size=3), R * np.sign(np.linalg.det(R)))
        phases.append(FixedPhase(k, (str(rng.choice(model.link_names)),), pose))
    return phases


@pytest.fixture(scope="module", params=HUMANOIDS)
def case(request):
    pair = robot_pair(request.param, "free")
    rng = np.random.default_rng(7)
    q, v, dv = random_motion(pair.model, rng)
    phases = random_phases(pair.model, rng)
    found = Analyser(pair.model, pair.model.link_names).analyse(q, v, dv, phases)
    pair.oracle.gravity.linear = np.array([0.0, 0.0, -9.80665])
    return pair, phases, (q, v, dv), found


def worst(ours, theirs):
    """Return the largest error beside the largest number of its row."""
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    size = np.abs(theirs).reshape(len(theirs), -1).max(axis=1)
    return float((np.abs(ours - theirs).reshape(len(ours), -1).max(axis=1) / size).max())


def test_joints_are_left_as_they_are(case):
    _, _, (q, v, dv), found = case
    assert (found.q[:, 7:] == q[:, 7:]).all()
    assert (found.v[:, 6:] == v[:, 6:]).all() and (found.dv[:, 6:] == dv[:, 6:]).all()


def test_the_fixed_link_stands_still_in_pinocchios_kinematics(case):
    pair, phases, _, found = case
    for k, phase in enumerate(phases):
        frame, (p, R) = pair.frame_ids[phase.links[0]], phase.pose
        q = pinocchio_q(pair.oracle, found.q[k])
        pinocchio.forwardKinematics(pair.oracle, pair.data, q, found.v[k], found.dv[k])
        place = pinocchio.updateFramePlacement(pair.oracle, pair.data, frame)
        assert np.abs(place.translation - p).max() < 1e-12
        assert np.abs(place.rotation - R).max() < 1e-12
        rate = pinocchio.getFrameVelocity(pair.oracle, pair.data, frame, WORLD)
        assert np.abs(rate.vector).max() < 1e-11
        change = pinocchio.getFrameClassicalAcceleration(pair.oracle, pair.data, frame, WORLD)
        assert np.abs(change.vector).max() < 1e-9


def test_torques_under_the_wrench_on_the_fixed_link(case):
    pair, phases, _, found = case
    theirs = []
    for k, phase in enumerate(phases):
        record = found.support(phase.links[0])[k]
        frame = pair.oracle.frames[pair.frame_ids[phase.links[0]]]
        forces = [pinocchio.Force.Zero() for _ in pair.oracle.joints]
        wrench = pinocchio.Force(record["force"], record["torque"])
        forces[frame.parentJoint] = frame.placement.act(wrench)
        q = pinocchio_q(pair.oracle, found.q[k])
        theirs.append(
            pinocchio.rnea(pair.oracle, pair.data, q, found.v[k], found.dv[k], forces).copy()
        )
    error = worst(found.tau, theirs)
    print(f"\n{pair.model.name}: torques {error:.1e}", end="")
    assert error < 1e-9


def test_center_of_mass_and_momenta(case):
    pair, _, _, found = case
    columns = {"com": [], "com_velocity": [], "com_acceleration": [], "angular_momentum": [],
               "linear_momentum": [], "angular_momentum_rate": []}  # fmt: skip
    kinetic = []
    for k in range(STATES):
        q, v, dv = pinocchio_q(pair.oracle, found.q[k]), found.v[k], found.dv[k]
        pinocchio.centerOfMass(pair.oracle, pair.data, q, v, dv)
        columns["com"].append(pair.data.com[0].copy())
        columns["com_velocity"].append(pair.data.vcom[0].copy())
        columns["com_acceleration"].append(pair.data.acom[0].copy())
        pinocchio.computeCentroidalMomentumTimeVariation(pair.oracle, pair.data, q, v, dv)
        columns["linear_momentum"].append(pair.data.hg.linear.copy())
        columns["angular_momentum"].append(pair.data.hg.angular.copy())
        columns["angular_momentum_rate"].append(pair.data.dhg.angular.copy())
        M = pinocchio.crba(pair.oracle, pair.data, q)
        kinetic.append(0.5 * v @ (np.triu(M) + np.triu(M, 1).T) @ v)
    errors = {name: worst(found.samples[name], theirs) for name, theirs in columns.items()}
    errors["kinetic_energy"] = worst(found.samples["kinetic_energy"], kinetic)
    print(f"\n{pair.model.name}: " + ", ".join(f"{n} {e:.1e}" for n, e in errors.items()), end="")
    assert max(errors.values()) < 1e-9


def test_forward_dynamics_gives_the_accelerations_back(case):
    pair, phases, _, found = case
    errors, on_a_tip = [], []
    for k, phase in enumerate(phases):
        record = found.support(phase.links[0])[k]
        wrench = np.concatenate([record["force"], record["torque"]])
        q, v, tau = found.q[k], found.v[k], found.tau[k]
        back = hrpsim.forward_dynamics(pair.model, q, v, tau, {phase.links[0]: wrench})
        errors.append(np.abs(back - found.dv[k]).max() / np.abs(found.dv[k]).max())
        on_a_tip.append("fingertip" in phase.links[0])
    errors, on_a_tip = np.array(errors), np.array(on_a_tip)
    print(f"\n{pair.model.name}: ABA round trip {errors.max():.1e}", end="")
    assert errors[~on_a_tip].max() < 1e-9
    # Talos hung up by a finger joint of 9e-6 kg m^2: the last digits of 1000 Nm move it.
    assert errors.max() < 1e-8


def test_several_fixed_links_share_the_same_wrench():
    pair = robot_pair("hrp2_like", "free")
    rng = np.random.default_rng(8)
    q, v, dv = random_motion(pair.model, rng, 50)
    links = ("l_sole", "r_sole", "HEAD_LINK1")
    analyser = Analyser(pair.model, links)
    found = analyser.analyse(q, v, dv, [FixedPhase(0, links)])
    for k in range(50):
        wrenches = {
            link: np.concatenate([found.support(link)[k][name] for name in ("force", "torque")])
            for link in links
        }
        tau = hrpsim.inverse_dynamics(pair.model, found.q[k], found.v[k], found.dv[k], wrenches)
        assert np.abs(tau - found.tau[k]).max() < 1e-11 * np.abs(tau).max()
