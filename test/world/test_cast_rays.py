# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""World.cast_rays: closed forms, starts inside and on surfaces, exclusion, bad input."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import hrpsim
from hrpsim import WorldError

SHAPES = {
    "sphere": hrpsim.Sphere(0.4),
    "box": hrpsim.Box((0.5, 0.8, 1.1)),
    "capsule": hrpsim.Capsule(0.3, 0.7),
    "cylinder": hrpsim.Cylinder(0.35, 0.9),
    "plane": hrpsim.Plane(),
}


def signed(kind, p):
    """Return a function of points (k, 3) that is negative inside and zero on the surface."""
    x, y, z = p.T
    if kind == "sphere":
        return np.linalg.norm(p, axis=1) - 0.4
    if kind == "box":
        return (np.abs(p) - 0.5 * np.array([0.5, 0.8, 1.1])).max(axis=1)
    if kind == "capsule":
        return np.hypot(np.hypot(x, y), z - np.clip(z, -0.35, 0.35)) - 0.3
    if kind == "cylinder":
        return np.maximum(np.hypot(x, y) - 0.35, np.abs(z) - 0.45)
    return z


def vectors(bound):
    return st.lists(st.floats(-bound, bound), min_size=3, max_size=3).map(np.array)


@pytest.mark.quick_cases("capsule", "box", "cylinder")
@pytest.mark.parametrize("kind", SHAPES)
@settings(max_examples=60, deadline=None)
@given(vectors(2.0), vectors(1.0), vectors(3.0), vectors(5.0))
def test_a_hit_is_on_the_surface_and_nothing_is_before_it(kind, origin, direction, turn, position):
    """Law: f(o + t d) = 0 with f of one sign before t; the normal is the gradient of f."""
    if np.linalg.norm(direction) < 1e-3:
        return
    R = Rotation.from_rotvec(turn)
    world = hrpsim.World()
    world.add_static(SHAPES[kind], position, R.as_quat())
    hits = world.cast_rays(origin + position, 3.0 * direction, max_range=20.0)
    local, way = R.inv().apply(origin), R.inv().apply(direction / np.linalg.norm(direction))
    t = hits.distances[0]
    inside = signed(kind, local[None])[0] < 0.0
    along = np.linspace(0.0, min(t, 20.0), 400)[1:-1, None]
    before = signed(kind, local + along * way)
    if abs(signed(kind, local[None])[0]) > 1e-9:
        assert (before < 1e-9).all() if inside else (before > -1e-9).all()
    if not np.isfinite(t):
        return
    point = local + t * way
    assert abs(signed(kind, point[None])[0]) < 1e-9
    normal = R.inv().apply(hits.normals[0])
    assert np.linalg.norm(normal) == pytest.approx(1.0, abs=1e-12)
    step = 1e-7
    gradient = signed(kind, point + step * np.eye(3)) - signed(kind, point - step * np.eye(3))
    if np.linalg.norm(gradient) > 1.999 * step:  # not at an edge
        np.testing.assert_allclose(normal, gradient / np.linalg.norm(gradient), atol=1e-6)


def test_distances_are_in_metres_whatever_the_length_of_a_direction():
    world = hrpsim.World()
    world.add_ground()
    hits = world.cast_rays([0.0, 0.0, 2.0], [[0, 0, -1], [0, 0, -1e-200], [3, 0, -4.0]])
    np.testing.assert_allclose(hits.distances, [2.0, 2.0, 2.5], rtol=1e-15)
    np.testing.assert_array_equal(hits.normals, np.tile([0.0, 0.0, 1.0], (3, 1)))


def test_starts_inside_on_a_surface_and_along_a_face():
    """Law: from inside the exit counts; a start on a surface is a hit at 0; faces belong to it."""
    world = hrpsim.World()
    world.add_static(hrpsim.Box((2.0, 2.0, 2.0)))
    origins = [[0, 0, 0], [1, 0, 0], [-3, 1, 0], [-3, 0, 1], [1, 0, 0]]
    directions = [[1, 0, 0], [1, 0, 0], [1, 0, 0], [1, -0.0, 0.0], [0, 1, 0]]
    hits = world.cast_rays(origins, directions)
    np.testing.assert_array_equal(hits.distances, [1.0, 0.0, 2.0, 2.0, 1.0])
    np.testing.assert_array_equal(hits.normals[0], [1.0, 0.0, 0.0])


