# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Meshes out of files: the same solid whatever the format, mended or refused by file and cause."""

import os
import subprocess
import sys

import numpy as np
import pytest
import trimesh
from effort import counted_calls
from meshes import angle_bracket, box, joined, write_dae, write_obj, write_stl

from hrpsim import ModelError, ModelWarning, load_mesh
from hrpsim.common import limits
from hrpsim.model.shapes import mesh_files
from hrpsim.model.shapes.mesh_integrals import signed_volumes
from hrpsim.model.shapes.mesh_repair import repaired

LENGTHS = (0.3, 0.2, 0.1)
VOLUME = 0.006


def written(folder, name, vertices, triangles):
    path = folder / name
    if path.suffix == ".dae":
        return write_dae(path, vertices, triangles)
    if name == "ascii.stl":
        text = trimesh.Trimesh(vertices, triangles, process=False).export(file_type="stl_ascii")
        path.write_text(text)
        return path
    trimesh.Trimesh(vertices, triangles, process=False).export(path)
    return path


# Whatever is mended says so; nothing else may.
pytestmark = pytest.mark.filterwarnings("error::hrpsim.ModelWarning")


@pytest.mark.parametrize("name", ["binary.stl", "ascii.stl", "b.obj", "b.dae", "b.ply", "B.STL"])
def test_every_format_is_the_same_box(tmp_path, name):
    mesh = load_mesh(written(tmp_path, name, *box(LENGTHS, (1.0, 2.0, 3.0))))
    assert mesh.vertices.shape == (8, 3) and mesh.triangles.shape == (12, 3)
    assert mesh.is_closed and mesh.is_convex and mesh.source == str(tmp_path / name)
    assert mesh.volume == pytest.approx(VOLUME, rel=1e-5)
    assert mesh.vertices.mean(axis=0) == pytest.approx([1.0, 2.0, 3.0], rel=1e-6)


@pytest.mark.parametrize("name", ["b.stl", "b.obj", "b.dae"])
def test_a_concave_solid_is_closed_and_not_convex(tmp_path, name):
    mesh = load_mesh(written(tmp_path, name, *angle_bracket()))
    assert mesh.is_closed and not mesh.is_convex
    assert mesh.volume == pytest.approx(0.2 * (1.0 + 0.8) * 0.2, rel=1e-6)
    hull = load_mesh(tmp_path / name, hull=True)
    assert hull.is_convex and hull.volume == pytest.approx(0.2 * (1.0 - 0.5 * 0.8**2), rel=1e-6)


@pytest.mark.parametrize("scale", [2.0, (1.0, 2.0, 3.0), (-1.0, 1.0, 1.0), (-1.0, -2.0, -3.0)])
def test_scaled_and_mirrored_solids_face_outwards(tmp_path, scale):
    vertices, triangles = angle_bracket()
    mesh = load_mesh(write_obj(tmp_path / "l.obj", vertices, triangles), scale)
    factors = np.broadcast_to(scale, 3)
    assert mesh.is_closed
    assert mesh.volume == pytest.approx(0.072 * abs(np.prod(factors)), rel=1e-12)
    expected = {tuple(v) for v in (vertices * factors).round(9).tolist()}
    assert {tuple(v) for v in mesh.vertices.round(9).tolist()} == expected


@pytest.mark.parametrize("up", ["X_UP", "Y_UP", "Z_UP"])
def test_up_axis_of_a_dae_changes_nothing(tmp_path, up):
    """As with RViz, MoveIt and Pinocchio, whose reader, coal, finds the same corners."""
    coal = pytest.importorskip("coal")
    path = write_dae(tmp_path / "l.dae", *angle_bracket(), up=up)
    theirs = {
        tuple(v) for v in np.round(coal.MeshLoader().load(str(path), np.ones(3)).vertices(), 6)
    }
    assert {tuple(v) for v in load_mesh(path).vertices.round(6)} == theirs


@pytest.mark.parametrize("name", ["b.gltf", "b.glb"])
def test_y_of_a_gltf_is_up(tmp_path, name):
    """glTF 2.0, section 3.4; a turn about x makes it z, as RViz and Drake do."""
    path = written(tmp_path, name, *box(LENGTHS, (1.0, 2.0, 3.0)))
    low, high = mesh_files.read_scene(path).bounds
    assert 0.5 * (low + high) == pytest.approx([1.0, -3.0, 2.0])
    assert high - low == pytest.approx([0.3, 0.1, 0.2], rel=1e-6)


