# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

import numpy as np
import pytest
from control.walking import BUSH_SETS, RIGID, half_sitting_robot, model_on, pattern, standing
from scipy.spatial.transform import Rotation

from hrpsim import ModelError, center_of_mass, link_pose
from hrpsim.control import Channel, ControllerError, ControlLoop, Walk, simulate_walk
from hrpsim.control.balance.dcm_feedback import dcm_natural_frequencies, zmp_gains
from hrpsim.control.balance.foot import foot_of
from hrpsim.control.balance.walk_reference import WalkReference, _quaternion
from hrpsim.control.motion.motion_sequence import rotations_of
from hrpsim.control.pattern.support_polygon import inset, margins, nearest_in
from hrpsim.world.fall import tilt

SOLES = ("l_sole", "r_sole")
WEIGHT = 58.0 * 9.80665


def loaded_soles(robot, weights):
    """Return the true place of the support: of both soles by their loads (3,)."""
    places = [robot.link_pose(sole)[0] for sole in SOLES]
    return weights[0] * places[0] + weights[1] * places[1]


def center_of_pressure(robot):
    """Return where the floor's forces act, from the contact points (2,), and their sum [N]."""
    contacts = robot.world.contacts
    forces = np.array([abs(contact.force[2]) for contact in contacts])
    places = np.array([contact.point[:2] for contact in contacts])
    return forces @ places / forces.sum(), forces.sum()


@pytest.mark.quick_cases("rigid")
@pytest.mark.parametrize("feet", ["openhrp", RIGID])
def test_estimate_is_where_the_robot_is(feet):
    robot = half_sitting_robot(feet)
    controller = Walk(pattern("E5"))
    com_errors, velocity_errors, zmp_errors = [], [], []
    before = None
    with ControlLoop(robot, controller, {}) as loop:
        while robot.world.time < 8.0:
            q = robot.q
            com = center_of_mass(robot.model, q)
            pressed = center_of_pressure(robot) if robot.world.time > 0 else None
            # The axes of an estimate have the yaw of the reference: turn the truth alike.
            turn = link_pose(robot.model, q, robot.model.base_link)[1]
            loop.control()
            estimate = controller.stabilizer.estimate
            R = estimate.waist_R @ turn.T
            true = R @ (com - loaded_soles(robot, estimate.weights))
            com_errors.append(estimate.com - true)
            if pressed is not None:
                at, _ = pressed
                from_support = R[:2, :2] @ (at - loaded_soles(robot, estimate.weights)[:2])
                zmp_errors.append(estimate.zmp - from_support)
            if before is not None:
                velocity = R @ (com - before) / 0.005
                velocity_errors.append(estimate.com_velocity - velocity)
            before = com
            robot.world.step(5)
    com_errors, velocity_errors = np.array(com_errors), np.array(velocity_errors)
    assert np.abs(com_errors[:, :2]).max() < 1e-4
    assert np.abs(com_errors[:, 2]).max() < 2e-3  # rubber is pressed by a millimetre
    assert np.sqrt((velocity_errors[:, :2] ** 2).mean(axis=0)).max() < 2e-3
    assert np.abs(zmp_errors).max() < 2e-3  # readings leave out the sole's own acceleration


def test_an_imu_that_faces_elsewhere_changes_nothing():
    """Yaw is not known to a robot: an estimate must not depend on it."""
    robot = half_sitting_robot("openhrp")
    controller = Walk(standing(1.0))
    with ControlLoop(robot, controller, {}) as loop:
        state = loop.sense()
    name, reading = next(iter(state.imus.items()))
    c, s = np.cos(0.6), np.sin(0.6)
    x, y, z, w = reading.orientation
    turned = np.array([c * x - s * y, s * x + c * y, c * z + s * w, c * w - s * z])
    elsewhere = state._replace(imus={name: reading._replace(orientation=turned)})
    estimates = []
    for seen in (state, elsewhere):
        controller.stabilizer.reset()
        controller.stabilizer.update(seen, 0)
        estimates.append(controller.stabilizer.estimate)
    here, there = estimates
    for field in ("waist_R", "com", "com_velocity", "zmp"):
        np.testing.assert_allclose(getattr(here, field), getattr(there, field), atol=1e-12)