def test_hits_name_links_and_entities_and_follow_motion():
    world = hrpsim.World()
    world.add_ground()
    ball = world.add_body(hrpsim.Sphere(0.5), 1.0, (0.0, 0.0, 3.0), name="ball")
    down = world.cast_rays(
        [[0, 0, 9.0], [2, 0, 9.0], [0, 0, 9.0]], [[0, 0, -1], [0, 0, -1], [0, 0, 1]]
    )
    assert [world.link_names[k][0] for k in down.links[:2]] == ["ball", "world"]
    np.testing.assert_array_equal(down.entities, [0, -1, -1])
    assert down.links[2] == -1 and down.distances[2] == np.inf
    np.testing.assert_array_equal(down.normals[2], 0.0)
    world.step(100)
    np.testing.assert_allclose(
        world.cast_rays([0, 0, 9.0], [0, 0, -1]).distances, 8.5 - ball.position[2], atol=1e-12
    )
    ball.position = (2.0, 0.0, 0.5)
    assert world.cast_rays([2, 0, 9.0], [0, 0, -1]).distances[0] == pytest.approx(8.0, abs=1e-12)
    world.remove(ball)
    assert world.cast_rays([2, 0, 9.0], [0, 0, -1]).distances[0] == 9.0


def test_what_sleeps_is_seen_where_it_is():
    """Law: falling asleep changes the order of bodies, and no distance."""
    world = hrpsim.World()
    world.add_ground()
    for k in range(3):
        world.add_body(hrpsim.Box((0.2, 0.2, 0.2 + 0.1 * k)), 1.0, (k, 0.0, 0.1 + 0.05 * k))
    fallen = world.add_body(hrpsim.Sphere(0.1), 1.0, (5.0, 0.0, 100.0), name="ball")
    origins, down = [[0, 0, 5.0], [1, 0, 5.0], [2, 0, 5.0]], [0, 0, -1.0]
    before = world.cast_rays(origins, down).distances
    world.step(800)
    assert len(world.asleep) == 3
    np.testing.assert_allclose(world.cast_rays(origins, down).distances, before, atol=1e-5)
    above = world.cast_rays([5, 0, 200.0], down).distances[0]
    assert above == pytest.approx(199.9 - fallen.position[2], abs=1e-9)


def test_exclusion_and_range():
    world = hrpsim.World()
    world.add_ground()
    world.add_body(hrpsim.Box((1.0, 1.0, 1.0)), 1.0, (0.0, 0.0, 0.5), name="crate")
    cast = ([0, 0, 5.0], [0, 0, -1])
    assert world.cast_rays(*cast).distances[0] == 4.0
    assert world.cast_rays(*cast, exclude="crate").distances[0] == 5.0
    assert world.cast_rays(*cast, exclude=["crate", "world/*"]).distances[0] == np.inf
    assert world.cast_rays(*cast, max_range=4.0).distances[0] == 4.0
    assert world.cast_rays(*cast, max_range=3.999).distances[0] == np.inf


@pytest.mark.parametrize(
    "arguments, text",
    [
        (
            ([[0, 0, 1], [0, 0, 1]], [[0, 0, 1], [0, 0, 0]]),
            r"directions\[1\] of rays must not be zero",
        ),
        (([0, 0, np.nan], [0, 0, 1]), r"origins\[0\] .* must be finite"),
        (([0, 0, 0], [0, np.inf, 1]), r"directions\[0\] .* must be finite"),
        (([0, 0], [0, 0, 1]), r"origins of rays must have shape \(n, 3\)"),
        ((np.zeros((2, 3)), np.ones((3, 3))), "must have equal numbers"),
        (([0, 0, 0], [0, 0, 1], -1.0), "max_range of rays must be positive"),
        (([0, 0, 0], [0, 0, 1], np.nan), "max_range"),
        (([0, 0, 0], [0, 0, 1], 5.0, "crat"), "exclude: .*Did you mean 'crate'"),
        (([0, 0, 0], [0, 0, 1], 5.0, [["crate"]]), "exclude"),
    ],
)
def test_bad_input_is_refused_by_name(arguments, text):
    world = hrpsim.World()
    world.add_body(hrpsim.Box((1.0, 1.0, 1.0)), 1.0, name="crate")
    with pytest.raises(WorldError, match=text):
        world.cast_rays(*arguments)


