# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Snapshots, and many worlds in parallel: stopping distances under friction, bit for bit."""

import numpy as np

import hrpsim

SPEED, G = 2.0, 9.80665

world = hrpsim.World(time_step=1e-3)
world.add_ground()
world.add_body(hrpsim.Box((0.2, 0.2, 0.1)), 1.0, (0, 0, 0.05), velocity=(SPEED, 0, 0), name="box")

# Sixteen copies that differ by their friction, stepped side by side on all processors.
friction = np.linspace(0.2, 0.9, 16)
with hrpsim.Batch(world, len(friction)) as batch:
    for copy, mu in zip(batch.worlds, friction):
        copy.set_friction("default", "default", static=mu)
    batch.step(2000)
    distances = batch.q("box")[:, 0]
theory = SPEED**2 / (2 * friction * G)
print(f"stopping distances: {np.abs(distances - theory).max():.1e} m off at most")
# The step in which the box stops ends in one piece: at most mu g dt^2 / 8 too far.
assert (np.abs(distances - theory) < 1.001 * friction * G * world.time_step**2 / 8).all()

# One of them by itself goes the same way to the last bit.
world.set_friction("default", "default", static=friction[5])
start = world.snapshot()
world.step(2000)
assert world.bodies["box"].q[0] == distances[5]

# A snapshot is a moment to return to.
world.restore(start)
assert world.time == 0.0 and world.bodies["box"].velocity[0] == SPEED
world.step(2000)
assert world.bodies["box"].q[0] == distances[5]
print("alone, again, and in the batch: the same bits")
