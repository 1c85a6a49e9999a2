# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Collision meshes of robot descriptions: hulls, exact solids or none, and what is said of each."""

import re
import warnings

import numpy as np
import pytest
from meshes import angle_bracket, box, write_obj

from hrpsim import ModelError, ModelWarning, load_model
from hrpsim.model.shapes import mesh_files
from hrpsim.model.shapes.mesh_files import read_mesh
from robots import EXAMPLE_ROBOTS, NONPHYSICAL_ROBOTS

INERTIAL = """<inertial><mass value="1"/>
  <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>"""
HULL_VOLUME, EXACT_VOLUME = 0.2 * (1.0 - 0.5 * 0.8**2), 0.072


def robot(folder, *elements, extension="", name="robot.urdf"):
    """Write a robot of one link "shell" with collision meshes."""
    collisions = "".join(
        f"<collision>{e}</collision>\n"
        if e.startswith("<origin")
        else f"<collision><geometry>{e}</geometry></collision>\n"
        for e in elements
    )
    path = folder / name
    path.write_text(
        f'<robot name="r">\n<link name="shell">{INERTIAL}\n{collisions}</link>\n'
        f'{extension and f"""<hrpsim reference="shell">{extension}</hrpsim>"""}</robot>'
    )
    return path


@pytest.fixture
def bracket(tmp_path):
    write_obj(tmp_path / "bracket.obj", *angle_bracket())
    return '<mesh filename="bracket.obj"/>'


@pytest.fixture
def opened(tmp_path):
    vertices, triangles = angle_bracket()
    write_obj(tmp_path / "open.obj", vertices, triangles[1:])
    return '<mesh filename="open.obj"/>'


@pytest.mark.filterwarnings("error::hrpsim.ModelWarning")
@pytest.mark.parametrize(
    ("meshes", "extension", "volume"),
    [
        (None, "", HULL_VOLUME),
        ("hull", "", HULL_VOLUME),
        ("exact", "", EXACT_VOLUME),
        ("none", "", None),
        ("none", '<mesh as="exact"/>', EXACT_VOLUME),
        ("exact", '<mesh as="hull"/>', HULL_VOLUME),
        (None, '<mesh as="none"/>', None),
    ],
)
def test_the_link_decides_then_the_caller(tmp_path, bracket, meshes, extension, volume):
    options = {} if meshes is None else {"meshes": meshes}
    model = load_model(robot(tmp_path, bracket, extension=extension), **options)
    (use,) = model.meshes
    assert (use.link, use.uri, use.note) == ("shell", "bracket.obj", "")
    if volume is None:
        assert model.shapes == () and use.use == "none"
        return
    (shape,) = model.shapes
    assert use.use == ("exact" if volume == EXACT_VOLUME else "hull")
    assert (use.vertices, use.triangles) == (
        len(shape.geometry.vertices),
        len(shape.geometry.triangles),
    )
    assert shape.geometry.volume == pytest.approx(volume, rel=1e-6)
    assert shape.geometry.is_closed and shape.name == "shell_0"


def test_a_mesh_stands_where_the_description_says(tmp_path, bracket):
    element = (
        '<origin xyz="1 2 3" rpy="0 0 1.5707963267948966"/>'
        '<geometry><mesh filename="bracket.obj" scale="1 -2 1"/></geometry>'
    )
    (shape,) = load_model(robot(tmp_path, element), meshes="exact").shapes
    placed = shape.geometry.vertices @ shape.R.T + shape.p
    turn = np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1]])
    expected = (angle_bracket()[0] * (1, -2, 1)) @ turn.T + (1, 2, 3)
    assert {tuple(v) for v in placed.round(9) + 0.0} == {tuple(v) for v in expected.round(9) + 0.0}
    assert shape.geometry.volume == pytest.approx(2 * EXACT_VOLUME)
    # The shape's own origin is the middle of its bounds, so that a ball about it is small.
    assert np.ptp(shape.geometry.vertices, axis=0) == pytest.approx([1.0, 0.4, 1.0])
    assert shape.geometry.vertices.max(axis=0) == pytest.approx([0.5, 0.2, 0.5])


def test_an_open_mesh_becomes_its_hull_and_that_is_said(tmp_path, opened, bracket):
    path = robot(tmp_path, opened, bracket)
    with pytest.warns(ModelWarning, match=r"open\.obj: it is open: 3 of its \d+ edges .* hull is"):
        model = load_model(path, meshes="exact")
    assert [use.use for use in model.meshes] == ["hull", "exact"]
    assert "Its convex hull is used" in model.meshes[0].note
    assert model.shapes[0].geometry.is_convex
    assert model.shapes[0].geometry.volume == pytest.approx(HULL_VOLUME, rel=1e-6)


@pytest.mark.filterwarnings("error::hrpsim.ModelWarning")
def test_a_hull_that_was_asked_for_needs_no_warning(tmp_path, opened):
    assert load_model(robot(tmp_path, opened)).shapes[0].geometry.is_convex


def test_a_mesh_with_an_inverted_part_is_mended_and_that_is_said(tmp_path):
    vertices, triangles = angle_bracket()
    write_obj(tmp_path / "inverted.obj", vertices, triangles[:, ::-1])
    with pytest.warns(
        ModelWarning, match=r"inverted\.obj: 20 triangles .* inwards and have been reversed"
    ):
        model = load_model(robot(tmp_path, '<mesh filename="inverted.obj"/>'), meshes="exact")
    assert model.meshes[0].use == "exact"
    assert model.shapes[0].geometry.volume == pytest.approx(EXACT_VOLUME)


