# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Capsules and cylinders over a plane have contacts up to the margin, however they lie."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from hrpsim import Capsule, Cylinder, World

MARGIN = 2e-3


@pytest.mark.quick_cases("True-Cylinder")
@pytest.mark.parametrize("shape", [Capsule, Cylinder])
@pytest.mark.parametrize("tilted", [False, True])
def test_contacts_begin_at_the_margin(shape, tilted):
    """Law: a lowest point a little closer than the margin is a contact, further it is none."""
    rng = np.random.default_rng(1)
    ground = Rotation.random(random_state=2) if tilted else Rotation.identity()
    normal = ground.apply((0, 0, 1))
    for turn in Rotation.random(40, random_state=3):
        radius, length = rng.uniform(0.01, 0.2), rng.uniform(0.05, 1.0)
        cosine = abs(turn.apply((0, 0, 1)) @ normal)
        side = radius if shape is Capsule else radius * np.sqrt(1.0 - cosine**2)
        for gap, expected in ((0.999 * MARGIN, True), (1.001 * MARGIN, False)):
            world = World(1e-3, gravity=(0, 0, 0), contact_margin=MARGIN, sleeping=False)
            world.add_ground(normal=normal)
            height = 0.5 * length * cosine + side + gap
            place = height * normal + ground.apply((*rng.uniform(-3, 3, 2), 0))
            world.add_body(shape(radius, length), 1.0, position=place, orientation=turn.as_quat())
            world.step()
            assert (len(world.contacts) > 0) == expected
