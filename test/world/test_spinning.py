# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Bodies that spin about an axis that contacts or connections hold."""

import math

import numpy as np
import pytest
from world.scenes import GRAVITY, kinetic_energy, show

from hrpsim import Box, Capsule, Cylinder, HeightField, Sphere, World
from hrpsim.world.objects.body import rotation_matrix

LEVEL = (math.sqrt(0.5), 0.0, 0.0, math.sqrt(0.5))  # the axis of a cylinder along -y
SECOND_ORDER = pytest.mark.parametrize("integrator", ["semi_implicit", "rk4"])
WHEEL, ROLLER = (0.1, 0.05), (0.1, 0.3)  # radius, length [m]


def roller(
    size: tuple[float, float], spin: float, time_step: float, integrator: str, turn: float = 0.1
) -> tuple[float, float]:
    """Return the rate at which a roller turns about the vertical after a second, and its energy.

    It lies on a smooth floor. The energy is a share of that at the start.
    """
    world = World(time_step, integrator=integrator, sleeping=False)
    world.set_friction("default", "default", 0.0)
    world.add_ground()
    body = world.add_body(
        Cylinder(*size), 1.0, (0, 0, size[0]), LEVEL, angular_velocity=(0, -spin, turn)
    )
    start = kinetic_energy(body)
    world.step(round(1.0 / time_step))
    return body.angular_velocity[2], kinetic_energy(body) / start - 1.0


@pytest.mark.quick_cases("semi_implicit-size0*", "rk4-size1*")
@SECOND_ORDER
@pytest.mark.parametrize("size", [WHEEL, ROLLER])
@pytest.mark.parametrize("spin", [30.0, 100.0])
def test_a_roller_that_spins_turns_on(spin, size, integrator):
    """No torque acts about the vertical, and the floor holds the axis level: the rate stays."""
    coarse, energy = roller(size, spin, 1e-3, integrator)
    fine, _ = roller(size, spin, 2.5e-4, integrator)
    show(f"a roller {size} at {spin} rad/s, {integrator}: turn, energy", coarse, fine, energy)
    assert coarse == pytest.approx(0.1, rel=0.01)
    assert fine == pytest.approx(0.1, rel=1e-3)
    assert energy < 1e-6


@SECOND_ORDER
@pytest.mark.parametrize("inertia", [(0.01, 0.006, 0.006), (0.001, 0.02, 0.02)])
def test_a_gyroscope_on_hinges_turns_on(inertia, integrator):
    """A rotor on a level hinge of a frame that turns about the vertical: two connections."""
    world = World(1e-3, integrator=integrator, sleeping=False)
    world.set_friction("default", "default", 0.0)
    frame = world.add_body(Sphere(0.02), 1.0, inertia=0.005 * np.eye(3), angular_velocity=(0, 0, 1))
    rotor = world.add_body(
        Sphere(0.01), 1.0, inertia=np.diag(inertia), angular_velocity=(100.0, 0, 1)
    )
    world.connect(None, frame, "hinge", point=(0, 0, 0), axis=(0, 0, 1))
    world.connect(frame, rotor, "hinge", point=(0, 0, 0), axis=(1, 0, 0))
    world.step(1000)
    show(f"a gyroscope {inertia}, {integrator}: turn", frame.angular_velocity[2])
    assert frame.angular_velocity[2] == pytest.approx(1.0, rel=1e-3)


@SECOND_ORDER
@pytest.mark.parametrize("spin", [100.0, 500.0])
def test_a_rod_that_spins_falls_and_keeps_its_spin(spin, integrator):
    """A smooth floor exerts no moment about the axis of a capsule, and adds no energy."""
    world = World(1e-3, integrator=integrator, sleeping=False)
    world.set_friction("default", "default", 0.0)
    world.add_ground()
    length, radius, mass, tilt = 1.0, 0.02, 0.2, 0.3
    across, along = mass * length**2 / 12, mass * radius**2 / 2
    axis = np.array([math.sin(tilt), 0.0, math.cos(tilt)])
    rod = world.add_body(
        Capsule(radius, length),
        mass,
        (0, 0, 0.6),
        (0, math.sin(tilt / 2), 0, math.cos(tilt / 2)),
        angular_velocity=spin * axis,
        inertia=np.diag([across, across, along]),
    )
    energies = []
    for _ in range(100):
        world.step(10)
        energies.append(kinetic_energy(rod) + mass * GRAVITY * rod.position[2])
    axial = (rotation_matrix(rod.orientation).T @ rod.angular_velocity)[2]
    start = 0.5 * along * spin**2 + mass * GRAVITY * 0.6
    show(f"a rod at {spin} rad/s, {integrator}: spin, energy", axial, max(energies) / start)
    assert axial == pytest.approx(spin, rel=1e-4)
    assert max(energies) < start * (1.0 + 1e-6)