def test_reference_of_a_sequence_of_joint_angles_alone():
    """Waist, ZMP and contacts follow from the joints where a sequence does not tell them."""
    full = pattern("E5")
    model = model_on("openhrp")
    feet = tuple(foot_of(model, sole) for sole in SOLES)
    told = WalkReference(model, full, feet, 0.005)
    bare = type(full)(full.joint_names, pos=full.pos)
    found = WalkReference(model, bare, feet, 0.005)
    np.testing.assert_allclose(found.waist_p[0, 2], told.waist_p[0, 2], atol=1e-9)
    # Nothing tells the yaw of the waist, so distances are compared: those of sole and waist.
    for reference in (told, found):
        reference.reach = np.linalg.norm(reference.sole_p - reference.waist_p[:, None], axis=2)
    np.testing.assert_allclose(found.reach, told.reach, atol=1e-9)
    # A sole stands where the sequence says so; besides, only while it is 1 mm above the other one.
    assert found.contact[told.contact].all()
    lift = found.sole_p[:, :, 2] - found.sole_p[:, :, 2].min(axis=1, keepdims=True)
    assert lift[found.contact & ~told.contact].max() < 1e-3
    assert (found.contact != told.contact).mean() < 0.05


def test_reference_zmp_is_that_of_the_sequence_by_inverse_dynamics():
    full = pattern("E5")
    model = model_on("openhrp")
    feet = tuple(foot_of(model, sole) for sole in SOLES)
    told = WalkReference(model, full, feet, 0.005)
    silent = type(full)(full.joint_names, pos=full.pos, waist=full.waist)
    found = WalkReference(model, silent, feet, 0.005)
    np.testing.assert_allclose(found.zmp, told.zmp, atol=3e-3)
    assert abs(told.vertical_force.mean() - WEIGHT) < 1.0


def test_force_of_the_floor_moves_the_centre_of_mass_of_a_body_that_leans():
    model = model_on("openhrp")
    feet = tuple(foot_of(model, sole) for sole in SOLES)
    still = standing(1.0)
    times = np.arange(401) * 0.005
    joints = np.tile(still.pos.values[0], (401, 1))
    joints += 0.1 * np.sin(4.0 * times)[:, None] * np.cos(np.arange(joints.shape[1]))
    waist = np.zeros((401, 6))
    waist[:, 2] = 0.65 + 0.02 * np.sin(5.0 * times)
    waist[:, 3:] = 0.3 * np.sin(np.outer(times, [3.0, 4.0, 2.0]))
    motion = type(still)(still.joint_names, pos=Channel(times, joints), waist=Channel(times, waist))
    reference = WalkReference(model, motion, feet, 0.005)
    acceleration = np.gradient(np.gradient(reference.com[:, 2], 0.005), 0.005)
    expected = model.mass * (9.80665 + acceleration)
    inside = slice(10, -10)
    swing = np.ptp(expected[inside])
    assert swing > 20.0
    np.testing.assert_allclose(
        reference.vertical_force[inside], expected[inside], atol=0.02 * swing
    )


def test_rotations_are_those_of_scipy():
    rng = np.random.default_rng(2)
    angles = rng.uniform([-1.0, -1.0, -3.0], [1.0, 1.0, 3.0], size=(50, 3))
    expected = Rotation.from_euler("xyz", angles)
    found = rotations_of(angles)
    np.testing.assert_allclose(found, expected.as_matrix(), atol=1e-12)
    for R, quaternion in zip(found, expected.as_quat()):
        assert abs(np.dot(_quaternion(R), quaternion)) == pytest.approx(1.0, abs=1e-12)


class Noisy(Walk):
    """Walks by readings with noise: 1 mrad, 10 mrad/s, 2 to 4 N, 0.2 Nm, 20 mrad/s of joints."""

    rng = np.random.default_rng(1)

    def control(self, state):
        noise = self.rng.normal
        name, imu = next(iter(state.imus.items()))
        tilted = Rotation.from_rotvec(noise(0.0, 1e-3, 3)) * Rotation.from_quat(imu.orientation)
        rate = imu.angular_velocity + noise(0.0, 0.01, 3)
        spread = (2.0, 2.0, 4.0, 0.2, 0.2, 0.2)
        joint_count = len(state.joint_positions)
        return super().control(
            state._replace(
                joint_positions=state.joint_positions + noise(0.0, 2e-5, joint_count),
                joint_velocities=state.joint_velocities + noise(0.0, 0.02, joint_count),
                wrenches={k: v + noise(0.0, spread) for k, v in state.wrenches.items()},
                imus={name: imu._replace(orientation=tilted.as_quat(), angular_velocity=rate)},
            )
        )


