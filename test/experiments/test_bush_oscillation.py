# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""E4: the estimate of three masses beside closed forms and pinocchio; the sway of the robot."""

import math

import numpy as np
import pytest
from scipy.linalg import expm

from evidence.experiments.framework.experiment import Options
from evidence.experiments.framework.reproduce import save_figure
from evidence.experiments.scenes.standing import half_sitting
from evidence.experiments.scenes.three_mass import (
    GRAVITY,
    Chain,
    Sway,
    five_masses,
    slowest_mode,
    three_masses,
)
from evidence.experiments.studies import e04_bush_oscillation as e04
from hrpsim import HrpsimError, link_pose, load_model

MASS, HEIGHT, SPIN = 50.0, 0.8, 3.0
WEIGHT = MASS * GRAVITY * HEIGHT  # what gravity takes from the spring [Nm/rad]
INERTIA = MASS * HEIGHT**2 + SPIN


def inverted_pendulum(stiffness: float, damping: float) -> Sway:
    return Sway(
        Chain(
            np.array([MASS]),
            np.array([[0.0, HEIGHT]]),
            np.array([SPIN]),
            np.zeros((1, 2)),
            np.array([stiffness]),
            np.array([damping]),
            np.zeros(1),
            np.array([INERTIA]),
        )
    )


def test_an_inverted_pendulum_sways_as_the_closed_form_says():
    stiffness, damping = 2.0 * WEIGHT, 40.0
    frequency = math.sqrt((stiffness - WEIGHT) / INERTIA)
    ratio = damping / (2.0 * INERTIA * frequency)
    mode = slowest_mode(inverted_pendulum(stiffness, damping).poles())
    assert mode.kind == "oscillates"
    assert mode.damping_ratio == pytest.approx(ratio, rel=1e-12)
    period = 2.0 * math.pi / (frequency * math.sqrt(1.0 - ratio**2))
    assert mode.period == pytest.approx(period, rel=1e-12)


def test_a_spring_softer_than_gravity_lets_it_fall_and_a_stiff_damper_creep_back():
    assert slowest_mode(inverted_pendulum(0.99 * WEIGHT, 40.0).poles()).kind == "falls"
    stiffness = 2.0 * WEIGHT
    critical = 2.0 * math.sqrt((stiffness - WEIGHT) * INERTIA)
    assert slowest_mode(inverted_pendulum(stiffness, 1.01 * critical).poles()).kind == "creeps back"
    assert slowest_mode(inverted_pendulum(stiffness, 0.99 * critical).poles()).kind == "oscillates"


def test_semi_implicit_steps_of_a_pendulum_do_what_their_poles_say():
    """Drift, kick, drift: the spring at the mean of both ends, gravity in the middle.

    The damper alone would leave 1 / (1 + z + z^2 / 2) of the speed, z = damping dt / INERTIA: with
    the impulse -damping dt speed / (1 + dt r), that r follows from it.
    """
    stiffness, damping, dt = 2.0 * WEIGHT, 4000.0, 1e-2
    z = damping * dt / INERTIA
    slowed = 1.0 / (1.0 + z + z * z / 2.0)
    resisting = INERTIA * (z / (1.0 - slowed) - 1.0)  # inertia that stands for the damper
    angle, speed = 0.01, 0.0
    poles = inverted_pendulum(stiffness, damping).stepped_poles(dt)
    angles = [angle]
    for _ in range(100):
        middle = angle + 0.5 * dt * speed
        # INERTIA (new - speed) = dt (WEIGHT middle - damping speed - stiffness (angle + next) / 2)
        #                         - resisting (new - speed),   next = middle + dt / 2 new
        left = INERTIA + resisting + 0.25 * dt * dt * stiffness
        right = (INERTIA + resisting - dt * damping) * speed
        right += dt * (WEIGHT * middle - stiffness * 0.5 * (angle + middle))
        speed = right / left
        angle = middle + 0.5 * dt * speed
        angles.append(angle)
    shares = np.linalg.solve(np.array([[1.0, 1.0], np.exp(poles * dt)]), angles[:2])
    assert angle == pytest.approx((shares @ np.exp(poles * 100 * dt)).real, rel=1e-9)


