# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Impacts with restitution are events in time: chains, walls, gravity, robots; and they end."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from world.collisions import collide_in_pairs, line_of_balls, speeds
from world.scenes import GRAVITY, joint_text, kinetic_energy, show

from hrpsim import Box, Sphere, World, load_model

ALL = ("semi_implicit", "rk4", "euler")
SOLVERS = (None, "direct", "split")


def energy(masses, velocities) -> float:
    return 0.5 * float(np.sum(np.asarray(masses) * np.asarray(velocities) ** 2))


def check_line(masses, gaps, velocities, restitution, steps=60, **options):
    """Compare balls on a line with pairwise collisions: velocities, places, momentum, energy."""
    world, balls = line_of_balls(masses, gaps, velocities, restitution, **options)
    start = np.array([ball.position[0] for ball in balls])
    world.step(steps)
    free = np.isfinite(masses)
    v, moved, count = collide_in_pairs(
        masses, gaps, velocities, restitution, steps * world.time_step
    )
    assert count < 100  # no collapse of infinitely many
    np.testing.assert_allclose(speeds(balls), v[free], atol=1e-9)
    places = np.array([ball.position[0] for ball in balls]) - start
    np.testing.assert_allclose(places, moved[free], atol=1e-9)
    kept, m = speeds(balls), np.asarray(masses)[free]
    assert energy(m, kept) == pytest.approx(energy(m, v[free]), rel=1e-9)
    if free.all():
        assert m @ kept == pytest.approx(m @ velocities, abs=1e-12)
    return count


@pytest.mark.quick_cases("*-semi_implicit")
@pytest.mark.parametrize("integrator", ALL)
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("restitution", [1.0, 0.8, 0.5])
def test_a_chain_collides_pair_by_pair(restitution, solver, integrator):
    """Velocities, places and energy of 2 to 10 balls as by collisions at their exact times."""
    collisions = 0
    for count, gap, time_step in [(2, 0.00137, 1e-4), (3, 0.0061, 1e-3), (5, 0.0193, 1e-2)]:
        first = [1.0] + [0.0] * (count - 1)
        collisions += check_line(
            [1.0] * count,
            [gap] * (count - 1),
            first,
            restitution,
            steps=23,
            time_step=time_step,
            integrator=integrator,
            solver=solver,
        )
    collisions += check_line(
        [1.0, 2.0, 0.7, 1.3, 0.9, 1.1, 3.0, 0.5, 1.0, 1.7],
        [1e-3, 0.013, 2e-3, 7e-3, 5e-4, 0.02, 1e-2, 3e-3, 6e-3],
        [1.0, 0.3, 0.0, 0.0, -0.4, 0.0, 0.0, 0.0, 0.0, -1.0],
        restitution,
        time_step=4e-3,
        integrator=integrator,
        solver=solver,
        steps=9,
    )
    assert collisions > 10


@settings(max_examples=25)
@given(
    st.lists(
        st.tuples(st.floats(0.5, 2.0), st.floats(1e-4, 0.02), st.floats(-1.0, 1.0)),
        min_size=2,
        max_size=8,
    ),
    st.sampled_from([1e-4, 1e-3, 1e-2]),
)
def test_any_elastic_chain_between_walls_keeps_its_energy(balls, time_step):
    """e = 1, any masses, gaps and velocities: energy to 1e-9 through some hundred collisions."""
    masses = [math.inf, *(b[0] for b in balls), math.inf]
    gaps = [*(b[1] for b in balls), 0.004]
    velocities = [0.0, *(b[2] for b in balls), 0.0]
    world, line = line_of_balls(masses, gaps, velocities, 1.0, time_step)
    before = energy(masses[1:-1], velocities[1:-1])
    world.step(40)
    assert energy(masses[1:-1], speeds(line)) == pytest.approx(before, rel=1e-9, abs=1e-15)
    assert world.stats.impacts_left == 0


