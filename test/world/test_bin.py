# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""What falls into a bin comes to rest, not in each other, and without energy from nowhere."""

import numpy as np
import pytest
from world.scenes import show

pytest.importorskip("coal")

from evidence.benchmarks import bin_scene
from evidence.benchmarks.cases.bin import TURN, Fall
from evidence.benchmarks.engines.bins import HrpsimBin
from evidence.benchmarks.overlap import Overlap
from evidence.benchmarks.timing import Effort


def fall_of(scene, sleeping, seconds) -> Fall:
    fall = Fall(HrpsimBin(scene, sleeping), scene, np.array([s.radius for s in scene.solids]))
    overlap = Overlap(scene)
    for _ in range(round(seconds / (TURN * bin_scene.TIME_STEP))):
        fall.turn(overlap, Effort())
    show("deepest ever, at rest [m]", max(fall.depths), fall.depths[-1])
    show("last impact [steps], at rest after [s]", fall.last_impact, fall.rest)
    show("energy lost, regained after the last impact [J]", fall.lost, fall.regained)
    show("fastest at the end [m/s]", fall.fastest[-1])
    return fall


@pytest.mark.quick_cases("few boxes-False", "few meshes-False")
@pytest.mark.parametrize("sleeping", [False, True])
@pytest.mark.parametrize(
    "scene, seconds",
    [
        pytest.param(bin_scene.boxes(12), 2.0, id="few boxes"),
        pytest.param(bin_scene.meshes(6), 2.0, id="few meshes"),
        pytest.param(bin_scene.boxes(45), 3.0, id="boxes"),
        pytest.param(bin_scene.meshes(18), 2.0, id="meshes"),
        pytest.param(bin_scene.meshes(24, seed=4), 4.0, id="meshes, dipping edges"),
        pytest.param(bin_scene.meshes(24, seed=8), 3.0, id="meshes, notches"),
    ],
)
def test_all_come_to_rest_beside_each_other(scene, seconds, sleeping):
    """Overlaps are coal's, from the poses alone; energy is kinetic and potential."""
    fall = fall_of(scene, sleeping, seconds)
    assert max(fall.depths[-20:]) < 1e-3
    assert fall.fastest[-1] < 1e-5
    assert fall.last_impact < len(fall.total) - 100
    assert fall.regained < 1e-8 * fall.lost


def test_overlaps_are_the_depth_of_what_was_pushed_in():
    """A box a millimetre deep in the floor, and one as deep in its neighbour."""
    scene = bin_scene.boxes(3)
    lengths = np.array([solid.shape.lengths for solid in scene.solids])
    upright = np.tile([0.0, 0.0, 0.0, 1.0], (3, 1))
    positions = np.array([[-0.2, 0.0, 0.0], [0.0, 0.0, 0.0], [0.2, 0.0, 0.0]])
    positions[:, 2] = 0.5 * lengths[:, 2]
    overlap = Overlap(scene)
    assert overlap.deepest(positions, upright) == pytest.approx(0.0, abs=1e-9)
    positions[1, 2] -= 1e-3
    assert overlap.deepest(positions, upright) == pytest.approx(1e-3, abs=1e-8)
    positions[1] = positions[0] + [0.5 * (lengths[0, 0] + lengths[1, 0]) - 2e-3, 0.0, 0.0]
    positions[1, 2] = 0.5 * lengths[1, 2]
    assert overlap.deepest(positions, upright) == pytest.approx(2e-3, abs=1e-8)
