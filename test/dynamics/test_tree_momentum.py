# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The momentum found from the leaves to the root is that of all links together."""

import numpy as np
import pinocchio
from dynamics.oracle import pair_of, pinocchio_q, random_q
from dynamics.trees import random_tree
from hypothesis import given, settings
from hypothesis import strategies as st

from hrpsim.engine.dynamics.tree_momentum import SUBTREE, tree_momentum
from hrpsim.engine.kinematics.forest import forest_of
from hrpsim.engine.kinematics.layout import velocity_to_kernel


@settings(max_examples=40)
@given(seed=st.integers(0, 2**32 - 1), link_count=st.integers(1, 15))
def test_it_is_pinocchios(seed, link_count):
    """P = M v of the centre of mass, by Pinocchio; the mass at the root is that of the tree."""
    pair = pair_of(random_tree(seed, link_count), "free")
    rng = np.random.default_rng(seed)
    q, v = random_q(pair.model, rng), rng.normal(size=pair.model.nv)
    forest = forest_of(pair.model.system)
    velocity, found = np.empty(pair.model.nv), np.empty(3)
    velocity_to_kernel(forest, q, v, velocity)
    subtrees = np.zeros(len(forest.bodies), dtype=SUBTREE)
    tree_momentum(forest, q, velocity, 0, subtrees, found)
    pinocchio.centerOfMass(pair.oracle, pair.data, pinocchio_q(pair.oracle, q), v)
    expected = pair.data.mass[0] * pair.data.vcom[0]
    assert np.abs(found - expected).max() < 1e-12 * max(1.0, np.abs(expected).max())
    assert abs(subtrees[0]["mass"] - pair.data.mass[0]) < 1e-12 * pair.data.mass[0]
