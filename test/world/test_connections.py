# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""What connections do, against mechanics: freedoms, momentum, springs, motors, limits."""

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation
from world.joined import random_turn
from world.scenes import GRAVITY, INTEGRATORS, momenta, one_joint, show, weightless

from hrpsim import Box, Sphere, World, WorldError
from hrpsim.model.described import AXES, KINDS

STEP = 1e-3


def pair(kind: str, integrator: str = "semi_implicit", time_step: float = STEP, **options):
    """Two boxes joined at a frame that is turned against both."""
    rng = np.random.default_rng(5)
    world = weightless(time_step, integrator, tolerance=1e-10)
    a = world.add_body(Box((0.2, 0.3, 0.4)), 2.0, (0, 0, 0), random_turn(rng), name="a")
    b = world.add_body(Box((0.3, 0.2, 0.3)), 1.0, (0.6, 0.1, 0), random_turn(rng), name="b")
    if kind == "distance":
        return world, a, b, world.connect(a, b, "distance", **options)
    joint = {"point": (0.3, 0.1, 0.05), "axis": (1, 2, 3), **options}
    return world, a, b, world.connect(a, b, kind, **joint)


def frame_of(world, side: str) -> tuple[np.ndarray, np.ndarray]:
    """Axes and origin of a connection's frame in the world."""
    record = world.scene.connections[0]
    entity = world.entities[side]
    R = Rotation.from_quat(entity.q[3:]).as_matrix()
    return R @ record[f"R_{side}"], entity.q[:3] + R @ record[f"p_{side}"]


def relative_twist(world, a, b) -> np.ndarray:
    """Velocity of b relative to a at the frames' origin, along frame a: linear, then angular."""
    axes, origin = frame_of(world, "b")
    axes, _ = frame_of(world, "a")
    linear = b.velocity + np.cross(b.angular_velocity, origin - b.position)
    linear = linear - a.velocity - np.cross(a.angular_velocity, origin - a.position)
    return np.concatenate([axes.T @ linear, axes.T @ (b.angular_velocity - a.angular_velocity)])


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "distance"])
def test_a_kind_leaves_its_own_axes_free_and_no_others(kind):
    """From rest, in a step so short that nothing turns in it."""
    rng = np.random.default_rng(6)
    world, a, b, _ = pair(kind, time_step=1e-5)
    start = world.snapshot()
    twists = []
    for _ in range(10):
        world.restore(start)
        for body in (a, b):
            body.apply_wrench(rng.normal(size=3), rng.normal(size=3))
        world.step()
        twists.append(relative_twist(world, a, b))
    largest = np.abs(twists).max(axis=0)
    held = np.array([axis in KINDS[kind] for axis in AXES])
    scale = 1e-5 / 0.02  # a moment of 1 Nm turns the lighter one so fast
    assert (largest[held] < 1e-7 * scale).all()
    assert (largest[~held] > 1e-2 * scale).all()
    assert np.linalg.matrix_rank(np.array(twists), tol=1e-4 * scale) == 6 - held.sum()


@pytest.mark.quick_cases("*-semi_implicit")
@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("kind", KINDS)
def test_errors_stay_small_under_changing_loads(kind, integrator):
    rng = np.random.default_rng(7)
    world, a, b, connection = pair(kind, integrator)
    worst, travelled = 0.0, 0.0
    for _ in range(50):
        wrenches = [(rng.normal(size=3) * 5, rng.normal(size=3)) for _ in range(2)]
        for _ in range(20):
            for body, (force, torque) in zip((a, b), wrenches, strict=True):
                body.apply_wrench(force, torque)
            world.step()
            worst = max(worst, np.abs(connection.error).max())
        travelled = max(travelled, np.linalg.norm(b.velocity))
    show(f"{kind}, {integrator}: worst error in 1 s, greatest speed", worst, travelled)
    assert worst < 1e-5  # a step without the springs' curvature leaves 1e-4


@pytest.mark.parametrize("kind", KINDS)
def test_connections_between_free_bodies_conserve_momentum(kind):
    """Balls, whose own turning the integrator takes exactly."""
    rng = np.random.default_rng(8)
    world = weightless(tolerance=1e-12)
    balls = [
        world.add_body(
            Sphere(0.1),
            1.0 + k,
            (0.5 * k, 0, 0),
            velocity=rng.normal(size=3),
            angular_velocity=rng.normal(size=3),
        )
        for k in range(3)
    ]
    for a, b in pairwise(balls):
        world.connect(a, b, kind)
    linear, angular = momenta(balls)
    world.step(500)
    after = momenta(balls)
    show(f"{kind}: change of momenta", *np.abs(np.subtract(after, (linear, angular))).max(axis=1))
    assert after[0] == pytest.approx(linear, abs=1e-11)
    assert after[1] == pytest.approx(angular, abs=1e-11)