def test_steps_do_not_damp_an_undamped_pendulum():
    """The trapezoidal rule keeps |e| = 1; its period is longer by (w dt)^2 / 12 and less."""
    stiffness, dt = 2.0 * WEIGHT, 1e-2
    frequency = math.sqrt((stiffness - WEIGHT) / INERTIA)
    mode = slowest_mode(inverted_pendulum(stiffness, 0.0).stepped_poles(dt) - 1e-12)
    assert abs(mode.damping_ratio) < 1e-9
    assert mode.period == pytest.approx(2.0 * math.pi / frequency, rel=(frequency * dt) ** 2)


def test_poles_of_small_steps_are_those_of_continuous_time():
    """The method is of second order: the error falls by four where the step is halved.

    Of shorter steps the error is as small as what rounding leaves of it, which other processors do
    otherwise.
    """
    sway = three_masses(e04.standing_on("jaxon"))
    exact = slowest_mode(sway.poles())
    steps = [slowest_mode(sway.stepped_poles(dt)) for dt in (5e-4, 2.5e-4)]
    errors = [mode.damping_ratio - exact.damping_ratio for mode in steps]
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=2.5e-2)
    errors = [mode.period - exact.period for mode in steps]
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=2.5e-2)


def test_a_pendulum_hinged_on_the_floor_gets_the_moment_of_its_spring_and_damper():
    stiffness, damping, tilt = 2.0 * WEIGHT, 40.0, 0.01
    sway = inverted_pendulum(stiffness, damping)
    times = np.array([0.0, 0.1, 0.7])
    for time, moment in zip(times, sway.moment(tilt, times), strict=True):
        angle, speed = expm(sway.system() * time) @ [tilt, 0.0]
        assert moment == pytest.approx(-stiffness * angle - damping * speed, rel=1e-9)


def test_five_masses_have_the_energies_that_pinocchio_finds():
    """Both legs turn alike and the feet stay; rotors, which pinocchio does not have, aside."""
    pin = pytest.importorskip("pinocchio")
    model = e04.standing_on("openhrp")
    sway = five_masses(model)
    robot = pin.buildModelFromXML(model.urdf, pin.JointModelFreeFlyer())
    data = robot.createData()
    q = pin.neutral(robot)
    for name in model.joint_names:
        if robot.existJointName(name):
            q[robot.joints[robot.getJointId(name)].idx_q] = half_sitting(model)[
                model.joint(name).q_index
            ]
    pin.computeJointJacobians(robot, data, q)
    pin.crba(robot, data, q)
    inertia = np.triu(data.M) + np.triu(data.M, 1).T
    foot = pin.getFrameJacobian(
        robot, data, robot.getFrameId("LLEG_SOLE"), pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
    )
    moves = np.zeros((robot.nv, 5))
    hinges = ("LEG_BUSH_PITCH", "LEG_JOINT4", "LEG_JOINT3", "LEG_JOINT2")
    for k, hinge in enumerate(hinges):  # what is above turns forward: the joint turns back
        for side in "LR":
            moves[robot.joints[robot.getJointId(side + hinge)].idx_v, k] = -1.0
    moves[robot.joints[robot.getJointId("CHEST_JOINT1")].idx_v, 4] = 1.0
    moves[:6] = np.linalg.solve(foot[:, :6], -foot @ moves)
    ours = np.tril(np.ones((5, 5)))  # pitches of bodies from the hinges' turns
    rotors = np.diag(sway.chain.rotor)
    # The feet do not move: all of pinocchio's kinetic energy is that of the five masses.
    np.testing.assert_allclose(
        ours.T @ sway.inertia @ ours - rotors, moves.T @ inertia @ moves, rtol=1e-9, atol=1e-9
    )
    step = 1e-4
    curvature = np.empty(5)
    for k in range(5):
        heights = []
        for turn in (-step, 0.0, step):
            moved = pin.integrate(robot, q, np.zeros(robot.nv))
            moved = _turned(pin, robot, data, moved, moves[:, k] * turn)
            heights.append(pin.centerOfMass(robot, data, moved)[2])
        total = pin.computeTotalMass(robot)
        curvature[k] = total * GRAVITY * (heights[0] - 2 * heights[1] + heights[2]) / step**2
    np.testing.assert_allclose(
        np.diag(ours.T @ sway.gravity @ ours), curvature, rtol=1e-4, atol=1e-3
    )


