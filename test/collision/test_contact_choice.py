# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Of a patch's many contacts up to eight are kept, from step to step the same: those that hold it.

The sole of a foot has 500 vertices about an ellipse, in one plane or up to 1e-5 m out of it.
"""

import numpy as np
import pytest
from collision.posed import Posed, turn
from collision.solids import box_mesh, meet_solids, prism_mesh, sole_mesh
from grouped import one_compiles

from hrpsim import Plane

pytestmark = one_compiles("meshes")

COUNT, EXTENT, UPRIGHT = 500, 0.24, np.eye(3)
ROUGHNESS = {"flat": 0.0, "rough": np.random.default_rng(1).uniform(0.0, 1e-5, COUNT)}
FLOORS = {"plane": Posed(Plane()), "slab": Posed(box_mesh((1, 1, 0.2)), np.eye(3), (0, 0, -0.1))}
MARGIN = 2e-3


def heights(sole, R):
    """Heights of all vertices over the lowest [m]."""
    z = (sole.vertices @ R.T)[:, 2]
    return z - z.min()


def standing(sole, R=UPRIGHT):
    """The sole turned by R, its lowest vertex at height 0."""
    return Posed(sole, R, (0.0, 0.0, -(sole.vertices @ R.T)[:, 2].min()))


def vertices_of(m, a):
    """Numbers of the vertices of a that the contacts are at."""
    points = m.points - 0.5 * m.gaps[:, None] * -m.normals
    placed = a.shape.vertices @ a.R.T + a.p
    return [int(np.linalg.norm(placed - p, axis=1).argmin()) for p in points]


@pytest.mark.parametrize("floor", FLOORS)
@pytest.mark.parametrize("kind", ROUGHNESS)
def test_a_sole_that_jitters_keeps_its_contacts(kind, floor):
    """Turned and moved by up to 1e-6, step by step, it keeps the names that it has."""
    sole = sole_mesh(ROUGHNESS[kind])
    rng = np.random.default_rng(2)
    m = meet_solids(standing(sole), FLOORS[floor], MARGIN)
    assert 3 <= m.count <= 8
    first = set(m.features)
    loads = {f: 1.0 if gap < 1e-7 else 0.0 for f, gap in zip(m.features, m.gaps)}
    for _ in range(100):
        R = turn((*rng.normal(size=2), 0.0), rng.uniform(-1e-8, 1e-8))
        R = turn((0, 0, 1), rng.uniform(-1e-6, 1e-6)) @ R
        a = Posed(sole, R, (*rng.uniform(-1e-6, 1e-6, 2), rng.uniform(-1e-8, 1e-8)))
        m = meet_solids(a, FLOORS[floor], MARGIN, memory=loads)
        assert set(m.features) == first
        loads = {f: loads[f] for f in m.features}


@pytest.mark.parametrize("kind", ROUGHNESS)
def test_where_nothing_moves_the_choice_is_its_own_successor(kind):
    """Whatever tilt it is at, and whichever of the contacts bear load."""
    sole = sole_mesh(ROUGHNESS[kind])
    rng = np.random.default_rng(3)
    for angle in (0.0, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2):
        a = standing(sole, turn((*rng.normal(size=2), 0.0), angle))
        m = meet_solids(a, FLOORS["plane"], MARGIN)
        for bearing in (np.zeros(m.count), rng.integers(0, 2, m.count), np.ones(m.count)):
            again = meet_solids(
                a, FLOORS["plane"], MARGIN, memory=dict(zip(m.features, bearing, strict=True))
            )
            assert set(again.features) == set(m.features)


@pytest.mark.quick_cases("[0-9]-*")
@pytest.mark.parametrize("kind", ROUGHNESS)
@pytest.mark.parametrize("seed", range(20))
def test_what_is_kept_is_as_low_as_all_under_any_tilt(kind, seed):
    """Tilted on by any slope, no other vertex comes lower than by a quarter of what the ends move.

    Besides a micrometre, the usual slop; the deepest of all is among them.
    """
    sole = sole_mesh(ROUGHNESS[kind])
    rng = np.random.default_rng(seed)
    start = turn((*rng.normal(size=2), 0.0), 10.0 ** rng.uniform(-7, -2.3))
    a = standing(sole, start)
    m = meet_solids(a, FLOORS["plane"], MARGIN)
    kept = vertices_of(m, a)
    assert heights(sole, start)[kept].min() < 1e-8
    for slope in 10.0 ** rng.uniform(-7, np.log10(0.05), 50):
        R = turn((*rng.normal(size=2), 0.0), slope) @ start
        assert heights(sole, R)[kept].min() < 1e-6 + 0.25 * slope * EXTENT


def test_what_bears_load_stays_where_other_points_reach_further():
    """Up to five vertices that bear load are kept, wherever they are, and the deepest with them."""
    sole = sole_mesh(ROUGHNESS["rough"])
    a = standing(sole)
    everything = {f: g for f, g in zip(*every_contact(a))}
    rng = np.random.default_rng(4)
    for count in (1, 3, 5):
        for _ in range(10):
            bearing = rng.choice(list(everything), count, replace=False)
            memory = dict.fromkeys(bearing, 1.0)
            m = meet_solids(a, FLOORS["plane"], MARGIN, memory=memory)
            assert set(bearing) <= set(m.features)
            assert m.gaps.min() < 1e-8
            assert m.count <= 8


def every_contact(a):
    """Features and gaps of all vertices of the sole, from what the contacts are called."""
    m = meet_solids(a, FLOORS["plane"], MARGIN)
    numbers = vertices_of(m, a)
    step = {int(f) - 4 * n * 2**31 for f, n in zip(m.features, numbers, strict=True)}
    (rest,) = step  # the codes of the kinds, and of the plane
    low = np.arange(COUNT)
    return 4 * low * 2**31 + rest, heights(a.shape, a.R)[low]


def test_a_load_that_is_gone_makes_room():
    """Eight that touched, none of them loaded, give way to what the tilt asks for."""
    sole = sole_mesh(0.0)
    flat = meet_solids(standing(sole), FLOORS["plane"], MARGIN)
    a = standing(sole, turn((1, 0, 0), 3e-3))
    m = meet_solids(a, FLOORS["plane"], MARGIN, memory=dict.fromkeys(flat.features, 0.0))
    alone = meet_solids(a, FLOORS["plane"], MARGIN)
    assert m.count <= 8
    assert m.gaps.min() == pytest.approx(0.0, abs=1e-8)
    assert np.ptp(m.points[:, 0]) > 0.9 * np.ptp(alone.points[:, 0])


# -- patches of at most eight contacts ------------------------------------------------------------

SQUARE = [(-0.1, -0.05), (0.1, -0.05), (0.1, 0.05), (-0.1, 0.05)]


def with_middles(bulge):
    """The square with a vertex on each side, further out by `bulge` of the half width."""
    outline = []
    for k, corner in enumerate(SQUARE):
        middle = 0.5 * np.add(corner, SQUARE[(k + 1) % 4])
        outline += [corner, tuple((1.0 + bulge) * middle)]
    return outline


@pytest.mark.parametrize("floor", FLOORS)
@pytest.mark.parametrize("tilt", [0.0, 1e-7])
@pytest.mark.parametrize("bulge, count", [(0.0, 4), (1e-4, 4), (1e-2, 8)])
def test_a_flat_foot_is_borne_by_the_corners_of_its_polygon(bulge, count, tilt, floor):
    """A vertex on a side, or a ten-thousandth outside, adds nothing to the polygon."""
    foot = prism_mesh(with_middles(bulge), 0.02)
    m = meet_solids(standing(foot, turn((1, 0.3, 0), tilt)), FLOORS[floor], MARGIN)
    assert m.count == count
    points = {tuple(np.round(p[:2], 6)) for p in m.points}
    assert set(SQUARE) <= points


@pytest.mark.quick_cases("[0-9]")
@pytest.mark.parametrize("seed", range(40))
def test_no_threshold_of_tipping_moves_by_a_thousandth(seed):
    """The support function of the contacts is that of all vertices, in every direction."""
    rng = np.random.default_rng(seed)
    angle = np.sort(rng.uniform(0.0, 2.0 * np.pi, rng.integers(4, 9)))
    if np.diff([*angle, angle[0] + 2.0 * np.pi]).max() > 0.9 * np.pi:
        angle = 2.0 * np.pi * np.arange(len(angle)) / len(angle)
    outline = np.column_stack([0.12 * np.cos(angle), 0.06 * np.sin(angle)])
    m = meet_solids(standing(prism_mesh(outline, 0.02)), FLOORS["plane"], MARGIN)
    middle = outline.mean(axis=0)
    way = 2.0 * np.pi * np.arange(360) / 360
    directions = np.array([np.cos(way), np.sin(way)])
    whole = ((outline - middle) @ directions).max(axis=0)
    kept = ((m.points[:, :2] - middle) @ directions).max(axis=0)
    assert (kept >= 0.999 * whole).all()


@pytest.mark.quick_cases("[0-9]-*")
@pytest.mark.parametrize("gap", [0.0, 1e-4, 1e-3])
@pytest.mark.parametrize("seed", range(20))
def test_what_is_left_out_of_a_small_patch_comes_no_lower(seed, gap):
    """Under any slope, but for a quarter of the gap, and of what the slope moves the ends."""
    rng = np.random.default_rng(seed)
    outline = 0.05 * np.array([(np.cos(t), np.sin(t)) for t in 0.785 * np.arange(8)])
    hull = prism_mesh(outline * rng.uniform(0.5, 1.0, 2), 0.02)
    start = turn((*rng.normal(size=2), 0.0), 10.0 ** rng.uniform(-7, -1.5))
    a = standing(hull, start)
    a = Posed(a.shape, a.R, np.add(a.p, (0.0, 0.0, gap)))
    m = meet_solids(a, FLOORS["plane"], MARGIN)
    kept = vertices_of(m, a)
    near = np.flatnonzero(heights(hull, start) + gap <= MARGIN)
    extent = 0.1
    assert m.gaps.min() == pytest.approx(gap, abs=1e-8)
    for slope in 10.0 ** rng.uniform(-7, np.log10(0.05), 50):
        R = turn((*rng.normal(size=2), 0.0), slope) @ start
        z = heights(hull, R)
        lower = z[kept].min() - z[near].min()
        assert lower < 1e-6 + 0.25 * gap + 0.25 * slope * extent
