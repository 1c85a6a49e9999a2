# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Several fixed links share the surroundings' wrench by the rule that was chosen."""

import numpy as np
import pytest
from scipy.optimize import minimize

import hrpsim
from hrpsim.analysis import Analyser, FixedPhase
from robots import HRP2_LIKE

LENGTH = 0.1
SOLES = ("l_sole", "r_sole")
LEG = {2: -0.4538, 3: 0.8727, 4: -0.4189}


@pytest.fixture(scope="module")
def model():
    return hrpsim.load_model(HRP2_LIKE)


def standing(model, count, seed, sway):
    """Return samples around half-sitting: soles flat, the rest in random motion."""
    rng = np.random.default_rng(seed)
    q = np.tile(model.neutral(), (count, 1))
    v, dv = np.zeros((count, model.nv)), np.zeros((count, model.nv))
    for side in "LR":
        for number, angle in LEG.items():
            q[:, model.joint(f"{side}LEG_JOINT{number}").q_index] = angle
    for joint in model.joints[1:]:
        if "LEG" not in joint.name:
            q[:, joint.q_index] += rng.uniform(-0.4, 0.4, count)
            dv[:, joint.v_index] = sway * rng.normal(size=count)
    return q, v, dv


def world_wrenches(found, links):
    """Return force and moment about the world's origin of each link (T, links, 6), and arms."""
    rows, places = [], []
    for link in links:
        at = found.support(link)
        force = np.einsum("tij,tj->ti", at["R"], at["force"])
        moment = np.einsum("tij,tj->ti", at["R"], at["torque"])
        rows.append(np.concatenate([force, moment], axis=1))
        places.append(at["position"])
    return np.stack(rows, axis=1), np.stack(places, axis=1)


def resultant(wrenches, places):
    force = wrenches[..., :3].sum(axis=-2)
    moment = (wrenches[..., 3:] + np.cross(places, wrenches[..., :3])).sum(axis=-2)
    return np.concatenate([force, moment], axis=-1)


def norm(wrenches):
    return np.sum(wrenches[..., :3] ** 2) + np.sum(wrenches[..., 3:] ** 2) / LENGTH**2


def grasp(places):
    """Return the matrix (6, 6 n) from wrenches at the links to their resultant."""
    blocks = []
    for x, y, z in places:
        block = np.eye(6)
        block[3:, :3] = [[0, -z, y], [z, 0, -x], [-y, x, 0]]
        blocks.append(block)
    return np.hstack(blocks)


@pytest.mark.parametrize("split", ["minimum_norm", "center_of_pressure"])
def test_the_parts_add_up_to_the_whole(model, split):
    q, v, dv = standing(model, 100, 1, 2.0)
    single = Analyser(model, SOLES).analyse(q, v, dv, "l_sole")
    both = Analyser(model, SOLES, split=split).analyse(q, v, dv, [FixedPhase(0, SOLES)])
    whole = resultant(*world_wrenches(single, SOLES[:1]))
    parts = resultant(*world_wrenches(both, SOLES))
    assert np.abs(parts - whole).max() < 1e-10 * np.abs(whole).max()


def test_minimum_norm_is_the_pseudoinverse(model):
    q, v, dv = standing(model, 50, 2, 2.0)
    links = (*SOLES, "RARM_LINK5")
    found = Analyser(model, links).analyse(q, v, dv, [FixedPhase(0, links)])
    wrenches, places = world_wrenches(found, links)
    scale = np.tile([1.0] * 3 + [LENGTH] * 3, 3)  # the norm's unit of each component
    for mine, at in zip(wrenches, places):
        whole = resultant(mine, at)
        expected = scale * (np.linalg.pinv(grasp(at) * scale) @ whole)
        assert mine.ravel() == pytest.approx(expected, abs=1e-9 * np.abs(whole).max())


def test_links_side_by_side_carry_half_each(model):
    """Left and right alike: the force is shared evenly."""
    q, v, dv = standing(model, 1, 3, 0.0)
    q[:, [j.q_index for j in model.joints[1:] if "LEG" not in j.name]] = 0.0
    found = Analyser(model).analyse(q, v, dv, [FixedPhase(0, SOLES)])
    left, right = (found.support(sole)["force"][0, 2] for sole in SOLES)
    assert left == pytest.approx(right, rel=1e-9)
    assert left + right == pytest.approx(model.mass * 9.80665, rel=1e-12)