@SECOND_ORDER
def test_a_rod_that_tumbles_freely_keeps_the_direction_of_its_angular_momentum(integrator):
    """To 1e-3 at 0.2 rad a step, after half a second."""
    world = World(1e-3, gravity=(0, 0, 0), integrator=integrator, sleeping=False)
    inertia = np.diag([2.1e-3, 2.1e-3, 1.25e-6])
    rod = world.add_body(
        Capsule(0.005, 0.5), 0.1, inertia=inertia, angular_velocity=(10.0, 5.0, 200.0)
    )

    def momentum():
        R = rotation_matrix(rod.orientation)
        return R @ inertia @ R.T @ rod.angular_velocity

    start = momentum()
    world.step(500)
    off = np.linalg.norm(momentum() - start) / np.linalg.norm(start)
    show(f"a rod that tumbles, {integrator}: angular momentum off by", off)
    assert off < 1e-3


def coin(time_step: float, integrator: str) -> float:
    """Return by how much the axis of a coin errs after half a second.

    Its centre rests while it rolls on its edge, tilted by `tilt` from the floor: w^2 = 4 g / (r
    sin(tilt)) about the vertical, for the inertia of a thin disc.
    """
    radius, tilt, mass = 0.1, 1.0, 1.0
    rate = math.sqrt(4.0 * GRAVITY / (radius * math.sin(tilt)))
    world = World(time_step, integrator=integrator, sleeping=False)
    world.set_friction("default", "default", 5.0)
    world.add_ground()
    s, c = math.sin(tilt), math.cos(tilt)
    disc = mass * radius**2 * np.diag([0.25, 0.25, 0.5])
    thickness = 1e-7
    body = world.add_body(
        Cylinder(radius, thickness),
        mass,
        (0, 0, radius * s + 0.5 * thickness * c),
        (0, math.sin(tilt / 2), 0, math.cos(tilt / 2)),
        # along the diameter through the contact point
        angular_velocity=rate * s * np.array([-c, 0.0, s]),
        inertia=disc,
    )
    world.step(round(0.5 / time_step))
    angle = 0.5 * rate
    expected = np.array([s * math.cos(angle), s * math.sin(angle), c])
    return float(np.linalg.norm(rotation_matrix(body.orientation)[:, 2] - expected))


@SECOND_ORDER
def test_a_coin_on_its_edge_is_of_second_order(integrator):
    """Its contact point runs round the edge, and sticks: from 1 to 0.25 ms, 4 at first order."""
    errors = [coin(h, integrator) for h in (1e-3, 5e-4, 2.5e-4)]
    show(f"a coin at 1, 0.5 and 0.25 ms, {integrator}: axis off by", *errors)
    assert errors[0] < 2e-3
    assert errors[0] > 6.0 * errors[2]


# tilt of the disc [rad], speed [m/s] and turning rate about the vertical [rad/s]
ROLLS = [(1.0, 1.0, 2.0), (0.83, 1.0, 2.0), (1.15, 1.0, -3.0), (1.3, 1.0, 0.0), (1.0, 3.0, 0.5)]