def test_noise_of_the_sensors_does_not_fell_it():
    done = simulate_walk(half_sitting_robot("openhrp"), Noisy(pattern("forward")))
    assert done.completed
    assert np.degrees(done.tilt.max()) < 1.5


@pytest.mark.parametrize("rate, lag", [(8.0, 0.008), (5.0, 0.02), (14.0, 0.004)])
def test_gains_place_the_poles(rate, lag):
    w = 3.4
    for_position, for_rate = zmp_gains(w, rate, lag)
    A = np.array([[0, 1, 0], [w * w, 0, -w * w], [for_position / lag, for_rate / lag, -1.0 / lag]])
    poles = sorted(np.linalg.eigvals(A).real)
    np.testing.assert_allclose(poles, sorted([-w, -rate, -(1.0 / lag - w - rate)]), rtol=1e-9)


def test_a_rate_that_the_lag_does_not_allow_is_refused():
    with pytest.raises(ControllerError, match=r"dcm_rate 60 1/s is too fast.*below"):
        zmp_gains(3.4, 60.0, 0.02)


def test_toppling_rates_are_those_of_the_rigid_body():
    """Against the textbook: w^2 = m g h / (m h^2 + I), I summed up link by link."""
    model = model_on("openhrp")
    feet = tuple(foot_of(model, sole) for sole in SOLES)
    reference = WalkReference(model, standing(1.0), feet, 0.005)
    q = model.neutral()
    q[:3] = reference.waist_p[0]
    for name, angle in zip(standing(1.0).joint_names, reference.joint_positions[0]):
        q[model.joint(name).q_index] = angle
    system = model.system
    com = center_of_mass(model, q)
    inertia = np.zeros((3, 3))
    for joint in model.joints:
        link = next(f for f in model.frames.values() if f.body == joint.body)
        p, R = link_pose(model, q, link.name)
        R_body = R @ link.R.T
        k = joint.body
        r = p - R_body @ link.p + R_body @ system.com[k] - com
        inertia += R_body @ system.inertia[k] @ R_body.T
        inertia += system.mass[k] * (r @ r * np.eye(3) - np.outer(r, r))
    m, h = model.mass, com[2]
    expected = [np.sqrt(m * 9.80665 * h / (m * h * h + inertia[i, i])) for i in (1, 0)]
    found = dcm_natural_frequencies(model, q, com[2])
    np.testing.assert_allclose(found, expected, rtol=2e-3)  # feet are bodies without a joint


@pytest.mark.quick_cases("0-jaxon", "1-hrp2_soft", "1-rigid")
@pytest.mark.parametrize("feet", [*BUSH_SETS, RIGID])
@pytest.mark.parametrize("axis", [0, 1])
def test_floor_follows_a_step_of_the_desired_zmp(feet, axis):
    """The springs are inverted by the model: the ZMP comes alike quickly whatever they are."""
    shift, begin = 0.015, 1.0
    trajectories = []
    for jump in (0.0, shift):
        robot = half_sitting_robot(feet)
        controller = Walk(standing(3.0))
        trajectory = []
        with ControlLoop(robot, controller, {"integral_rate": 0.0}) as loop:
            while robot.world.time < begin + 0.02:
                if jump and abs(robot.world.time - begin) < 1e-9:
                    controller.stabilizer.integral[axis] = jump
                loop.control()
                for _ in range(5):
                    robot.world.step()
                    if robot.world.time > begin:
                        trajectory.append(center_of_pressure(robot)[0][axis])
        trajectories.append(np.array(trajectory))
    response = (trajectories[1] - trajectories[0]) / shift
    assert np.argmax(response > 0.63) < 7  # [ms]; 5 ms of them are the control period
    assert response.max() < 1.45
    assert 0.7 < response[10:18].mean() < 1.4  # of a damping ratio of 0.2, as jaxon's bushes have