def swing(t: float, start: float, length: float, mass: float, moment: float) -> float:
    """Angle of a pendulum released at rest, about its pivot."""
    k = mass * GRAVITY * length / (moment + mass * length**2)
    found = solve_ivp(
        lambda _, y: (y[1], -k * math.sin(y[0])), (0, t), (start, 0), rtol=1e-12, atol=1e-12
    )
    return found.y[0, -1]


def hinged_angle(time_step: float, start: float, duration: float) -> float:
    """Angle of a ball of 2 kg on a hinge 0.5 m above it: a pendulum in six coordinates."""
    world = World(time_step, tolerance=1e-12)
    place = 0.5 * np.array([-math.sin(start), 0, -math.cos(start)])
    turn = (0, math.sin(start / 2), 0, math.cos(start / 2))
    ball = world.add_body(Sphere(0.2), 2.0, place, turn)
    world.connect(None, ball, "hinge", point=(0, 0, 0), axis=(0, 1, 0))
    world.step(round(duration / time_step))
    return math.atan2(-ball.position[0], -ball.position[2])


def test_a_hinged_body_swings_as_the_reduced_pendulum():
    moment = 0.4 * 2.0 * 0.2**2
    truth = swing(1.0, 1.2, 0.5, 2.0, moment)
    error = [abs(hinged_angle(dt, 1.2, 1.0) - truth) for dt in (2e-3, 1e-3, 5e-4)]
    world = World(5e-4)
    robot = world.add_robot(one_joint(mass=2.0, at="0 0 -0.5", moment=moment), q=[1.2])
    world.step(2000)
    reduced = abs(robot.q[0] - truth)
    show("hinged body: errors at 2, 1, 0.5 ms; reduced pendulum at 0.5 ms", *error, reduced)
    assert error[0] / error[1] > 1.8 and error[1] / error[2] > 1.8
    assert error[2] < 1.5 * reduced


def test_a_spring_sinks_by_load_times_compliance():
    world = World()
    body = world.add_body(Sphere(0.1), 3.0)
    yields = {"compliance": (0, 0, 2e-4, 0, 0, 0), "damping_time": 0.02}
    spring = world.connect(None, body, axes=("x", "y", "z"), **yields)
    world.step(4000)
    assert body.position[2] == pytest.approx(-3.0 * GRAVITY * 2e-4, rel=1e-9)
    assert spring.wrench == pytest.approx([0, 0, 3.0 * GRAVITY, 0, 0, 0], abs=1e-6)


def test_a_twisted_spring_turns_by_moment_times_compliance():
    world = weightless()
    body = world.add_body(Box((0.2, 0.3, 0.4)), 3.0)
    world.connect(None, body, compliance=1e-3, damping_time=0.02)
    for _ in range(100):
        for _ in range(20):
            body.apply_wrench(torque=(0, 0, 2.0))
            world.step()
    turned = Rotation.from_quat(body.orientation).as_rotvec()
    # the error is sin(angle), and half its square over the compliance the energy
    assert turned == pytest.approx([0, 0, 0.5 * math.asin(2.0 * 2e-3)], abs=1e-11)


def test_an_undamped_spring_swings_at_its_natural_frequency():
    """A mass of 2 kg on 1/k = 1e-3 m/N for ten periods of 2 pi sqrt(m / k)."""
    period = 2.0 * math.pi * math.sqrt(2.0 * 1e-3)
    error = []
    for steps in (100, 200, 400):
        world = weightless(period / steps)
        body = world.add_body(Sphere(0.1), 2.0, (0, 0, 0))
        slide = world.connect(None, body, "slider", axis=(0, 0, 1), frame_a=None)
        slide.damping_time = 5.0 * world.time_step
        world.connect(None, body, axes=("z",), compliance=1e-3, damping_time=0.0)
        body.q = (0, 0, 0.01, 0, 0, 0, 1)
        world.step(10 * steps)
        speed = 0.01 * math.sqrt(1.0 / (2.0 * 1e-3))
        phase = math.atan2(-body.velocity[2] / speed, body.position[2] / 0.01)
        error.append(abs(phase))
    show("undamped spring: phase after ten periods [rad] at 100, 200, 400 steps each", *error)
    assert error[2] < 2e-3
    assert error[0] / error[1] > 3.8 and error[1] / error[2] > 3.8