def rolling_coin(
    roll: tuple[float, float, float],
    time_step: float,
    integrator: str = "rk4",
    size: tuple[float, float] = (0.1, 0.02),
) -> np.ndarray:
    """Return the energy of a coin that rolls on its rim for 0.6 s, less the start's.

    The coin has a radius and a thickness [m], and starts without slip. The energies are shares of
    that at the start.
    """
    tilt, speed, turn = roll
    radius, half = size[0], 0.5 * size[1]
    world = World(time_step, integrator=integrator, sleeping=False)
    world.set_friction("default", "default", 5.0)
    world.add_ground()
    s, c = math.sin(tilt), math.cos(tilt)
    across = 0.25 * radius**2 + half**2 / 3.0
    disc = np.diag([across, across, 0.5 * radius**2])
    arm = np.array([half * s - radius * c, 0.0, radius * s + half * c])  # from floor to centre
    omega = -speed / radius * np.array([s, 0.0, c]) + np.array([0.0, 0.0, turn])
    coin = world.add_body(
        Cylinder(*size),
        1.0,
        (0, 0, arm[2]),
        (0, math.sin(tilt / 2), 0, math.cos(tilt / 2)),
        velocity=np.cross(omega, arm),
        angular_velocity=omega,
        inertia=disc,
    )

    def energy() -> float:
        R, w, v = rotation_matrix(coin.orientation), coin.angular_velocity, coin.velocity
        return 0.5 * (w @ R @ disc @ R.T @ w + v @ v) + GRAVITY * coin.position[2]

    start, found = energy(), []
    for _ in range(round(0.6 / time_step)):
        world.step()
        found.append(energy() / start - 1.0)
    return np.array(found)


@pytest.mark.parametrize("roll", ROLLS)
def test_a_coin_that_rolls_gains_no_energy(roll):
    """Law: a contact that sticks does no work. In rk4 the error is of third order."""
    coarse, fine = rolling_coin(roll, 1e-3), rolling_coin(roll, 5e-4)
    show(f"a coin that rolls {roll}: energy", coarse.max(), np.ptp(coarse), np.ptp(fine))
    assert coarse.max() < 1e-6
    assert np.ptp(coarse) > 5.0 * np.ptp(fine)


@pytest.mark.parametrize("roll", ROLLS)
def test_a_coin_that_starts_to_roll_gains_no_energy(roll):
    """Law: from the first step the contact point runs round the rim as the lowest point."""
    found = rolling_coin(roll, 1e-3, "semi_implicit")
    show(f"a coin that starts to roll {roll}: energy", found.max(), found[-1])
    assert found.max() < 1e-6


def test_random_coins_and_rods_gain_no_energy():
    """Law: rolling creates no energy, also if the contact point runs half round the rim in 6 steps.

    Among 100 random bodies are coins that are nearly flat or nearly upright, and long rods.
    """
    rng = np.random.default_rng(0)
    rises = []
    for _ in range(100):
        radius = rng.uniform(0.05, 0.2)
        size = (radius, radius * 10 ** rng.uniform(-2.0, 0.7))
        roll = (rng.uniform(0.1, 1.5), rng.uniform(-3.0, 3.0), rng.uniform(-5.0, 5.0))
        rises.append(rolling_coin(roll, 1e-3, "rk4", size).max())
    show("100 coins and rods, rk4: largest rise of energy", max(rises))
    assert max(rises) < 1e-6


def test_a_roller_that_lands_on_its_rim_gains_no_energy():
    """Law: an inelastic impact takes energy, also if the contact point runs fast round the rim."""
    found = rolling_coin((0.201, 0.873, -3.306), 1e-3, "rk4", (0.19, 0.561))
    show("a roller that lands on its rim: energy", found.max(), found[-1])
    assert found.max() < 1e-6


@SECOND_ORDER
def test_a_rod_that_lies_slides_by_coulombs_law(integrator):
    """Law: a spin about the axis ends at a third. A spin about the vertical slows by 6 mu g / L.

    The load is at both ends, at L / 2 from the middle. The load between the ends is indeterminate
    for rigid bodies.
    """
    mass, radius, length, friction = 0.2, 0.02, 1.0, 0.5
    across, along = mass * length**2 / 12, mass * radius**2 / 2
    rates = []
    for omega in ((0.0, -500.0, 0.0), (0.0, 0.0, 10.0)):
        world = World(5e-4, integrator=integrator, sleeping=False)
        world.set_friction("default", "default", friction)
        world.add_ground()
        rod = world.add_body(
            Cylinder(radius, length),
            mass,
            (0, 0, radius),
            LEVEL,
            angular_velocity=omega,
            inertia=np.diag([across, across, along]),
        )
        world.step(600 if omega[2] else 2000)
        rates.append(rod.angular_velocity)
    show(f"a rod that lies, {integrator}: rates", rates[0][1], rates[1][2])
    assert rates[0][1] == pytest.approx(-500.0 / 3.0, rel=1e-9)
    assert rates[1][2] == pytest.approx(10.0 - 6.0 * friction * GRAVITY / length * 0.3, rel=1e-4)