@pytest.mark.parametrize("integrator", ALL)
def test_a_wall_sends_a_chain_back(integrator):
    for restitution in (1.0, 0.8):
        check_line(
            [1.0, 2.0, 1.0, math.inf],
            [2.1e-3, 1e-3, 4e-3],
            [1.0, 0.5, 0.5, 0.0],
            restitution,
            integrator=integrator,
        )


@pytest.mark.parametrize("restitution", [1.0, 0.8])
@pytest.mark.parametrize("gap", [1e-4, 1e-3])
def test_the_second_of_two_balls_that_land_meets_its_restitution(gap, restitution):
    """1 mm apart at 1 m/s, so that both impacts come in one step of 1 ms: no energy is lost."""
    count = check_line([math.inf, 1.0, 1.0], [4.2e-3, gap], [0.0, -1.0, -1.0], restitution)
    assert count >= 2


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("integrator", ALL)
def test_boxes_keep_energy_and_momentum(integrator, solver):
    """Impacts of boxes happen at the start of the step, in the same order: the same velocities."""
    masses = [1.0, 1.3, 1.6, 1.9, 2.2]
    world = World(1e-3, gravity=(0, 0, 0), integrator=integrator, solver=solver)
    world.set_friction("default", "default", 0.0, restitution=1.0)
    boxes = [
        world.add_body(
            Box((0.1, 0.1, 0.1)), m, position=(0.1013 * k, 0, 0), velocity=(k == 0, 0, 0)
        )
        for k, m in enumerate(masses)
    ]
    world.step(40)
    expected, _, _ = collide_in_pairs(masses, [1.3e-3] * 4, [1.0, 0, 0, 0, 0], 1.0, 1.0)
    np.testing.assert_allclose(speeds(boxes), expected, atol=1e-9)


@pytest.mark.parametrize("shape", [Sphere(0.1), Box((0.2, 0.2, 0.2))])
@pytest.mark.parametrize("friction", [0.0, 0.3])
def test_an_oblique_impact_keeps_all_momenta(friction, shape):
    """Angular momentum too, at 10 ms; without friction a ball is not turned by it."""
    world = World(1e-2, gravity=(0, 0, 0))
    world.set_friction("default", "default", friction, restitution=1.0)
    a = world.add_body(shape, 1.0, velocity=(1.0, 0.3, 0.0), angular_velocity=(0, 0, 2.0))
    b = world.add_body(shape, 2.0, position=(0.215, 0.05, 0.0), velocity=(-0.5, 0.1, 0.0))
    unit = 0.4 * 0.01 if isinstance(shape, Sphere) else 0.04 / 6

    def momenta():
        spin = unit * (a.angular_velocity + 2.0 * b.angular_velocity)
        orbit = np.cross(a.position, a.velocity) + 2.0 * np.cross(b.position, b.velocity)
        return np.concatenate([a.velocity + 2.0 * b.velocity, spin + orbit])

    before, fast = momenta(), kinetic_energy(a) + kinetic_energy(b)
    world.step(30)
    assert abs(a.velocity[0] - 1.0) > 0.5
    np.testing.assert_allclose(momenta(), before, atol=1e-13)
    if friction == 0.0:
        assert kinetic_energy(a) + kinetic_energy(b) == pytest.approx(fast, rel=1e-12)
        if isinstance(shape, Sphere):
            np.testing.assert_allclose(a.angular_velocity, (0, 0, 2.0), atol=1e-14)