def test_the_state_of_the_world_is_not_touched():
    """Law: casting rays changes no bit of a trajectory; copies cast the same."""
    worlds = []
    for casts in (False, True):
        world = hrpsim.World()
        world.add_ground()
        body = world.add_body(hrpsim.Box((0.3, 0.2, 0.1)), 1.0, (0, 0, 0.3), (0.1, 0.2, 0.3, 0.9))
        for _ in range(50):
            world.step(2)
            if casts:
                world.cast_rays([0, 0, 2.0], [[0, 0, -1], [0.01, 0, -1]])
        worlds.append(body.q)
    np.testing.assert_array_equal(*worlds)
    copy = world.copy()
    cast = ([0, 0, 2.0], [[0, 0, -1], [0.1, 0, -1]])
    np.testing.assert_array_equal(copy.cast_rays(*cast).normals, world.cast_rays(*cast).normals)


def test_robots_as_they_collide_and_as_they_are_drawn(tmp_path):
    """Law: the visual triangles of a wedge are met in place of its box; a missing file is named."""
    wedge = hrpsim.Mesh(
        [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]], [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]
    )
    lines = [f"v {x} {y} {z}" for x, y, z in wedge.vertices]
    lines += [f"f {a} {b} {c}" for a, b, c in wedge.triangles + 1]
    (tmp_path / "wedge.obj").write_text("\n".join(lines))
    text = """<robot name="r"><link name="a"><inertial><mass value="1"/><inertia ixx="1" iyy="1"
    izz="1" ixy="0" ixz="0" iyz="0"/></inertial><collision><geometry><box size="2 2 2"/></geometry>
    </collision><visual><origin xyz="0 0 0.5"/><geometry><mesh filename="wedge.obj" scale="1 1 2"/>
    </geometry></visual></link></robot>"""
    (tmp_path / "r.urdf").write_text(text)
    world = hrpsim.World()
    robot = world.add_robot(hrpsim.load_model(tmp_path / "r.urdf"))
    robot.q = [1.0, 0, 0, 0, 0, 0, 1]
    cast = ([[1.25, 0.25, 9.0], [1.9, 0.9, 9.0]], [0, 0, -1.0])
    np.testing.assert_allclose(world.cast_rays(*cast).distances, 8.0)
    drawn = world.cast_rays(*cast, geometry="visual")
    np.testing.assert_allclose(drawn.distances, [9.0 - 0.5 - 1.0, np.inf], atol=1e-12)
    np.testing.assert_allclose(drawn.normals[0], np.array([2, 2, 1]) / 3.0, atol=1e-12)
    assert world.link_names[drawn.links[0]] == ("r", "a")
    (tmp_path / "r.urdf").write_text(text.replace("wedge.obj", "hedge.obj"))
    world.add_robot(hrpsim.load_model(tmp_path / "r.urdf"), name="other")
    with pytest.raises(
        WorldError, match=r"'other': rays cannot be cast against the visual of link 'a'.*hedge.obj"
    ):
        world.cast_rays(*cast, geometry="visual")
    with pytest.raises(WorldError, match="Did you mean 'visual'"):
        world.cast_rays(*cast, geometry="visuals")


def test_no_rays_and_nothing_to_meet():
    empty = hrpsim.World().cast_rays(np.zeros((0, 3)), np.zeros((0, 3)))
    assert len(empty.distances) == 0
    assert hrpsim.World().cast_rays([0, 0, 0], [0, 0, 1]).distances[0] == np.inf
