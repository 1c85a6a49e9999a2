# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Distances of links against closed forms, and overlaps against the step's own detection."""

import numpy as np
import pytest

import hrpsim
from hrpsim import HrpsimError, ModelError, share_path
from hrpsim.model.shapes.convex_hull import farthest_against
from hrpsim.world.self_collisions import SelfContacts, random_posture

pytest.importorskip("coal")
from hrpsim.geometry import LinkDistances

INERTIA = """<inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0"
iyz="0"/></inertial>"""


def robot(*shapes):
    """Return a robot whose links l0, l1, ... slide along x, with one shape each."""
    text = '<robot name="row"><link name="world"/>'
    for k, shape in enumerate(shapes):
        text += f"""<link name="l{k}">{INERTIA}<collision><geometry>{shape}</geometry></collision>
        </link><joint name="x{k}" type="prismatic"><parent link="world"/><child link="l{k}"/>
        <axis xyz="1 0 0"/><limit lower="-5" upper="5" effort="1" velocity="1"/></joint>"""
    return hrpsim.load_model(text + "</robot>", base="fixed")


SPHERE, BOX = '<sphere radius="0.1"/>', '<box size="0.2 0.4 0.6"/>'
CYLINDER = '<cylinder radius="0.1" length="0.5"/>'


@pytest.mark.parametrize(
    ("a", "b", "x", "distance"),
    [
        (SPHERE, SPHERE, 0.5, 0.3),
        (SPHERE, SPHERE, 0.15, -0.05),
        (SPHERE, BOX, 0.5, 0.3),
        (BOX, BOX, 0.5, 0.3),
        (BOX, BOX, 0.15, -0.05),
        (SPHERE, CYLINDER, 0.5, 0.3),
        (CYLINDER, CYLINDER, 0.5, 0.3),
    ],
)
def test_primitives_are_as_far_apart_as_closed_forms_say(a, b, x, distance):
    found = LinkDistances(robot(a, b)).nearest([0.0, x], "l0", "l1")
    assert found.distance == pytest.approx(distance, abs=1e-6)
    gap = found.points[1] - found.points[0]
    assert np.linalg.norm(gap) == pytest.approx(abs(distance), abs=1e-4)
    assert gap[0] * distance > 0.0


@pytest.mark.parametrize(
    ("shape", "height"), [(SPHERE, 0.1), (BOX, 0.3), (CYLINDER, 0.25)], ids="sphere box rod".split()
)
def test_the_distance_to_a_plane_is_that_of_the_lowest_point(shape, height):
    world = hrpsim.World()
    world.add_ground(height=-1.0)
    found = LinkDistances(robot(shape), world.fixed_shapes).nearest([2.0], "l0", "world/ground")
    assert found.distance == pytest.approx(1.0 - height, abs=1e-12)
    assert found.points[0][2] == pytest.approx(-height) and found.points[1][2] == -1.0


def test_a_leaning_plane_meets_the_support_point():
    """Law: the distance of a convex shape to a half-space is n p minus its support function."""
    normal = np.array([0.3, -0.5, 0.8]) / np.linalg.norm([0.3, -0.5, 0.8])
    world = hrpsim.World()
    world.add_ground(height=-2.0, normal=normal)
    sizes = {
        SPHERE: 0.1,
        BOX: 0.5 * np.abs(normal) @ [0.2, 0.4, 0.6],
        CYLINDER: 0.1 * np.hypot(*normal[:2]) + 0.25 * normal[2],
    }
    for shape, support in sizes.items():
        found = LinkDistances(robot(shape), world.fixed_shapes).nearest([0], "l0", "world/ground")
        assert found.distance == pytest.approx(2.0 * normal[2] - support, abs=1e-12)


def test_a_static_box_of_the_world_is_met():
    world = hrpsim.World()
    world.add_static(hrpsim.Box((0.2, 0.2, 0.2)), position=(1.0, 0.0, 0.0), name="wall")
    distances = LinkDistances(robot(SPHERE), world.fixed_shapes)
    assert distances.pairs == (("l0", "world/wall"),)
    assert distances.overlaps([0.0]) == {}
    assert distances.overlaps([0.85])["l0", "world/wall"] == pytest.approx(0.05, abs=1e-6)


def to_wall(shape, lengths, position, degrees):
    """Return how far a link of a shape at the origin is from a box of the world turned about z."""
    half = np.radians(0.5 * degrees)
    world = hrpsim.World()
    turned = (0.0, 0.0, np.sin(half), np.cos(half))
    world.add_static(hrpsim.Box(lengths), position=position, orientation=turned, name="wall")
    return LinkDistances(robot(shape), world.fixed_shapes).nearest([0.0], "l0", "world/wall")


