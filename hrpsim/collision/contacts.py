"""From shapes to contact points: candidate pairs, manifolds, and who is who since the last step."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from hrpsim.collision.broad_phase import candidate_pairs
from hrpsim.collision.inner_kernel import inner_kernel
from hrpsim.collision.manifold import MAX_POINTS, collide
from hrpsim.model.geometry import PLANE


class Shapes(NamedTuple):
    """The `s` collision shapes of a world; body -1 is the world itself."""

    kind: np.ndarray  # (s,)
    size: np.ndarray  # (s, 3)
    body: np.ndarray  # (s,)
    placement_R: np.ndarray  # (s, 3, 3) in the body frame
    placement_p: np.ndarray  # (s, 3) [m]
    radius: np.ndarray  # (s,) of the sphere about the shape's origin that holds it [m]
    group: np.ndarray  # (s,) shapes of one group never meet; -1: the fixed world
    material: np.ndarray  # (s,)
    center: np.ndarray  # (s, 3) shape origin in the world [m], refreshed by `detect`
    listed_center: np.ndarray  # (s, 3) the same when the candidate list was made
    listed_slack: np.ndarray  # (s,) how much nearer than listed the shape may come to others [m]
    reach: np.ndarray  # (s,) how far its surface can move in a step [m]
    lower: np.ndarray  # (s, 3) bounds when the candidate list was made [m]
    upper: np.ndarray  # (s, 3)
    order: np.ndarray  # (s,) work of the broad phase


class Candidates(NamedTuple):
    """Pairs of shapes near enough to be looked at."""

    count: np.ndarray  # (1,) -1: make the list anew
    pair: np.ndarray  # (capacity, 2)


class Contacts(NamedTuple):
    """Contact points, sorted by shape pair; capacity `m`.

    The normal points from b to a: a force f >= 0 pushes a along +normal.
    """

    count: np.ndarray  # (1,)
    shape_a: np.ndarray  # (m,)
    shape_b: np.ndarray  # (m,)
    feature: np.ndarray  # (m,) stable identity within the pair
    body_a: np.ndarray  # (m,) -1: the world
    body_b: np.ndarray  # (m,)
    point_a: np.ndarray  # (m, 3) relative to the origin of a's tree (world: absolute) [m]
    point_b: np.ndarray  # (m, 3) the same point relative to the origin of b's tree [m]
    normal: np.ndarray  # (m, 3)
    gap: np.ndarray  # (m,) [m], negative inside
    impulse: np.ndarray  # (m, 3) along the normal and the two tangents [Ns]


class Manifold(NamedTuple):
    """Work arrays for one pair."""

    R_a: np.ndarray
    R_b: np.ndarray
    p_a: np.ndarray
    p_b: np.ndarray
    point: np.ndarray
    normal: np.ndarray
    gap: np.ndarray
    feature: np.ndarray


def new_candidates(capacity: int) -> Candidates:
    """Return an empty candidate list that must be made before use."""
    return Candidates(
        count=np.full(1, -1, dtype=np.int64), pair=np.zeros((capacity, 2), dtype=np.int64)
    )


def new_contacts(capacity: int) -> Contacts:
    """Return room for `capacity` contact points."""
    integers = (np.zeros(capacity, dtype=np.int64) for _ in range(5))
    return Contacts(
        np.zeros(1, dtype=np.int64),
        *integers,
        point_a=np.zeros((capacity, 3)),
        point_b=np.zeros((capacity, 3)),
        normal=np.zeros((capacity, 3)),
        gap=np.zeros(capacity),
        impulse=np.zeros((capacity, 3)),
    )


def new_manifold() -> Manifold:
    """Return work arrays for `detect`."""
    return Manifold(
        R_a=np.zeros((3, 3)),
        R_b=np.zeros((3, 3)),
        p_a=np.zeros(3),
        p_b=np.zeros(3),
        point=np.zeros((MAX_POINTS, 3)),
        normal=np.zeros((MAX_POINTS, 3)),
        gap=np.zeros(MAX_POINTS),
        feature=np.zeros(MAX_POINTS, dtype=np.int64),
    )


@inner_kernel
def refresh_candidates(system, kinematics, shapes, margin, time_step, skin, candidates_out):
    """Update the shapes' centres and reach, and make the candidate list anew where it may be short.

    The list holds every pair that can come within `margin` [m] plus the reach of both before a
    shape has moved by about `skin` [m]. Returns the number of candidates; more than the capacity
    means that the list is not made.
    """
    stale = candidates_out.count[0] < 0
    for s in range(shapes.kind.shape[0]):
        body = shapes.body[s]
        if body < 0:
            for r in range(3):
                shapes.center[s, r] = shapes.placement_p[s, r]
            continue
        origin = kinematics.origin[system.root[body]]
        v = kinematics.v[body]
        R, p, t = kinematics.R[body], kinematics.p[body], shapes.placement_p[s]
        x = p[0] + R[0, 0] * t[0] + R[0, 1] * t[1] + R[0, 2] * t[2]
        y = p[1] + R[1, 0] * t[0] + R[1, 1] * t[1] + R[1, 2] * t[2]
        z = p[2] + R[2, 0] * t[0] + R[2, 1] * t[1] + R[2, 2] * t[2]
        lx = v[3] + v[1] * z - v[2] * y
        ly = v[4] + v[2] * x - v[0] * z
        lz = v[5] + v[0] * y - v[1] * x
        turning = math.sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2])
        speed = math.sqrt(lx * lx + ly * ly + lz * lz) + turning * shapes.radius[s]
        shapes.reach[s] = time_step * speed
        shapes.center[s, 0] = origin[0] + x
        shapes.center[s, 1] = origin[1] + y
        shapes.center[s, 2] = origin[2] + z
        dx = shapes.center[s, 0] - shapes.listed_center[s, 0]
        dy = shapes.center[s, 1] - shapes.listed_center[s, 1]
        dz = shapes.center[s, 2] - shapes.listed_center[s, 2]
        left = shapes.listed_slack[s] - shapes.reach[s] - 0.5 * margin
        if not (left > 0.0 and dx * dx + dy * dy + dz * dz < left * left):
            stale = True
    if not stale:
        return candidates_out.count[0]
    for s in range(shapes.kind.shape[0]):
        shapes.listed_slack[s] = skin + margin + 2.0 * shapes.reach[s]
        extent = np.inf if shapes.kind[s] == PLANE else shapes.radius[s] + shapes.listed_slack[s]
        for r in range(3):
            shapes.listed_center[s, r] = shapes.center[s, r]
            shapes.lower[s, r] = shapes.center[s, r] - extent
            shapes.upper[s, r] = shapes.center[s, r] + extent
    count = candidate_pairs(
        shapes.lower, shapes.upper, shapes.group, shapes.order, candidates_out.pair
    )
    candidates_out.count[0] = count if count <= candidates_out.pair.shape[0] else -1
    return count


@inner_kernel
def place_shape(system, kinematics, shapes, s, reference, R_out, p_out):
    """Write the pose of shape `s`: rotation, and position relative to the point `reference`."""
    body = shapes.body[s]
    L, t = shapes.placement_R[s], shapes.placement_p[s]
    if body < 0:
        for r in range(3):
            p_out[r] = t[r] - reference[r]
            for k in range(3):
                R_out[r, k] = L[r, k]
        return
    origin = kinematics.origin[system.root[body]]
    R, p = kinematics.R[body], kinematics.p[body]
    for r in range(3):
        x, y, z = R[r, 0], R[r, 1], R[r, 2]
        p_out[r] = (origin[r] - reference[r]) + (p[r] + x * t[0] + y * t[1] + z * t[2])
        for k in range(3):
            R_out[r, k] = x * L[0, k] + y * L[1, k] + z * L[2, k]


@inner_kernel
def _far_apart(shapes, a, b, margin):
    """Return whether two shapes are certainly further apart than `margin`."""
    dx = shapes.center[b, 0] - shapes.center[a, 0]
    dy = shapes.center[b, 1] - shapes.center[a, 1]
    dz = shapes.center[b, 2] - shapes.center[a, 2]
    if shapes.kind[a] == PLANE and shapes.body[a] < 0:
        L = shapes.placement_R[a]
        return dx * L[0, 2] + dy * L[1, 2] + dz * L[2, 2] > shapes.radius[b] + margin
    if shapes.kind[b] == PLANE and shapes.body[b] < 0:
        L = shapes.placement_R[b]
        return -(dx * L[0, 2] + dy * L[1, 2] + dz * L[2, 2]) > shapes.radius[a] + margin
    reach = shapes.radius[a] + shapes.radius[b] + margin
    return dx * dx + dy * dy + dz * dz > reach * reach


@inner_kernel
def detect(system, kinematics, shapes, candidates, margin, manifold, contacts_out):
    """Write the contact points of every candidate pair; return how many there are.

    Points within `margin` [m], plus what the pair can close in a step, are kept. A return above
    the capacity means that the later ones were not written.
    """
    count = 0
    capacity = contacts_out.shape_a.shape[0]
    for c in range(candidates.count[0]):
        a, b = candidates.pair[c, 0], candidates.pair[c, 1]
        closing = shapes.reach[a] + shapes.reach[b]
        if _far_apart(shapes, a, b, margin + closing):
            continue
        body_a, body_b = shapes.body[a], shapes.body[b]
        nearby = body_a if body_a >= 0 else body_b
        reference = kinematics.origin[system.root[nearby]]
        place_shape(system, kinematics, shapes, a, reference, manifold.R_a, manifold.p_a)
        place_shape(system, kinematics, shapes, b, reference, manifold.R_b, manifold.p_b)
        found = collide(
            shapes.kind[a],
            shapes.size[a],
            manifold.R_a,
            manifold.p_a,
            shapes.kind[b],
            shapes.size[b],
            manifold.R_b,
            manifold.p_b,
            margin + closing,
            manifold.point,
            manifold.normal,
            manifold.gap,
            manifold.feature,
        )
        for k in range(found):
            if count < capacity:
                contacts_out.shape_a[count] = a
                contacts_out.shape_b[count] = b
                contacts_out.feature[count] = manifold.feature[k]
                contacts_out.body_a[count] = body_a
                contacts_out.body_b[count] = body_b
                contacts_out.gap[count] = manifold.gap[k]
                for r in range(3):
                    x = manifold.point[k, r]
                    at_a = 0.0 if body_a < 0 else kinematics.origin[system.root[body_a], r]
                    at_b = 0.0 if body_b < 0 else kinematics.origin[system.root[body_b], r]
                    contacts_out.point_a[count, r] = x + (reference[r] - at_a)
                    contacts_out.point_b[count, r] = x + (reference[r] - at_b)
                    contacts_out.normal[count, r] = manifold.normal[k, r]
                    contacts_out.impulse[count, r] = 0.0
            count += 1
    contacts_out.count[0] = min(count, capacity)
    return count


@inner_kernel
def recall_impulses(previous, contacts_out):
    """Start every contact from the impulse it had in the last step; new ones start from zero.

    Both lists are sorted by pair, so one pass over both finds the partners.
    """
    k = 0
    total = previous.count[0]
    for c in range(contacts_out.count[0]):
        a, b = contacts_out.shape_a[c], contacts_out.shape_b[c]
        while k < total and (
            previous.shape_a[k] < a or (previous.shape_a[k] == a and previous.shape_b[k] < b)
        ):
            k += 1
        j = k
        while j < total and previous.shape_a[j] == a and previous.shape_b[j] == b:
            if previous.feature[j] == contacts_out.feature[c]:
                for r in range(3):
                    contacts_out.impulse[c, r] = previous.impulse[j, r]
                break
            j += 1
