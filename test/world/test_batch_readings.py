# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A batch reads efforts and contact forces of all worlds, and places robots in one call."""

import numpy as np
import pytest

import hrpsim
from hrpsim import StateError, WorldError
from robots import HRP2_LIKE


@pytest.fixture(scope="module")
def batch():
    """Three standing humanoids, the second of which falls from 5 cm."""
    world = hrpsim.World()
    world.add_ground()
    model = hrpsim.load_model(HRP2_LIKE)
    world.add_robot(model, name="hrp2").place_on_floor()
    with hrpsim.Batch(world, 3, threads=1) as made:
        q = made.q("hrp2")
        q[1, 2] += 0.05
        made.place("hrp2", q, worlds=[1])
        made.step(20)
        yield made


def test_contact_forces_are_those_of_each_link(batch):
    """Law: a row is the sum of the forces in `contact_arrays` of the link in that world."""
    forces = batch.contact_forces("hrp2")
    for world, rows in zip(batch.worlds, forces):
        robot = world.robots["hrp2"]
        for frame, row in zip(robot.model.frames.values(), rows):
            expected = robot.contact_arrays(frame.name).forces.sum(axis=0)
            np.testing.assert_allclose(row, expected, atol=1e-9)
    assert forces[0, :, 2].sum() > 100.0 and not forces[1].any()
    out = np.full(forces.shape, np.nan)
    assert batch.contact_forces("hrp2", out=out, worlds=[0]) is out
    np.testing.assert_array_equal(out[0], forces[0])
    assert np.isnan(out[1:]).all()
    for wrong in (np.zeros((3, 2, 3)), np.zeros((*forces.shape[:2], 6))[:, :, ::2]):
        with pytest.raises(StateError, match=r"contiguous, .* with the shape"):
            batch.contact_forces("hrp2", out=wrong)


def test_links_of_a_batch_are_those_of_each_robot(batch):
    """Law: a row equals `link_poses` and `link_velocities` of that world's robot, bit for bit."""
    for read in ("link_poses", "link_velocities"):
        found = getattr(batch, read)("hrp2")
        for k, world in enumerate(batch.worlds):
            for rows, expected in zip(found, getattr(world.robots["hrp2"], read)()):
                np.testing.assert_array_equal(rows[k], expected)
        chosen = getattr(batch, read)("hrp2", worlds=[2])
        for rows, every in zip(chosen, found):
            np.testing.assert_array_equal(rows[2], every[2])
            assert np.isnan(rows[:2]).all()
    with pytest.raises(WorldError, match="'r2d2'"):
        batch.link_poses("r2d2")


def test_contacts_of_bodies_are_read_too():
    """Law: a box at rest is carried by its weight, through contacts of either order, and asleep."""
    world = hrpsim.World()
    world.add_ground()
    world.add_body(hrpsim.Box((0.2, 0.2, 0.2)), 2.0, (0, 0, 0.1), name="low")
    world.add_body(hrpsim.Box((0.2, 0.2, 0.2)), 3.0, (0, 0, 0.3), name="high")
    with hrpsim.Batch(world, 2, threads=1) as batch:
        for steps, asleep in ((50, ()), (1500, ("low", "high"))):
            batch.step(steps)
            assert [world.asleep for world in batch.worlds] == [asleep] * 2
            for name, mass in (("low", 2.0), ("high", 3.0)):
                up = batch.contact_forces(name)[:, 0, 2]
                np.testing.assert_allclose(up, 9.80665 * mass, rtol=1e-4)


def test_efforts_are_those_of_each_world(batch):
    efforts = batch.efforts("hrp2")
    expected = [world.robots["hrp2"].joint_efforts for world in batch.worlds]
    np.testing.assert_array_equal(efforts, expected)
    assert np.abs(efforts).max() > 1.0
    rows = batch.efforts("hrp2", worlds=[2])
    np.testing.assert_array_equal(rows[2], expected[2])
    assert np.isnan(rows[:2]).all()


def test_robots_are_placed_in_chosen_worlds():
    """Law: chosen worlds have the rows, bit for bit, and others stay."""
    world = hrpsim.World()
    world.add_body(hrpsim.Sphere(0.1), 1.0, name="ball")
    with hrpsim.Batch(world, 3, threads=1) as batch:
        generator = np.random.default_rng(0)
        q, v = batch.q("ball"), generator.normal(size=(3, 6))
        q[:, :3] = generator.normal(size=(3, 3))
        batch.place("ball", q, v, worlds=[False, True, True])
        np.testing.assert_array_equal(batch.q("ball")[1:], q[1:])
        np.testing.assert_allclose(batch.v("ball")[1:], v[1:], atol=1e-15)
        assert not batch.v("ball")[0].any() and not batch.q("ball")[0, :3].any()
        with pytest.raises(StateError, match="q of 3 worlds must have shape"):
            batch.place("ball", q[:2])
        with pytest.raises(WorldError, match="no world 7"):
            batch.place("ball", q, worlds=[7])
