# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Cost of a step with piles of boxes awake and asleep, alone and with a standing robot.

bench_sleeping.py [count ...] prints the processor time of a step [us], the minimum of several
measurements. The boxes are in stacks of five. `--islands` instead prints the fraction of constraint
rows in the largest island while the boxes of E1 fall into the tray. This fraction limits the gain
of solving islands in two threads.
"""

from __future__ import annotations

import sys
import time

import numpy as np

import hrpsim
from evidence.experiments.studies.e01_boxes_on_a_slope import dropped, our_world
from hrpsim import share_path

_HEIGHT = 5  # number of boxes in a stack


def stacks(count: int, sleeping: bool, robot: bool = False) -> hrpsim.World:
    """Return a world with `count` boxes, and with hrp2_like if `robot`."""
    world = hrpsim.World(sleeping=sleeping)
    world.add_ground()
    if robot:
        model = hrpsim.load_model(share_path("urdf/hrp2_like.urdf.xacro"))
        q = model.neutral()
        q[2] = 0.6487
        for side in "LR":
            for joint, angle in {2: -0.4538, 3: 0.8727, 4: -0.4189}.items():
                q[model.joint(f"{side}LEG_JOINT{joint}").q_index] = angle
        world.add_robot(model, q=q)
    for k in range(count):
        stack, layer = divmod(k, _HEIGHT)
        position = (2.0 + 0.3 * (stack // 20), 0.3 * (stack % 20), 0.05 + 0.1 * layer)
        world.add_body(hrpsim.Box((0.1, 0.2, 0.1)), 2.0, position=position)
    return world


def cost(world: hrpsim.World, steps: int, turns: int = 7) -> float:
    """Return the processor time of a step [us], the minimum over `turns` timed calls."""
    times = []
    for _ in range(turns):
        start = time.process_time()
        world.step(steps)
        times.append((time.process_time() - start) / steps)
    return 1e6 * min(times)


def cost_of_calls(world: hrpsim.World, calls: int = 2000) -> float:
    """Return the processor time of a step [us] if Python calls each step."""
    start = time.process_time()
    for _ in range(calls):
        world.step()
    return 1e6 * (time.process_time() - start) / calls


def piles(counts: list[int]) -> None:
    """Print the table of the costs of stacks."""
    print("boxes  awake  asleep (a call each / 1000 steps a call)  contacts")
    for count in counts:
        world = stacks(count, sleeping=False)
        world.step(300)
        awake = cost(world, max(4, 2000 // count), 5)
        world.sleeping = True
        world.step(1200)
        assert len(world.asleep) == count, "not all sleep"
        each, many = cost_of_calls(world), cost(world, 1000)
        print(f"{count:5d}  {awake:5.0f}  {each:.2f} / {many:.4f}  {len(world.contacts)}")
    count, results = max(c for c in counts if c <= 500), {}
    for name, boxes, sleeping in (("alone", 0, True), ("asleep", count, True)):
        world = stacks(boxes, sleeping, robot=True)
        world.step(1500)
        assert len(world.asleep) == boxes
        results[name] = world
    for turn in range(3):
        line = {name: f"{cost(world, 400):.2f}" for name, world in results.items()}
        calls = {name: f"{cost_of_calls(world):.2f}" for name, world in results.items()}
        print(f"hrp2_like, + {count} boxes asleep, turn {turn}: {line}; a call each: {calls}")


def largest_islands(count: int) -> None:
    """Print the fraction of rows in the largest island, while boxes fall and pile up."""
    world = our_world(dropped(count), "semi_implicit")
    world.sleeping = False
    shares, sizes = [], []
    for _ in range(50):
        world.step(40)
        scene = world.scene
        ranges = scene.islands.ranges[: int(scene.counts["island_count"][0])]
        rows = 3 * (ranges["contact_end"] - ranges["first"]) + ranges["end"] - ranges["contact_end"]
        if world.stats.row_count:
            shares.append(rows.max() / rows.sum())
            sizes.append(rows.sum())
    gain = 1.0 / np.maximum(0.5, shares)
    weights = np.array(sizes) / np.sum(sizes)
    print(f"{count} boxes: the largest island has {np.dot(shares, weights):.3f} of the rows,")
    print(f"two threads could sweep {np.dot(gain, weights):.3f} times as fast at most")


if __name__ == "__main__":
    arguments = sys.argv[1:]
    if "--islands" in arguments:
        for number in (30, 100):
            largest_islands(number)
    else:
        piles([int(a) for a in arguments] or [10, 100, 500, 1000])
