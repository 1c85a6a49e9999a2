# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Closed loops with redundant constraints: they move as their closed forms, in every step."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from world.linkages import LINKAGES, bennett, double_parallelogram, peaucellier
from world.scenes import show

from hrpsim import Box, World

each_linkage = pytest.mark.parametrize("name", LINKAGES)


def followed(linkage, steps: int) -> tuple[float, float, float]:
    """Step; return the largest error, opening and force. Every step converges."""
    error = opening = force = 0.0
    for _ in range(steps):
        linkage.world.step()
        assert linkage.world.stats.converged, linkage.world.stats
        error, opening = max(error, linkage.error()), max(opening, linkage.open())
        force = max(force, linkage.largest_force())
    return error, opening, force


@each_linkage
@pytest.mark.parametrize("integrator", ["semi_implicit", "euler"])
def test_a_linkage_moves_as_its_closed_form(name, integrator):
    """Law: the closed form. No hinge bears more than the motion of rods of 0.2 kg asks for."""
    linkage = LINKAGES[name](integrator=integrator)
    linkage.world.step()  # the motor starts with a blow
    error, opening, force = followed(linkage, 300)
    show(f"{name}, {integrator}: error, opening, force [N]", error, opening, force)
    assert error < 2e-5 and opening < 1e-5
    assert force < 10.0
    assert linkage.world.stats.since_reset.newton_steps == 0


def test_the_error_of_a_linkage_is_of_second_order():
    """Law: the error of the positions of a step falls with the square of its length."""
    errors = [followed(bennett(time_step=h), round(0.1 / h))[0] for h in (1e-3, 5e-4, 2.5e-4)]
    show("Bennett: errors", *errors)
    assert errors[0] > 3.5 * errors[1] > 3.5**2 * errors[2] > 0.0


def test_a_linkage_whose_rods_touch_is_jammed():
    """Law: rigid spheres stop the motor. The corner stays on its line, and nothing moves on."""
    linkage = peaucellier(radius=0.01)
    error, opening, _ = followed(linkage, 1400)
    moved = max(np.abs(rod.v).max() for rod in linkage.rods.values())
    show("jammed: error, opening [m], speed [m/s]", error, opening, moved)
    assert linkage.world.contacts
    assert error < 1e-8 and opening < 1e-8 and moved < 1e-6


@pytest.mark.parametrize("make", [bennett, double_parallelogram])
def test_a_linkage_whose_rods_start_apart_settles_and_keeps_its_energy(make):
    """Law: velocities that the hinges forbid are lost in the first step. Then the energy stays.

    The rods leave each other by 1e-4 rad in the first step. Such a loop moves in its exact position
    alone, and its redundant rows must not hold it fast.
    """
    random, linkage = np.random.default_rng(2), make(speed=None)
    for rod in linkage.rods.values():
        rod.v = 0.3 * random.normal(size=6)
    linkage.world.step()
    first = linkage.kinetic_energy()
    _, opening, _ = followed(linkage, 30)
    settled = linkage.kinetic_energy()
    followed(linkage, 300)
    show("opening, energies [J]", opening, first, settled, linkage.kinetic_energy())
    assert opening < 1e-3 and linkage.open() < 1e-9
    assert settled <= (1 + 1e-3) * first
    assert linkage.kinetic_energy() == pytest.approx(settled, rel=1e-6)


def test_redundant_hinges_share_the_load():
    """Law: two equal hinges of a door bear half of its weight each, in any order."""
    world = World()
    door = world.add_body(Box((0.8, 0.04, 2.0)), 20.0, (0.4, 0, 1.2))
    axis = (0, 0, 1)
    hinges = [world.connect(None, door, "hinge", point=(0, 0, z), axis=axis) for z in (0.4, 2.0)]
    world.step(100)
    for hinge in hinges:
        assert abs(hinge.force[2]) == pytest.approx(10.0 * 9.80665, rel=1e-6)


@pytest.mark.parametrize("apart", [1e-7, 1e-3])
def test_fixings_that_disagree(apart):
    """Law: two rigid fixings agree on the place between theirs, up to the slop of 1e-6 m.

    Beyond the slop the disagreement is reported.
    """
    world = World()
    box = world.add_body(Box((0.2, 0.2, 0.2)), 1.0, (0, 0, 1))
    own = ((0, 0, 0), (0, 0, 0, 1))
    for x in (0.0, apart):
        world.connect(None, box, frame_a=((x, 0, 1), (0, 0, 0, 1)), frame_b=own)
    world.step(300)
    assert box.position[0] == pytest.approx(0.5 * apart, rel=5e-3)
    assert world.stats.converged == (apart < 1e-6)
    if apart < 1e-6:
        held = sum(connection.force for connection in world.connections.values())
        assert held[2] == pytest.approx(9.80665, rel=1e-9)
        assert max(np.abs(c.force).max() for c in world.connections.values()) < 20.0


@pytest.mark.parametrize("count", [3, 12])
def test_a_plate_on_many_cranks_falls_as_a_pendulum(count):
    """Law: a pendulum's, however many rows are redundant: 7 of 3 cranks, 43 of 12.

    No hinge bears more than half of the weight, also while the cranks are nearly vertical, where
    pivots become small.
    """
    angle, length, mass, crank, g = 0.4, 0.3, 2.0, 0.2, 9.80665
    way = np.array([np.sin(angle), 0.0, -np.cos(angle)]) * length
    turn = 0.5 * (angle - 0.5 * np.pi)
    world = World(gravity=(0.0, 0.0, -g))
    plate = world.add_body(Box((1.2, 0.2, 0.02)), mass, position=way, name="plate")
    for x in np.linspace(-0.5, 0.5, count):
        at = np.array([x, 0.0, 0.0])
        body = world.add_body(
            Box((length, 0.02, 0.02)),
            crank,
            position=at + 0.5 * way,
            orientation=(0.0, -np.sin(turn), 0.0, np.cos(turn)),
            name=f"crank {x}",
        )
        world.connect(None, body, "hinge", point=at, axis=(0, 1, 0))
        world.connect(body, plate, "hinge", point=at + way, axis=(0, 1, 0))
    world.step()
    assert world.stats.converged
    own = crank * (length**2 + 0.02**2) / 12.0 + 0.25 * crank * length**2
    inertia = mass * length**2 + count * own
    moment = (mass + 0.5 * count * crank) * g * length * np.sin(angle)
    speed = np.linalg.norm(plate.velocity[:3])
    assert speed == pytest.approx(world.time_step * length * moment / inertia, rel=1e-11)
    weight = (mass + count * crank) * g
    for _ in range(50):
        world.step(10)
        assert world.stats.converged
        forces = [np.linalg.norm(one.wrench[0]) for one in world.connections.values()]
        assert max(forces) < 0.5 * weight
    pendulum = solve_ivp(
        lambda _, y: [y[1], -moment / np.sin(angle) / inertia * np.sin(y[0])],
        [0.0, world.time],
        [angle, 0.0],
        rtol=1e-10,
        atol=1e-12,
    )
    found = np.arctan2(plate.position[0], -plate.position[2])
    assert found == pytest.approx(pendulum.y[0, -1], abs=2e-6)
