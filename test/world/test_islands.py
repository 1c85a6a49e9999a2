# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Islands: who is solved together, against brute force; and that nothing else has a say in it."""

import numpy as np
import pytest
from world.scenes import GRAVITY, show
from world.scripted import bits, everything, pile

from hrpsim import Box, Sphere, World, load_model
from robots import HRP2_LIKE


def found_islands(world: World) -> list[set[int]]:
    """Return the rows of each island of the last step, contacts with all three."""
    scene = world.scene
    contacts = int(scene.counts["contact_count"][0])
    islands = []
    for k in range(int(scene.counts["island_count"][0])):
        island = scene.islands.ranges[k]
        island_rows = scene.rows.island_rows[island["first"] : island["end"]].tolist()
        pressed = int(island["contact_end"] - island["first"])
        assert all(n % 3 == 0 and n < 3 * contacts for n in island_rows[:pressed])
        assert all(n >= 3 * contacts for n in island_rows[pressed:])
        assert island_rows[:pressed] == sorted(island_rows[:pressed])
        assert island_rows[pressed:] == sorted(island_rows[pressed:])
        islands.append(
            {n + r for n in island_rows[:pressed] for r in range(3)} | set(island_rows[pressed:])
        )
    return islands


def islands_by_force(world: World) -> set[frozenset[int]]:
    """Return the same from the rows' bodies: sets of rows that share trees, merged."""
    scene = world.scene
    roots = scene.forest.bodies["root"]
    groups = []
    for n in range(int(scene.counts["row_count"][0])):
        row = scene.rows.rows[n]
        constrained = [
            int(row[f"constrained_{side}"]) for side in "ab" if row[f"constrained_{side}"] >= 0
        ]
        trees = {int(roots[scene.constrained.bodies[p]["body"]]) for p in constrained}
        touched = [g for g in groups if g[0] & trees]
        groups = [g for g in groups if not g[0] & trees]
        groups.append((trees.union(*(g[0] for g in touched)), {n}.union(*(g[1] for g in touched))))
    return {frozenset(rows) for _, rows in groups}


def test_islands_are_what_shares_trees():
    """Boxes that scatter, chains among them and a robot, against merging sets by brute force."""
    world = World(solver="iterative")
    everything("semi_implicit", 16, world)
    bodies = list(world.bodies.values())
    for a, b in zip(bodies[:6:2], bodies[1:6:2], strict=True):
        world.connect(a, b, "ball")
    world.connect(bodies[7], None, "ball")
    most = 0
    for _ in range(60):
        world.step(15)
        found = found_islands(world)
        assert sum(map(len, found)) == world.stats.row_count
        assert {frozenset(rows) for rows in found} == islands_by_force(world)
        most = max(most, len(found))
    show("most islands at once", most)
    assert most >= 6


def test_direct_rows_are_one_island_and_the_rest_are_their_own():
    world = World()
    everything("semi_implicit", 12, world)
    bodies = list(world.bodies.values())
    world.connect(bodies[0], bodies[1], "ball", solver="direct")
    world.connect(bodies[4], None, "ball", solver="direct")
    world.step(700)
    direct = int(world.scene.counts["direct_island"][0])
    solvers = world.scene.rows.rows["solver"]
    for k, rows in enumerate(found_islands(world)):
        assert (k == direct) == any(solvers[n] for n in rows)
    assert len(found_islands(world)) > 1
    assert world.stats.direct_rows == 6


def states(world: World, names) -> list:
    return [(world.entities[n].q.tobytes(), world.entities[n].v.tobytes()) for n in names]


@pytest.mark.quick_cases("semi_implicit")
@pytest.mark.parametrize("integrator", ("semi_implicit", "euler"))
def test_what_happens_elsewhere_changes_no_bit(integrator):
    """A falling pile moves alike with or without another pile and a robot far away.

    Not so in rk4, where whatever meets in a step makes the velocities of all jump.
    """
    alone, among = (World(integrator=integrator, sleeping=False) for _ in range(2))
    for world in (alone, among):
        world.set_friction("pile", "pile", static=0.5)
        world.add_ground()
        pile(world, 8)
    names = list(alone.bodies)
    for k in range(6):
        among.add_body(Box((0.2, 0.2, 0.2)), 0.3 * 3.0**k, position=(5, 0, 0.15 + 0.25 * k))
    model = load_model(HRP2_LIKE)
    q = model.neutral()
    q[:3] = 0.0, 5.0, 0.6
    among.add_robot(model, q=q)
    for _ in range(12):
        alone.step(75)
        among.step(75)
        assert states(alone, names) == states(among, names)
    assert among.stats.contact_count > alone.stats.contact_count + 10


def test_stats_speak_for_all_islands():
    """A heavy box on a light one takes many sweeps; a ball beside it does not, and both count."""
    world = World(sleeping=False, sweep_limit=500)
    world.add_ground()
    world.add_body(Sphere(0.1), 1.0, position=(2, 0, 0.1))
    world.step(5)
    few = world.stats.iterations
    for k in range(3):
        world.add_body(Box((0.2, 0.2, 0.2)), 10.0**k, position=(0, 0, 0.1 + 0.2 * k))
    world.step()
    show("sweeps of the ball, of both", few, world.stats.iterations)
    assert world.stats.iterations > 4 * few
    assert world.stats.row_count == 39
    assert len(found_islands(world)) == 2
    world.step(200)
    assert world.stats.converged
    assert 0.0 <= world.stats.residual <= 1e-6 * GRAVITY * world.time_step


def test_one_stopping_rule_over_all_impulses_keeps_all_in_one_island():
    """The papers' relative change is that of the vector of all impulses."""
    world = World(stop="relative_change", tolerance=1e-3, sleeping=False)
    world.add_ground()
    for k in range(3):
        world.add_body(Sphere(0.1), 1.0, position=(k, 0, 0.1))
    world.step(3)
    assert len(found_islands(world)) == 1
    assert np.isclose(sum(abs(c.force[2]) for c in world.contacts), 3 * GRAVITY, rtol=1e-2)


def test_the_same_input_gives_the_same_bits():
    first, second = everything("semi_implicit", 16), everything("semi_implicit", 16)
    first.step(600)
    for _ in range(600):
        second.step()
    assert bits(first) == bits(second)
