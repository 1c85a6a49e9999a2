# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Every robot of example-robot-data is the same robot for hrpsim as for Pinocchio."""

import numpy as np
import pinocchio
import pytest
from dynamics.oracle import pinocchio_q
from grouped import one_worker_each

from hrpsim import Model, ModelError, load_model
from hrpsim.model.system import FIXED, FREE, PRISMATIC, REVOLUTE
from robots import ALL_ROBOTS, BROKEN_ROBOTS, EXAMPLE_ROBOTS, NONPHYSICAL_ROBOTS

MIMIC_ROBOT_COUNT = 4

pytestmark = pytest.mark.quick_cases(
    *("double_pendulum_description/*", "hector_description/*", "human_description/*"),
    *("icub_description/icub_reduced", "panda_description/panda", "talos_data/talos_reduced"),
    *("simple_humanoid_description/*", "tiago_description/tiago_no_hand"),
)


@pytest.fixture(scope="module", params=one_worker_each(EXAMPLE_ROBOTS), ids=str)
def robot(request):
    """The same description on a free base, in hrpsim and in Pinocchio."""
    path = EXAMPLE_ROBOTS[request.param]
    accepted = request.param in NONPHYSICAL_ROBOTS
    model = load_model(path, base="free", accept_nonphysical_inertia=accepted)
    oracle = pinocchio.buildModelFromUrdf(str(path), pinocchio.JointModelFreeFlyer())
    return model, oracle