@pytest.mark.parametrize("lean", [(0.0, 1.8), (1.0, 1.6), (-0.6, 1.7), (0.5, -1.8), (-0.9, -1.5)])
def test_centers_of_pressure_stay_in_the_soles_and_cost_the_least(model, lean):
    """Against SLSQP, where the least norm alone would leave a sole: beside a strong wind."""
    q, v, dv = standing(model, 1, 4, 1.0)
    gravity, both = (*lean, -9.80665), [FixedPhase(0, SOLES)]
    free = Analyser(model, SOLES, gravity=gravity).analyse(q, v, dv, both)
    kept = Analyser(model, SOLES, gravity=gravity, split="center_of_pressure").analyse(
        q, v, dv, both
    )
    assert free.samples["margin"][0] > 2e-3 and free.supports["cop_margin"].min() < -1e-3
    assert kept.supports["cop_margin"].min() > -1e-6
    wrenches, places = (array[0] for array in world_wrenches(kept, SOLES))
    turns = [kept.support(sole)["R"][0] for sole in SOLES]
    outlines = [sole.vertices for sole in Analyser(model).soles]
    whole = resultant(wrenches, places)
    scale = np.tile([1.0] * 3 + [LENGTH] * 3, 2)
    G = grasp(places) * scale

    def conditions(x):
        values = []
        for part, R, corners in zip((scale * x).reshape(2, 6), turns, outlines):
            f, n = R.T @ part[:3], R.T @ part[3:]
            for a, b in zip(corners, np.roll(corners, -1, axis=0)):
                u, w = np.array([-(b - a)[1], (b - a)[0]]) / np.linalg.norm(b - a)
                values.append(u * (-n[1]) + w * n[0] - (u * a[0] + w * a[1]) * f[2])
        return np.array(values)

    best = minimize(
        lambda x: 1e-4 * x @ x,
        np.linalg.pinv(G) @ whole,
        jac=lambda x: 2e-4 * x,
        constraints=[
            {"type": "eq", "fun": lambda x: G @ x - whole, "jac": lambda x: G},
            {"type": "ineq", "fun": conditions},
        ],
        method="SLSQP",
        options={"ftol": 1e-12, "maxiter": 200},
    )
    assert best.success
    theirs = (scale * best.x).reshape(2, 6)
    assert norm(wrenches) == pytest.approx(norm(theirs), rel=1e-6)
    assert wrenches == pytest.approx(theirs, abs=0.05)


def test_the_condition_changes_nothing_where_it_holds_anyway(model):
    q, v, dv = standing(model, 50, 4, 1.0)
    both = [FixedPhase(0, SOLES)]
    free = Analyser(model, SOLES).analyse(q, v, dv, both)
    kept = Analyser(model, SOLES, split="center_of_pressure").analyse(q, v, dv, both)
    assert free.supports["cop_margin"].min() > 0.0
    assert (kept.supports["force"] == free.supports["force"]).all()


def test_where_no_division_keeps_inside_the_sum_is_still_right(model):
    """The zero-moment point is outside: the margin says so, the parts still add up."""
    q, v, dv = standing(model, 1, 5, 0.0)
    q[:, model.joint("CHEST_JOINT1").q_index] = 1.2
    dv[:, model.joint("CHEST_JOINT1").v_index] = -25.0
    single = Analyser(model, SOLES).analyse(q, v, dv, "l_sole")
    found = Analyser(model, SOLES, split="center_of_pressure").analyse(
        q, v, dv, [FixedPhase(0, SOLES)]
    )
    assert found.samples["margin"][0] < -0.01
    assert found.supports["cop_margin"].min() < 0.0
    whole = resultant(*world_wrenches(single, SOLES[:1]))
    parts = resultant(*world_wrenches(found, SOLES))
    assert parts == pytest.approx(whole, abs=1e-6 * np.abs(whole).max())
