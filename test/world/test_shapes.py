# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Meshes, height fields and compounds as bodies and as fixed shapes; world files that name them."""

from __future__ import annotations

import numpy as np
import pytest
from meshes import angle_bracket, box, write_obj
from world.scenes import momenta, weightless

from hrpsim import (
    Box,
    Compound,
    ConvexHull,
    HeightField,
    Mesh,
    ModelError,
    ModelWarning,
    Sphere,
    World,
    WorldError,
    load_world,
)


def test_a_mesh_turns_about_its_centre_of_mass():
    """Thrown with a spin, the corner of the bracket does not matter: momentum and spin stay."""
    world = weightless(integrator="rk4")
    body = world.add_body(
        Mesh(*angle_bracket()), 2.0, (1, 2, 3), velocity=(0.1, 0, 0), angular_velocity=(1, 2, 3)
    )
    assert body.name == "mesh"
    start = momenta([body])
    world.step(1000)
    assert body.position == pytest.approx([1.1, 2, 3], abs=1e-9)
    for before, after in zip(start, momenta([body]), strict=True):
        assert after == pytest.approx(before, abs=1e-9)


def test_vertices_stand_about_the_centre_of_mass():
    body = World().add_body(ConvexHull(box((0.2, 0.4, 0.6), (5, 5, 5))[0]), 3.0)
    (shape,) = body.shapes
    assert shape.p == pytest.approx([0, 0, 0]) and body.position == pytest.approx([0, 0, 0])
    assert shape.geometry.vertices.max(axis=0) == pytest.approx([0.1, 0.2, 0.3])
    twin = World().add_body(Box((0.2, 0.4, 0.6)), 3.0)
    assert body.system.inertia == pytest.approx(twin.system.inertia, rel=1e-12)


def test_copies_of_a_world_share_meshes_and_step_alike():
    world = weightless()
    body = world.add_body(Mesh(*angle_bracket()), 1.0, angular_velocity=(1, 2, 3))
    twin = world.copy()
    assert twin.bodies["mesh"].shapes[0].geometry is body.shapes[0].geometry
    for w in (world, twin):
        w.step(100)
    assert np.array_equal(twin.bodies["mesh"].q, body.q)


def test_an_own_inertia_replaces_the_uniform_one():
    inertia = np.diag([0.1, 0.2, 0.25])
    body = World().add_body(Mesh(*angle_bracket()), 1.0, inertia=inertia)
    assert np.array_equal(body.system.inertia[0], inertia)


def test_a_compound_rests_on_all_its_parts():
    """A table: a plate on four legs, dropped a millimetre."""
    leg, plate = Box((0.05, 0.05, 0.4)), Box((0.8, 0.8, 0.04))
    corners = [(x, y, 0.2) for x in (-0.35, 0.35) for y in (-0.35, 0.35)]
    table = Compound([(plate, (0, 0, 0.42)), *((leg, corner) for corner in corners)])
    world = World()
    world.add_ground()
    volumes = np.array([0.8 * 0.8 * 0.04, 4 * 0.05 * 0.05 * 0.4])
    height = volumes @ (0.42, 0.2) / volumes.sum()
    body = world.add_body(table, 5.0, (0, 0, height + 1e-3), name="table")
    world.add_body(Sphere(0.05), 0.5, (0.2, 0.1, 0.49 + 2e-3), name="ball")
    world.step(1500)
    assert body.position == pytest.approx([0, 0, height], abs=1e-4)
    carried = {"ground": 0.0, "ball": 0.0}
    for contact in world.contacts:
        other = contact.a[1] if contact.b[1] == "table" else contact.b[1]
        carried[other] += abs(contact.force[2])
    assert carried["ground"] == pytest.approx(5.5 * 9.80665, rel=1e-3)
    assert carried["ball"] == pytest.approx(0.5 * 9.80665, rel=1e-3)
    assert len([c for c in world.contacts if "ground" in (c.a[1], c.b[1])]) == 16


