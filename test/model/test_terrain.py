# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Ground to walk on: where its surfaces are, and that a seed decides all that is random."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hrpsim
from hrpsim.model.shapes.terrain import (
    boxes,
    ramp,
    rough_ground,
    rubble,
    stairs,
    stepping_stones,
    waves,
)

LENGTH = st.floats(0.05, 3.0)


def corners(compound):
    """Return the corners of every part, (parts, points, 3)."""
    found = []
    for geometry, at in compound.parts:
        if isinstance(geometry, hrpsim.Box):
            signs = np.array(np.meshgrid(*[(-0.5, 0.5)] * 3)).reshape(3, -1).T
            points = signs * geometry.lengths
        else:
            points = geometry.vertices
        found.append(points @ at.R.T + at.p)
    return found


@given(count=st.integers(1, 9), rise=LENGTH, run=LENGTH, width=LENGTH, landing=st.floats(0, 2))
def test_tread_k_lies_at_k_rises_and_every_stair_stands_on_the_floor(
    count, rise, run, width, landing
):
    for k, points in enumerate(corners(stairs(count, rise, run, width, landing)), 1):
        low, high = points.min(axis=0), points.max(axis=0)
        assert (low[2], high[2]) == pytest.approx((0.0, k * rise))
        end = k * run + (landing if k == count else 0.0)
        assert (low[0], high[0]) == pytest.approx(((k - 1) * run, end))
        assert (low[1], high[1]) == pytest.approx((-0.5 * width, 0.5 * width))


def test_a_ramp_is_a_wedge_with_a_landing():
    wedge, landing = corners(ramp(2.0, 0.3, 1.0, landing=0.5))
    assert wedge[:, 2].max() == pytest.approx(0.3)
    assert wedge[np.argmax(wedge[:, 2]), 0] == pytest.approx(2.0)
    volume = ramp(2.0, 0.3, 1.0).parts[0][0].volume
    assert volume == pytest.approx(0.5 * 2.0 * 0.3 * 1.0)
    assert landing.min(axis=0) == pytest.approx((2.0, -0.5, 0.0))


@given(seed=st.integers(0, 2**32 - 1))
def test_stones_of_rubble_are_within_their_squares_and_no_higher_than_is_said(seed):
    """The circle about a stone is at most sqrt(2) of its square; heights are 1/4 to 1."""
    parts = corners(rubble(1.0, 0.6, 0.02, 0.1, seed))
    assert len(parts) == 60
    tall = np.array([points[:, 2].max() for points in parts])
    assert (0.005 <= tall).all() and (tall <= 0.02 + 1e-12).all()
    middle = np.array([points.mean(axis=0)[:2] for points in parts]).reshape(10, 6, 2)
    square = np.stack(
        np.meshgrid(0.1 * np.arange(10) + 0.05, 0.1 * np.arange(6) - 0.25, indexing="ij"), axis=-1
    )
    assert np.abs(middle - square).max() <= 0.025 + 1e-12


def test_stepping_stones_alternate():
    parts = corners(stepping_stones(4, 0.3, 0.1, 0.2, 0.15, uneven=0.05, seed=3))
    tops = [points[:, 2].max() for points in parts]
    assert all(0.1 <= top <= 0.15 for top in tops) and len(set(tops)) == 4
    middles = np.array([points.mean(axis=0)[:2] for points in parts])
    assert middles[:, 0] == pytest.approx([0.3, 0.6, 0.9, 1.2])
    assert middles[:, 1] == pytest.approx([0.1, -0.1, 0.1, -0.1])
    with pytest.raises(hrpsim.ModelError, match="uneven must be from 0 to below height"):
        stepping_stones(4, 0.3, 0.1, 0.2, 0.15, uneven=0.15)


@given(seed=st.integers(0, 2**32 - 1))
def test_rough_ground_fills_its_height(seed):
    field = rough_ground(3.0, 2.0, 0.1, 1.0, spacing=0.1, seed=seed)
    heights = field.heights
    assert heights.shape == (31, 21)
    assert heights.min() == 0.0 and heights.max() == pytest.approx(0.1)