def wheeled_cart(width: float, integrator: str) -> float:
    """Return the part of its kinetic energy that a cart loses in a second, at 1 m/s and 1 rad/s.

    Four cylinders of 0.1 m on hinges are the wheels. Their axes point at the centre of the bend.
    """
    world = World(1e-3, integrator=integrator, sleeping=False)
    world.set_friction("default", "default", 0.8)
    world.add_ground()
    shared = {"angular_velocity": (0, 0, 1.0), "velocity": (1.0, 0, 0)}
    chassis = world.add_body(
        Box((0.5, 0.3, 0.05)), 5.0, (0, 0, 0.15), inertia=np.diag([0.04, 0.1, 0.14]), **shared
    )
    bodies = [chassis]
    for x, y in ((0.2, 0.2), (0.2, -0.2), (-0.2, 0.2), (-0.2, -0.2)):
        velocity = np.array([1.0 - y, x, 0.0])
        half, root = 0.5 * math.atan2(velocity[1], velocity[0]), math.sqrt(0.5)
        axis = np.array([-math.sin(2.0 * half), math.cos(2.0 * half), 0.0])
        wheel = world.add_body(
            Cylinder(0.1, width),
            0.5,
            (x, y, 0.1),
            root * np.array([math.cos(half), math.sin(half), math.sin(half), math.cos(half)]),
            velocity=velocity,
            angular_velocity=np.linalg.norm(velocity) / 0.1 * axis + (0, 0, 1.0),
        )
        world.connect(chassis, wheel, "hinge", point=(x, y, 0.1), axis=tuple(axis))
        bodies.append(wheel)

    def energy() -> float:
        return sum(kinetic_energy(body) for body in bodies)

    start = energy()
    world.step(1000)
    return 1.0 - energy() / start


@pytest.mark.parametrize(("integrator", "bound"), [("semi_implicit", 1e-4), ("rk4", 1e-3)])
@pytest.mark.parametrize("width", [0.001, 0.01, 0.02, 0.05])
def test_wheels_that_touch_along_a_line_hardly_lose_energy_in_a_bend(width, integrator, bound):
    """Law: at one end of the line a wheel rolls without slip, and that end carries the load.

    If the load passed from end to end, the end that takes over would slide at the turning rate
    times the width. Its friction would cost energy.
    """
    loss = wheeled_cart(width, integrator)
    show(f"a cart on wheels of {width} m in a bend, {integrator}: loss", loss)
    assert -1e-6 < loss < bound


def cart_in_a_bend(speed: float, turn: float) -> float:
    """Return the largest rise of the energy of a cart in 1 s with rk4, as a share of the start's.

    Two balls of 0.1 m on hinges are the wheels, and a ball of 0.05 m is the caster.
    """
    world = World(1e-3, integrator="rk4", sleeping=False)
    world.set_friction("default", "default", 0.8)
    world.add_ground()
    chassis = np.diag([0.04, 0.1, 0.14])
    motion = {"velocity": (speed, 0, 0), "angular_velocity": (0, 0, turn)}
    bodies = [(world.add_body(Box((0.5, 0.3, 0.05)), 5.0, (0, 0, 0.15), inertia=chassis, **motion))]
    inertias = [chassis]
    for x, y, radius, mass in [(0, 0.2, 0.1, 0.5), (0, -0.2, 0.1, 0.5), (0.3, 0, 0.05, 0.2)]:
        velocity = np.array([speed - turn * y, turn * x, 0.0])
        spin = (-velocity[1] / radius, velocity[0] / radius, turn)
        ball = world.add_body(
            Sphere(radius), mass, (x, y, radius), velocity=velocity, angular_velocity=spin
        )
        kind = {"kind": "ball"} if x else {"kind": "hinge", "axis": (0, 1, 0)}
        world.connect(bodies[0], ball, point=(x, y, radius), **kind)
        bodies.append(ball)
        inertias.append(0.4 * mass * radius**2 * np.eye(3))

    def energy() -> float:
        total = 0.0
        for body, inertia in zip(bodies, inertias, strict=True):
            R, w = rotation_matrix(body.orientation), body.angular_velocity
            total += (
                0.5 * w @ R @ inertia @ R.T @ w + 0.5 * body.mass * body.velocity @ body.velocity
            )
            total += body.mass * GRAVITY * (body.position[2] - 0.1)
        return total

    start = top = energy()
    for _ in range(1000):
        world.step()
        top = max(top, energy())
    return top / start - 1.0