@pytest.mark.quick_cases("*-0.1-semi_implicit", "0.0-*-rk4")
@pytest.mark.parametrize("integrator", ALL)
@pytest.mark.parametrize("time_step", [1e-3, 1e-1])
@pytest.mark.parametrize("closing", [0.005, 0.0099, 0.011, 0.1])
@pytest.mark.parametrize("sliding", [0.0, 1.0, 5.0])
def test_what_slides_along_a_ball_is_not_pushed_once_it_has_left(
    sliding, closing, time_step, integrator
):
    """A ball strikes one of two that graze each other: energy is never gained.

    Each pair may come to rest once, below the threshold of 0.01 m/s: that loses up to m v^2 / 4.
    """
    for part in (0.1, 0.6, 1.3):  # of the step, until the third ball strikes
        world = World(time_step, gravity=(0, 0, 0), integrator=integrator, sleeping=False)
        world.set_friction("default", "default", 0.0, restitution=1.0)
        starts = [-0.2 - 10.0 * part * time_step, 0.0, 0.2 + 1e-9]
        velocities = [(10.0, 0, 0), (0, 0, 0), (-closing, sliding, 0)]
        for x, velocity in zip(starts, velocities, strict=True):
            world.add_body(Sphere(0.1), 1.0, (x, 0, 0), velocity=velocity)
        before = energy(np.ones(3), velocities)
        world.step(3)
        after = energy(np.ones(3), [body.velocity for body in world.bodies.values()])
        assert -2 * 0.01**2 / 4 <= after - before <= 1e-12 * before


@pytest.mark.parametrize("restitution", [1.0, 0.8, 0.5])
@pytest.mark.parametrize("time_step", [1e-3, 1e-2])
def test_bounces_follow_their_parabolas(time_step, restitution):
    """rk4 falls exactly, and so it bounces, whenever in its steps it lands."""
    world = World(time_step, integrator="rk4")
    world.set_friction("default", "default", 0.3, restitution=restitution)
    world.add_ground()
    ball = world.add_body(Sphere(0.1), 1.0, position=(0, 0, 1.1))
    landed, speed = math.sqrt(2.0 / GRAVITY), math.sqrt(2.0 * GRAVITY)
    worst = 0.0
    while world.time < 1.2:
        world.step()
        t = world.time
        height = 1.0 - 0.5 * GRAVITY * t * t
        if t > landed:
            t, up = t - landed, restitution * speed
            while t > 2.0 * up / GRAVITY:
                t, up = t - 2.0 * up / GRAVITY, restitution * up
            height = up * t - 0.5 * GRAVITY * t * t
        worst = max(worst, abs(ball.position[2] - 0.1 - height))
    show(f"bounces with e {restitution} at {time_step} s: off the parabola by [m]", worst)
    assert worst < 1e-12


def test_a_ball_falls_on_one_that_lies():
    """The one below is held by the floor until it is struck; energy is kept, under gravity."""
    world = World(integrator="rk4")
    world.set_friction("default", "default", 0.0, restitution=1.0)
    world.add_ground()
    below = world.add_body(Sphere(0.1), 1.0, position=(0, 0, 0.1))
    world.step(20)
    above = world.add_body(Sphere(0.1), 2.0, position=(0, 0, 0.5))
    start = GRAVITY * (below.position[2] + 2.0 * above.position[2])
    world.step(280)
    now = GRAVITY * (below.position[2] + 2.0 * above.position[2])
    now += kinetic_energy(below) + kinetic_energy(above)
    assert above.velocity[2] > 0.5
    assert now == pytest.approx(start, rel=1e-12)