def place_bodies(model: Model, q: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Forward kinematics as the System contract reads: R_world_body and p_world of each body."""
    system, placed = model.system, []
    for i, joint in enumerate(system.joint_type):
        R, p = system.placement_R[i], system.placement_p[i]
        if joint == FREE:
            k = system.q_index[i]
            rotation = pinocchio.Quaternion(q[k + 3 : k + 7]).toRotationMatrix()
            placed.append((rotation, q[k : k + 3]))
            continue
        if system.parent[i] >= 0:
            R_parent, p_parent = placed[system.parent[i]]
            R, p = R_parent @ R, R_parent @ p + p_parent
        if joint == REVOLUTE:
            c, s = np.cos(q[system.q_index[i]]), np.sin(q[system.q_index[i]])
            R = R @ np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
        elif joint == PRISMATIC:
            p = p + R[:, 2] * q[system.q_index[i]]
        placed.append((R, p))
    return placed


def with_fixed_bodies(system, body: int) -> pinocchio.Inertia:
    """Return the inertia of a body and of those in fixed joints on it, which have force sensors."""
    whole = pinocchio.Inertia.Zero()
    whole.mass, whole.lever = system.mass[body], system.com[body]
    whole.inertia = system.inertia[body]
    for child in np.flatnonzero((system.parent == body) & (system.joint_type == FIXED)):
        placement = pinocchio.SE3(system.placement_R[child], system.placement_p[child])
        whole += placement.act(with_fixed_bodies(system, child))
    return whole


def random_configuration(model: Model, seed: int) -> np.ndarray:
    q = np.random.default_rng(seed).uniform(-2.0, 2.0, model.nq)
    q[3:7] /= np.linalg.norm(q[3:7])
    return q


def link_frames(oracle):
    return [f for f in oracle.frames if f.type == pinocchio.FrameType.BODY]


def test_joints_stand_in_pinocchios_order(robot):
    model, oracle = robot
    assert [joint.name for joint in model.joints] == list(oracle.names)[1:]
    assert model.nv == oracle.nv
    assert [joint.v_index for joint in model.joints] == [j.idx_v for j in list(oracle.joints)[1:]]


def test_links_are_the_same(robot):
    model, oracle = robot
    assert set(model.link_names) == {frame.name for frame in link_frames(oracle)}


def test_total_mass_is_the_same(robot):
    model, oracle = robot
    assert model.mass == pytest.approx(pinocchio.computeTotalMass(oracle), rel=1e-12)


def test_each_body_has_the_same_mass_centre_and_inertia(robot):
    model, oracle = robot
    for joint in model.joints:
        theirs = oracle.inertias[oracle.getJointId(joint.name)]
        # Pinocchio's joint frame is the URDF link frame; ours is turned so that the axis is z.
        link = next(f for f in model.frames.values() if f.body == joint.body and not f.p.any())
        R = link.R.T
        whole = with_fixed_bodies(model.system, joint.body)
        mass, com, inertia = whole.mass, R @ whole.lever, R @ whole.inertia @ R.T
        assert mass == pytest.approx(theirs.mass, rel=1e-12, abs=1e-15)
        if mass > 0.0:
            assert com == pytest.approx(theirs.lever, abs=1e-12)
        scale = max(np.abs(theirs.inertia).max(), mass * 1e-3)
        assert inertia == pytest.approx(theirs.inertia, abs=1e-12 * scale + 1e-18)


def test_limits_damping_and_friction_are_the_same(robot):
    model, oracle = robot
    for joint in model.joints[1:]:
        theirs = oracle.joints[oracle.getJointId(joint.name)]
        ours, v = model.system, joint.v_index
        if theirs.nq == 1:
            assert ours.lower[v] == oracle.lowerPositionLimit[theirs.idx_q]
            assert ours.upper[v] == oracle.upperPositionLimit[theirs.idx_q]
        else:
            assert (ours.lower[v], ours.upper[v]) == (-np.inf, np.inf)
        assert ours.effort_limit[v] == (oracle.effortLimit[v] or np.inf)
        assert ours.velocity_limit[v] == (oracle.velocityLimit[v] or np.inf)
        assert ours.damping[v] == oracle.damping[v]
        assert ours.friction[v] == oracle.friction[v]


def test_links_stand_where_pinocchio_puts_them(robot):
    model, oracle = robot
    data = oracle.createData()
    for seed in range(3):
        q = random_configuration(model, seed)
        pinocchio.framesForwardKinematics(oracle, data, pinocchio_q(oracle, q))
        bodies = place_bodies(model, q)
        for frame in link_frames(oracle):
            ours, theirs = (
                model.frames[frame.name],
                data.oMf[oracle.getFrameId(frame.name, frame.type)],
            )
            R, p = bodies[ours.body]
            assert R @ ours.R == pytest.approx(theirs.rotation, abs=1e-12)
            assert R @ ours.p + p == pytest.approx(theirs.translation, abs=1e-12)


@pytest.mark.parametrize("path", EXAMPLE_ROBOTS.values(), ids=EXAMPLE_ROBOTS)
def test_fixed_base_is_pinocchios_fixed_base(path):
    model = load_model(path, base="fixed", accept_nonphysical_inertia=True)
    oracle = pinocchio.buildModelFromUrdf(str(path))
    assert list(model.joint_names) == list(oracle.names)[1:]
    moving = sum(inertia.mass for inertia in list(oracle.inertias)[1:])
    assert model.mass == pytest.approx(moving, rel=1e-12)
    assert model.frames[model.base_link].body == -1


@pytest.mark.parametrize(("name", "link"), NONPHYSICAL_ROBOTS.items(), ids=NONPHYSICAL_ROBOTS)
def test_nonphysical_robots_are_refused_by_name(name, link):
    path = ALL_ROBOTS[name]
    with pytest.raises(ModelError, match="accept_nonphysical_inertia=True") as caught:
        load_model(path)
    assert str(path) in str(caught.value)
    assert f"link {link!r}" in str(caught.value)


@pytest.mark.parametrize(("name", "cause"), BROKEN_ROBOTS.items(), ids=BROKEN_ROBOTS)
def test_broken_robots_are_refused_with_the_cause(name, cause):
    with pytest.raises(ModelError, match=cause) as caught:
        load_model(ALL_ROBOTS[name])
    assert str(ALL_ROBOTS[name]) in str(caught.value)


def test_the_robots_are_there():
    """Guards the tests above against an empty list."""
    assert len(EXAMPLE_ROBOTS) >= 60
    assert set(NONPHYSICAL_ROBOTS) <= set(EXAMPLE_ROBOTS)
    mimics = [name for name, path in EXAMPLE_ROBOTS.items() if "<mimic" in path.read_text()]
    assert len(mimics) >= MIMIC_ROBOT_COUNT
