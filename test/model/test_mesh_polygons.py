# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Polygons of mesh files are cut within their outline, whatever the format and the first corner."""

import json
import struct

import numpy as np
import pytest
import trimesh
from meshes import box, write_dae, write_stl

from hrpsim import ModelError, ModelWarning, World, load_mesh, load_model
from hrpsim.model.shapes.mesh_files import read_mesh
from hrpsim.model.shapes.polygons import cut, cut_rings
from robots import ALL_ROBOTS

# An L of 0.3 by 0.2 m, and the prism over it of 0.1 m.
OUTLINE = [(0.0, 0.0), (0.3, 0.0), (0.3, 0.1), (0.15, 0.1), (0.15, 0.2), (0.0, 0.2)]
VERTICES = np.array([(x, y, z) for z in (0.0, 0.1) for x, y in OUTLINE])
VOLUME = 0.0045
NOTCH = [(0.22, 0.15, 1.0), (0.16, 0.11, 1.0), (0.29, 0.19, 1.0)]
SOLID = [(0.07, 0.15, 1.0), (0.22, 0.05, 1.0), (0.02, 0.02, 1.0)]
TRIANGLES = [(0, 2, 1), (0, 3, 2), (0, 4, 3), (0, 5, 4)]
TRIANGLES += [(a + 6, c + 6, b + 6) for a, b, c in TRIANGLES]
TRIANGLES += [
    t for i in range(6) for j in [(i + 1) % 6] for t in ((i, j, j + 6), (i, j + 6, i + 6))
]


def prism(first):
    """Return the faces of the prism; those that are L's begin with this corner."""
    bottom = [(first - k) % 6 for k in range(6)]
    sides = [[i, (i + 1) % 6, (i + 1) % 6 + 6, i + 6] for i in range(6)]
    return [bottom, [6 + k for k in reversed(bottom)], *sides]


def obj(path, faces):
    lines = ["v {} {} {}".format(*vertex) for vertex in VERTICES.tolist()]
    lines += ["f " + " ".join(str(k + 1) for k in face) for face in faces]
    path.write_text("\n".join(lines))


def ply(path, faces, form="ascii"):
    head = f"ply\nformat {form} 1.0\nelement vertex 12\nproperty float x\nproperty float y\n"
    head += f"property float z\nproperty uchar red\nelement face {len(faces)}\n"
    head += "property uchar flags\nproperty list uchar int vertex_indices\nend_header\n"
    if form == "ascii":
        rows = ["{} {} {} 7".format(*vertex) for vertex in VERTICES.tolist()]
        rows += [f"0 {len(face)} " + " ".join(map(str, face)) for face in faces]
        path.write_text(head + "\n".join(rows))
        return
    order = "<" if "little" in form else ">"
    body = b"".join(struct.pack(order + "fffB", *vertex, 7) for vertex in VERTICES)
    for face in faces:
        body += struct.pack(f"{order}BB{len(face)}i", 0, len(face), *face)
    path.write_bytes(head.encode() + body)


def dae(path, faces, tag="polylist"):
    corners = [" ".join(map(str, face)) for face in faces]
    counts = " ".join(str(len(face)) for face in faces)
    body = f"<vcount>{counts}</vcount><p>{' '.join(corners)}</p>"
    if tag == "polygons":
        body = "".join(f"<p>{ring}</p>" for ring in corners)
    write_dae(path, VERTICES, np.array([(0, 0, 0)]))
    text = path.read_text()
    begin, end = text.index("<triangles"), text.index("</triangles>") + len("</triangles>")
    made = f'<{tag} count="{len(faces)}"><input semantic="VERTEX" source="#v" offset="0"/>{body}'
    path.write_text(f"{text[:begin]}{made}</{tag}>{text[end:]}")


WRITERS = {
    "obj": obj,
    "ply": ply,
    "little.ply": lambda path, faces: ply(path, faces, "binary_little_endian"),
    "big.ply": lambda path, faces: ply(path, faces, "binary_big_endian"),
    "dae": dae,
    "polygons.dae": lambda path, faces: dae(path, faces, "polygons"),
}


def assert_is_the_prism(mesh):
    assert mesh.is_closed and mesh.volume == pytest.approx(VOLUME, rel=1e-6)
    world = World()
    world.add_static(mesh)
    distances = np.asarray(world.cast_rays(NOTCH + SOLID, (0.0, 0.0, -1.0)).distances)
    assert np.isinf(distances[:3]).all() and distances[3:] == pytest.approx(0.9)


@pytest.mark.parametrize("first", range(6))
@pytest.mark.parametrize("kind", WRITERS)
def test_concave_faces_leave_their_notch_empty(tmp_path, kind, first):
    """Law: an L keeps its volume, and rays pass its notch, whichever corner faces begin with."""
    WRITERS[kind](tmp_path / f"l.{kind}", prism(first))
    assert_is_the_prism(load_mesh(tmp_path / f"l.{kind}"))


