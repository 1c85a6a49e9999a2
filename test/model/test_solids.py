# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Mass properties of meshes and compounds, against closed forms and trimesh's own integrals."""

import numpy as np
import pytest
import trimesh
from hypothesis import given, settings
from hypothesis import strategies as st
from meshes import angle_bracket, box, joined

from hrpsim import Box, Capsule, Compound, ConvexHull, Cylinder, Mesh, ModelError, Plane, Sphere
from hrpsim.model.shapes.mesh_integrals import solid_moments
from hrpsim.model.shapes.placement import Placement, rotation_from_rpy
from hrpsim.model.shapes.solid_inertia import BodyInertia, solid_inertia, solid_parts, solid_volume

lengths = st.floats(0.01, 10.0)
coordinates = st.floats(-5.0, 5.0)
three = st.tuples(coordinates, coordinates, coordinates)


@settings(max_examples=50)
@given(st.tuples(lengths, lengths, lengths), three, three)
def test_a_box_of_triangles_is_a_box(edges, center, rpy):
    vertices, triangles = box(edges)
    R = rotation_from_rpy(rpy)
    volume, com, inertia = solid_moments(vertices @ R.T + center, triangles)
    expected = R @ solid_inertia(Box(edges), volume) @ R.T
    assert volume == pytest.approx(np.prod(edges), rel=1e-10)
    assert com == pytest.approx(center, abs=1e-9)
    assert inertia == pytest.approx(expected, abs=1e-9 * np.abs(expected).max())


def test_a_tetrahedron_has_its_closed_form():
    """Right-angled at the origin with legs a, b, c: V = abc/6, and over the solid the mean of x^2
    is a^2/10, that of xy is ab/20."""
    a, b, c = 0.3, 0.5, 0.7
    vertices = np.array([(0, 0, 0), (a, 0, 0), (0, b, 0), (0, 0, c)])
    triangles = np.array([(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)])
    volume, com, inertia = solid_moments(vertices, triangles)
    second = np.array(
        [
            [a * a / 10, a * b / 20, a * c / 20],
            [a * b / 20, b * b / 10, b * c / 20],
            [a * c / 20, b * c / 20, c * c / 10],
        ]
    )
    center = np.array([a, b, c]) / 4
    second = volume * (second - np.outer(center, center))
    assert volume == pytest.approx(a * b * c / 6, rel=1e-14)
    assert com == pytest.approx(center, rel=1e-14)
    assert inertia == pytest.approx(np.trace(second) * np.eye(3) - second, rel=1e-12)


@settings(max_examples=30)
@given(st.integers(0, 10_000))
def test_hulls_have_the_mass_properties_that_trimesh_finds(seed):
    random = np.random.default_rng(seed)
    hull = ConvexHull(random.normal(size=(30, 3)) * random.uniform(0.1, 2.0, 3))
    theirs = trimesh.Trimesh(hull.vertices, hull.triangles, process=False)
    volume, com, inertia = solid_moments(hull.vertices, hull.triangles)
    assert volume == pytest.approx(theirs.volume, rel=1e-10)
    assert com == pytest.approx(theirs.center_mass, abs=1e-10)
    scale = np.abs(inertia).max()
    assert inertia == pytest.approx(theirs.moment_inertia, abs=1e-9 * scale)


def test_a_concave_solid_is_the_sum_of_its_boxes():
    bracket = Mesh(*angle_bracket())
    boxes = Compound(
        [(Box((1.0, 0.2, 0.2)), (0.5, 0.1, 0.1)), (Box((0.2, 0.2, 0.8)), (0.1, 0.1, 0.6))]
    )
    assert bracket.volume == pytest.approx(0.072)
    assert solid_inertia(bracket, 3.0) == pytest.approx(solid_inertia(boxes, 3.0), rel=1e-12)
    (moved, place), *_ = solid_parts(bracket)
    assert place.p == pytest.approx([0, 0, 0])
    com = (0.04 * np.array([0.5, 0.1, 0.1]) + 0.032 * np.array([0.1, 0.1, 0.6])) / 0.072
    assert moved.vertices == pytest.approx(bracket.vertices - com, abs=1e-12)
    first, second = (placement.p for _, placement in solid_parts(boxes))
    assert first == pytest.approx(np.array([0.5, 0.1, 0.1]) - com)
    assert second == pytest.approx(np.array([0.1, 0.1, 0.6]) - com)


