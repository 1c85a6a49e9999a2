# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The tree of links: order, ticks, frames, masses and arrows."""

import numpy as np
import pytest
from viewer.visitor import Visitor

from hrpsim import Box, World, load_model
from hrpsim.viewer import Viewer
from hrpsim.viewer.panels.links import FRAMES, MASSES, tree_of
from robots import HRP2_LIKE

pytest.importorskip("viser")
WATER = 1000.0  # [kg/m^3]


@pytest.fixture(scope="module")
def viewer():
    world = World()
    world.add_ground()
    world.add_body(Box((0.2, 0.2, 0.2)), 2.0, (2.0, 0.0, 0.1), name="left")
    world.add_body(Box((0.2, 0.2, 0.2)), 3.0, (-2.0, 0.0, 0.1), name="right")
    world.add_robot(load_model(HRP2_LIKE), position=(0.0, 0.0, 1.0))
    shown = Viewer(world, port=0)
    yield shown
    shown.stop()


def node(viewer, *path):
    return viewer.server.scene.get_handle_by_name("/".join(("/scene", *path)))


def test_every_link_is_in_the_tree_after_the_link_that_carries_it(viewer):
    """Law: the tree has each link once, below its parents, and begins a folder at each branch."""
    world = viewer.session.world
    entries = tree_of(world)
    names = [(entry.entity, entry.link) for entry in entries]
    of_world = [link for link in world.link_names if link[0] != "world"]
    assert sorted(names) == sorted(of_world) and len(set(names)) == len(names)
    robot = next(iter(world.robots.values()))
    of_robot = [entry for entry in entries if entry.entity == robot.name]
    index = {entry.body: k for k, entry in enumerate(of_robot) if entry.body >= 0}
    for body, parent in enumerate(robot.system.parent.tolist()):
        assert parent < 0 or index[parent] < index[body]
    legs = {entry.branch[-1] for entry in of_robot if "LEG" in entry.link}
    assert legs == {"LLEG_LINK0", "RLEG_LINK0"}


def test_masses_are_spheres_of_water_at_the_centres_of_mass(viewer):
    """Law: the volumes of a robot's spheres times the density of water are its mass."""
    Visitor(viewer).use(viewer.controls.links.shows[MASSES], True)
    robot = next(iter(viewer.session.world.robots.values()))
    volume, links = 0.0, 0
    for entry in tree_of(viewer.session.world):
        sphere = node(viewer, entry.entity, entry.link, "mass")
        if entry.entity == robot.name and sphere is not None:
            volume, links = volume + 4.0 / 3.0 * np.pi * sphere.radius**3, links + 1
            np.testing.assert_array_equal(sphere.position, robot.system.com[entry.body])
    assert volume * WATER == pytest.approx(robot.system.mass.sum(), rel=1e-9)
    assert links == (robot.system.mass > 0.0).sum()


def test_only_ticked_links_have_frames(viewer):
    visitor, links = Visitor(viewer), viewer.controls.links
    visitor.use(links.every, "none")
    visitor.use(links.shows[FRAMES], True)
    assert node(viewer, "left", "left", "axes") is None
    visitor.use(links.ticks["left", "left"], True)
    frame = node(viewer, "left", "left", "axes")
    assert frame.visible
    np.testing.assert_array_equal(frame.position, 0.0)  # of the link, which it is a child of
    visitor.use(links.ticks["left", "left"], False)
    assert not frame.visible


def test_only_ticked_links_have_arrows_and_their_forces_are_added(viewer):
    """Law: a resting body is carried by its weight, and an unticked body shows none of it."""
    visitor, links, world = Visitor(viewer), viewer.controls.links, viewer.session.world
    visitor.use(links.every, "none")
    for name in ("left", "right"):
        visitor.use(links.ticks[name, name], True)
    world.step(1000)
    visitor.look()
    assert "2 of" in links.details.content and "5.00 kg" in links.details.content
    weight = float(links.details.content.rpartition(", ")[2].rstrip(") N"))
    assert weight == pytest.approx(-5.0 * world.gravity[2], abs=0.1)
    assert node(viewer, "left", "left", "contacts").visible
    visitor.use(links.ticks["left", "left"], False)
    visitor.look()
    assert not node(viewer, "left", "left", "contacts").visible
    assert node(viewer, "right", "right", "contacts").visible