def _turned(pin, robot, data, q, change):
    """Return q with its joints moved, and its base so that the left sole stays where it was."""
    frame = robot.getFrameId("LLEG_SOLE")
    pin.framesForwardKinematics(robot, data, q)
    before = data.oMf[frame].copy()
    joints = change.copy()
    joints[:6] = 0.0
    moved = pin.integrate(robot, q, joints)
    pin.framesForwardKinematics(robot, data, moved)
    base = before * data.oMf[frame].inverse() * pin.XYZQUATToSE3(moved[:7])
    moved[:7] = pin.SE3ToXYZQUAT(base)
    return moved


def test_what_has_no_bushes_is_refused_by_name():
    urdf = e04.standing_on("openhrp").urdf.replace("LLEG_BUSH_PITCH", "LLEG_OTHER")
    with pytest.raises(HrpsimError, match="LLEG_BUSH_PITCH"):
        three_masses(load_model(urdf))


def test_period_and_decrement_of_a_known_oscillation():
    time = np.arange(0.0, 6.0, 1e-3)
    ratio, frequency = 0.08, 5.0
    damped = frequency * math.sqrt(1.0 - ratio**2)
    moment = -9.0 * np.exp(-ratio * frequency * time) * np.cos(damped * time - 0.3)
    mode = e04.measured(time, moment)
    assert mode.period == pytest.approx(2.0 * math.pi / damped, rel=1e-6)
    assert mode.damping_ratio == pytest.approx(ratio, rel=1e-5)


def test_what_does_not_oscillate_is_said_not_to():
    time = np.arange(0.0, 6.0, 1e-3)
    assert e04.measured(time, np.exp(-time)).kind == "does not oscillate"


def test_tilting_leaves_the_soles_where_they_are():
    model = e04.standing_on("hrp2_soft")
    q = half_sitting(model)
    p, _ = link_pose(model, q, "LLEG_SOLE")
    turned = e04.tilted(model, q, p)
    for sole in ("LLEG_SOLE", "RLEG_SOLE"):
        for was, now in zip(link_pose(model, q, sole), link_pose(model, turned, sole), strict=True):
            np.testing.assert_allclose(now, was, atol=1e-14)
    trunk = link_pose(model, turned, "BODY")[1] @ link_pose(model, q, "BODY")[1].T
    angle = e04.tilt_of(model)
    assert trunk[0, 2] == pytest.approx(math.sin(angle), rel=1e-9)
    assert link_pose(model, turned, "BODY")[0][0] > q[0] + 0.5 * angle


def test_rk4_with_stiff_dampers_holds_only_where_it_follows_their_decay():
    """The sole in the air is braked at c / inertia; rk4 grows beyond 2.785 / dt."""
    for bush_set in e04.BUSH_SETS:
        decay = e04.sole_decay(e04.standing_on(bush_set))
        step = e04.RK4_STEPS.get(bush_set, e04.TIME_STEP)
        assert decay * step < e04.RK4_REACH
    assert e04.sole_decay(e04.standing_on("hrp2_stiff")) * e04.TIME_STEP > e04.RK4_REACH


@pytest.mark.long
def test_the_quick_run_meets_its_targets_and_draws(tmp_path):
    pytest.importorskip("matplotlib")
    result = e04.run(Options(quick=True))
    assert result.rows and result.met, [row for row in result.rows if row.met is False]
    assert save_figure(e04.EXPERIMENT, result, tmp_path).stat().st_size < 150_000
