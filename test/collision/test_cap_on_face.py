# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A cylinder's cap on a box's face: corners of their overlap, against a search along the rim."""

import itertools
import math

import numpy as np
import pytest
from collision.posed import random_rotation, turn
from interpreted import interpreted, records
from scipy.optimize import brentq

from hrpsim.engine.collision.primitives import box_face, cylinder_cap
from hrpsim.engine.collision.primitives.contact_row import (
    BOX_EDGE,
    CROSSING,
    FEATURES,
    RIM_TOLERANCE,
    SURFACE,
)
from hrpsim.engine.collision.records import MANIFOLD

cap_on_face = interpreted(cylinder_cap.cap_on_face)
facing_axis = interpreted(box_face.facing_axis)
FAR = 10.0  # a margin that no gap exceeds
FIXED_POINTS = 8  # of both caps, numbered from 0


class Bench:
    """A cylinder a over a face of a box b; n points from b to a, t from b's centre to a's."""

    def __init__(self, seed: int):
        rng = np.random.default_rng(seed)
        self.radius, self.half = rng.uniform(0.05, 0.2), rng.uniform(0.05, 0.2)
        self.lengths = rng.uniform(0.05, 0.2, 3)
        self.R_b, self.p = random_rotation(rng), rng.normal(size=3)
        self.axis, side = int(rng.integers(3)), rng.choice([-1.0, 1.0])
        self.cap = rng.choice([-1.0, 1.0])
        self.face = side * self.R_b[:, self.axis]
        self.n = turn(rng.normal(size=3), rng.uniform(0.0, 0.2)) @ self.face
        spun = turn(self.n, rng.uniform(0.0, 6.0))
        x = np.cross(self.n, self.R_b[:, (self.axis + 1) % 3])
        x /= np.linalg.norm(x)
        facing = np.column_stack([x, np.cross(-self.cap * self.n, x), -self.cap * self.n])
        self.R_a = turn(rng.normal(size=3), rng.uniform(0.0, 0.2)) @ spun @ facing
        self.u, self.v = (self.R_b[:, (self.axis + k) % 3] for k in (1, 2))
        self.half_u, self.half_v = (self.lengths[(self.axis + k) % 3] for k in (1, 2))
        self.top = self.face * self.lengths[self.axis]
        shift = rng.uniform(-0.2, 0.2, 2)
        middle = self.top + shift[0] * self.u + shift[1] * self.v + 0.01 * self.n
        self.middle = middle  # of the cap
        self.t = middle - self.cap * self.half * self.R_a[:, 2]

    def contacts(self, margin=FAR):
        """Return {feature: (point on the face, gap)}."""
        out = records(1, MANIFOLD)[0]
        count = cap_on_face(
            0, (self.radius, self.half), self.R_a, self.lengths, self.R_b, self.p, *self.t,
            *self.n, margin, out,
        )  # fmt: skip
        np.testing.assert_allclose(out.normal[:count], np.tile(self.n, (count, 1)))
        found = {
            int(out.feature[k]): (out.point[k] - self.p - 0.5 * out.gap[k] * self.n, out.gap[k])
            for k in range(count)
        }
        assert len(found) == count
        return found

    def rim(self, angle):
        """Return X, Y on the face and the gap of the rim's points at angles, moved along n."""
        spoke = np.outer(np.cos(angle), self.R_a[:, 0]) + np.outer(np.sin(angle), self.R_a[:, 1])
        off = self.middle + self.radius * spoke - self.top
        gap = (off @ self.face) / (self.n @ self.face)
        foot = off - np.outer(gap, self.n)
        return np.squeeze([foot @ self.u, foot @ self.v, gap])

    def highest_on_rim(self):
        """Return the largest gap of the rim [m]: the gap is a constant and a sine of the angle."""
        start, quarter, half = self.rim(np.array([0.0, 0.5 * math.pi, math.pi]))[2]
        middle = 0.5 * (start + half)
        return middle + math.hypot(start - middle, quarter - middle)

    def corners(self):
        """Return {feature: (X, Y, gap)} of all corners, and how far the nearest is from another."""
        found, margins = {}, []
        halves = (self.half_u, self.half_v)
        angles = np.linspace(0.0, 2.0 * math.pi, 721)
        for k, sign in itertools.product((0, 1), (-1.0, 1.0)):

            def beyond(angle, k=k, sign=sign):
                return sign * self.rim(angle)[k] - halves[k]

            values = beyond(angles)
            margins.append(np.abs(values).min() if np.all(values < 0.0) else 1.0)
            for at in np.flatnonzero(values[:-1] * values[1:] < 0.0):
                at_rim = self.rim(brentq(beyond, angles[at], angles[at + 1], xtol=1e-14))
                margins.append(halves[1 - k] - abs(at_rim[1 - k]))
                if margins[-1] > 0.0:
                    falls = int(sign * (values[at + 1] - values[at]) < 0.0)
                    code = BOX_EDGE + self.edge(k, sign)
                    found[(CROSSING + falls) * FEATURES + code] = at_rim
        for signs in itertools.product((-1.0, 1.0), repeat=2):
            corner = self.top + signs[0] * self.half_u * self.u + signs[1] * self.half_v * self.v
            gap = ((self.middle - corner) @ self.R_a[:, 2]) / (self.n @ self.R_a[:, 2])
            inside = self.radius - np.linalg.norm(corner + gap * self.n - self.middle)
            margins.append(inside)
            if inside > 0.0:
                sides = np.sign(self.R_b.T @ corner) > 0.0
                code = sum(1 << k for k in range(3) if sides[k])
                found[SURFACE * FEATURES + code] = (signs[0] * halves[0], signs[1] * halves[1], gap)
        for k in range(4):
            X, Y, gap = self.rim(0.5 * math.pi * k)
            margins.append(min(self.half_u - abs(X), self.half_v - abs(Y)))
            if margins[-1] > 0.0:
                found[(k + 4 if self.cap > 0.0 else k) * FEATURES + SURFACE] = (X, Y, gap)
        return found, np.abs(margins).min()

    def edge(self, k, sign):
        """Return the number of the face's edge at the side `sign` of X (k = 0) or Y."""
        side = self.R_b.T @ self.top
        side[(self.axis + 1 + k) % 3] = sign
        along = (self.axis + 2 - k) % 3
        return 4 * along + sum(1 << j for j in (0, 1) if side[(along + 1 + j) % 3] > 0.0)