@pytest.mark.parametrize("z", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("y", [-0.48, 0.0, 0.7])
@pytest.mark.parametrize("degrees", [0.0, 90.0])
def test_boxes_with_parallel_edges_are_as_far_apart_as_their_gaps(y, z, degrees):
    """Law: the distance is that of the gaps along the axes; edges are parallel."""
    position = np.array([0.35, y, z])
    sides = np.array([0.21, 0.29, 0.28] if degrees else [0.29, 0.21, 0.28])
    found = to_wall('<box size="0.03 0.3 0.27"/>', (0.29, 0.21, 0.28), position, degrees)
    gaps = np.maximum(np.abs(position) - 0.5 * (sides + [0.03, 0.3, 0.27]), 0.0)
    assert found.distance == pytest.approx(np.linalg.norm(gaps), abs=1e-6)
    between = np.abs(found.points[1] - found.points[0])
    np.testing.assert_allclose(between, gaps, atol=1e-3)


@pytest.mark.parametrize("z", [0.0, 0.6])
def test_the_rim_of_a_cylinder_is_as_far_from_a_corner_as_the_closed_form_says(z):
    position, lengths = np.array([0.4, 0.3, z]), np.array([0.1, 0.2, 0.3])
    found = to_wall(CYLINDER, lengths, position, 0.0)
    aside = np.hypot(*(position[:2] - 0.5 * lengths[:2])) - 0.1
    above = max(z - 0.5 * (0.5 + 0.3), 0.0)
    assert found.distance == pytest.approx(np.hypot(aside, above), abs=1.1e-6)


def test_the_depth_of_boxes_is_the_shortest_way_out():
    """Law: boxes of 0.2 m, apart by (0.13, 0.05, 0.02), overlap by 0.07 m along x."""
    found = to_wall('<box size="0.2 0.2 0.2"/>', (0.2, 0.2, 0.2), (0.13, 0.05, 0.02), 0.0)
    assert found.distance == pytest.approx(-0.07, abs=1e-6)


def test_no_two_points_are_closer_than_is_said():
    """Law: the planes across the line of the nearest points have the shapes on either side."""
    random = np.random.default_rng(3)
    for shape in (SPHERE, BOX, CYLINDER):
        for _ in range(20):
            position = random.uniform(-1.0, 1.0, 3) + [0.0, 0.0, 1.5]
            found = to_wall(shape, (0.1, 0.4, 0.2), position, random.uniform(-90.0, 90.0))
            n = (found.points[1] - found.points[0]) / found.distance
            one = robot(shape).shapes[0].geometry
            ahead = farthest_against(one, -n) @ n
            assert ahead <= found.points[0] @ n + 1.1e-6


def test_overlaps_are_those_that_the_step_finds():
    """Law: in random postures of the humanoid the same pairs overlap, to rounding."""
    model = hrpsim.load_model(share_path("urdf/hrp2_like.urdf.xacro"))
    distances, contacts, random = (
        LinkDistances(model),
        SelfContacts(model),
        np.random.default_rng(2),
    )
    seen = 0
    for _ in range(40):
        q = random_posture(model, random)
        theirs, ours = contacts.touching(q), distances.overlaps(q)
        seen += len(theirs)
        for pair in set(theirs) ^ set(ours):
            assert abs(distances.distance(q, pair)) < 1e-6, pair
    assert seen > 20


def test_the_closest_come_first_and_no_neighbours():
    model = hrpsim.load_model(share_path("urdf/hrp2_like.urdf.xacro"))
    found = LinkDistances(model).closest(model.neutral(), 6)
    gaps = [one.distance for one in found]
    assert gaps == sorted(gaps) and len(found) == 6
    assert found[0].links == ("LLEG_SOLE", "RLEG_SOLE") and gaps[0] == pytest.approx(0.05)


def test_unknown_links_and_wrong_configurations_are_named():
    distances = LinkDistances(robot(SPHERE, BOX))
    with pytest.raises(ModelError, match=r"link with a shape 'l3' does not exist.*l0, l1"):
        distances.nearest([0.0, 0.5], "l0", "l3")
    with pytest.raises(HrpsimError, match="q"):
        distances.closest([0.0])
    with pytest.raises(HrpsimError, match="q"):
        distances.closest([0.0, np.nan])