def test_damping_time_takes_the_swing_out_of_a_spring():
    """m x'' + (t / e) x' + x / e = 0 at 1/e = 500 N/m, t = 0.02 s, against its closed form."""
    mass, compliance, damping_time, time = 2.0, 2e-3, 0.02, 0.5
    decay = damping_time / compliance / (2 * mass)
    w = math.sqrt(1 / (compliance * mass) - decay**2)
    truth = 0.01 * math.exp(-decay * time) * (math.cos(w * time) + decay / w * math.sin(w * time))
    error = []
    for step in (1e-3, 5e-4, 2.5e-4):
        world = weightless(step)
        body = world.add_body(Sphere(0.1), mass)
        world.connect(None, body, axes=("z",), compliance=compliance, damping_time=damping_time)
        body.q = (0, 0, 0.01, 0, 0, 0, 1)
        world.step(round(time / step))
        error.append(abs(body.position[2] - truth))
    show("damped spring: errors [m] at 1, 0.5, 0.25 ms", *error)
    assert error[2] < 2e-5
    assert error[0] / error[1] > 1.8 and error[1] / error[2] > 1.8


def test_errors_of_a_rigid_axis_decay_over_the_damping_time():
    """As exp(-t / damping time), to the first order of the step."""
    error = []
    for step in (1e-3, 5e-4, 2.5e-4):
        world = weightless(step)
        body = world.add_body(Sphere(0.1), 2.0)
        world.connect(None, body, axes=("z",), damping_time=0.1)
        body.q = (0, 0, 0.01, 0, 0, 0, 1)
        body.v = (0, 0, -0.1, 0, 0, 0)
        world.step(round(0.2 / step))
        error.append(abs(body.position[2] / (0.01 * math.exp(-2.0)) - 1.0))
    show("rigid axis: relative errors of its decay at 1, 0.5, 0.25 ms", *error)
    assert error[2] < 5e-3
    assert error[0] / error[1] > 1.8 and error[1] / error[2] > 1.8


def test_a_held_axis_gives_way_at_its_force_limit():
    world = World()
    body = world.add_body(Sphere(0.1), 2.0)
    hook = world.connect(None, body, axes=("z",), force_limit=5.0)
    world.step(1000)
    fall = GRAVITY - 5.0 / 2.0
    assert body.velocity[2] == pytest.approx(-fall * 1.0, rel=1e-9)
    assert hook.force == pytest.approx([0, 0, 5.0])


def test_the_wrench_on_b_carries_its_weight_about_the_point_of_b():
    world = World()
    world.add_body(Box((0.4, 0.2, 0.2)), 2.0, (0.3, 0, 0), name="beam")
    wall = world.connect("world", "beam", point=(0.1, 0, 0))
    world.step(500)
    weight = 2.0 * GRAVITY
    assert wall.wrench == pytest.approx([0, 0, weight, 0, -0.2 * weight, 0], abs=1e-8)
    assert np.abs(wall.error).max() < 1e-12


def test_a_motor_keeps_its_speed_up_to_its_force_limit():
    """b turns at the speed relative to a; beyond the limit the limit is all it gets."""
    world = weightless()
    wheel = world.add_body(Sphere(0.2), 1.0)
    hinge = world.connect(None, wheel, "hinge", axis=(0, 0, 1))
    hinge.drive("rz", 3.0, force_limit=0.5)
    moment = 0.4 * 0.2**2
    world.step(10)
    assert wheel.angular_velocity[2] == pytest.approx(0.5 / moment * 0.01, rel=1e-9)
    world.step(200)
    assert wheel.angular_velocity[2] == pytest.approx(3.0, abs=1e-9)
    for _ in range(100):
        wheel.apply_wrench(torque=(0, 0, -0.7))
        world.step()
    assert wheel.angular_velocity[2] == pytest.approx(3.0 - 0.2 / moment * 0.1, rel=1e-8)
    assert hinge.torque[2] == pytest.approx(0.5)
    hinge.release("rz")
    before = wheel.angular_velocity[2]
    world.step(100)
    assert wheel.angular_velocity[2] == pytest.approx(before, rel=1e-12)


def test_a_driven_slider_lifts():
    world = World()
    load = world.add_body(Sphere(0.1), 2.0)
    lift = world.connect(None, load, "slider", axis=(0, 0, 1))
    lift.drive("z", 0.2, 1000.0)
    world.step(1000)
    # The motor takes hold in the middle of the first step.
    assert load.position[2] == pytest.approx(0.2 * (1.0 - 0.5e-3), abs=1e-9)
    assert lift.force[2] == pytest.approx(2.0 * GRAVITY)


def test_a_distance_is_a_rod_whose_length_may_change():
    world = World(tolerance=1e-10)
    ball = world.add_body(Sphere(0.1), 1.0, (0.6, 0, 0.8))
    rod = world.connect(None, ball, "distance", point=[(0, 0, 0), (0.6, 0, 0.8)])
    assert rod.length == pytest.approx(1.0)
    world.step(1000)
    assert np.linalg.norm(ball.position) == pytest.approx(1.0, abs=2e-6)
    for _ in range(1000):
        rod.length += 1e-4
        world.step()
    assert np.linalg.norm(ball.position) == pytest.approx(1.1, abs=1e-3)


