# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Zero-moment point, capture point and support polygon against their definitions."""

import numpy as np
import pytest
from scipy.spatial import ConvexHull

import hrpsim
from hrpsim import ModelError
from hrpsim.analysis import Analyser, FixedPhase
from hrpsim.analysis.soles import Sole, soles_of
from hrpsim.control.pattern.support_polygon import convex_hull, margins
from robots import ALL_ROBOTS, HRP2_LIKE

SOLES = ("l_sole", "r_sole")
G = 9.80665


@pytest.fixture(scope="module")
def model():
    return hrpsim.load_model(HRP2_LIKE)


def random_samples(model, count=100, seed=1):
    rng = np.random.default_rng(seed)
    q = np.tile(model.neutral(), (count, 1))
    q[:, 7:] += rng.uniform(-0.3, 0.3, (count, model.nq - 7))
    v, dv = rng.normal(size=(2, count, model.nv))
    return q, v, 2.0 * dv


def test_horizontal_moments_about_the_zmp_vanish(model):
    found = Analyser(model).analyse(*random_samples(model), "r_sole")
    at = found.support("r_sole")
    force = np.einsum("tij,tj->ti", at["R"], at["force"])
    moment = np.einsum("tij,tj->ti", at["R"], at["torque"])
    pressed = force[:, 2] > 0.0
    assert pressed.sum() > 50
    arm = at["position"] - found.samples["zmp"]
    about = moment + np.cross(arm, force)
    assert np.abs(about[pressed, :2]).max() < 1e-9 * np.abs(moment).max()
    assert np.isnan(found.samples["zmp"][~pressed, :2]).all()
    assert found.samples["force"] == pytest.approx(force)


def test_zmp_by_the_momentum_of_the_whole_body(model):
    """x = c_x - (c_z m c_x'' + L_y') / (m (c_z'' + g)), Sardain and Bessonnet 2004."""
    found = Analyser(model).analyse(*random_samples(model), "r_sole")
    s = found.samples[found.samples["force"][:, 2] > 0.0]
    height = s["com"][:, 2] - s["zmp"][:, 2]
    f = model.mass * (s["com_acceleration"] + (0.0, 0.0, G))
    x = s["com"][:, 0] - (height * f[:, 0] + s["angular_momentum_rate"][:, 1]) / f[:, 2]
    y = s["com"][:, 1] - (height * f[:, 1] - s["angular_momentum_rate"][:, 0]) / f[:, 2]
    scale = np.abs(s["zmp"]).max()
    assert np.abs(s["zmp"][:, 0] - x).max() < 1e-10 * scale
    assert np.abs(s["zmp"][:, 1] - y).max() < 1e-10 * scale


def test_capture_point_is_where_an_inverted_pendulum_comes_to_rest(model):
    found = Analyser(model).analyse(*random_samples(model), "r_sole")
    s = found.samples
    omega = np.sqrt(G / (s["com"][:, 2] - s["zmp"][:, 2]))
    expected = s["com"][:, :2] + s["com_velocity"][:, :2] / omega[:, None]
    assert s["capture_point"][:, :2] == pytest.approx(expected, rel=1e-12)


def test_margin_is_the_distance_to_the_hull_of_the_fixed_soles(model):
    q, v, dv = random_samples(model, 200)
    flat = np.tile(model.neutral(), (200, 1))
    flat[:, 7:25] = q[:, 7:25]  # all but the legs
    found = Analyser(model).analyse(flat, 0.0 * v, 0.7 * dv, [FixedPhase(0, SOLES)])
    outlines = {sole.link: sole.vertices for sole in Analyser(model).soles}
    inside = 0
    for t in range(200):
        if not np.isfinite(found.samples["zmp"][t, 0]):
            continue
        points = np.concatenate(
            [
                found.support(link)["position"][t, :2]
                + outlines[link] @ found.support(link)["R"][t, :2, :2].T
                for link in SOLES
            ]
        )
        zmp, margin = found.samples["zmp"][t, :2], found.samples["margin"][t]
        depth = -(ConvexHull(points).equations @ [*zmp, 1.0]).max()
        assert (depth >= 0.0) == (margin >= 0.0)
        if depth >= 0.0:
            inside += 1
            assert margin == pytest.approx(depth, abs=1e-12)
            assert margin == pytest.approx(margins([zmp], convex_hull(points))[0], abs=1e-12)
        else:
            corners = convex_hull(points)
            assert margin == pytest.approx(-distance(zmp, corners), abs=1e-12)
    assert 10 < inside < 190


def distance(point, corners):
    """Return how far a point outside is from a polygon, from the nearest point of each edge."""
    best = np.inf
    for a, b in zip(corners, np.roll(corners, -1, axis=0)):
        s = np.clip((point - a) @ (b - a) / ((b - a) @ (b - a)), 0.0, 1.0)
        best = min(best, float(np.linalg.norm(point - a - s * (b - a))))
    return best


@pytest.mark.parametrize("turn", np.linspace(0.0, 6.0, 40))
def test_soles_whose_edges_lie_on_one_line(model, turn):
    """Turned anyhow: rounding puts the inner corners to either side of the line."""
    c, s = np.cos(turn), np.sin(turn)
    pose = (np.zeros(3), np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]))
    q, rest = model.neutral()[None], np.zeros((1, model.nv))
    standing = Analyser(model).analyse(q, rest, rest, [FixedPhase(0, SOLES)])
    turned = Analyser(model).analyse(q, rest, rest, [FixedPhase(0, SOLES, pose)])
    assert turned.samples["margin"][0] == pytest.approx(standing.samples["margin"][0], abs=1e-12)


def test_one_level_sole_has_its_own_margin(model):
    q, v, dv = random_samples(model, seed=4)
    level = FixedPhase(0, ("l_sole",), (np.array([1.0, 2.0, 0.3]), np.eye(3)))
    found = Analyser(model).analyse(q, v, dv, [level])
    pressed = found.samples["force"][:, 2] > 0.0
    at = found.support("l_sole")[pressed]
    assert found.samples["margin"][pressed] == pytest.approx(at["cop_margin"], abs=1e-12)
    assert found.samples["zmp"][pressed] == pytest.approx(at["cop"], abs=1e-9)


def test_soles_are_found_where_the_description_has_boxes(model):
    soles = soles_of(model)
    assert [sole.link for sole in soles] == list(SOLES)
    assert np.ptp(soles[0].vertices, axis=0) == pytest.approx([0.24, 0.14])
    with pytest.raises(ModelError, match="no link has a collision box to stand on"):
        soles_of(hrpsim.load_model(ALL_ROBOTS["g1_description/g1_29dof_rev_1_0"]))


def test_an_outline_needs_an_area():
    with pytest.raises(ModelError, match="'foot' has no area"):
        Sole("foot", [(0.0, 0.0), (1.0, 0.0), (2.0, 0.0)])
