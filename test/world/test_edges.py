# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""States on an edge between two sides: each derivative is that of its side, and names the other."""

import numpy as np
import pytest
from grouped import one_compiles

from hrpsim import Box, Sphere, World, load_model

pytestmark = one_compiles("linearization")

SLOP = 1e-4
HALVINGS = 40
ARM = """<robot name="arm"><link name="base"/>
<link name="rod"><inertial><origin xyz="0 0 -0.3"/><mass value="1.0"/>
<inertia ixx="0.02" iyy="0.02" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="shoulder" type="revolute"><parent link="base"/><child link="rod"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="1" effort="5" velocity="100"/></joint></robot>"""


def slides(angle):
    """Return a world with a box, what pushes it until it slides, and v' by v."""
    world = World(slop=SLOP, sleeping=False, tolerance=1e-13)
    world.add_ground()
    box = world.add_body(Box((0.1, 0.1, 0.1)), 1.0, position=(0, 0, 0.05 - SLOP / 2))
    speed = 2.0 * float(world.scene.materials[0, 0]["static"]) * 9.80665 * world.time_step
    pose = box.q

    def put(share):
        box.q, box.v = pose, share * speed * np.array([np.cos(angle), np.sin(angle), 0, 0, 0, 0])

    return world, put, lambda found: np.trace(found.A[6:8, 6:8])


def closes(gap):
    """Return a world with a ball, what lets it fall so fast that it lands, and v' by v."""
    world = World(sleeping=False, tolerance=1e-13)
    world.add_ground()
    ball = world.add_body(Sphere(0.05), 1.0, position=(0, 0, 0.05 + gap))
    pose = ball.q

    def put(share):
        ball.q, ball.v = pose, [0, 0, -share * 3.0 * gap / world.time_step, 0, 0, 0]

    return world, put, lambda found: found.A[8, 8]


def sinks(depth):
    """Return a world with a ball, what puts it deeper than the slop, and z' by z."""
    world = World(slop=depth, sleeping=False, tolerance=1e-13)
    world.add_ground()
    ball = world.add_body(Sphere(0.05), 1.0, position=(0, 0, 0.05 - depth))
    pose = ball.q

    def put(share):
        ball.q = pose + np.array([0, 0, (0.5 - share) * depth, 0, 0, 0, 0])
        ball.v = np.zeros(6)

    return world, put, lambda found: found.A[2, 2]


def limited(angle):
    """Return a world with an arm, a command beyond its effort, and what the command changes."""
    world = World(sleeping=False, tolerance=1e-13)
    arm = world.add_robot(load_model(ARM, base="fixed"), q=[angle])
    arm.set_gains(100.0, 1.0)

    def put(share):
        arm.command(positions=[angle + share * 0.2])

    return world, put, lambda found: found.B[1, 0]


def stops(angle):
    """Return a world with an arm that swings into its upper limit, and v' by v."""
    world = World(sleeping=False, tolerance=1e-13)
    arm = world.add_robot(load_model(ARM, base="fixed"), q=[angle])
    gap = 1.0 - angle

    def put(share):
        arm.q, arm.v = [angle], [share * 3.0 * gap / world.time_step]

    return world, put, lambda found: found.A[1, 1]


@pytest.mark.parametrize(
    ("scene", "given", "sides"),
    [
        *((slides, angle, {"sticking", "sliding"}) for angle in np.linspace(0.0, 6.0, 8)),
        *((sinks, depth, {"within the slop", "beyond the slop"}) for depth in (1e-5, 1e-4)),
        *((closes, gap, {"open", "closed"}) for gap in (1e-5, 1e-4, 3e-4, 1e-3)),
        *(
            (limited, angle, {"within its effort limit", "at its effort limit"})
            for angle in (-0.8, -0.3, 0.2, 0.7)
        ),
        *((stops, angle, {"at its bound", "holds"}) for angle in (0.99, 0.995, 0.999, 0.9999)),
    ],
)
def test_both_sides_of_an_edge_are_named_and_differentiated(scene, given, sides):
    """Law: where a side changes, states before and behind it name both, and differ in A or B."""
    world, put, entry = scene(given)

    def at(share):
        put(share)
        return world.linearize("positions")

    ends, shares = [at(0.0), at(1.0)], [0.0, 1.0]
    first, last = map(entry, ends)
    assert abs(first - last) > 1e-3 * max(abs(first), abs(last))
    for _ in range(HALVINGS):
        middle = 0.5 * sum(shares)
        found = at(middle)
        later = int(abs(entry(found) - last) < abs(entry(found) - first))
        ends[later], shares[later] = found, middle
    named = [{(e.side, e.other) for e in one.on_edge if {e.side, e.other} == sides} for one in ends]
    a, b = sides
    assert all(named) and set.union(*named) == {(a, b), (b, a)}
