# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""No impact gives energy: where Newton's law with friction would, it asks for less restitution."""

import numpy as np
import pytest

from hrpsim import Box, Capsule, World
from hrpsim.world.start import world_kinetic_energy

LENGTH, RADIUS, MASS = 1.0, 0.02, 2.0
# Angle of a rod to the floor, speeds along the floor and towards it, friction, restitution.
GIVING = [(0.9, 0.9, 1.7, 0.5, 1.0), (0.8, 1.7, 2.8, 1.4, 0.9), (0.7, 1.9, 2.9, 0.5, 1.0)]
TAKING = [(0.6, 0.5, 2.0, 0.3, 0.5), (0.3, -1.0, 1.0, 1.0, 0.8), (1.5, 0.0, 1.0, 0.4, 1.0)]


def rod_on_floor(angle, along, towards, friction, restitution, **options):
    """A rod in the xz plane whose lower end touches the floor, without gravity."""
    world = World(gravity=(0.0, 0.0, 0.0), time_step=1e-6, **options)
    world.add_ground()
    world.set_friction("default", "default", friction, friction, restitution)
    half = np.pi / 4 - angle / 2  # of the angle between its axis and the vertical
    rod = world.add_body(
        Capsule(RADIUS, LENGTH),
        MASS,
        position=(0.0, 0.0, RADIUS + LENGTH / 2 * np.sin(angle)),
        orientation=(0.0, np.sin(half), 0.0, np.cos(half)),
        velocity=(along, 0.0, -towards),
        inertia=np.diag([0.2, 0.2, 0.002]),
    )
    return world, rod


def impact_in_the_plane(angle, along, towards, friction, restitution):
    """The same by two equations: velocity afterwards, the largest part of e that gives nothing."""
    arm = np.array([-LENGTH / 2 * np.cos(angle), -RADIUS - LENGTH / 2 * np.sin(angle)])
    jacobian = np.array([[1.0, 0.0, arm[1]], [0.0, 1.0, -arm[0]]])  # of x, z and the turning
    inverse_mass = np.diag([1 / MASS, 1 / MASS, 1 / 0.2])
    before = np.array([along, -towards, 0.0])
    W, u = jacobian @ inverse_mass @ jacobian.T, jacobian @ before

    def after(part):
        wanted = np.array([0.0, -part * restitution * u[1]])
        impulse = np.linalg.solve(W, wanted - u)
        if abs(impulse[0]) > friction * impulse[1]:
            for side in (-1.0, 1.0):
                normal = (wanted[1] - u[1]) / (W[1, 1] + side * friction * W[1, 0])
                impulse = np.array([side * friction * normal, normal])
                slip = u[0] + W[0] @ impulse
                if normal > 0.0 and slip * side <= 0.0:
                    break
        return before + inverse_mass @ jacobian.T @ impulse, impulse @ (u + 0.5 * W @ impulse)

    if after(1.0)[1] <= 1e-12:
        return after(1.0)[0], 1.0
    least, most = 0.0, 1.0
    for _ in range(60):
        middle = 0.5 * (least + most)
        least, most = (middle, most) if after(middle)[1] <= 0.0 else (least, middle)
    return after(least)[0], least


@pytest.mark.parametrize("solver", ["auto", "iterative", "direct"])
@pytest.mark.parametrize("case", GIVING + TAKING)
def test_a_rod_in_the_plane(case, solver):
    """Law: Newton's, or the largest part of e with which the impact gives no energy."""
    expected, part = impact_in_the_plane(*case)
    assert (part < 1.0) == (case in GIVING)
    world, rod = rod_on_floor(*case, solver=solver)
    energy = world_kinetic_energy(world)
    world.step()
    found = [rod.velocity[0], rod.velocity[2], rod.angular_velocity[1]]
    np.testing.assert_allclose(found, expected, atol=1e-5)  # of the order of the step
    assert world.stats.impacts_lowered == (case in GIVING)
    assert world_kinetic_energy(world) <= energy * (1 + 1e-8)


def test_rods_that_fly_onto_the_floor():
    """Law: with any attitude, velocity, friction and restitution, an impact gives no energy."""
    random, lowered = np.random.default_rng(4), 0
    for _ in range(60):
        world = World(gravity=(0.0, 0.0, 0.0), time_step=1e-3)
        world.add_ground()
        world.set_friction(
            "default", "default", *2 * [random.uniform(0.3, 1.5)], random.uniform(0.5, 1.0)
        )
        turn = random.normal(size=4)
        world.add_body(
            Box((1.0, 0.05, 0.05)),
            1.0,
            position=(0.0, 0.0, 0.6),
            orientation=turn / np.linalg.norm(turn),
            velocity=(*random.uniform(-5, 5, 2), -random.uniform(2, 5)),
        )
        before = world_kinetic_energy(world)
        while world.stats.impact_rounds == 0:
            world.step()
        assert world_kinetic_energy(world) <= before * (1 + 1e-8)
        lowered += world.stats.impacts_lowered
    assert lowered > 0