def test_a_fixed_compound_is_several_shapes_of_one_name():
    world = World()
    quarter = (0, 0, np.sqrt(0.5), np.sqrt(0.5))
    step = Box((1.0, 0.2, 0.1))
    stairs = Compound([(step, (0, 0.2 * k, 0.1 * k)) for k in range(3)])
    world.add_static(stairs, (0, 0, 0.05), quarter, name="stairs")
    ball = world.add_body(Sphere(0.05), 1.0, (-0.4, 0, 0.35), name="ball")
    world.step(500)
    assert ball.position[2] == pytest.approx(0.35, abs=1e-4)
    assert {c.a[1] for c in world.contacts} | {c.b[1] for c in world.contacts} == {"ball", "stairs"}
    world.disable_collisions("ball", "world/stairs")
    world.step(500)
    assert ball.position[2] < 0.0


@pytest.mark.parametrize(
    ("geometry", "cause"),
    [
        (HeightField(np.zeros((3, 3)), size=1.0), "HeightField: it is open.*Make the shape static"),
        (Mesh(box()[0], box()[1][1:]), "Mesh: it is open.*ConvexHull"),
    ],
)
def test_a_surface_has_no_mass(geometry, cause):
    world = World()
    with pytest.raises(ModelError, match=cause):
        world.add_body(geometry, 1.0)
    assert not world.bodies
    world.add_static(geometry)


FILE = """
static:
  - {name: hills, position: [0, 0, -9],
     shape: {height_field: {heights: [[0, 0.1, 0], [0, 0.2, 0]], spacing: [1, 0.5]}}}
  - {name: terrain, position: [0, 0, -9], shape: {height_field: {file: h.csv, size: 4}}}
  - {name: rock, position: [9, 9, -9], shape: {mesh: {file: bracket.obj, scale: [1, 1, 2]}}}
bodies:
  - {name: corner, mass: 2, position: [0, 0, 5], shape: {mesh: {file: bracket.obj, scale: 0.1}}}
  - {name: wedge, mass: 2, position: [3, 0, 5], shape: {mesh: {file: bracket.obj, hull: true}}}
  - name: hammer
    mass: 1
    position: [6, 0, 5]
    shape:
      compound:
        - {shape: {box: [0.1, 0.1, 0.2]}}
        - {shape: {cylinder: {radius: 0.02, length: 0.4}}, position: [0, 0, -0.3],
           orientation: [0, 0, 0, 1]}
no_collisions: [[corner, world/rock], [hammer, "w*"]]
"""


@pytest.fixture
def folder(tmp_path):
    write_obj(tmp_path / "bracket.obj", *angle_bracket())
    (tmp_path / "h.csv").write_text("0,1,0\n0,0,0\n")
    return tmp_path


def load(folder, text):
    (folder / "world.yaml").write_text(text)
    return load_world(folder / "world.yaml")


