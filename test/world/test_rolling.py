# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Rolling, sliding-then-rolling and spinning against closed forms; edges that tip stay in place."""

import itertools
import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from world.scenes import GRAVITY, INTEGRATORS, show, tilted

from hrpsim import Box, Capsule, Cylinder, Sphere, World, load_model

R = 0.1
UPRIGHT = np.array([math.sin(-math.pi / 4), 0.0, 0.0, math.cos(math.pi / 4)])  # its axis along y
SHAPES = {"ball": Sphere(R), "cylinder": Cylinder(R, 0.2), "capsule": Capsule(R, 0.2)}
GRID = [
    (0.1, 1e-3),
    (1.0, 2e-2),
    (5.0, 1e-3),
    (5.0, 1e-2),
    (10.0, 2e-2),
    (20.0, 1e-3),
    (20.0, 1e-2),
    (20.0, 2e-2),
]
integrators = pytest.mark.parametrize("integrator", INTEGRATORS)


def floor(degrees, time_step, integrator, friction=1.0, tolerance=1e-6):
    """Return a world whose floor falls towards +x, its normal and its downhill direction."""
    world = World(time_step, integrator=integrator, tolerance=tolerance)
    normal, downhill, _ = tilted(degrees)
    world.set_friction("floor", "roller", static=friction, kinetic=friction)
    world.add_ground(normal=normal, material="floor")
    return world, normal, downhill


def roller(world, shape, normal, velocity, angular_velocity):
    return world.add_body(
        SHAPES[shape],
        1.0,
        R * normal,
        UPRIGHT if shape != "ball" else (0, 0, 0, 1),
        velocity=velocity,
        angular_velocity=angular_velocity,
        material="roller",
    )


@pytest.mark.quick_cases("*-15-semi_implicit", "ball-0-rk4")
@integrators
@pytest.mark.parametrize("degrees", [0, 15])
@pytest.mark.parametrize("shape", SHAPES)
def test_what_rolls_neither_sinks_nor_slows(shape, degrees, integrator):
    """v = v0 + g sin(a) t / (1 + I / m r^2) after 10 s, depth under 1e-6 m."""
    worst = deepest = 0.0
    for speed, time_step in GRID:
        world, normal, downhill = floor(degrees, time_step, integrator)
        body = roller(world, shape, normal, speed * downhill, (0.0, speed / R, 0.0))
        share = body.system.inertia[0].diagonal()[0 if shape == "ball" else 2] / R**2
        for _ in range(100):
            world.step(round(0.1 / time_step))
            deepest = max(deepest, R - body.position @ normal)
        expected = speed + GRAVITY * math.sin(math.radians(degrees)) / (1 + share) * world.time
        worst = max(worst, abs(body.velocity @ downhill / expected - 1))
    show(f"{shape}, {degrees} degrees, {integrator}: depth [m], speed error", deepest, worst)
    assert deepest < 1e-6
    assert worst < 1e-6


@pytest.mark.quick_cases("*semi_implicit*")
@integrators
@pytest.mark.parametrize("turn", [0.3, 0.7, 2.0, 3.2, 4.5])
@pytest.mark.parametrize("shape", ["cylinder", "capsule"])
def test_a_tilt_of_what_rolls_dies_out(shape, turn, integrator):
    """However far it turns in a step [rad]: from 1e-9 rad it comes to lie and roll straight.

    The usual tolerance leaves 1e-7 m/s at each end, which is 1e-8 rad in a step.
    """
    time_step = 1e-2
    world, normal, _ = floor(0, time_step, integrator, tolerance=1e-12)
    speed = turn * R / time_step
    body = roller(world, shape, normal, (speed, 0, 0), (0, speed / R, 0))
    tilt = Rotation.from_rotvec((1e-9, 0, 1e-9)) * Rotation.from_quat(UPRIGHT)
    body.q = [0, 0, R, *tilt.as_quat()]
    world.step(600)
    axis = Rotation.from_quat(body.orientation).as_matrix()[:, 2]
    show(f"{shape}, {turn} rad a step, {integrator}: tilt left", abs(axis[2]))
    assert abs(axis[2]) < 1e-10
    assert abs(body.angular_velocity[2]) < 1e-8


CART = """<robot name="cart"><link name="bed"><inertial><mass value="5"/>
  <inertia ixx="0.1" iyy="0.2" izz="0.2" ixy="0" ixz="0" iyz="0"/></inertial></link>
  {wheels}</robot>"""
