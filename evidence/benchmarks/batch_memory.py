# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Memory of a batch's world, by array: python -m evidence.benchmarks.batch_memory [ROBOT_FILE ...].

The worlds that a thread advances share intermediate results. Each world has separate memory for all
other data. Robots stand at the pose of the description. The default robot is hrp2_like on rigid
feet and on bushes.
"""

from __future__ import annotations

import sys
from collections import Counter

from evidence.experiments.scenes.standing import humanoid, our_standing
from hrpsim import World, load_model
from hrpsim.engine.compile.fields import Life, at, declared_fields
from hrpsim.engine.step.arrays import Scene


def print_arrays(name: str, world: World) -> None:
    """Print all arrays that each world has separately, with the bytes that a step may use."""
    scene, own, shared = world.scene, [], 0
    for path, field in declared_fields(Scene):
        array = at(scene, path)
        if field.live:
            array = array[: int(scene.counts[field.live][0])]
        if field.life is Life.WORK:
            shared += array.nbytes
        elif array.nbytes:
            own.append((array.nbytes, path, field.life.value))
    totals: Counter[str] = Counter()
    print(f"{name}: [bytes]")
    for size, path, life in sorted(own, reverse=True):
        totals[life] += size
        print(f"  {size:7d}  {path:32s} {life}")
    print(f"  {sum(totals.values()):7d}  a world: {dict(totals)}")
    print(f"  {shared:7d}  shared, most of them room that no step uses")


def main(files: list[str]) -> None:
    """Print the arrays of the robots of files, or of hrp2_like."""
    worlds = {} if files else {f"bush={b}": our_standing(humanoid(8, b))[0] for b in (False, True)}
    for file in files:
        worlds[file] = World()
        worlds[file].add_ground()
        worlds[file].add_robot(load_model(file))
    for name, world in worlds.items():
        world.step(10)
        print_arrays(name, world)


if __name__ == "__main__":
    main(sys.argv[1:])