@pytest.mark.quick_cases("semi_implicit")
@pytest.mark.parametrize("integrator", ALL)
def test_a_heap_of_elastic_balls_keeps_its_energy(integrator):
    """64 balls fall on the floor and on each other for 2 s, at 1 ms: 1e-6 of their energy.

    Beside what free fall does: explicit Euler reads the velocity half a step from where it belongs,
    by which its potential energy is off and no more.
    """
    world = World(1e-3, gravity=(0, 0, -9.81), integrator=integrator)
    world.set_friction("default", "default", 0.0, restitution=1.0)
    world.add_ground()
    random = np.random.default_rng(1)
    grid = np.stack(np.meshgrid(*[np.arange(4)] * 3), -1).reshape(-1, 3)
    for place in grid * 0.21 + (0, 0, 0.5) + 1e-3 * random.random((64, 3)):
        world.add_body(Sphere(0.1), 10.0, position=place)
    half = 0.5e-3 if integrator == "euler" else 0.0

    def total():
        q, v = world.scene.q.reshape(-1, 7), world.scene.velocity.reshape(-1, 6)
        kinetic = 5.0 * np.sum(v[:, 3:] ** 2) + 0.5 * 0.04 * np.sum(v[:, :3] ** 2)
        return 98.1 * np.sum(q[:, 2] + half * v[:, 5]) + kinetic

    start, worst, rounds = total(), 0.0, 0
    for _ in range(2000):
        world.step()
        rounds += world.stats.impact_rounds
        worst = max(worst, abs(total() / start - 1.0))
    show(f"64 elastic balls, {integrator}: impacts, energy error", rounds, worst)
    assert rounds > 300
    assert worst < 1e-6


def test_a_robot_that_is_struck_keeps_energy_and_momentum():
    """A ball strikes the arm of a free robot of two links: both at rest in one joint before."""
    text = joint_text(mass=2.0, at="0.2 0 0", moment=0.05).replace(
        '<link name="base"/>',
        '<link name="base"><inertial><mass value="3"/><inertia ixx="0.1" iyy="0.1" izz="0.1" '
        'ixy="0" ixz="0" iyz="0"/></inertial></link>',
    )
    ball_at_end = '<origin xyz="0.4 0 0"/><geometry><sphere radius="0.05"/></geometry>'
    text = text.replace("</inertial>\n", f"</inertial><collision>{ball_at_end}</collision>")
    world = World(1e-7, gravity=(0, 0, 0))
    world.set_friction("default", "default", 0.0, restitution=1.0)
    robot = world.add_robot(load_model(text, base="free"))
    ball = world.add_body(Sphere(0.05), 0.5, position=(0.4, 0, 0.1 + 2e-8), velocity=(0, 0, -1.0))
    start = kinetic_energy(ball)
    world.step(2)
    assert ball.velocity[2] > -0.5
    v_base, w, rate = robot.v[:3], robot.v[3:6], float(robot.joint_velocities[0])
    arm = v_base + np.cross(w + (0, rate, 0), (0.2, 0, 0))
    momentum = 3.0 * v_base + 2.0 * arm + 0.5 * ball.velocity
    np.testing.assert_allclose(momentum, (0, 0, -0.5), atol=1e-6)
    spin = w + (0, rate, 0)
    after = 1.5 * v_base @ v_base + 0.05 * w @ w + arm @ arm + 0.025 * spin @ spin
    assert after + kinetic_energy(ball) == pytest.approx(start, rel=1e-6)


@pytest.mark.parametrize("integrator", ALL)
@pytest.mark.parametrize("time_step", [1e-3, 1e-2])
def test_a_stack_with_restitution_comes_to_rest(time_step, integrator):
    world = World(time_step, integrator=integrator)
    world.set_friction("default", "default", 0.5, restitution=0.6)
    world.add_ground()
    boxes = [
        world.add_body(Box((0.2, 0.2, 0.2)), 1.0, position=(0, 0, 0.1 + 0.201 * k))
        for k in range(4)
    ]
    world.step(round(3.0 / time_step))
    for k, box in enumerate(boxes):
        assert np.abs(box.velocity).max() < 1e-7
        assert abs(box.position[2] - 0.1 - 0.2 * k) < 1e-5
    assert world.stats.impact_rounds == 0


