# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Convert geoms of an MJCF to shapes of links, and find links that never collide."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from hrpsim.common.errors import ModelError
from hrpsim.model.readers.ellipsoid import ELLIPSOID_POINTS, ellipsoid_mesh
from hrpsim.model.readers.mjcf.read import MjcfModel
from hrpsim.model.readers.mjcf.tree import BodyTree, rotation_of
from hrpsim.model.readers.robot_data import LinkData, MeshData, Notes, RobotData, ShapeData
from hrpsim.model.shapes.convex_hull import is_flat as no_solid
from hrpsim.model.shapes.convex_hull import own_extents
from hrpsim.model.shapes.placement import Placement

_LAST_DRAWN_GROUP = 2  # MuJoCo's viewers hide those above


class GeomSurface(NamedTuple):
    """Friction and priority of a geom.

    geom: number of the geom if a <pair> gives it another friction, otherwise -1.
    slides: whether condim is 1. A contact of two such geoms has no friction.
    condim: 3, 4 or 6.
    torsional, rolling: coefficients of friction against spin and rolling [m]. Both are 0 if no geom
    of the same priority has condim 4 or 6.
    """

    priority: int
    friction: float
    geom: int = -1
    slides: bool = False
    condim: int = 3
    torsional: float = 0.0
    rolling: float = 0.0


class FrictionOfPair(NamedTuple):
    """Coefficients of friction between two geoms: of sliding [1], of spin and of rolling [m]."""

    static: float
    torsional: float
    rolling: float


def contact_friction(a: GeomSurface, b: GeomSurface) -> FrictionOfPair:
    """Return the friction of two geoms without a <pair>, as in MuJoCo.

    The geom with the higher priority decides. If both priorities are equal, the larger friction
    and the larger condim count.
    """
    deciding = (a, b) if a.priority == b.priority else (max(a, b),)
    if all(surface.slides for surface in deciding):
        return FrictionOfPair(0.0, 0.0, 0.0)
    condim = max(surface.condim for surface in deciding)
    return FrictionOfPair(
        max(surface.friction for surface in deciding),
        max(surface.torsional for surface in deciding) if condim >= 4 else 0.0,
        max(surface.rolling for surface in deciding) if condim == 6 else 0.0,
    )


def add_geoms(m: MjcfModel, tree: BodyTree, robot: RobotData, notes: Notes) -> None:
    """Add the geoms of a robot's bodies to its links, and the pairs of links that never collide."""
    colliding: dict[str, list[int]] = {}
    for geom in range(m.ngeom):
        body = int(m.geom_bodyid[geom])
        if body == 0 or body not in tree.links:
            continue
        shape = shape_of(m, geom, notes)
        if shape is None:
            continue
        link = robot.links[tree.links[body]]
        is_solid = collides(m, geom)
        is_solid = is_solid and not is_flat(m, geom, shape, notes)
        if not is_solid or m.geom_group[geom] <= _LAST_DRAWN_GROUP:
            link.visuals.append(shape)
        if is_solid:
            material = material_name(surface_of(m, geom))
            link.collisions.append(replace(shape, material=material))
            colliding.setdefault(link.name, []).append(geom)
    for link_name, geoms in colliding.items():
        _set_material(m, robot.links[link_name], geoms)
    _keep_apart(m, robot, notes, colliding)


def collides(m: MjcfModel, geom: int) -> bool:
    """Return whether anything can collide with a geom."""
    return _has_bits(m, geom) or len(_pairs_of(m, geom)) > 0


def _friction_of(m: MjcfModel, geom: int) -> float:
    """Return the coefficient of sliding friction of a geom.

    A geom that collides only in <pair> elements has the largest coefficient of its pairs.
    """
    if _has_bits(m, geom):
        friction = float(m.geom_friction[geom][0])
    else:
        friction = max((pair_friction(m, pair).static for pair in _pairs_of(m, geom)), default=0.0)
    if friction < 0.0:
        name = m.names["geom"][geom] or geom
        raise ModelError(f"{m.label}: geom {name!r}: friction {friction:g} is negative")
    return friction