@pytest.mark.parametrize("speed", [1.0, 2.0])
def test_a_cart_in_a_bend_gains_no_energy(speed):
    """Law: wheels that roll do no work. They turn about axes that hinges hold."""
    rise = cart_in_a_bend(speed, speed)
    show(f"a cart at {speed} m/s in a bend, rk4: energy", rise)
    assert rise < 1e-6


FLOORS = {
    "plane": lambda world: world.add_ground(),
    "box": lambda world: world.add_static(Box((4, 4, 1)), (0, 0, -0.5)),
    "field": lambda world: world.add_static(HeightField(np.zeros((9, 9)), spacing=0.5)),
}


def tilted_coin(floor: str, tilt: float, time_step: float) -> tuple[float, float]:
    """Return by which part the axial rate of a spinning coin changes in a second, and the energy.

    The coin of 0.1 m by 0.02 m spins at 100 rad/s, tilted on its rim on a smooth floor. The energy
    is its largest rise, as a part of the energy at the start.
    """
    world = World(time_step, sleeping=False)
    world.set_friction("default", "default", 0.0)
    FLOORS[floor](world)
    turn = np.array([0.0, math.sin(tilt / 2), 0.0, math.cos(tilt / 2)])
    height = 0.1 * math.sin(tilt) + 0.01 * math.cos(tilt) + 1e-6
    axis = np.array([math.sin(tilt), 0.0, math.cos(tilt)])
    coin = world.add_body(
        Cylinder(0.1, 0.02), 1.0, (0, 0, height), turn, angular_velocity=100.0 * axis
    )
    start = kinetic_energy(coin) + GRAVITY * coin.position[2]
    top = start
    for _ in range(round(1.0 / time_step)):
        world.step()
        top = max(top, kinetic_energy(coin) + GRAVITY * coin.position[2])
    rate = coin.angular_velocity @ rotation_matrix(coin.orientation)[:, 2]
    return rate / 100.0 - 1.0, top / start - 1.0


@pytest.mark.parametrize("tilt", [0.2, 0.6])
@pytest.mark.parametrize("floor", FLOORS)
def test_a_coin_on_its_rim_keeps_its_spin(floor, tilt):
    """Law: a smooth floor's force meets the axis, so it has no moment about the axis."""
    change, rise = tilted_coin(floor, tilt, 1e-3)
    assert abs(change) < 2e-4
    assert rise < 1e-6
    change, rise = tilted_coin(floor, tilt, 2.5e-4)
    assert abs(change) < 1e-5
    assert rise < 1e-6


@pytest.mark.parametrize("rate", [1e4, 1e6])
def test_what_turns_too_far_for_a_series_keeps_its_angular_momentum(rate):
    """Law: R I R' w is constant without moments, also at 100 and 10 000 rad in a step of rk4."""
    world = World(1e-2, gravity=(0, 0, 0), integrator="rk4", sleeping=False)
    inertia = np.diag([0.01, 0.02, 0.025])
    body = world.add_body(
        Sphere(0.02), 1.0, inertia=inertia, angular_velocity=rate * np.array([0.3, 0.8, 0.5])
    )
    start = inertia @ body.angular_velocity
    world.step(20)
    R = rotation_matrix(body.orientation)
    end = R @ inertia @ R.T @ body.angular_velocity
    assert np.linalg.norm(end - start) < 1e-9 * np.linalg.norm(start)