def test_files_name_meshes_fields_and_compounds(folder):
    world = load(folder, FILE)
    corner, wedge = world.bodies["corner"].shapes[0], world.bodies["wedge"].shapes[0]
    assert corner.geometry.volume == pytest.approx(0.072e-3) and not corner.geometry.is_convex
    assert wedge.geometry.is_convex
    assert len(world.bodies["hammer"].shapes) == 2
    hills, terrain, rock = (shape.geometry for shape in world.fixed_shapes)
    assert np.ptp(hills.vertices, axis=0) == pytest.approx([1.0, 1.0, 0.2])
    assert np.ptp(terrain.vertices, axis=0) == pytest.approx([4.0, 4.0, 1.0])
    assert rock.volume == pytest.approx(0.144)
    excluded = world.scene.collision.excluded.tolist()
    assert excluded == [[0, 5], [0, 6], [1, 5], [1, 6], [2, 3], [2, 5], [2, 6], [4, 5], [4, 6]]


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("static: [{shape: {mesh: {}}}]", ["static[0].shape.mesh", "missing entry: file"]),
        ("static: [{shape: {mesh: {file: no.stl}}}]", ["static[0].shape.mesh", "no.stl"]),
        ("static: [{shape: {mesh: {file: r.urdf}}}]", ["format 'urdf'", "stl, obj, dae"]),
        ("static: [{shape: {mesh: {file: package://none/a.stl}}}]", ["static[0]", "'none'"]),
        ("static: [{shape: {mesh: {file: bracket.obj, scale: 0}}}]", ["bracket.obj", "scale"]),
        ("static: [{shape: {mesh: {file: bracket.obj, hull: 1}}}]", ["mesh.hull", "true or false"]),
        ("static: [{shape: {mesh: {path: a}}}]", ["static[0].shape.mesh", "'path'", "file"]),
        ("static: [{shape: {height_field: {size: 1}}}]", ["height_field", "either heights, or"]),
        (
            "static: [{shape: {height_field: {heights: [[1, 2]], size: 1}}}]",
            ["heights", "two or more rows of numbers"],
        ),
        ("static: [{shape: {height_field: {file: bracket.obj, size: 1}}}]", ["table of numbers"]),
        ("static: [{shape: {compound: 3}}]", ["static[0].shape.compound", "list"]),
        ("static: [{shape: {compound: []}}]", ["static[0].shape", "list of parts"]),
        (
            "static: [{shape: {compound: [{shape: {cone: 1}}]}}]",
            ["static[0].shape.compound[0].shape", "cone", "compound"],
        ),
        (
            "bodies: [{mass: 1, shape: {height_field: {heights: [[0, 0], [0, 0]], size: 1}}}]",
            ["bodies[0]", "Make the shape static"],
        ),
        ("no_collisions: [[a]]", ["no_collisions[0]", "two of"]),
        ("no_collisions: [[a, b]]", ["no_collisions[0]", "'a' does not exist"]),
        ("robots: [{urdf: r.urdf, self_collision: 1}]", ["robots[0]", "self_collision"]),
        ("robots: [{urdf: r.urdf, meshes: convex}]", ["robots[0]", "convex", "hull, exact"]),
        ("robots: [{urdf: r.urdf, srdf: no.srdf}]", ["robots[0]", "no.srdf"]),
    ],
)
def test_mistakes_are_named(folder, text, named):
    (folder / "r.urdf").write_text(
        '<robot name="r"><link name="a"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"'
        ' ixy="0" ixz="0" iyz="0"/></inertial></link></robot>'
    )
    with pytest.raises(WorldError) as error:
        load(folder, text)
    for part in ["world.yaml", *named]:
        assert part in str(error.value)


def test_a_mended_mesh_of_a_file_is_named(folder):
    vertices, triangles = box()
    write_obj(folder / "inverted.obj", vertices, triangles[:, ::-1])
    with pytest.warns(ModelWarning, match=r"inverted\.obj: 12 triangles"):
        load(folder, "static: [{shape: {mesh: {file: inverted.obj}}}]")


def test_a_robot_of_a_file_collides_with_itself_but_for_its_srdf(folder):
    box_link = (
        '<link name="{}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0"'
        ' ixz="0" iyz="0"/></inertial><collision><geometry><box size="1 1 1"/></geometry>'
        "</collision></link>"
    )
    joint = (
        '<joint name="{0}{1}" type="continuous"><parent link="{0}"/><child link="{1}"/>'
        '<axis xyz="0 0 1"/></joint>'
    )
    links = "".join(box_link.format(name) for name in "abcd")
    joints = "".join(joint.format(*pair) for pair in ("ab", "bc", "cd"))
    (folder / "r.urdf").write_text(f'<robot name="r">{links}{joints}</robot>')
    (folder / "r.srdf").write_text(
        '<robot name="r"><disable_collisions link1="d" link2="a"/></robot>'
    )
    robot = "robots: [{urdf: r.urdf, self_collision: true, srdf: r.srdf}]"
    world = load(folder, robot)
    assert world.robots["r"].self_collision
    group = world.scene.collision.group
    assert len(set(group.tolist())) == 4
    assert world.scene.collision.excluded.tolist() == [[0, 1], [0, 3], [1, 2], [2, 3]]
    apart = load(folder, robot + '\nno_collisions: [["r/a", "r/[bc]"], ["r/b", "r/d"]]')
    assert [0, 2] in apart.scene.collision.excluded.tolist()
    assert [1, 3] in apart.scene.collision.excluded.tolist()