def pair_friction(m: MjcfModel, pair: int) -> FrictionOfPair:
    """Return the friction of a <pair>, along the first of its directions."""
    dim, (sliding, _, spin, rolling, _) = int(m.pair_dim[pair]), map(float, m.pair_friction[pair])
    return FrictionOfPair(
        sliding if dim > 1 else 0.0, spin if dim >= 4 else 0.0, rolling if dim == 6 else 0.0
    )


def _has_bits(m: MjcfModel, geom: int) -> bool:
    return bool(m.geom_contype[geom] or m.geom_conaffinity[geom])


def _pairs_of(m: MjcfModel, geom: int) -> np.ndarray:
    if not m.count("npair"):
        return np.empty(0, dtype=int)
    return np.flatnonzero((m.pair_geom1 == geom) | (m.pair_geom2 == geom))


def surface_of(m: MjcfModel, geom: int) -> GeomSurface:
    """Return the surface of a geom. `geom` is set if the friction of a <pair> differs."""
    surface = _plain_surface(m, geom)
    for pair in _pairs_of(m, geom):
        ends = int(m.pair_geom1[pair]), int(m.pair_geom2[pair])
        if contact_friction(*(_plain_surface(m, end) for end in ends)) != pair_friction(m, pair):
            return surface._replace(geom=geom)
    return surface


def _plain_surface(m: MjcfModel, geom: int) -> GeomSurface:
    """Return the surface of a geom, without the effect of <pair> elements.

    A geom with condim 1 gets friction 0, unless a geom of the same priority with a larger condim
    has a smaller friction.
    """
    surface = GeomSurface(int(m.geom_priority[geom]), _friction_of(m, geom))
    if not _has_bits(m, geom):
        return surface
    condim, peers = int(m.geom_condim[geom]), m.geom_priority == surface.priority
    if (m.geom_condim[peers] > 3).any():
        _, spin, rolling = map(float, m.geom_friction[geom])
        surface = surface._replace(condim=max(condim, 3), torsional=spin, rolling=rolling)
    if condim != 1:
        return surface
    partners = (m.geom_condim > 1) & peers
    if (m.geom_friction[partners, 0] >= surface.friction).all():
        surface = surface._replace(friction=0.0)
    return surface._replace(slides=True)


def material_name(surface: GeomSurface) -> str:
    """Return the name of the material of a surface."""
    priority = f"_priority_{surface.priority}" if surface.priority else ""
    own = f"_geom_{surface.geom}" if surface.geom >= 0 else ""
    slides = "_condim_1" if surface.slides and surface.friction else ""
    if surface.condim > 3:
        slides = f"_condim_{surface.condim}"
    lengths = {"spin": surface.torsional, "rolling": surface.rolling}
    turning = "".join(f"_{name}_{value:g}" for name, value in lengths.items() if value)
    return f"friction_{surface.friction:g}{slides}{turning}{priority}{own}"


def shape_of(m: MjcfModel, geom: int, notes: Notes) -> ShapeData | None:
    """Return a geom's shape in the body's frame. Return None and add a note if unsupported."""
    kind = m.kind("mjtGeom", m.geom_type[geom])
    placement = Placement(rotation_of(m.geom_quat[geom]), m.geom_pos[geom])
    material = -1 if m.geom_matid is None else int(m.geom_matid[geom])
    rgba = m.geom_rgba[geom] if material < 0 else m.mat_rgba[material]
    color = (float(rgba[0]), float(rgba[1]), float(rgba[2]), float(rgba[3]))
    a, b, c = (float(size) for size in m.geom_size[geom])
    name = m.names["geom"][geom]
    if kind == "BOX":
        return ShapeData("box", (2.0 * a, 2.0 * b, 2.0 * c), placement, color=color)
    if kind == "SPHERE":
        return ShapeData("sphere", (a,), placement, color=color)
    if kind in ("CYLINDER", "CAPSULE"):
        return ShapeData(kind.lower(), (a, 2.0 * b), placement, color=color)
    if kind == "ELLIPSOID":
        notes.add("geom ellipsoid", f"a hull of {ELLIPSOID_POINTS} points on it", name)
        mesh = ellipsoid_mesh(name or f"ellipsoid{geom}", m.geom_size[geom])
        return ShapeData("mesh", (), placement, mesh, color)
    if kind == "MESH":
        return ShapeData("mesh", (), placement, _mesh(m, int(m.geom_dataid[geom])), color)
    notes.add(f"geom {kind.lower()} on a robot", "left out", name)
    return None


