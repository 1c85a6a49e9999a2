# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Height fields, of which tiles become features where a search comes to them."""

import numpy as np
import pytest

import hrpsim
from hrpsim.engine.collision.solids.features import polyhedron
from hrpsim.engine.collision.solids.field_solid import SLOTS, field_solid, field_thickness
from hrpsim.engine.collision.solids.polyhedra import TILE_SIDE
from hrpsim.engine.collision.solids.tiles import edge_numbered, triangle_numbered, vertex_numbered
from hrpsim.engine.compile.compiled import kernel

SPACING = 0.125  # [m]


@kernel
def pool_indices(polyhedra, numbers, out):
    """Write the places of a vertex, an edge and a triangle of the first solid, by number (3,)."""
    solid = polyhedra.solids[0]
    out[0] = vertex_numbered(polyhedra, solid, numbers[0])
    out[1] = edge_numbered(polyhedra, solid, numbers[1])
    out[2] = triangle_numbered(polyhedra, solid, numbers[2])
    return 0


def place(solid, vertex=0, edge=0, triangle=0):
    found = np.zeros(3, dtype=np.int64)
    pool_indices(solid, np.array([vertex, edge, triangle]), found)
    return found


def edge_numbers(nx: int, ny: int):
    """Yield the numbers of all edges: three for each point, without those that leave the field."""
    for i in range(nx):
        for j in range(ny):
            for kind, (right, up) in enumerate(((0, 1), (1, 0), (1, 1))):
                if i + right < nx and j + up < ny:
                    yield 3 * (i * ny + j) + kind


def hills(nx: int, ny: int) -> np.ndarray:
    x, y = np.meshgrid(np.arange(nx), np.arange(ny), indexing="ij")
    return 0.1 * np.sin(0.2 * x) * np.cos(0.3 * y) + 0.2 * (x > 12)


FIELDS = {
    "rough": lambda random: 0.05 * random.random((21, 18)),
    "ridges": lambda random: 0.3 * random.random((19, 10)),
    "steps": lambda random: 0.3 * np.round(1.2 * random.random((17, 11))),
    "flat": lambda random: np.zeros((12, 19)),
    "hills and a cliff": lambda random: hills(25, 17),
    "one cell": lambda random: random.random((2, 2)),
}


@pytest.mark.parametrize("kind", FIELDS)
def test_features_of_tiles_are_those_of_the_whole_surface(kind):
    """Law: a tile's vertices, edges and triangles are those of one mesh of the whole field."""
    field = hrpsim.HeightField(FIELDS[kind](np.random.default_rng(7)), spacing=(0.1, 0.2))
    whole, tiled = polyhedron(field.vertices, field.triangles), field_solid(field)
    nx, ny = field.heights.shape
    for one, other in zip(whole.triangles, range(2 * (nx - 1) * (ny - 1)), strict=True):
        made = tiled.triangles[place(tiled, triangle=other)[2]]
        for name in ("number", "bend", "facet", "owned", "is_face"):
            assert np.array_equal(made[name], one[name]), name
        for name in ("normal", "outward", "beyond", "depth"):
            assert made[name] == pytest.approx(one[name], abs=1e-12), name
        assert np.array_equal(tiled.vertices["number"][made["vertices"]], one["vertices"])
    for one, number in zip(whole.edges, edge_numbers(nx, ny), strict=True):
        made = tiled.edges[place(tiled, edge=number)[1]]
        assert made["number"] == number and made["goes_on"] == one["goes_on"]
        for name in ("start", "direction", "length", "normals", "inward", "depth"):
            assert made[name] == pytest.approx(one[name], abs=1e-12), name
        for end, sign in enumerate((-1.0, 1.0)):
            if one["goes_on"] >> end & 1:  # of faces as steep as each other any counts
                rises = [-sign * (one["direction"] @ e["beyond"][end]) for e in (one, made)]
                assert rises[1] == pytest.approx(rises[0], abs=1e-12)
    for one, number in zip(whole.vertices, range(nx * ny), strict=True):
        made = tiled.vertices[place(tiled, vertex=number)[0]]
        assert made["number"] == number
        assert made["position"] == pytest.approx(one["position"], abs=1e-12)
        of_one = whole.spokes[one["first_spoke"] : one["last_spoke"]]
        of_made = tiled.spokes[made["first_spoke"] : made["last_spoke"]]
        assert of_made["direction"] == pytest.approx(of_one["direction"], abs=1e-12)
        assert of_made["normals"] == pytest.approx(of_one["normals"], abs=1e-12)