@pytest.mark.quick_cases("push0-hrp2_soft", "push1-openhrp", "push2-rigid", "push3-rigid")
@pytest.mark.parametrize("feet", ["openhrp", "hrp2_soft", RIGID])
@pytest.mark.parametrize("push", [(20.0, 0.0), (-20.0, 0.0), (0.0, 30.0), (0.0, -30.0)])
def test_stands_a_push_with_the_zmp_inside_the_support(feet, push):
    robot = half_sitting_robot(feet)
    controller = Walk(standing(4.0))
    signals = []
    with ControlLoop(robot, controller, {}) as loop:
        while robot.world.time < 4.5:
            if 1.0 - 1e-9 < robot.world.time < 1.1 - 1e-9:
                robot.apply_wrench("base_link", force=(10.0 * push[0], 10.0 * push[1], 0.0))
            loop.tick()
            signals.append(controller.signals)
    assert np.degrees(tilt(robot.q[3:7])) < 0.3
    polygon = controller.reference.polygons[0]
    desired = np.array([each["zmp_desired"] for each in signals])
    assert margins(desired, polygon).min() > 0.01 - 1e-9
    # The push was strong enough to matter: the ZMP was wanted at the edge, or far out.
    assert np.abs(desired - desired[0]).max() > 0.07


def test_playback_does_not_stand_the_push_that_the_stabiliser_stands():
    fates = []
    for stabilizer in (True, False):
        robot = half_sitting_robot("hrp2_soft")
        with ControlLoop(robot, Walk(standing(4.0)), {"stabilizer": stabilizer}) as loop:
            while robot.world.time < 4.0:
                if 1.0 - 1e-9 < robot.world.time < 1.1 - 1e-9:
                    robot.apply_wrench("base_link", force=(250.0, 0.0, 0.0))
                loop.tick()
        fates.append(np.degrees(tilt(robot.q[3:7])))
    assert fates[0] < 0.5
    assert fates[1] > 45.0


def test_foot_tells_the_springs_of_the_description():
    foot = foot_of(model_on("hrp2_stiff"), "l_sole")
    np.testing.assert_array_equal(foot.turn_stiffness, [600.0, 600.0])
    np.testing.assert_array_equal(foot.turn_damping, [60.0, 60.0])
    assert foot.slide_stiffness == 5e5
    assert foot.pivot_height == pytest.approx(0.055)
    assert foot.sensor.name == "lfsensor"
    rigid = foot_of(model_on(RIGID), "l_sole")
    assert np.isinf(rigid.turn_stiffness).all() and np.isinf(rigid.slide_stiffness)
    assert rigid.pivot_height == 0.0
    with pytest.raises(ModelError, match="'left_sole' does not exist"):
        foot_of(model_on(RIGID), "left_sole")


def test_nearest_point_of_a_polygon():
    square = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    assert nearest_in(square, 4, 0.3, 0.9) == (0.3, 0.9)
    assert nearest_in(square, 4, 0.5, 1.5) == (0.5, 1.0)
    assert nearest_in(square, 4, 2.0, -3.0) == (1.0, 0.0)
    assert nearest_in(np.array([[0.2, 0.4]]), 1, 5.0, 5.0) == (0.2, 0.4)
    assert nearest_in(square, 1, 5.0, 5.0) == (0.0, 0.0)  # the other corners do not count


def test_nearest_point_is_as_near_as_any_on_a_fine_grid():
    rng = np.random.default_rng(4)
    triangle = np.array([[0.0, 0.0], [0.7, 0.1], [0.2, 0.5]])
    weights = rng.dirichlet(np.ones(3), size=20000)
    inside = weights @ triangle
    for point in rng.uniform(-1.0, 1.0, size=(20, 2)):
        found = nearest_in(triangle, 3, *point)
        least = np.linalg.norm(inside - point, axis=1).min()
        assert np.linalg.norm(found - point) <= least + 1e-12
        assert np.linalg.norm(found - point) >= least - 0.02


def test_inset_moves_every_edge_inwards():
    rectangle = [[0.0, 0.0], [2.0, 0.0], [2.0, 1.0], [0.0, 1.0]]
    corners = sorted(map(tuple, inset(rectangle, 0.1).round(12)))
    assert corners == [(0.1, 0.1), (0.1, 0.9), (1.9, 0.1), (1.9, 0.9)]
    np.testing.assert_allclose(inset(rectangle, 0.6), [[1.0, 0.5]])
