# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Two solids that may touch: relative pose and motion, and the contacts found so far.

Side 0 has the features of solid a in the frame of solid b. Side 1 has the features of b in the
frame of a. The "own" solid has the features, and the "other" solid has the frame.
"""

import math

import numpy as np

from hrpsim.engine.collision.mesh.expanding_polytope import POLYTOPE
from hrpsim.engine.collision.mesh.facing_features import FACING
from hrpsim.engine.collision.mesh.features_around import SEEN_ROOM
from hrpsim.engine.collision.primitives.contact_row import MAX_MESH_POINTS, MAX_POINTS
from hrpsim.engine.collision.solids.polyhedra import EDGE, Polyhedra
from hrpsim.engine.collision.solids.tree_queries import STACK_DEPTH, first_hit
from hrpsim.engine.compile.compiled import inner_kernel
from hrpsim.engine.compile.kernel_types import (
    Candidate,
    Edge,
    Index,
    Mat3,
    Records,
    SolidPair,
    Vec3,
)
from hrpsim.engine.spatial.vector import matrix_times

CANDIDATE_COUNT = 512

# Kinds of contacts. Of coincident ones the first kind stays.
VERTEX_FACE, FACE_VERTEX, EDGE_EDGE, VERTEX_EDGE, EDGE_VERTEX, VERTEX_VERTEX, DEEP = (
    np.int64(k) for k in range(7)
)
A_VERTEX, AN_EDGE, A_FACE, A_SOLID = (np.int64(k) for k in range(4))
NO_TRIANGLE = np.int64(-1)
SOLID_CODES = np.int64(2**31)
# Sine by which a face may lean against the surface about a vertex that touches it: the vertices of
# a tilted foot all stay while they are near the floor, those behind a flush rim do not.
LEAN = 0.5
SIDE_A, SIDE_B = np.int64(0), np.int64(1)

# a chosen contact of a patch
CHOSEN = np.dtype(
    [
        ("index", "i8"),  # index in the contact patch
        ("load", "f8"),  # normal impulse of the last step [Ns]; -1: new contact
        ("needed", "i8"),
    ]
)

# A direction along which two convex solids were apart, or overlapped least, when last seen.
SEPARATION = np.dtype(
    [
        ("known", "i8"),  # 0: nothing is known yet, or the solids are not convex
        ("axis", "f8", (3,)),  # unit vector from b to a, in the frame of b
        (
            "vertex",
            "i8",
            (2,),
        ),  # vertex of a farthest against `axis`, vertex of b farthest along `axis`
        ("entered", "i8", (2,)),  # triangles of a and b that the line along it entered last
        ("turned", "i8"),  # `turned` of the manifold when `axis` was found
        ("touches", "i8"),  # whether the axis is the normal of the deepest contact,
        ("place", "f8", (3,)),  # point of the deepest contact, in the frame of b [m]
        ("clear", "f8"),  # distance along the axis, the last time that it was measured; 0: none [m]
        ("clear_R", "f8", (3, 3)),  # rotation of a in the frame of b when `clear` was measured
        ("clear_t", "f8", (3,)),  # position of a in the frame of b when `clear` was measured [m]
    ]
)

SOLID_PAIR = np.dtype(
    [
        ("solid", "i8", (2,)),  # own solid of each side
        ("R", "f8", (2, 3, 3)),  # from the own to the other frame
        ("t", "f8", (2, 3)),  # origin of the own frame in the other [m]
        (
            "spin",
            "f8",
            (2, 3),
        ),  # angular velocity of the own solid to the other, other frame [rad/s]
        ("drift", "f8", (2, 3)),  # velocity of the own solid at the origin of the other frame [m/s]
        ("world_R", "f8", (2, 3, 3)),  # rotation of the other frame in the world
        ("world_p", "f8", (2, 3)),
        ("rounding", "f8", (2,)),  # rounding radius of the own solid [m]
        ("near", "f8"),  # gap up to which contacts are made [m]
        ("calm", "f8"),  # gap up to which contacts are made for any motion [m]
        ("time_step", "f8"),
        ("rim", "f8"),  # [m]
        ("count", "i8"),  # number of candidates
        ("pairs", "i8", (2 * STACK_DEPTH, 2)),  # stack of node pairs, to search both trees
        ("stack", "i8", (STACK_DEPTH,)),  # stack of nodes, to search one tree
        ("separation", SEPARATION),
        ("simplex", "f8", (4, 3)),  # points of the difference of two solids, work [m]
        ("apart", "f8"),  # distance of convex cores along the axis; negative if they overlap [m]
        ("axis_of_a", "f8", (3,)),  # the axis in the frame of a
        ("highest", "f8"),  # highest point of b along the axis [m]
        ("margin", "f8"),  # distance along the axis within which solids may touch in the step [m]
        ("farthest", "f8"),  # largest distance of features with contacts,
        ("deepest", "f8"),  # largest depth of features with contacts,
        ("aside", "f8"),  # their distance across the normal, at most [m],
        ("lean", "f8"),  # sine by which a face may lean against the surface about a vertex
        ("cap", "f8"),  # chord within which normals of dense solids are near the axis; 2: any are
        ("rise", "f8"),  # dense: how much farther apart they are at a place than along the axis [m]
        ("spread", "f8"),  # slope by which features with contacts may rise from that place at most
        ("middle", "f8", (2,)),  # that place, across the axis in the frame of the axis [m]
        ("turn", "f8"),  # rotation of the solids relative to each other in the step [rad]
        ("polytope", POLYTOPE),  # within the difference of two convex solids
        ("round_edge", EDGE),  # axis of a cylinder, or a tangent of its rim
        ("sink", "f8"),  # how deep springs have let both bodies sink in others; 0: no springs [m]
        ("memory_count", "i8"),  # of contacts that the two solids had in the last step,
        ("memory_feature", "i8", (MAX_MESH_POINTS,)),
        ("memory_load", "f8", (MAX_MESH_POINTS,)),  # and the normal impulses of these [Ns]
        ("across", "f8", (2, 3)),  # directions in the world, across the normal of a patch
        ("size", "i8"),  # of the patch
        ("member", "i8", (CANDIDATE_COUNT,)),  # its candidates
        ("x", "f8", (CANDIDATE_COUNT,)),  # places of these across the normal [m]
        ("y", "f8", (CANDIDATE_COUNT,)),
        ("gap", "f8", (CANDIDATE_COUNT,)),
        ("chosen", CHOSEN, (MAX_POINTS,)),
        ("chosen_count", "i8"),
        ("facing", FACING, (2,)),  # features of both solids that may touch
        ("search", "i8"),  # number of searches so far,
        ("seen_count", "i8"),  # how much the present one has come to,
        ("seen", "i8", (SEEN_ROOM,)),  # and to what, each by the number of its search too
    ]
)

CANDIDATE = np.dtype(
    [
        ("how", "i8"),  # VERTEX_FACE and so on; negative: taken out
        ("code_a", "i8"),  # code of the feature of a
        ("code_b", "i8"),
        ("triangle", "i8"),  # of a contact with a face, by its number in the solid
        ("point", "f8", (3,)),  # half way between the surfaces, in the world [m]
        ("normal", "f8", (3,)),  # from b to a
        ("gap", "f8"),
        ("feature", "i8"),  # both feature codes in one: identity of the contact
        ("cluster", "i8"),  # cluster of similar normals; -1: none yet
        ("kept", "i8"),
    ]
)


@inner_kernel
def place_solid_pair(
    polyhedra: Polyhedra,
    solid_a: Index,
    R_a: Mat3,
    p_a: Vec3,
    solid_b: Index,
    R_b: Mat3,
    p_b: Vec3,
    m: SolidPair,
) -> None:
    """Write the poses of two solids, and set their relative motion to zero.

    Args:
        polyhedra: pool of solids.
        solid_a: number of the solid, -1 for a half-space.
        R_a: rotation from the frame of shape a to the world (3, 3).
        p_a: position of shape a in the world (3,) [m].
        solid_b: as solid_a.
        R_b: rotation from the frame of shape b to the world (3, 3).
        p_b: position of shape b in the world (3,) [m].
        m: SOLID_PAIR record.
    """
    m.solid[0], m.solid[1] = solid_a, solid_b
    m.count = m.memory_count = 0
    m.rim, m.sink = math.inf, 0.0
    m.separation.known, m.separation.clear, m.lean, m.cap, m.turn = 0, 0.0, LEAN, 2.0, 0.0
    for side in range(2):
        m.rounding[side] = 0.0
        if m.solid[side] >= 0:
            solid = polyhedra.solids[m.solid[side]]
            m.rounding[side] = solid.rounding
            m.rim = min(m.rim, solid.rim)
    for i in range(3):
        m.world_p[0, i], m.world_p[1, i] = p_b[i], p_a[i]
        m.t[0, i] = m.t[1, i] = 0.0
        for side in range(2):
            m.spin[side, i] = m.drift[side, i] = 0.0
        for j in range(3):
            m.world_R[0, i, j], m.world_R[1, i, j] = R_b[i, j], R_a[i, j]
            m.R[0, i, j] = R_b[0, i] * R_a[0, j] + R_b[1, i] * R_a[1, j] + R_b[2, i] * R_a[2, j]
            m.R[1, j, i] = m.R[0, i, j]
            m.t[0, i] += R_b[j, i] * (p_a[j] - p_b[j])
            m.t[1, i] += R_a[j, i] * (p_b[j] - p_a[j])


@inner_kernel
def move_solid_pair(spin: Vec3, drift: Vec3, m: SolidPair) -> None:
    """Write the motion of solid a relative to solid b.

    Args:
        spin: angular velocity of a relative to b, along world axes (3,) [rad/s].
        drift: velocity of a relative to b at the world's origin (3,) [m/s].
        m: SOLID_PAIR record with `time_step`, changed.
    """
    m.turn = m.time_step * math.sqrt(spin[0] ** 2 + spin[1] ** 2 + spin[2] ** 2)
    for side in range(2):
        sign = 1.0 if side == 0 else -1.0
        R, p = m.world_R[side], m.world_p[side]
        x = sign * (drift[0] + spin[1] * p[2] - spin[2] * p[1])
        y = sign * (drift[1] + spin[2] * p[0] - spin[0] * p[2])
        z = sign * (drift[2] + spin[0] * p[1] - spin[1] * p[0])
        for i in range(3):
            m.spin[side, i] = sign * (R[0, i] * spin[0] + R[1, i] * spin[1] + R[2, i] * spin[2])
            m.drift[side, i] = R[0, i] * x + R[1, i] * y + R[2, i] * z


@inner_kernel
def velocity_at(
    m: SolidPair, side: int, x: float, y: float, z: float
) -> tuple[float, float, float]:
    """Return the velocity of a point of the own solid relative to the other solid [m/s].

    Args:
        m: SOLID_PAIR record.
        side: 0 if the own solid is a, 1 if the own solid is b.
        x: position of the point in the other solid's frame [m].
        y: as `x`.
        z: as `x`.

    Returns:
        (vx, vy, vz), along the axes of the other solid.
    """
    w, v = m.spin[side], m.drift[side]
    return (v[0] + w[1] * z - w[2] * y, v[1] + w[2] * x - w[0] * z, v[2] + w[0] * y - w[1] * x)


@inner_kernel
def to_other(m: SolidPair, side: int, x: float, y: float, z: float) -> tuple[float, float, float]:
    """Transform a direction from the own solid's frame to the other solid's frame.

    Args:
        m: SOLID_PAIR record.
        side: 0 if the own solid is a, 1 if the own solid is b.
        x: component of the direction along x of the own solid.
        y: as `x`, along y.
        z: as `x`, along z.
    """
    return matrix_times(m.R[side], x, y, z)


@inner_kernel
def point_in_other(m: SolidPair, side: int, p: Vec3) -> tuple[float, float, float]:
    """Transform a point from the own solid's frame to the other solid's frame.

    Args:
        m: SOLID_PAIR record.
        side: 0 if the own solid is a, 1 if the own solid is b.
        p: position of the point in the own solid's frame (3,) [m].
    """
    x, y, z = to_other(m, side, p[0], p[1], p[2])
    return x + m.t[side, 0], y + m.t[side, 1], z + m.t[side, 2]


@inner_kernel
def edge_in_other(m: SolidPair, side: int, edge: Edge) -> tuple[float, ...]:
    """Transform an edge from the own solid's frame to the other solid's frame.

    Args:
        m: SOLID_PAIR record.
        side: 0 if the own solid is a, 1 if the own solid is b.
        edge: edge in the own solid's frame.

    Returns:
        (x, y, z, dx, dy, dz): start and direction of the edge [m].
    """
    d = edge.direction
    x, y, z = point_in_other(m, side, edge.start)
    ux, uy, uz = to_other(m, side, d[0], d[1], d[2])
    return x, y, z, ux, uy, uz


@inner_kernel  # many parameters: vectors as three numbers stay in registers
def is_inside(
    polyhedra: Polyhedra,
    m: SolidPair,
    side: int,
    x: float,
    y: float,
    z: float,
    nx: float,
    ny: float,
    nz: float,
    least: float,
) -> bool:
    """Return whether the point x, y, z is inside the other solid, by a ray along n.

    The point is inside if the ray leaves the solid after more than `least` [m]. Cylinders need no
    ray.
    """
    other = polyhedra.solids[m.solid[1 - side]]
    if other.cylinder_radius > 0.0:
        radius = other.cylinder_radius
        return x * x + y * y < radius * radius and abs(z) < other.cylinder_half
    along, triangle = first_hit(polyhedra, m.solid[1 - side], x, y, z, nx, ny, nz, m.stack)
    if triangle < 0 or along <= least:
        return False
    n = polyhedra.triangles[triangle].normal
    return n[0] * nx + n[1] * ny + n[2] * nz > 0.0


@inner_kernel
def feature_code(kind: int, number: Index) -> int:
    """Return the code, below 2**31, of a solid's feature with this kind and number."""
    return 4 * number + kind