def _mesh(m: MjcfModel, mesh: int) -> MeshData:
    vertices = slice(int(m.mesh_vertadr[mesh]), int(m.mesh_vertadr[mesh] + m.mesh_vertnum[mesh]))
    faces = slice(int(m.mesh_faceadr[mesh]), int(m.mesh_faceadr[mesh] + m.mesh_facenum[mesh]))
    name = m.names["mesh"][mesh] or f"mesh{mesh}"
    return MeshData(name, np.array(m.mesh_vert[vertices]), np.array(m.mesh_face[faces]))


def is_flat(m: MjcfModel, geom: int, shape: ShapeData, notes: Notes) -> bool:
    """Return whether a geom is a plane mesh, which bounds no solid. Add a note if so."""
    if not isinstance(shape.mesh, MeshData) or not no_solid(own_extents(shape.mesh.vertices)):
        return False
    notes.add("geom mesh, flat", "does not collide", m.names["geom"][geom])
    return True


def _set_material(m: MjcfModel, link: LinkData, geoms: list[int]) -> None:
    """Give a link the material of its geoms. Shapes keep materials that differ."""
    link.material = material_name(max(surface_of(m, geom) for geom in geoms))
    link.collisions = [
        replace(shape, material=None) if shape.material == link.material else shape
        for shape in link.collisions
    ]


def _keep_apart(
    m: MjcfModel, robot: RobotData, notes: Notes, colliding: dict[str, list[int]]
) -> None:
    """Find the pairs of links excluded from collision by contype, conaffinity and <exclude>."""
    apart: list[tuple[str, str]] = []
    meeting: set[str] = set()
    for a, b in itertools.combinations(colliding, 2):
        allowed = may_collide(m, colliding[a], colliding[b])
        if not allowed.any():
            apart.append((a, b))
            continue
        meeting |= {a, b}
        if not allowed.all():
            why = "links collide if any of their geoms may"
            notes.add("contype, conaffinity within a body", why, f"{a} - {b}")
    if len(colliding) > 1:
        robot.apart += [(name, "*") for name in colliding if name not in meeting]
    robot.apart += [pair for pair in apart if meeting.issuperset(pair)]


def may_collide(m: MjcfModel, a: list[int], b: list[int]) -> np.ndarray:
    """Return which geoms of two bodies may collide, shape (len(a), len(b)).

    Pairs of <pair> may collide regardless of contype, conaffinity and <exclude>.
    """
    bits = m.geom_contype[a][:, None] & m.geom_conaffinity[b][None, :]
    allowed = (bits | (m.geom_contype[b][None, :] & m.geom_conaffinity[a][:, None])) != 0
    first, second = sorted((int(m.geom_bodyid[a[0]]), int(m.geom_bodyid[b[0]])))
    if m.count("nexclude") and (first << 16) + second in m.exclude_signature:
        allowed[:] = False
    for k in range(m.count("npair")):
        for geom, other in ((m.pair_geom1[k], m.pair_geom2[k]), (m.pair_geom2[k], m.pair_geom1[k])):
            if geom in a and other in b:
                allowed[a.index(geom), b.index(other)] = True
    return allowed
