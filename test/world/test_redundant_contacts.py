# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Points of a rigid flat patch repeat what others say: the direct solver lets all of them carry.

Which of them is lowest by less than the slop is rounding, and decides nothing.
"""

import numpy as np
import pytest
from world.scenes import GRAVITY, show

from hrpsim import Box, World, load_model

MASS, SIDE, UNEVEN = 10.0, 0.4, 1e-9
SOLVERS = ("direct", "split")


def stool(places, unevenness):
    """A seat on balls that touch the ground when it is at 0.3 m, but for their unevenness."""
    feet = "".join(
        f'<collision name="foot{k}"><origin xyz="{x:.17g} {y:.17g} {up - 0.25:.17g}"/>'
        '<geometry><sphere radius="0.05"/></geometry></collision>'
        for k, ((x, y), up) in enumerate(zip(places, unevenness, strict=True))
    )
    return load_model(
        f'<robot name="stool"><link name="seat"><inertial><mass value="{MASS}"/><inertia ixx="0.2" '
        f'iyy="0.2" izz="0.3" ixy="0" ixz="0" iyz="0"/></inertial>{feet}</link></robot>'
    )


def ring(count):
    """Places of feet at the corners of a regular polygon."""
    turn = 2 * np.pi * (np.arange(count) + 0.5) / count
    return 0.5 * SIDE * np.stack([np.cos(turn), np.sin(turn)], axis=-1)


def loads(world):
    """What each contact carries [N]."""
    return np.array([contact.force @ contact.normal for contact in world.contacts])


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("count", [4, 8])
@pytest.mark.parametrize("seed", range(3))
def test_feet_within_a_nanometre_of_the_ground_share_the_weight(solver, count, seed):
    """The least forces that carry a weight amid a ring of feet are equal ones."""
    unevenness = np.random.default_rng(seed).uniform(-UNEVEN, UNEVEN, count)
    world = World(solver=solver)
    world.add_ground()
    model = stool(ring(count), unevenness)
    q = model.neutral()
    q[2] = 0.3
    world.add_robot(model, q=q)
    share = MASS * GRAVITY / count
    for steps in (1, 500):
        world.step(steps)
        carried = loads(world)
        show(f"{solver}, {count} feet: loads / share", *(carried / share))
        assert len(carried) == count
        np.testing.assert_allclose(carried, share, rtol=0.01)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("tilt", [-UNEVEN, UNEVEN])
def test_corners_of_a_box_turned_by_rounding_share_its_weight(solver, tilt):
    """One edge is a nanometre above the ground, the other one as far in it."""
    world = World(solver=solver)
    world.add_ground()
    lean = tilt / SIDE  # half of the angle whose sine is 2 tilt / SIDE
    box = Box((SIDE, SIDE, 0.2))
    world.add_body(box, MASS, (0, 0, 0.1), orientation=(lean, 0, 0, np.sqrt(1 - lean**2)))
    for steps in (1, 500):
        world.step(steps)
        carried = loads(world)
        gaps = [contact.gap for contact in world.contacts]
        show(f"{solver}: loads, gaps", *carried, *gaps)
        np.testing.assert_allclose(carried, MASS * GRAVITY / 4, rtol=0.01)


def test_a_contact_in_reach_of_the_slop_still_lets_go():
    """Nothing pulls: thrown up from a gap within the slop, a box flies as if alone."""
    world = World(solver="direct")
    world.add_ground()
    world.add_body(Box((SIDE, SIDE, 0.2)), MASS, (0, 0, 0.1 + 5e-7), velocity=(0, 0, 0.02))
    world.step(2)
    (body,) = world.bodies.values()
    assert body.velocity[2] == pytest.approx(0.02 - 2 * world.time_step * GRAVITY, abs=1e-12)
    assert np.abs(loads(world)).max(initial=0.0) == 0.0