def test_two_shafts_held_against_twist_turn_as_a_cardan_joint():
    """Arms across each other, (0, sin in, -cos in) . y_b(out) = 0: tan(out) = tan(in) cos(bend)."""
    bend = 0.5
    world = weightless(tolerance=1e-12, sweep_limit=1000)
    first = world.add_body(Sphere(0.1), 1.0, (-0.5, 0, 0))
    second = world.add_body(Sphere(0.1), 1.0, (0.5, 0.2, 0))
    away = (math.cos(bend), math.sin(bend), 0)
    driven = world.connect(None, first, "hinge", axis=(1, 0, 0), solver="direct")
    world.connect(None, second, "hinge", axis=away, solver="direct")
    # the cross: one arm across the first shaft, the other across the second
    arm = Rotation.from_rotvec((0, math.pi / 2, 0)).as_quat()
    other = (Rotation.from_rotvec((0, 0, bend)) * Rotation.from_quat(arm)).as_quat()
    twist = world.connect(
        first, second, axes=("rz",), frame_a=((0, 0, 0), arm), frame_b=((0, 0, 0), other)
    )
    driven.drive("rz", 1.0, 1e6)
    for _ in range(20):
        world.step(50)
        angle = Rotation.from_quat(first.orientation).as_rotvec()[0]
        turned = np.array(away) @ Rotation.from_quat(second.orientation).as_rotvec()
        assert abs(turned - math.atan(math.tan(angle) * math.cos(bend))) < 2e-6
    assert np.abs(twist.error).max() < 1e-7


def test_disabled_it_lets_go_and_enabled_it_holds_again():
    world = World()
    body = world.add_body(Sphere(0.1), 1.0)
    grip = world.connect(None, body, "ball")
    world.step(100)
    grip.enabled = False
    world.step(100)
    assert body.velocity[2] == pytest.approx(-GRAVITY * 0.1)
    assert (grip.wrench == 0.0).all()
    body.q, body.v = (0, 0, 0, 0, 0, 0, 1), np.zeros(6)
    grip.enabled = True
    world.step(100)
    assert np.abs(body.position).max() < 1e-12


@pytest.mark.parametrize("collide", [False, True])
def test_joined_bodies_collide_only_if_asked_to(collide):
    world = weightless()
    a = world.add_body(Box((0.2, 0.2, 0.2)), 1.0)
    b = world.add_body(Box((0.2, 0.2, 0.2)), 1.0, (0.19, 0, 0))
    grip = world.connect(a, b, collide=collide)
    world.step(2)
    assert bool(world.contacts) == collide
    grip.enabled = False
    world.step(2)
    assert world.contacts
    snapshot = world.snapshot()
    grip.enabled = True
    world.step(2)
    assert bool(world.contacts) == collide
    world.restore(snapshot)
    world.step()
    assert world.contacts
    world.disconnect(grip)
    world.step()
    assert world.contacts


def test_joined_bodies_still_meet_the_rest_of_the_world():
    world = World()
    world.add_ground()
    a = world.add_body(Box((0.2, 0.2, 0.2)), 1.0, (0, 0, 0.1))
    b = world.add_body(Box((0.2, 0.2, 0.2)), 1.0, (0.1, 0, 0.1))
    world.connect(a, b)
    world.step(500)
    assert {contact.b[0] for contact in world.contacts} == {"box", "box_2"}
    assert a.position[2] == pytest.approx(0.1, abs=1e-5)


def test_soft_contacts_sink_by_load_times_compliance():
    """A pair of materials that yields, four points a box; the other pair stays rigid."""
    world = World()
    world.add_ground()
    world.set_contact("rubber", "default", compliance=1e-5, damping_time=0.01)
    soft = world.add_body(Box((0.2, 0.2, 0.2)), 4.0, (0, 0, 0.1), material="rubber")
    rigid = world.add_body(Box((0.2, 0.2, 0.2)), 4.0, (1, 0, 0.1))
    world.step(2000)
    assert soft.position[2] - 0.1 == pytest.approx(-GRAVITY * 1e-5, rel=1e-6)
    assert abs(rigid.position[2] - 0.1) < 2e-6


def test_a_contact_gives_way_at_its_force_limit():
    world = World()
    world.add_ground()
    world.set_contact("snow", "default", force_limit=2.0)
    ball = world.add_body(Sphere(0.1), 1.0, (0, 0, 0.1), material="snow")
    world.step(100)
    assert ball.velocity[2] == pytest.approx(-(GRAVITY - 2.0) * 0.1, rel=1e-9)


@pytest.mark.parametrize(
    "change", [{"compliance": -1}, {"damping_time": 1e-6}, {"force_limit": np.nan}]
)
def test_contacts_that_cannot_yield_so_are_refused(change):
    with pytest.raises(WorldError, match=next(iter(change))):
        World().set_contact("a", "b", **change)