@pytest.mark.parametrize("seed", range(20))
def test_a_cut_covers_the_polygon_once(seed):
    """Law: triangles have the polygon's area, its direction and all of its corners.

    The polygons are stars about a point, in any plane, with corners on straight sides.
    """
    rng = np.random.default_rng(seed)
    count = int(rng.integers(4, 30))
    angles = np.sort(rng.uniform(0.0, 2.0 * np.pi, count))
    radii = rng.uniform(0.1, 1.0, count)
    corners = np.stack([radii * np.cos(angles), radii * np.sin(angles)], axis=1)
    corners = np.stack([corners, 0.5 * (corners + np.roll(corners, -1, axis=0))], axis=1)
    outline = corners.reshape(-1, 2)
    plane = np.linalg.qr(rng.normal(size=(3, 3)))[0][:2]
    triangles = cut(outline @ plane, np.array([len(outline)]))
    x, y = outline.T
    area = 0.5 * (x @ np.roll(y, -1) - y @ np.roll(x, -1))
    a, b, c = np.moveaxis(outline[triangles], 1, 0)
    areas = 0.5 * ((b - a)[:, 0] * (c - a)[:, 1] - (b - a)[:, 1] * (c - a)[:, 0])
    assert np.abs(areas).sum() == pytest.approx(area) and areas.sum() == pytest.approx(area)
    assert set(triangles.ravel().tolist()) == set(range(len(outline)))
    assert len(triangles) == len(outline) - 2


def test_holes_stay_open():
    """Law: the area of a square frame is that of the square less its hole."""
    square = np.array([(0, 0, 0), (4, 0, 0), (4, 4, 0), (0, 4, 0)], dtype=float)
    hole = np.array([(1, 1, 0), (1, 3, 0), (3, 3, 0), (3, 1, 0)], dtype=float)
    points = np.concatenate([square, hole])
    a, b, c = np.moveaxis(points[cut_rings(points, [4, 8])], 1, 0)
    assert 0.5 * np.cross(b - a, c - a)[:, 2].sum() == pytest.approx(12.0)


def test_a_quad_out_of_plane_is_cut_along_its_shorter_diagonal():
    """As tinyobjloader does, whose triangles MuJoCo has."""
    quad = np.array([(0, 0, 0), (3, 0, 0.2), (3, 1, 0), (-1, 1, 0.2)], dtype=float)
    assert {0, 2} <= set(cut(quad, np.array([4]))[0])
    assert {1, 3} <= set(cut(np.roll(quad, 1, axis=0), np.array([4]))[0])


def test_indices_of_an_obj_count_from_their_line(tmp_path):
    """Law: faces among the vertices, counted backwards, are the same solid."""
    lines = []
    for triangle in TRIANGLES:
        lines += ["v {} {} {}".format(*VERTICES[k]) for k in triangle] + ["f -3 -2/1/1 -1//1"]
    (tmp_path / "l.obj").write_text("\r\n".join(lines))
    assert_is_the_prism(load_mesh(tmp_path / "l.obj"))


@pytest.mark.parametrize(
    ("face", "cause"),
    [
        ("f 1 2 3 9", "names vertex 9, but there are 3"),
        ("f 0 1 2 3", "names vertex 0, but there are 3"),
        ("f -4 -2 -1", "line 4: a face names the vertex 4 before it, but only 3 precede it"),
    ],
)
def test_vertices_that_an_obj_lacks_are_named(tmp_path, face, cause):
    (tmp_path / "a.obj").write_text(f"v 0 0 0\nv 1 0 0\nv 0 1 0\n{face}\n")
    with pytest.raises(ModelError, match=cause):
        load_mesh(tmp_path / "a.obj")


def test_a_ply_that_ends_early_is_refused(tmp_path):
    ply(tmp_path / "a.ply", prism(0), "binary_little_endian")
    (tmp_path / "a.ply").write_bytes((tmp_path / "a.ply").read_bytes()[:-3])
    with pytest.raises(ModelError, match="shorter than its header states"):
        load_mesh(tmp_path / "a.ply")


@pytest.mark.parametrize("meshes", ["hull", "exact"])
@pytest.mark.parametrize("name", ["b.glb", "b.gltf"])
def test_a_gltf_collides_with_its_y_up(tmp_path, name, meshes):
    """Law: a box of (0.3, 0.2, 0.1) m in a glTF is (0.3, 0.1, 0.2) in the link's frame."""
    trimesh.Trimesh(*box((0.3, 0.2, 0.1)), process=False).export(tmp_path / name)
    inertial = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"'
    (tmp_path / "r.urdf").write_text(
        f'<robot name="r"><link name="a">{inertial}/></inertial><collision><geometry>'
        f'<mesh filename="{name}"/></geometry></collision></link></robot>'
    )
    (shape,) = load_model(tmp_path / "r.urdf", meshes=meshes).shapes
    assert np.ptp(shape.geometry.vertices, axis=0) == pytest.approx([0.3, 0.1, 0.2], rel=1e-6)