def write_flat(path):
    vertices, triangles = box()
    write_obj(path, vertices * (1, 1, 0), triangles)


@pytest.mark.parametrize(
    ("write", "cause"),
    [
        (lambda p: p.write_text(""), "it is empty: the file has no bytes"),
        (lambda p: p.write_text("v 0 0 0\n"), "it is empty: it has no triangles"),
        (lambda p: p.write_text("v nan 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"), "finite"),
        (write_flat, "the points lie in a plane"),
        (lambda p: write_obj(p, *box((5e3, 1, 1))), "Probably the mesh is in another unit"),
    ],
)
@pytest.mark.parametrize("meshes", ["hull", "exact"])
def test_what_has_no_hull_is_refused_by_file_line_and_way_out(tmp_path, write, cause, meshes):
    write(tmp_path / "bad.obj")
    path = robot(tmp_path, '<mesh filename="bad.obj"/>')
    with pytest.raises(ModelError, match=cause) as caught:
        load_model(path, meshes=meshes)
    text = str(caught.value)
    assert text.startswith(f"{path}:4: link 'shell' / collision / geometry / mesh: ")
    assert str(tmp_path / "bad.obj") in text and '<mesh as="none"/>' in text
    assert load_model(path, meshes="none").shapes == ()


def test_too_many_triangles_for_exact_are_refused_with_the_alternative(
    tmp_path, bracket, monkeypatch
):
    monkeypatch.setattr(mesh_files, "TRIANGLE_LIMIT", 19)
    mesh_files._read.cache_clear()
    with pytest.raises(ModelError, match=r"20 triangles, more than the limit of 19.*meshes=hull"):
        load_model(robot(tmp_path, bracket), meshes="exact")
    assert load_model(robot(tmp_path, bracket)).shapes


@pytest.mark.parametrize(
    ("extension", "cause"),
    [
        ('<mesh as="concave"/>', "as 'concave' does not exist. .*hull, exact, none"),
        ("<mesh/>", "attribute 'as' is missing"),
        ('<mesh as="hull" file="a"/>', "attribute 'file' does not exist"),
        ('<mesh as="hull"/><mesh as="hull"/>', "<mesh> is given twice for 'shell'"),
    ],
)
def test_mistakes_in_the_extension_are_named(tmp_path, bracket, extension, cause):
    with pytest.raises(ModelError, match=cause):
        load_model(robot(tmp_path, bracket, extension=extension))


def test_the_extension_needs_a_mesh(tmp_path):
    path = robot(tmp_path, '<box size="1 1 1"/>', extension='<mesh as="hull"/>')
    with pytest.raises(ModelError, match="link 'shell' has no collision mesh"):
        load_model(path)


def test_an_unknown_way_is_named(tmp_path, bracket):
    with pytest.raises(ModelError, match=r"meshes 'convex' does not exist. .*hull, exact, none"):
        load_model(robot(tmp_path, bracket), meshes="convex")


_COLLISION_MESH = re.compile(r"<collision\b(?:(?!</collision>).)*<mesh\b", re.DOTALL)
WITH_MESHES = [
    name for name, path in EXAMPLE_ROBOTS.items() if _COLLISION_MESH.search(path.read_text())
]


@pytest.mark.quick_cases(
    "hector_description/*",
    "simple_humanoid_description/*",
    "panda_description/*",
    "talos_data/talos_reduced",
    "go2_description/*",
    "icub_description/icub_reduced",
)
@pytest.mark.parametrize("name", WITH_MESHES)
def test_example_robots_collide_with_their_meshes(name):
    """Each collision mesh is a hull by default; exact, it is closed, or its hull with the cause."""
    path, odd = EXAMPLE_ROBOTS[name], name in NONPHYSICAL_ROBOTS
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        warnings.filterwarnings("error", "mesh ", ModelWarning)
        model = load_model(path, accept_nonphysical_inertia=odd)
    if not model.meshes:
        pytest.skip("its meshes are visual ones only")
    assert {use.use for use in model.meshes} == {"hull"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        exact = load_model(path, accept_nonphysical_inertia=odd, meshes="exact")
    assert len(exact.shapes) == len(model.shapes)
    hulls = [s.geometry for s in model.shapes if isinstance(s.geometry, mesh_files.Mesh)]
    solids = [s.geometry for s in exact.shapes if isinstance(s.geometry, mesh_files.Mesh)]
    for hull, solid, use in zip(hulls, solids, exact.meshes, strict=True):
        assert hull.is_convex and solid.is_closed and solid.volume > 0.0
        assert hull.vertices.min(axis=0) == pytest.approx(solid.vertices.min(axis=0), abs=1e-6)
        assert hull.vertices.max(axis=0) == pytest.approx(solid.vertices.max(axis=0), abs=1e-6)
        assert (use.use == "exact") != ("convex hull is used" in use.note)


def test_loading_again_reads_no_file_again():
    if not WITH_MESHES:
        pytest.skip("example-robot-data is not installed")
    path = EXAMPLE_ROBOTS["talos_data/talos_full_v2"]
    load_model(path)
    before = mesh_files._read.cache_info().misses
    assert len(load_model(path).shapes) == 52
    assert mesh_files._read.cache_info().misses == before


def test_links_that_share_a_file_share_the_mesh(tmp_path):
    path = write_obj(tmp_path / "b.obj", *box())
    first, second = (read_mesh(path, (1.0, 1.0, 1.0), True).mesh for _ in range(2))
    assert first is second