@pytest.mark.parametrize("unit", ["1", "0.001", "0.0254"])
def test_the_unit_of_a_dae_counts(tmp_path, unit):
    """As with RViz."""
    mesh = load_mesh(write_dae(tmp_path / "l.dae", *angle_bracket(), unit))
    assert mesh.vertices.max(axis=0) == pytest.approx(float(unit) * np.array([1.0, 0.2, 1.0]))


def test_transforms_of_a_scene_are_applied_mirrors_included(tmp_path):
    matrix = "0 2 0 1  -3 0 0 2  0 0 -1 3  0 0 0 1"
    path = write_dae(tmp_path / "l.dae", *angle_bracket(), "0.1", "Z_UP", matrix)
    mesh = load_mesh(path)
    placed = angle_bracket()[0] @ np.array([[0, 2, 0], [-3, 0, 0], [0, 0, -1]]).T + (1, 2, 3)
    assert {tuple(v) for v in mesh.vertices.round(6).tolist()} == {
        tuple(v) for v in (0.1 * placed).round(6).tolist()
    }
    assert mesh.is_closed and mesh.volume == pytest.approx(0.072 * 6 * 1e-3)


def test_several_bodies_of_a_file_are_one_mesh(tmp_path):
    both = joined(box(), box((0.5, 0.5, 0.5), (3.0, 0.0, 0.0)))
    scene = trimesh.Scene()
    for k, (vertices, triangles) in enumerate([box(), box((0.5, 0.5, 0.5))]):
        shift = np.eye(4)
        shift[0, 3] = 3.0 * k
        scene.add_geometry(trimesh.Trimesh(vertices, triangles), transform=shift)
    scene.export(tmp_path / "two.obj")
    mesh = load_mesh(tmp_path / "two.obj")
    assert mesh.is_closed and not mesh.is_convex and mesh.vertices.shape == (16, 3)
    assert mesh.volume == pytest.approx(load_mesh(write_stl(tmp_path / "t.stl", *both)).volume)


def test_what_has_not_changed_is_not_read_again(tmp_path):
    path = write_stl(tmp_path / "b.stl", *box())
    first = load_mesh(path)
    assert load_mesh(path) is first and load_mesh(path, 2.0) is not first
    write_stl(path, *box((2.0, 1.0, 1.0)))
    os.utime(path, ns=(1, path.stat().st_mtime_ns + 1))
    assert load_mesh(path).volume == pytest.approx(2.0)


# -- mended, and saying so


def test_an_inverted_solid_is_turned_and_named(tmp_path):
    vertices, triangles = box()
    path = write_obj(tmp_path / "inside_out.obj", vertices, triangles[:, ::-1])
    with pytest.warns(
        ModelWarning, match=r"inside_out\.obj: 12 triangles .* inwards and have been reversed"
    ):
        mesh = load_mesh(path)
    assert mesh.is_closed and mesh.volume == pytest.approx(1.0)


def test_single_triangles_are_turned_like_their_neighbours(tmp_path):
    vertices, triangles = angle_bracket()
    triangles[[2, 5]] = triangles[[2, 5], ::-1]
    path = write_obj(tmp_path / "mixed.obj", vertices, triangles)
    with pytest.warns(ModelWarning, match=r"mixed\.obj: 2 triangles were wound against"):
        mesh = load_mesh(path)
    assert mesh.is_closed and mesh.volume == pytest.approx(0.072)


def test_a_cavity_stays_one(tmp_path):
    vertices, inner = box((0.5, 0.5, 0.5))
    hollow = joined(box(), (vertices, inner[:, ::-1]))
    assert load_mesh(write_obj(tmp_path / "h.obj", *hollow)).volume == pytest.approx(1.0 - 0.125)


def test_an_inverted_part_beside_another_is_turned(tmp_path):
    vertices, other = box((0.5, 0.5, 0.5), (3.0, 0.0, 0.0))
    path = write_obj(tmp_path / "p.obj", *joined(box(), (vertices, other[:, ::-1])))
    with pytest.warns(ModelWarning, match="12 triangles of closed parts faced inwards"):
        assert load_mesh(path).volume == pytest.approx(1.125)


def test_degenerate_and_repeated_triangles_go(tmp_path):
    vertices, triangles = box()
    more = np.concatenate([triangles, [(0, 0, 1), (3, 3, 3)], triangles[:2]])
    mesh = load_mesh(write_obj(tmp_path / "d.obj", vertices, more))
    assert mesh.triangles.shape == (12, 3) and mesh.is_closed