@pytest.mark.parametrize(
    ("change", "cause"),
    [
        ({"extensionsRequired": ["KHR_draco_mesh_compression"]}, "requires .*KHR_draco"),
        ({"meshes": [{"primitives": [{"mode": 6, "attributes": {}}]}]}, "triangle fans"),
        ({"accessors": [{"count": 400_000_000}]}, "MESH_ELEMENTS"),
        ({"nodes": [{"mesh": 0}] * 60_000}, "60000 of its nodes"),
    ],
)
def test_a_gltf_that_is_not_read_says_why(tmp_path, change, cause):
    (tmp_path / "a.gltf").write_text(json.dumps({"asset": {"version": "2.0"}, **change}))
    with pytest.raises(ModelError, match=cause):
        load_mesh(tmp_path / "a.gltf")


def test_bytes_after_the_triangles_of_an_stl_are_named(tmp_path):
    path = write_stl(tmp_path / "a.stl", *box())
    path.write_bytes(path.read_bytes() + b"\0" * 37)
    with pytest.warns(ModelWarning, match="37 bytes after the 12 triangles are ignored"):
        assert load_mesh(path).volume == pytest.approx(1.0)
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(ModelError, match="states 12 triangles, but the file has bytes for 10"):
        load_mesh(path)


# -- against MuJoCo, over all meshes of public robots


FOLDERS = sorted({path.parent.parent for path in ALL_ROBOTS.values()})


def plain_copy(path, copy):
    """Return the file, or a copy of an OBJ without groups: MuJoCo reads the first alone."""
    if path.suffix.lower() != ".obj":
        return path
    words = (b"g ", b"o ", b"usemtl", b"mtllib", b"s ")
    lines = [line for line in path.read_bytes().splitlines() if not line.lstrip().startswith(words)]
    copy.write_bytes(b"\n".join(lines))
    return copy


def meet(start, along, corners):
    """Return how far a ray goes to the first of triangles (m, 3, 3), from either side."""
    a, first, second = corners[:, 0], corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    across = np.cross(along, second)
    scale = np.einsum("ij,ij->i", first, across)
    with np.errstate(divide="ignore", invalid="ignore"):
        u = np.einsum("ij,ij->i", start - a, across) / scale
        other = np.cross(start - a, first)
        v = other @ along / scale
        distance = np.einsum("ij,ij->i", second, other) / scale
        return np.where((u >= 0) & (v >= 0) & (u + v <= 1) & (distance > 0), distance, np.inf).min()


def compare(mujoco, read, theirs, rng):
    """Compare 60 rays towards a mesh, and its volume, with MuJoCo's compiled model of it."""
    data = mujoco.MjData(theirs)
    mujoco.mj_forward(theirs, data)
    mesh = read.mesh
    low, high = mesh.vertices.min(axis=0), mesh.vertices.max(axis=0)
    extent = float(np.linalg.norm(high - low))
    for _ in range(60):
        along = rng.normal(size=3)
        along /= np.linalg.norm(along)
        start = rng.uniform(low, high) - 2.0 * extent * along
        distance = meet(start, along, mesh.vertices[mesh.triangles])
        ray = (start, along, None, 1, -1, np.zeros(1, np.int32), np.zeros(3))
        assert mujoco.mj_ray(theirs, data, *ray) == pytest.approx(
            distance if np.isfinite(distance) else -1.0, abs=3e-5 * extent
        ), mesh.source
    if mesh.is_closed and not read.notes and len(mesh.triangles) == len(theirs.mesh_face):
        corners = theirs.mesh_vert[theirs.mesh_face].astype(float)
        volume = np.einsum("ij,ij->", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6.0
        assert mesh.volume == pytest.approx(volume, rel=1e-4), mesh.source


@pytest.mark.quick_cases("laikago_description", "so_arm_description")
@pytest.mark.filterwarnings("ignore::hrpsim.ModelWarning")
@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_meshes_of_public_robots_are_those_of_mujoco(folder, tmp_path):
    """Law: rays meet each STL and OBJ where MuJoCo's rays do; closed solids have its volume.

    What MuJoCo refuses is left out.
    """
    mujoco = pytest.importorskip("mujoco", "3.8")
    rng = np.random.default_rng(0)
    for k, path in enumerate(sorted(folder.rglob("*"))):
        if path.suffix.lower() not in (".stl", ".obj"):
            continue
        spec = mujoco.MjSpec()
        spec.add_mesh(name="m", file=str(plain_copy(path, tmp_path / f"{k}_{path.name}")))
        spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname="m")
        try:
            theirs = spec.compile()
        except ValueError:
            continue
        compare(mujoco, read_mesh(path, (1.0, 1.0, 1.0), False), theirs, rng)