WHEEL = """<link name="{n}"><inertial><mass value="1"/>
    <inertia ixx="0.003" iyy="0.003" izz="0.005" ixy="0" ixz="0" iyz="0"/></inertial>
  <collision><geometry><cylinder radius="0.1" length="0.04"/></geometry></collision></link>
  <joint name="{n}" type="continuous"><parent link="bed"/><child link="{n}"/>
  <origin xyz="{x} {y} 0" rpy="-1.5707963267948966 0 0"/><axis xyz="0 0 1"/></joint>"""


@pytest.mark.quick_cases("15-semi_implicit")
@integrators
@pytest.mark.parametrize("degrees", [0, 15])
def test_a_cart_on_wheels_rolls(degrees, integrator):
    """m a = m g sin(a) - 4 (I / r^2) a; the wheels on hinges, the bed a free base."""
    wheels = "".join(
        WHEEL.format(n=f"w{k}", x=x, y=y)
        for k, (x, y) in enumerate(itertools.product((-0.3, 0.3), (-0.2, 0.2)))
    )
    model = load_model(CART.format(wheels=wheels), base="free")
    worst = deepest = 0.0
    for speed, time_step in GRID:
        world, normal, _ = floor(degrees, time_step, integrator)
        world.set_friction("floor", "default", static=1.0)
        v = [speed, 0, 0, 0, 0, 0, *[speed / R] * 4]
        cart = world.add_robot(model, q=[*(R * normal), *tilted(degrees)[2], 0, 0, 0, 0], v=v)
        for _ in range(100):
            world.step(round(0.1 / time_step))
            deepest = max(deepest, R - cart.q[:3] @ normal)
        pull = 9 * GRAVITY * math.sin(math.radians(degrees)) / (9 + 4 * 0.005 / R**2)
        worst = max(worst, abs(cart.v[0] / (speed + pull * world.time) - 1))
    show(f"cart, {degrees} degrees, {integrator}: depth [m], speed error", deepest, worst)
    assert deepest < 1e-6
    assert worst < 1e-6


@integrators
@pytest.mark.parametrize("time_step", [1e-3, 1e-2])
def test_a_ball_slides_until_it_rolls(integrator, time_step):
    """It rolls from t = 2 v0 / (7 mu g) on, at 5/7 v0, having come x = 12 v0^2 / (49 mu g)."""
    speed, friction = 7.0, 0.3
    world, normal, _ = floor(0, time_step, integrator, friction)
    ball = roller(world, "ball", normal, (speed, 0, 0), (0, 0, 0))
    until = 2 * speed / (7 * friction * GRAVITY)
    world.step(math.floor(until / time_step))
    assert ball.velocity[0] == pytest.approx(speed - friction * GRAVITY * world.time, rel=1e-9)
    world.step(round(3.0 / time_step) - math.floor(until / time_step))
    end = 12 * speed**2 / (49 * friction * GRAVITY) + 5 / 7 * speed * (world.time - until)
    late = 0.5 * friction * GRAVITY * time_step * until if integrator == "semi_implicit" else 0.0
    show(f"{integrator}, dt {time_step}: way - closed form [m]", ball.position[0] - end)
    assert ball.velocity[0] == pytest.approx(5 / 7 * speed, rel=1e-9)
    assert ball.angular_velocity[1] * R == pytest.approx(5 / 7 * speed, rel=1e-9)
    assert abs(ball.position[0] - end) < 1.1 * late + friction * GRAVITY * time_step**2
    assert R - ball.position[2] < 1e-6


@integrators
def test_a_ball_that_spins_while_it_rolls_goes_straight(integrator):
    """A point contact has no moment about its normal: 60 rad/s stay, the way is a line."""
    world, normal, _ = floor(0, 1e-3, integrator)
    ball = roller(world, "ball", normal, (2, 0, 0), (0, 2 / R, 60))
    world.step(5000)
    np.testing.assert_allclose(ball.position, (10, 0, R), atol=1e-9)
    np.testing.assert_allclose(ball.velocity, (2, 0, 0), atol=1e-12)
    np.testing.assert_allclose(ball.angular_velocity, (0, 2 / R, 60), atol=1e-9)