def test_a_sliver_leaves_no_hole():
    """A corner in the middle of an edge, joined by a triangle without area, as CAD exports them."""
    vertices, triangles = box()
    vertices = np.concatenate([vertices, [0.5 * (vertices[0] + vertices[2])]])
    # The diagonal 0-2 of the bottom is cut at its middle on one side only.
    bottom = [(0, 2, 1), (0, 3, 8), (8, 3, 2), (0, 8, 2)]
    mended = repaired(vertices, np.array(bottom + triangles[2:].tolist()))
    assert mended.notes == () and len(mended.triangles) == 14
    mesh = mesh_files.Mesh(mended.vertices, mended.triangles)
    assert mesh.is_closed and mesh.is_convex and mesh.volume == pytest.approx(1.0)


def test_nearly_equal_corners_are_one():
    vertices, triangles = box()
    corners = vertices[triangles].reshape(-1, 3)
    noise = np.random.default_rng(0).uniform(-1e-9, 1e-9, corners.shape)
    mended = repaired(corners + noise, np.arange(36).reshape(12, 3))
    assert mended.vertices.shape == (8, 3)


# -- refused, by file and cause


def stl_of(points):
    return lambda path: write_stl(path, np.array(points, dtype=float), [(0, 1, 2)])


@pytest.mark.parametrize(
    ("name", "write", "cause"),
    [
        ("m.stl", None, "there is no such file"),
        ("m.stl", lambda p: p.write_bytes(b""), "it is empty: the file has no bytes"),
        ("m.stl", lambda p: p.write_bytes(b"solid a\nendsolid a\n"), "empty|cannot be read as STL"),
        ("m.stl", lambda p: p.write_bytes(b"\0" * 84), "empty"),
        ("m.stl", lambda p: p.write_bytes(b"noise " * 50), "empty|cannot be read as STL"),
        ("m.stl", lambda p: p.write_bytes(b"\xff" * 300), "empty|cannot be read as STL"),
        ("m.ply", lambda p: p.write_bytes(b"ply\nformat"), "cannot be read as PLY"),
        ("m.dae", lambda p: p.write_text("<COLLADA"), "cannot be read as DAE"),
        ("m.obj", lambda p: p.write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\n"), "empty"),
        ("m.obj", lambda p: p.write_text("f 1 2 3\n"), "empty|cannot be read as OBJ"),
        ("m.wrl", lambda p: p.write_text("#VRML"), "format 'wrl' does not exist.*stl, obj, dae"),
        ("m.stl", stl_of([(0, 0, 0), (1, 0, 0), (0, np.nan, 0)]), "finite"),
        ("m.stl", stl_of([(0, 0, 0), (1, 0, 0), (0, np.inf, 0)]), "finite"),
        ("m.stl", stl_of([(0, 0, 0), (1, 0, 0), (2, 0, 0)]), "none of its 1 triangles has an area"),
        ("m.stl", stl_of([(0, 0, 0), (1, 0, 0), (1, 0, 0)]), "none of its 1 triangles has an area"),
        ("m.stl", stl_of([(0, 0, 0), (2e3, 0, 0), (0, 1, 0)]), "2e[+]03 m .*Give scale 0.001"),
        ("m.stl", stl_of([(0, 0, 0), (1e-7, 0, 0), (0, 1e-7, 0)]), "another unit"),
    ],
)
def test_bad_files_are_named_with_the_cause(tmp_path, name, write, cause):
    path = tmp_path / name
    if write is not None:
        write(path)
    with pytest.raises(ModelError, match=cause) as caught:
        load_mesh(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("scale", [0.0, (1.0, 0.0, 1.0), (np.nan, 1.0, 1.0)])
def test_a_scale_that_flattens_is_refused(tmp_path, scale):
    path = write_stl(tmp_path / "b.stl", *box())
    with pytest.raises(ModelError, match=r"b\.stl: scale .* finite and not zero"):
        load_mesh(path, scale)


def test_a_huge_mesh_is_refused_and_its_hull_is_not(tmp_path, monkeypatch):
    monkeypatch.setattr(mesh_files, "TRIANGLE_LIMIT", 11)
    path = write_stl(tmp_path / "huge.stl", *box((3.0, 1.0, 1.0)))
    with pytest.raises(ModelError, match=r"huge\.stl: it has 12 triangles, .*hull=True"):
        load_mesh(path)
    assert load_mesh(path, hull=True).volume == pytest.approx(3.0)


def test_a_flat_mesh_has_no_hull(tmp_path):
    vertices, triangles = box()
    path = write_obj(tmp_path / "flat.obj", vertices * (1, 1, 0), triangles)
    with pytest.raises(ModelError, match=r"flat\.obj: the points lie in a plane"):
        load_mesh(path, hull=True)


def test_open_and_crowded_meshes_say_why(tmp_path):
    vertices, triangles = box()
    opened = load_mesh(write_obj(tmp_path / "open.obj", vertices, triangles[1:]))
    assert not opened.is_closed and not opened.is_convex
    assert opened.why_open == "it is open: 3 of its 18 edges belong to one triangle only"
    touching = joined(box(), box(center=(1.0, 1.0, 0.0)))  # along one edge
    crowded = load_mesh(write_stl(tmp_path / "crowded.stl", *touching))
    assert crowded.why_open == "1 of its 35 edges are shared by more than two triangles"


def test_without_pycollada_the_error_says_what_to_install(tmp_path, monkeypatch):
    path = write_dae(tmp_path / "b.dae", *box())
    monkeypatch.setitem(sys.modules, "collada", None)
    with pytest.raises(ModelError, match=r"b\.dae: reading DAE needs collada: pip install pycol"):
        load_mesh(path)


def test_a_damaged_file_prints_no_traceback(tmp_path):
    """trimesh logs what it meets, with tracebacks, where no handler is set."""
    path = tmp_path / "bad.stl"
    path.write_text("solid x\nfacet normal 0 0 1\nouter loop\nvertex 0 0 zero\nendloop\nendfacet\n")
    code = (
        f"import hrpsim\ntry: hrpsim.load_mesh({str(path)!r})\nexcept hrpsim.ModelError: print(1)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("1\n", "")


def box_triangles(middle, half, inward=False):
    """Return the vertices (8, 3) and triangles (12, 3) of a box."""
    mesh = trimesh.creation.box(2.0 * np.array(half))
    return mesh.vertices + middle, mesh.faces[:, ::-1] if inward else mesh.faces


def soup(*parts):
    """Return one mesh of several (vertices, triangles)."""
    vertices, triangles, first = [], [], 0
    for points, faces in parts:
        vertices.append(points)
        triangles.append(faces + first)
        first += len(points)
    return np.concatenate(vertices), np.concatenate(triangles)


def test_a_cavity_stays_and_what_faces_inwards_alone_is_turned():
    """Law: the volume of a box with a cavity, and of one turned inside out beside it."""
    outer = box_triangles((0.0, 0.0, 0.0), (1.0, 1.0, 1.0))
    cavity = box_triangles((0.0, 0.0, 0.0), (0.5, 0.5, 0.5), inward=True)
    beside = box_triangles((5.0, 0.0, 0.0), (1.0, 1.0, 1.0), inward=True)
    made = repaired(*soup(outer, cavity, beside))
    assert signed_volumes(made.vertices, made.triangles).sum() == pytest.approx(8.0 - 1.0 + 8.0)


def test_no_part_is_treated_by_itself():
    """Law: ten times as many triangles at random, each a part of its own, take no more calls."""
    counts = []
    for corners in (3_000, 30_000):
        points = np.random.default_rng(0).normal(size=(corners, 3))
        with counted_calls() as calls:
            made = repaired(points, np.arange(corners).reshape(-1, 3))
        assert len(made.triangles) > 0.3 * corners
        counts.append(calls[0])
    assert counts[1] < 2 * counts[0]


def test_parts_within_parts_are_bounded(monkeypatch):
    """Law: closed parts that face inwards within one another are refused by name beyond a limit."""
    nest = [box_triangles((0.0, 0.0, 0.0), (1.0 + k,) * 3, inward=True) for k in range(3)]
    monkeypatch.setattr(limits, "MESH_PARTS", 200)
    with pytest.raises(ModelError, match="MESH_PARTS"):
        repaired(*soup(*nest))


def test_a_hull_of_too_many_points_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "HULL_POINTS", 100)
    file = tmp_path / "ball.stl"
    trimesh.creation.icosphere(3).export(file)  # 642 vertices
    with pytest.raises(ModelError, match=r"642 different vertices.*HULL_POINTS"):
        load_mesh(file, hull=True)
    monkeypatch.setattr(limits, "HULL_POINTS", 642)
    assert len(load_mesh(file, hull=True).vertices) == 642