@pytest.mark.parametrize(
    "make",
    [
        lambda seed: rubble(1.0, 1.0, 0.02, 0.2, seed),
        lambda seed: stepping_stones(5, 0.3, 0.1, 0.2, 0.15, 0.05, seed),
    ],
)
def test_the_seed_decides(make):
    first, again, other = (np.concatenate(corners(make(seed))) for seed in (7, 7, 8))
    assert (first == again).all() and not (first == other).all()
    a, b, c = (rough_ground(1.0, 1.0, 0.1, 0.5, seed=seed).heights for seed in (7, 7, 8))
    assert (a == b).all() and not (a == c).all()


def test_lengths_and_counts_are_checked():
    with pytest.raises(hrpsim.ModelError, match="stairs: rise must be positive"):
        stairs(3, 0.0, 0.3, 1.0)
    with pytest.raises(
        hrpsim.ModelError, match=r"rough_ground: 2000\d+ x 21 heights.*limit FIELD_HEIGHTS"
    ):
        rough_ground(1e9, 1.0, 0.1, 0.5)
    with pytest.raises(
        hrpsim.ModelError, match=r"rough_ground: must have at least 2 x 2 heights, got 1 x 21"
    ):
        rough_ground(0.01, 1.0, 0.1, 0.5)
    with pytest.raises(
        hrpsim.ModelError, match=r"rubble: must have 1 to .*COMPOUND_PARTS.*got 1000000"
    ):
        rubble(10.0, 10.0, 0.02, 0.01)


TERRAIN = """
static:
  - {name: climb, shape: {stairs: {count: 3, rise: 0.1, run: 0.3, width: 2}}, position: [1, 0, 0]}
  - {shape: {ramp: {length: 2, rise: 0.2, width: 1}}, position: [0, 5, 0]}
  - {shape: {rubble: {length: 1, width: 1, height: 0.02, stone: 0.1, seed: 4}}, position: [0, 9, 0]}
  - shape: {stepping_stones: {count: 4, spacing: 0.3, aside: 0.1, size: 0.2, height: 0.1}}
    position: [9, 0, 0]
  - shape: {rough_ground: {length: 2, width: 2, height: 0.1, wave: 1, seed: 4}}
    position: [9, 9, 0]
bodies:
  - {name: ball, shape: {sphere: 0.05}, mass: 1, position: [1.45, 0, 0.3]}
"""


def test_one_line_of_a_world_file_each(tmp_path):
    """A ball above the second tread comes to rest on it, at twice the rise."""
    (tmp_path / "terrain.yaml").write_text(TERRAIN)
    world = hrpsim.load_world(tmp_path / "terrain.yaml")
    world.step(1000)
    assert world.bodies["ball"].position[2] == pytest.approx(0.25, abs=1e-4)
    (tmp_path / "bad.yaml").write_text(TERRAIN.replace("count: 3, rise", "steps: 3, rise"))
    with pytest.raises(hrpsim.WorldError, match="steps"):
        hrpsim.load_world(tmp_path / "bad.yaml")


def test_boxes_fill_a_grid_and_stand_on_the_floor():
    found = corners(boxes(1.0, 0.5, 0.2, 0.25, seed=3))
    assert len(found) == 8
    every = np.concatenate(found)
    assert every.min(axis=0) == pytest.approx((0.0, -0.25, 0.0))
    assert every.max(axis=0)[:2] == pytest.approx((1.0, 0.25))
    tops = np.array([points[:, 2].max() for points in found])
    assert len(set(tops)) == 8 and (tops >= 0.01).all() and (tops <= 0.2).all()
    again = [points[:, 2].max() for points in corners(boxes(1.0, 0.5, 0.2, 0.25, seed=3))]
    assert again == tops.tolist()
    other = [points[:, 2].max() for points in corners(boxes(1.0, 0.5, 0.2, 0.25, seed=4))]
    assert other != tops.tolist()


def test_waves_are_a_cosine_along_x():
    field = waves(2.0, 1.0, 0.1, 0.5)
    x, y, z = field.vertices.T
    assert z == pytest.approx(0.05 * (1.0 - np.cos(2.0 * np.pi * x / 0.5)), abs=1e-12)
    assert (x.min(), x.max(), y.min(), y.max()) == pytest.approx((0.0, 2.0, -0.5, 0.5))
    assert z.max() == pytest.approx(0.1)