@pytest.mark.parametrize("time_step", [4e-3, 1e-3])
def test_the_edge_of_a_box_that_tips_stays_in_place(time_step):
    """Balanced beside its edge a box falls over; the edge it turns about does not creep (rk4)."""
    world, _, _ = floor(0, time_step, "rk4")
    size, angle = np.array([0.1, 0.2, 0.4]), math.atan2(0.1, 0.4) + 0.02
    arm = 0.5 * np.array([-size[0], 0.0, size[2]])
    c, s = math.cos(angle), math.sin(angle)
    position = (c * arm[0] + s * arm[2], 0.0, -s * arm[0] + c * arm[2])
    turned = (0.0, math.sin(angle / 2), 0.0, math.cos(angle / 2))
    box = world.add_body(Box(tuple(size)), 1.0, position, turned, material="roller")
    drift = 0.0
    while box.position[2] > 0.16:
        world.step()
        w, x, z = box.orientation[3], box.orientation[1], 0.0
        turn = 2 * math.atan2(x, w)
        c, s = math.cos(turn), math.sin(turn)
        x = box.position[0] - (c * arm[0] + s * arm[2])
        z = box.position[2] - (-s * arm[0] + c * arm[2])
        drift = max(drift, abs(x), abs(z))
    show(f"a tipping box, dt {time_step}: its edge moved [m]", drift)
    assert drift < 4e-6 * (time_step / 1e-3) ** 2


LEAVES = 0.5730  # cosine, where N = 0 of a ball that rolls, then slips (`ball_off_a_ball`)


def ball_off_a_ball(friction: float, start: float) -> float:
    """Return the cosine at which a ball (0.1 m, 1 kg) leaves a fixed one (1 m), rolling from rest.

    a'' = (m g sin(a) - f) / (m d) and r w' = f r^2 / I with d = R + r; N = m (g cos(a) - d a'^2).
    It rolls, f = 2/7 m g sin(a), while f is below the friction coefficient times N.
    """
    d, rolls = 1.0 + R, [True]

    def normal(y):
        return GRAVITY * math.cos(y[0]) - d * y[1] ** 2

    def rates(_, y):
        held = 2 / 7 * GRAVITY * math.sin(y[0])
        rolls[0] = rolls[0] and held <= friction * normal(y)
        force = held if rolls[0] else friction * max(normal(y), 0.0)
        return [y[1], (GRAVITY * math.sin(y[0]) - force) / d]

    angle, rate, h = start, 0.0, 1e-5
    while normal((angle, rate)) > 0.0:
        slope, bend = rates(0.0, (angle, rate))
        middle = (angle + 0.5 * h * slope, rate + 0.5 * h * bend)
        slope, bend = rates(0.0, middle)
        angle, rate = angle + h * slope, rate + h * bend
    return math.cos(angle)


@pytest.mark.quick_cases("0.001-None", "0.001-direct")
@pytest.mark.parametrize(
    "time_step, solver",
    [(1e-3, None), (1e-3, "newton"), (1e-3, "direct"), (2e-4, None), (2e-4, "direct")],
)
def test_a_ball_that_rolls_off_a_ball_presses_until_it_leaves(time_step, solver):
    """rk4: N stays m (g cos(a) - d a'^2), also where slipping begins; without it the ball flies."""
    start, friction = math.radians(15), 2.0
    leaves = ball_off_a_ball(friction, start)
    assert leaves == pytest.approx(LEAVES, abs=1e-4)
    world = World(time_step, integrator="rk4", solver=solver, sleeping=False)
    world.set_friction("default", "default", static=friction, kinetic=friction)
    world.add_static(Sphere(1.0))
    ball = world.add_body(Sphere(R), 1.0, (1.1 * math.sin(start), 0.0, 1.1 * math.cos(start)))
    worst, last = 0.0, math.cos(start)
    while True:
        world.step()
        distance = np.linalg.norm(ball.position)
        cosine = ball.position[2] / distance
        forces = world.contact_arrays().forces
        if not forces.any():
            break
        pull = abs((forces @ ball.position).sum()) / distance
        expected = GRAVITY * cosine - ball.velocity @ ball.velocity / 1.1
        if world.time > 0.01:
            worst = max(worst, abs(pull - expected))
        assert abs(distance - 1.1) < 1.5e-6  # the slop of the direct solver, and more
        last, step = cosine, last - cosine
    show(f"ball off a ball, dt {time_step}, {solver}: cosine, error of N [N]", last, worst)
    assert abs(last - leaves) < 1e-3 + 0.5 * step
    assert worst < 200 * time_step