def at_face(bench, point):
    return np.array([(point - bench.top) @ bench.u, (point - bench.top) @ bench.v])


@pytest.mark.parametrize("seed", range(60))
def test_the_contacts_are_the_corners_of_the_overlap(seed):
    """Law: crossings of rim and edges, vertices under the cap, fixed rim points over the face.

    Each has its place along n, its gap, and the features that it lies on. Within a margin the fixed
    points count only if the whole rim is within the margin.
    """
    bench = Bench(seed)
    expected, clearance = bench.corners()
    if clearance < 2e-4 or len(expected) > 8:
        return  # decided by the tolerance, or more than a manifold holds
    found = bench.contacts()
    assert set(found) == set(expected)
    for feature, (X, Y, gap) in expected.items():
        point, distance = found[feature]
        np.testing.assert_allclose(at_face(bench, point), (X, Y), atol=1e-10)
        assert distance == pytest.approx(gap, abs=1e-10)
    gaps = {feature: gap for feature, (_, gap) in found.items()}
    highest = bench.highest_on_rim()
    for margin in [*gaps.values(), 0.999 * highest, 1.001 * highest]:
        near = {feature for feature, gap in gaps.items() if gap <= margin}
        if margin < highest:
            near = {feature for feature in near if feature // FEATURES >= FIXED_POINTS}
        assert set(bench.contacts(margin)) == near


RADIUS, HALF = 0.1, 0.2
TOLERANCE = RIM_TOLERANCE * RADIUS


def upright(x, y):
    """Return X, Y and features of the contacts of an upright cylinder at x, y on a cube's face."""
    out, axes = records(1, MANIFOLD)[0], np.eye(3)
    count = cap_on_face(
        0, (RADIUS, 0.05), axes, (HALF,) * 3, axes, np.zeros(3), x, y, HALF + 0.05,
        0.0, 0.0, 1.0, 1.0, out,
    )  # fmt: skip
    return out.point[:count, :2], out.feature[:count].tolist()


@pytest.mark.parametrize("outside, counts", [(-0.5, True), (0.5, True), (1.5, False)])
@pytest.mark.parametrize("number, x, y", [(0, 1.0, 0.0), (1, 0.0, 1.0), (2, -1.0, 0.0)])
def test_a_rim_point_just_outside_the_face_counts_and_is_moved_onto_it(
    outside, counts, number, x, y
):
    """Law: up to a tolerance; beyond it the rim crosses the edge next to the point instead."""
    shift = HALF + outside * TOLERANCE - RADIUS
    points, features = upright(shift * x, shift * y)
    assert (number * FEATURES + SURFACE in features) == counts
    assert np.abs(points).max() == HALF if outside > 0.0 else np.abs(points).max() < HALF
    assert len(features) == (4 if counts else 5)


@pytest.mark.parametrize("inside", np.arange(-3.0, 3.1, 0.25))
def test_a_vertex_near_the_rim_is_not_lost(inside):
    """Law: wherever the rim is, the vertex or crossings next to it bound the overlap."""
    middle = HALF - (RADIUS - inside * TOLERANCE) / math.sqrt(2.0)
    points, features = upright(middle, middle)
    from_vertex = np.sort(np.abs(points - HALF).max(axis=1))
    assert from_vertex[0] <= max(-inside, 0.0) * 1.5 * TOLERANCE + 1e-9
    assert (from_vertex < 10.0 * TOLERANCE).sum() == (
        1 if SURFACE * FEATURES + 7 in features else 2
    )