@pytest.mark.parametrize("kind", FIELDS)
def test_the_thickness_is_that_of_the_whole_surface(kind):
    """Law: nine tenths of the surface are at least so thick, measured by rays inward."""
    field = hrpsim.HeightField(FIELDS[kind](np.random.default_rng(7)), spacing=0.1)
    whole = polyhedron(field.vertices, field.triangles).triangles
    corners = field.vertices[field.triangles]
    sides = corners[:, 1:] - corners[:, :1]
    area = np.linalg.norm(np.cross(sides[:, 0], sides[:, 1]), axis=1)
    order = np.argsort(whole["depth"], kind="stable")
    tenth = np.searchsorted(np.cumsum(area[order]) / area.sum(), 0.1)
    expected = 2.0 * whole["depth"][order[tenth]]
    assert field_thickness(field) == pytest.approx(expected, rel=1e-9)


def test_an_evicted_tile_comes_back_the_same():
    """Law: records depend on heights alone, not on the tiles that had the slot before."""
    side = TILE_SIDE * 16 + 1
    field = hrpsim.HeightField(np.random.default_rng(0).random((side, side)), spacing=0.1)
    solid = field_solid(field)
    assert len(solid.slots) == SLOTS < len(solid.tiles)
    first = solid.triangles[place(solid, triangle=5)[2]].copy()
    for number in range(0, 2 * (side - 1) ** 2, 61):
        place(solid, triangle=number)
    again = solid.triangles[place(solid, triangle=5)[2]]
    for name in ("number", "normal", "outward", "bend", "facet", "depth", "owned"):
        assert np.array_equal(again[name], first[name])


def throw(heights: np.ndarray) -> tuple[np.ndarray, list]:
    """Return the motion of bodies thrown on a field, about its middle, and their contacts."""
    world = hrpsim.World(2e-3, sleeping=False)
    world.set_friction("default", "default", 0.5)
    world.add_static(hrpsim.HeightField(heights, spacing=SPACING))
    corners = 0.1 * np.array([[x, y, z] for x in (-1, 1) for y in (-2, 2) for z in (-1, 1.5)])
    shapes = [
        hrpsim.Box((0.3, 0.2, 0.1)),
        hrpsim.Cylinder(0.1, 0.3),
        hrpsim.Capsule(0.05, 0.2),
        hrpsim.Sphere(0.1),
        hrpsim.ConvexHull(corners),
    ]
    bodies = []
    for k, shape in enumerate(shapes):
        at = (0.9 * np.cos(1.3 * k), 0.9 * np.sin(1.3 * k), 0.6)
        bodies.append(world.add_body(shape, 1.0, at, velocity=(0.3, -0.2, 0.0)))
    motion, contacts = [], []
    for _ in range(60):
        world.step(5)
        motion.append([np.concatenate([body.position, body.orientation]) for body in bodies])
        contacts.append(len(world.contact_arrays()))
    return np.array(motion), contacts


def test_bodies_on_a_large_field_move_as_on_a_small_one():
    """Law: only the heights beneath a body count, not the size of the field about them."""
    random = np.random.default_rng(3)
    large = 0.08 * random.random((401, 401))
    large[200, 200] = large.max()
    middle = slice(200 - 24, 200 + 25)
    small = large[middle, middle].copy()
    # the same box, and so the same depth and origin of both
    small[0, 0], small[0, -1] = large.min(), large.max()
    of_small, contacts_of_small = throw(small)
    of_large, contacts_of_large = throw(large)
    assert contacts_of_large == contacts_of_small and contacts_of_small[-1] > 5
    assert of_large == pytest.approx(of_small, abs=1e-9)


def test_a_plate_rests_on_more_tiles_than_there_are_slots():
    """Law: the floor carries the weight of the plate, whichever tiles have slots."""
    world = hrpsim.World(2e-3, sleeping=False)
    world.add_static(hrpsim.HeightField(np.zeros((201, 201)), spacing=0.01))
    plate = world.add_body(hrpsim.Box((1.3, 1.3, 0.1)), 10.0, (0.0, 0.0, 0.05))
    world.step(50)
    assert plate.contact_arrays().forces[:, 2].sum() == pytest.approx(10.0 * 9.80665, rel=1e-6)
    assert plate.position == pytest.approx([0.0, 0.0, 0.05], abs=1e-6)


def test_memory_is_in_proportion_to_the_heights():
    """Law: a field of a million heights takes less than 100 bytes for each height."""
    heights = 0.05 * np.random.default_rng(0).random((1000, 1000))
    world = hrpsim.World()
    world.add_static(hrpsim.HeightField(heights, spacing=0.02))
    world.add_body(hrpsim.Sphere(0.1), 1.0, (0.0, 0.0, 0.2))
    world.step(1)
    polyhedra = world.scene.collision.polyhedra
    assert sum(array.nbytes for array in polyhedra) < 100 * heights.size
