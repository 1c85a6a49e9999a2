# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A chain of light links carries 10 000 times their mass. The direct solver stays exact."""

from itertools import pairwise

import numpy as np

import hrpsim

LINKS, LIGHT, HEAVY, LENGTH = 10, 0.1, 1000.0, 0.2


def hanging_chain(solver):
    """Return a world with a chain that hangs at rest, and its connections from top to bottom."""
    world = hrpsim.World(time_step=1e-3, solver=solver)
    links = [
        world.add_body(hrpsim.Box((0.05, 0.05, LENGTH)), mass, (0, 0, -LENGTH * (i + 0.5)))
        for i, mass in enumerate([LIGHT] * (LINKS - 1) + [HEAVY])
    ]
    joints = [world.connect(None, links[0], "ball", point=(0, 0, 0))]
    for i, (a, b) in enumerate(pairwise(links), start=1):
        joints.append(world.connect(a, b, "ball", point=(0, 0, -LENGTH * i)))
    return world, joints


below = np.cumsum([HEAVY] + [LIGHT] * (LINKS - 1))[::-1]  # mass that hangs on each joint
theory = below * 9.80665
errors = {}
for solver in ("iterative", "direct"):
    world, joints = hanging_chain(solver)
    world.step(100)
    forces = np.array([np.linalg.norm(joint.force) for joint in joints])
    errors[solver] = np.abs(forces / theory - 1).max()
    fraction = world.stats.last_call.converged_share
    print(f"{solver:9}: forces off by {errors[solver]:.1e}, {fraction:.0%} of the steps converged")

assert errors["direct"] < 1e-9
assert errors["iterative"] > 1e-3  # 120 sweeps are not enough for a mass ratio of 10 000

# Rules mix them in one world: the chain direct, its contacts with the floor iterative.
world, joints = hanging_chain([{"solver": "direct", "kind": "connection"}])
world.add_ground(height=-LENGTH * LINKS - 0.001)
world.step(100)
assert world.stats.converged
