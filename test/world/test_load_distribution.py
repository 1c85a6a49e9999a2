# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The corners of a flat contact share its wrench by least squares, whatever happened before."""

import numpy as np
import pytest
from world.scenes import GRAVITY, show

from hrpsim import Box, World
from hrpsim.constraints.contact_rows import CLOSED
from hrpsim.experiments.scenes.standing import half_sitting, humanoid

MASS, SIDE, HEIGHT = 10.0, 0.4, 0.2


def resting_box(tilt=0.0, **options):
    """A box on the ground, leaning by `tilt` [rad] about its middle."""
    world = World(sleeping=False, **options)
    world.add_ground()
    half = 0.5 * tilt
    lean = (half, 0.0, 0.0, np.sqrt(1.0 - half * half))
    body = world.add_body(Box((SIDE, SIDE, HEIGHT)), MASS, (0, 0, HEIGHT / 2), orientation=lean)
    return world, body


def corners(world):
    """Places (n, 2) [m] and normal forces (n,) [N] of the contacts."""
    contacts = world.contacts
    places = np.array([contact.point[:2] for contact in contacts])
    return places, np.array([contact.force @ contact.normal for contact in contacts])


def least_squares(places, forces):
    """The least forces of the same sum and moments."""
    wrench = np.vstack([np.ones(len(places)), places.T])
    return np.linalg.pinv(wrench) @ (wrench @ forces)


@pytest.mark.parametrize("integrator", ["semi_implicit", "rk4"])
def test_forces_do_not_remember_how_a_box_was_pushed(integrator):
    """After pushes and turns that it bears, each corner carries a quarter of the weight."""
    world, body = resting_box(integrator=integrator)
    world.step(50)
    numbers = np.random.default_rng(7)
    for _ in range(300):
        body.apply_wrench(
            numbers.uniform(-1, 1, 3) * (15, 15, 40), torque=numbers.uniform(-1, 1, 3) * (5, 5, 2)
        )
        world.step()
        _, forces = corners(world)
        assert len(forces) == 4
    world.step(3)
    _, forces = corners(world)
    show(f"{integrator}: forces at rest [N]", *forces)
    np.testing.assert_allclose(forces, MASS * GRAVITY / 4, rtol=1e-6)
    assert world.stats.since_reset.unconverged == 0


def test_a_lasting_load_aside_is_borne_by_least_squares():
    """A constant moment and side force: the normal forces are those of the pseudo-inverse."""
    world, body = resting_box()
    for _ in range(30):
        body.apply_wrench((12.0, -5.0, -8.0), torque=(2.0, 3.0, 1.0))
        world.step()
    places, forces = corners(world)
    show("forces, least squares [N]", *forces, *least_squares(places, forces))
    np.testing.assert_allclose(forces, least_squares(places, forces), rtol=1e-5)


@pytest.mark.parametrize("gap", [-1e-9, -1e-10, 1e-10, 4e-9])
def test_a_box_that_leans_by_nanometres_comes_to_rest_flat(gap):
    """All corners bear at once, and the residues of sweeps neither lift nor sink one of them."""
    world, _ = resting_box(tilt=gap / SIDE)
    for _ in range(5):
        world.step()
        assert world.stats.newton_islands == 0
    _, forces = corners(world)
    gaps = np.array([contact.gap for contact in world.contacts])
    show(f"start {gap:g} m: forces [N], gaps [m]", *forces, *gaps)
    np.testing.assert_allclose(forces, MASS * GRAVITY / 4, rtol=1e-3)
    assert np.ptp(gaps) < max(abs(gap), CLOSED)
    assert np.abs(gaps).max() < max(abs(gap), CLOSED)


def test_a_load_towards_one_corner_leaves_the_opposite_one():
    """Where least squares would pull at a corner, nothing is divided: no force is negative."""
    world, body = resting_box()
    moment = 0.7 * MASS * GRAVITY * SIDE / 2
    for _ in range(50):
        body.apply_wrench((0, 0, 0), torque=(moment, -moment, 0.0))
        world.step()
    places, forces = corners(world)
    show("forces, least squares [N]", *forces, *least_squares(places, forces))
    assert least_squares(places, forces).min() < 0.0 <= forces.min()
    assert forces.sum() == pytest.approx(MASS * GRAVITY, rel=1e-6)
    np.testing.assert_allclose(forces @ places, [-moment, -moment], rtol=1e-4)


def test_the_corner_forces_of_a_swaying_humanoid_change_no_faster_than_its_wrench():
    """Pushed aside it sways on both soles; each corner follows its sole's force and moments."""
    world = World(sleeping=False)
    world.add_ground()
    model = humanoid(8)
    robot = world.add_robot(model, q=half_sitting(model))
    world.settle()
    robot.apply_wrench(robot.model.base_link, force=(25.0, 15.0, 0.0))
    world.step(20)
    before, worst = None, 0.0
    for _ in range(600):
        world.step()
        _, forces = corners(world)
        if before is not None and len(before) == len(forces):
            worst = max(worst, np.abs(forces - before).max())
        before = forces
        assert world.stats.newton_islands == 0
    show("largest change of a corner's force in 1 ms [N]", worst)
    assert worst < 1.0