def test_a_dumbbell_obeys_the_parallel_axis_theorem():
    ball, rod = Sphere(0.1), Cylinder(0.02, 0.5)
    quarter = (0.0, np.sqrt(0.5), 0.0, np.sqrt(0.5))  # z to x
    dumbbell = Compound([(rod, (0, 0, 0), quarter), (ball, (0.3, 0, 0)), (ball, (-0.3, 0, 0))])
    volumes = np.array([solid_volume(rod), solid_volume(ball), solid_volume(ball)])
    m_rod, m_ball, _ = 2.0 * volumes / volumes.sum()
    across = m_rod * (3 * 0.02**2 + 0.5**2) / 12 + 2 * m_ball * (0.4 * 0.1**2 + 0.3**2)
    along = 0.5 * m_rod * 0.02**2 + 2 * 0.4 * m_ball * 0.1**2
    assert solid_inertia(dumbbell, 2.0) == pytest.approx(np.diag([along, across, across]))


def test_a_compound_within_a_compound_is_taken_apart():
    inner = Compound([(Box((1, 1, 1)), (1, 0, 0)), Sphere(0.5)])
    quarter = (0.0, 0.0, np.sqrt(0.5), np.sqrt(0.5))
    outer = Compound([(inner, (0, 0, 5), quarter), (Capsule(0.1, 0.2), (0, 0, 9))])
    assert [type(part).__name__ for part, _ in outer.parts] == ["Box", "Sphere", "Capsule"]
    assert outer.parts[0][1].p == pytest.approx([0, 1, 5])


def test_volumes_of_primitives():
    assert solid_volume(Box((1, 2, 3))) == 6
    assert solid_volume(Sphere(2)) == pytest.approx(4 / 3 * np.pi * 8)
    assert solid_volume(Capsule(1, 2)) == pytest.approx(2 * np.pi + 4 / 3 * np.pi)


def open_box():
    vertices, triangles = box()
    return Mesh(vertices, triangles[1:])


def inverted_box():
    vertices, triangles = box()
    return Mesh(vertices, triangles[:, ::-1])


def flat_box():
    vertices, triangles = box()
    return Mesh(vertices * (1, 1, 0), triangles)


@pytest.mark.parametrize(
    ("make", "cause"),
    [
        (open_box, "Mesh: it is open: 3 of its 18 edges .* static, or use ConvexHull"),
        (inverted_box, "Mesh: its triangles face inwards"),
        (flat_box, "Mesh: it is flat"),
        (Plane, "a Plane has no volume, so it cannot move"),
        (lambda: Compound([Sphere(1.0), open_box()]), "it is open"),
        (lambda: Compound([Sphere(1.0), Plane()]), "a Plane has no volume"),
    ],
)
def test_what_bounds_no_solid_has_no_mass(make, cause):
    with pytest.raises(ModelError, match=cause):
        solid_inertia(make(), 1.0)


@pytest.mark.parametrize(
    ("parts", "cause"),
    [
        ([], "at least one shape"),
        ([3], "part 0 must be"),
        ([(Sphere(1.0), (0, 0))], "part 0: the position"),
        ([Sphere(1.0), (Sphere(1.0), (0, 0, 0), (0, 0, 0, 0))], "part 1: the orientation"),
    ],
)
def test_bad_compounds_are_named(parts, cause):
    with pytest.raises(ModelError, match=cause):
        Compound(parts)


@pytest.mark.parametrize(
    ("vertices", "triangles", "cause"),
    [
        (np.zeros((0, 3)), [(0, 1, 2)], "no vertices"),
        (np.eye(3), np.zeros((0, 3)), "no triangles"),
        (np.eye(3)[:, :2], [(0, 1, 2)], r"shape \(n, 3\)"),
        (np.eye(3) * np.nan, [(0, 1, 2)], "vertex 0 .* finite"),
        (np.eye(3), [(0, 1, 3)], "vertices 0 to 3, but there are 3"),
        (np.eye(3), [(-1, 1, 2)], "vertices -1 to 2"),
    ],
)
def test_bad_arrays_are_named(vertices, triangles, cause):
    with pytest.raises(ModelError, match=cause):
        Mesh(vertices, triangles)


def test_convexity_is_that_of_the_whole():
    assert Mesh(*box()).is_convex
    assert not Mesh(*joined(box(), box(center=(5, 0, 0)))).is_convex
    vertices, inner = box((0.5, 0.5, 0.5))
    assert not Mesh(*joined(box(), (vertices, inner[:, ::-1]))).is_convex
    dented, triangles = box()
    dented[6] -= 0.4
    assert not Mesh(dented, triangles).is_convex


def test_inertia_is_seen_from_anywhere():
    mesh = Mesh(*angle_bracket())
    R = rotation_from_rpy((0.3, -0.5, 1.1))
    turned = Mesh(mesh.vertices @ R.T + (1, 2, 3), mesh.triangles)
    here = BodyInertia(1.0, np.zeros(3), solid_inertia(mesh, 1.0))
    there = here.seen_from(Placement(R, np.zeros(3))).inertia
    assert solid_inertia(turned, 1.0) == pytest.approx(there, rel=1e-9)
