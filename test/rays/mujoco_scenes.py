# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Scenes for rays, the same in hrpsim and in MuJoCo, and rays through them."""

import mujoco
import numpy as np
from scipy.spatial import ConvexHull

import hrpsim

EXTENT = 3.0  # of the scenes [m]


def text(values) -> str:
    return " ".join(repr(float(v)) for v in np.ravel(values))


def star(random) -> tuple[np.ndarray, np.ndarray]:
    """Return a closed mesh that is not convex: a hull's triangles, its corners moved outwards."""
    points = random.standard_normal((24, 3))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    hull = ConvexHull(points)
    triangles = hull.simplices.copy()
    corners = points[triangles]
    inward = np.einsum(
        "ij,ij->i", np.cross(*np.diff(corners, axis=1).swapaxes(0, 1)), corners[:, 0]
    )
    triangles[inward < 0.0] = triangles[inward < 0.0][:, ::-1]
    return points * random.uniform(0.2, 0.7, (24, 1)), triangles


def scene(seed: int):
    """Return a world of fixed shapes, and MuJoCo's model and data of the same.

    MuJoCo keeps corners of meshes and heights in single precision: hrpsim's are read from there.
    """
    random = np.random.default_rng(seed)
    assets, geoms, shapes = "", "", []
    meshes = [star(random) for _ in range(3)]
    for k, (vertices, triangles) in enumerate(meshes):
        faces = " ".join(map(str, triangles.ravel()))
        assets += f'<mesh name="m{k}" vertex="{text(vertices)}" face="{faces}"/>'
    for k in range(14):
        kind = ("sphere", "box", "capsule", "cylinder", "mesh")[k % 5]
        size, p = random.uniform(0.1, 0.6, 3), random.uniform(-EXTENT, EXTENT, 3)
        q = random.standard_normal(4)
        if k >= 10:  # along the axes, with edges and faces on each other
            p, q, size = np.round(p), np.array([1.0, 0, 0, 0]), np.full(3, 0.5)
        what = f'size="{text(size)}"' if kind != "mesh" else f'mesh="m{k % 3}"'
        geoms += f'<geom type="{kind}" {what} pos="{text(p)}" quat="{text(q)}"/>'
        shapes.append((kind, size))
    geoms += '<geom type="plane" size="0 0 1" pos="0 0 -8" quat="1 0.1 0.05 0"/>'
    return _pair(assets, geoms, [*(kind for kind, _ in shapes), "plane"])


def field_scene(seed: int):
    """Return the same of a height field from -2.5 to 2.5 and -1.5 to 1.5, up to 0.7 high."""
    random = np.random.default_rng([seed, 2])
    nx, ny = random.integers(3, 60, 2)
    heights = random.uniform(0.0, 1.0, ny * nx) ** random.integers(1, 4)
    assets = f'<hfield name="h" nrow="{ny}" ncol="{nx}" size="2.5 1.5 0.7 9"/>'
    return _pair(assets, '<geom type="hfield" hfield="h"/>', ["hfield"], heights)


def _pair(assets: str, geoms: str, kinds: list[str], heights=()):
    xml = f"<mujoco><asset>{assets}</asset><worldbody>{geoms}</worldbody></mujoco>"
    model = mujoco.MjModel.from_xml_string(xml)
    model.hfield_data[:] = heights
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    world = hrpsim.World()
    for g in range(model.ngeom):
        w, x, y, z = quaternion(data.geom_xmat[g])
        place = {"position": data.geom_xpos[g], "orientation": (x, y, z, w), "name": f"g{g}"}
        world.add_static(geometry(model, g, kinds[g]), **place)
    return world, model, data


def quaternion(matrix) -> np.ndarray:
    q = np.empty(4)
    mujoco.mju_mat2Quat(q, matrix)
    return q


def geometry(model, g: int, kind: str):
    a, b, c = model.geom_size[g]
    if kind == "mesh":
        m = model.geom_dataid[g]
        first, count = model.mesh_vertadr[m], model.mesh_vertnum[m]
        start, faces = model.mesh_faceadr[m], model.mesh_facenum[m]
        vertices = model.mesh_vert[first : first + count].astype(np.float64)
        return hrpsim.Mesh(vertices, model.mesh_face[start : start + faces])
    if kind == "hfield":
        nx, ny = model.hfield_ncol[0], model.hfield_nrow[0]
        x, y, top, _ = model.hfield_size[0]
        heights = model.hfield_data.astype(np.float64).reshape(ny, nx).T * top
        return hrpsim.HeightField(heights, size=(2.0 * x, 2.0 * y))
    shapes = {
        "sphere": lambda: hrpsim.Sphere(a),
        "box": lambda: hrpsim.Box((2.0 * a, 2.0 * b, 2.0 * c)),
        "capsule": lambda: hrpsim.Capsule(a, 2.0 * b),
        "cylinder": lambda: hrpsim.Cylinder(a, 2.0 * b),
        "plane": hrpsim.Plane,
    }
    return shapes[kind]()


def rays(seed: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return origins and directions of rays, many along the axes, some of any length."""
    random = np.random.default_rng([seed, 1])
    origins = random.uniform(-EXTENT, EXTENT, (count, 3))
    directions = random.standard_normal((count, 3))
    axes = random.random(count) < 0.3
    directions[axes] = np.eye(3)[random.integers(0, 3, axes.sum())]
    directions[axes] *= random.choice([-1.0, 1.0], (axes.sum(), 1))
    directions *= random.uniform(0.01, 50.0, (count, 1))
    rounded = random.random(count) < 0.2  # through edges and corners, and along faces
    origins[rounded] = np.round(2.0 * origins[rounded]) / 2.0
    return origins, directions


def mujoco_hits(model, data, origins, directions) -> tuple[np.ndarray, ...]:
    """Return distances [m], infinite for none, geoms (-1) and normals (k, 3)."""
    found, geoms = np.empty(len(origins)), np.full(len(origins), -1)
    normals = np.zeros((len(origins), 3))
    geom = np.zeros(1, dtype=np.int32)
    for k, (o, d) in enumerate(zip(origins, directions, strict=True)):
        unit = d / np.linalg.norm(d)
        found[k] = mujoco.mj_ray(model, data, o, unit, None, 1, -1, geom, normals[k])
        geoms[k] = geom[0]
    return np.where(found >= 0.0, found, np.inf), geoms, normals
