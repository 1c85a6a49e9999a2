# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""An edge in the mouth of a notch is held by both rims, past whose ends it crosses them."""

import numpy as np
import pytest
from collision.posed import Posed, turn
from collision.solids import L_OUTLINE, box_mesh, meet_solids, prism_mesh
from collision.test_mesh_distance import apart

from hrpsim import Mesh
from hrpsim.engine.collision.solids.collision_proxies import proxy

HALF = 0.1


def notched(opening) -> Mesh:
    """Return a block along z with a notch about the y axis whose bottom is the z axis."""
    w, h = 0.1, 0.1 / np.tan(opening / 2)
    return prism_mesh([(-w, -0.1), (w, -0.1), (w, h), (0.0, 0.0), (-w, h)], HALF)


def wedge(opening) -> Mesh:
    """Return a bar along z, its lower edge the z axis."""
    w = 0.05 * np.tan(opening / 2)
    return prism_mesh([(0.0, 0.0), (w, 0.05), (-w, 0.05)], 0.15)


def leaning(lean, yaw, aside, depth):
    """Return how a wedge lies that passes the mouth's corner, leaning out of it, by so much."""
    return turn((0, 1, 0), yaw) @ turn((1, 0, 0), lean), np.array([aside, -depth, HALF])


def rims(opening):
    """Return the directions of the two rim edges, from the mouth's corner."""
    sine, cosine = np.sin(opening / 2), np.cos(opening / 2)
    return np.array([[sine, cosine, 0.0], [-sine, cosine, 0.0]])


@pytest.mark.parametrize("aside", [-0.3, 0.0, 0.2])
@pytest.mark.parametrize(("lean", "yaw"), [(0.1, 0.0), (0.3, 0.02), (0.6, -0.02)])
@pytest.mark.parametrize("opening", [0.6, 1.2, np.pi / 2, 2.2, 2.9])
def test_both_rims_hold_it_as_if_their_edges_went_on(opening, lean, yaw, aside):
    """Gap and normal are those of the lines: w . (u x v) and u x v over its norm."""
    for depth in (2e-6, 5e-5, 1e-3):
        R, p = leaning(lean, yaw, aside * depth, depth)
        m = meet_solids(Posed(wedge(0.4), R, p), Posed(notched(opening)), margin=2e-3)
        assert m.count == 2
        corner, v = np.array([0.0, 0.0, HALF]), R[:, 2]
        for u in rims(opening):
            n = np.cross(u, v) / np.linalg.norm(np.cross(u, v))
            n = n if n[1] > 0.0 else -n
            k = np.argmin(np.linalg.norm(m.normals - n, axis=1))
            assert m.normals[k] == pytest.approx(n, abs=1e-9)
            assert m.gaps[k] == pytest.approx((p - corner) @ n, abs=1e-12)
            assert m.gaps[k] < 0.0


@pytest.mark.parametrize("lean", [0.1, 0.4])
@pytest.mark.parametrize("opening", [1.2, np.pi / 2, 2.2])
def test_moved_by_what_both_contacts_ask_for_it_touches(opening, lean):
    notch = Posed(notched(opening))
    R, p = leaning(lean, 0.02, 1e-4, 5e-4)
    m = meet_solids(Posed(wedge(0.4), R, p), notch, margin=2e-3)
    out, *_ = np.linalg.lstsq(m.normals, -m.gaps, rcond=None)
    assert np.linalg.norm(out) < 1e-3 / np.sin(opening / 2)
    assert apart(Posed(wedge(0.4), R, p + 0.99 * out), notch) == 0.0
    assert 0.0 < apart(Posed(wedge(0.4), R, p + 1.01 * out), notch) < 1e-5


def test_the_contacts_come_and_stay_with_the_depth():
    """From above the corner to beneath it: two contacts, their gaps straight lines of the depth."""
    depths = np.linspace(-1e-3, 2e-3, 61)
    found = []
    for depth in depths:
        R, p = leaning(0.2, 0.0, 0.0, depth)
        m = meet_solids(Posed(wedge(0.4), R, p), Posed(notched(1.2)), margin=2e-3)
        assert m.count == 2
        found.append(np.sort(m.gaps))
    slopes = np.diff(found, axis=0) / np.diff(depths)[:, None]
    assert slopes == pytest.approx(np.full_like(slopes, slopes[0, 0]), rel=1e-6)


def test_beside_a_wall_the_edge_above_does_not_go_on():
    """Sunk into one wall of a right-angled corner, above the other by more than the margin."""
    corner = prism_mesh(L_OUTLINE, HALF)
    R = turn((1, 0, 0), 0.1)
    bar = box_mesh((0.05, 0.05, 0.3))
    for inside in (1e-5, 5e-4):
        p = np.array([0.025 - inside, 0.06, 0.1])
        m = meet_solids(Posed(bar, R, p), Posed(corner), margin=1e-3)
        assert m.count > 0
        assert np.abs(m.normals[:, 1]).max() < 1e-9


def ends(shape):
    """Return the places where edges go on, and their directions there."""
    found = []
    for edge in proxy(shape).edges:
        start, along = edge["start"], edge["direction"]
        if edge["goes_on"] & 1:
            found.append((start, -along))
        if edge["goes_on"] & 2:
            found.append((start + edge["length"] * along, along))
    return found


def test_rim_edges_go_on_at_the_corners_of_the_mouths_only():
    found = ends(notched(1.2))
    assert len(found) == 4
    for place, out in found:
        assert np.abs(place) == pytest.approx([0.0, 0.0, HALF], abs=1e-12)
        assert min(np.linalg.norm(out + rims(1.2), axis=1)) < 1e-12
    assert ends(box_mesh((0.1, 0.2, 0.3))) == []


def star(points) -> Mesh:
    """Return a pyramid over a star: ridges and valleys end at its tip."""
    angles = np.pi * np.arange(2 * points) / points
    radii = np.where(np.arange(2 * points) % 2, 0.05, 0.1)
    ring = np.column_stack([radii * np.cos(angles), radii * np.sin(angles), np.zeros(2 * points)])
    vertices = np.concatenate([ring, [[0.0, 0.0, 0.1], [0.0, 0.0, 0.0]]])
    k = np.arange(2 * points)
    following = (k + 1) % (2 * points)
    tip, middle = np.full_like(k, 2 * points), np.full_like(k, 2 * points + 1)
    sides = np.column_stack([k, following, tip])
    return Mesh(vertices, np.concatenate([sides, np.column_stack([following, k, middle])]))


def test_ridges_do_not_go_on_past_a_tip_where_valleys_end_too():
    """The tip is a vertex that touches, though concave edges end there."""
    assert all(place[2] == pytest.approx(0.0, abs=1e-12) for place, _ in ends(star(5)))