@pytest.mark.long
def test_a_pile_with_restitution_falls_asleep():
    """24 boxes thrown on each other with e = 0.5: no box rocks on its corners for ever."""
    world = World()
    world.set_friction("default", "default", 0.4, restitution=0.5)
    world.add_ground()
    random = np.random.default_rng(0)
    for k in range(24):
        place = (0.25 * (k % 3), 0.25 * (k // 3 % 3), 0.3 + 0.25 * (k // 9))
        orientation = random.normal(size=4)
        world.add_body(Box((0.18, 0.15, 0.12)), 1.0, position=place, orientation=orientation)
    world.step(4000)
    assert world.stats.asleep == 24


def test_a_collapse_of_ever_more_impacts_ends():
    """Ten balls with e = 0.4 between walls strike without end; the threshold lets them rest."""
    masses = [math.inf, *[1.0] * 10, math.inf]
    world, balls = line_of_balls(
        masses, [1e-3] * 11, [0.0, 2.0, *[0.0] * 10], 0.4, restitution_threshold=0.01
    )
    for _ in range(300):
        world.step()
        assert world.stats.impacts_left == 0
    assert np.all(np.isfinite(speeds(balls)))
    assert np.abs(speeds(balls)).max() < 0.05


@pytest.mark.long
def test_a_crowd_that_flies_far_in_a_step_gains_and_loses_nothing():
    """Law: 216 elastic balls keep their energy where one passes many others in a step of 0.1 s.

    No step gains any; what comes to rest below the threshold takes 1e-7 of it.
    """
    world = World(0.1, gravity=(0.0, 0.0, -GRAVITY), sleeping=False)
    world.set_friction("default", "default", 0.0, restitution=1.0)
    world.add_ground()
    shift = np.random.default_rng(42).uniform(0.0, 1e-3, (216, 3))
    for k in range(216):
        place = 0.21 * np.array([k % 6, k // 6 % 6, k // 36]) + shift[k] + [0.0, 0.0, 1.101]
        world.add_body(Sphere(0.1), 10.0, position=place)
    balls = list(world.bodies.values())

    def energy_now():
        height = sum(ball.position[2] for ball in balls)
        return 10.0 * GRAVITY * height + sum(kinetic_energy(ball) for ball in balls)

    start = before = energy_now()
    rounds = 0
    for _ in range(20):
        world.step()
        rounds += world.stats.impact_rounds
        assert world.stats.impacts_left == 0
        assert energy_now() <= before + 1e-12 * start
        before = energy_now()
    assert before == pytest.approx(start, rel=1e-7)
    assert rounds > 1000


def test_impacts_without_end_are_told():
    """Without a threshold the same collapse is cut off: the rest is plastic, and counted."""
    masses = [math.inf, 1.0, 1.0, 1.0, math.inf]
    world, balls = line_of_balls(
        masses, [1e-3] * 4, [0.0, 1.0, 0.0, -1.0, 0.0], 0.05, restitution_threshold=0.0
    )
    left = 0
    for _ in range(300):
        world.step()
        left += world.stats.impacts_left
    show("impacts that were left", left)
    assert np.all(np.isfinite(speeds(balls)))
    assert energy([1.0] * 3, speeds(balls)) < 1e-3


def test_only_restitution_has_its_kernel():
    for restitution, has in ((0.0, False), (0.3, True)):
        world = World()
        world.set_friction("default", "default", 0.5, restitution=restitution)
        world.add_ground()
        world.add_body(Sphere(0.1), 1.0, position=(0, 0, 0.2))
        world.step(2)
        assert bool(world.scene.lazy_kernels["resolve_impacts"][0]) == has


def test_a_snapshot_among_impacts_goes_on_with_the_same_bits():
    masses, gaps = [1.0, 2.0, 0.5, 1.5], [3e-3, 1e-3, 2e-3]
    world, _ = line_of_balls(masses, gaps, [1.0, 0, 0, -1.0], 0.9)
    world.step(2)
    kept = world.snapshot()
    world.step(20)
    first = world.scene.q.copy(), world.scene.velocity.copy()
    world.restore(kept)
    world.step(20)
    np.testing.assert_array_equal(world.scene.q, first[0])
    np.testing.assert_array_equal(world.scene.velocity, first[1])