@inner_kernel
def is_of_wholes(feature: int) -> bool:
    """Return whether a contact's feature code stands for whole solids (deep overlap)."""
    return feature % 4 == A_SOLID


@inner_kernel  # many parameters: vectors as three numbers stay in registers
def add_candidate(
    m: SolidPair,
    candidates: Records[Candidate],
    side: int,
    how: int,
    own_code: int,
    other_code: int,
    triangle: Index,
    x: float,
    y: float,
    z: float,
    nx: float,
    ny: float,
    nz: float,
    distance: float,
) -> None:
    """Add a contact. If the list is full, the contact replaces the contact with the largest gap.

    x, y, z: point on the own core (the solid without its rounding) [m]. nx, ny, nz: unit normal
    from the other solid to the own solid. distance: distance of the cores along the normal [m].
    """
    gap = distance - m.rounding[0] - m.rounding[1]
    index = m.count
    if index >= candidates.shape[0]:
        widest = gap
        for k in range(candidates.shape[0]):
            if candidates[k].gap > widest:
                index, widest = k, candidates[k].gap
        if index >= candidates.shape[0]:
            return
    else:
        m.count += 1
    candidate = candidates[index]
    candidate.how, candidate.triangle, candidate.gap = how, triangle, gap
    back = m.rounding[side] + 0.5 * gap
    x, y, z = x - back * nx, y - back * ny, z - back * nz
    R, p = m.world_R[side], m.world_p[side]
    sign = 1.0 if side == 0 else -1.0
    for i in range(3):
        candidate.point[i] = p[i] + R[i, 0] * x + R[i, 1] * y + R[i, 2] * z
        candidate.normal[i] = sign * (R[i, 0] * nx + R[i, 1] * ny + R[i, 2] * nz)
    if side == 0:
        candidate.code_a, candidate.code_b = own_code, other_code
    else:
        candidate.code_a, candidate.code_b = other_code, own_code
    candidate.feature = candidate.code_a * SOLID_CODES + candidate.code_b
    candidate.cluster, candidate.kept = -1, 0


@inner_kernel
def closes(m: SolidPair, gap: float, approach: float) -> bool:
    """Return whether a gap [m] is small, or closes in this step at the speed `approach` [m/s]."""
    return gap <= m.calm or approach * m.time_step >= gap - m.calm
