"""What a step asked for: room in arrays, kernels; and scenes made anew with more in them."""

from __future__ import annotations

import numpy as np

from hrpsim.constraints.rows import new_rows
from hrpsim.dynamics.response import new_ports
from hrpsim.solvers.direct_system import DirectSystem, new_direct_system
from hrpsim.step.late_kernels import provide
from hrpsim.step.scene import status as ended
from hrpsim.step.scene.islands import LASTING
from hrpsim.step.scene.scene import Scene
from hrpsim.world.arrays.layout import BY_DOF


def enlarged(array: np.ndarray, size: int) -> np.ndarray:
    """Return a copy with room for `size` entries, the further ones zero."""
    larger = np.zeros((size, *array.shape[1:]), dtype=array.dtype)
    larger[: len(array)] = array
    return larger


def grow(scene: Scene, status: int) -> Scene:
    """Return the scene with twice the room that the step asked for; nothing else changes.

    A kernel that it asked for is put into the scene itself.
    """
    if status == ended.NEEDS_KERNEL:
        provide(scene, int(scene.tally["needed"][0]))
        return scene
    room = 2 * int(scene.tally["needed"][0])
    collision = scene.collision
    if status == ended.MORE_CANDIDATES:
        pairs = enlarged(collision.pairs, room)
        return scene._replace(collision=collision._replace(pairs=pairs))
    if status == ended.MORE_CONTACTS:
        room = max(room, len(collision.contacts), len(collision.passages))
        collision = collision._replace(
            contacts=enlarged(collision.contacts, room),
            previous=enlarged(collision.previous, room),
            passages=enlarged(collision.passages, room),
        )
        return scene._replace(collision=collision)
    if status == ended.MORE_BLOCKS:
        ports = new_ports(len(scene.forest.bodies), len(scene.forest.dofs), room)
        return scene._replace(ports=ports)
    if status == ended.MORE_DIRECT:
        return scene._replace(direct=_roomier(scene))
    rows, responses = len(scene.rows.rows), len(scene.rows.response)
    if status == ended.MORE_ROWS:
        return scene._replace(rows=new_rows(room, responses))
    return scene._replace(rows=new_rows(rows, room))


def carry_over(old: Scene, new: Scene, fixed_count: int, added: int) -> Scene:
    """Return a new scene that goes on from the old one: state, contacts, pushes and readings.

    The new one has all that the old one had in the same order, more entities after them, and
    `added` more fixed shapes after the first `fixed_count`.
    """
    for name in ("q", *BY_DOF, "kinematics", "tally"):
        kept = getattr(old, name)
        getattr(new, name)[: len(kept)] = kept
    for name in LASTING:
        new.islands.trees[name][: len(old.islands.trees)] = old.islands.trees[name]
    new.tally["candidate_count"] = -1
    new.tally["worst_row"] = -1
    new.sensors["reading"][: len(old.sensors)] = old.sensors["reading"]
    lists = {}
    for name in ("contacts", "previous"):
        kept, fresh = getattr(old.collision, name), getattr(new.collision, name)
        lists[name] = enlarged(kept, max(len(kept), len(fresh)))
        for shape in ("shape_a", "shape_b"):
            lists[name][shape] += added * (lists[name][shape] >= fixed_count)
    return new._replace(collision=new.collision._replace(**lists), wrenches=old.wrenches)


def _roomier(scene: Scene) -> DirectSystem:
    """Return a direct system with twice the room that its tally asks for."""
    tally = scene.direct.elimination.tally[0]
    nodes = max(2 * int(tally["node_count"]), len(scene.direct.nodes))
    entries = max(2 * int(tally["entry_count"]), len(scene.direct.elimination.entries))
    space = max(2 * int(tally["block_space"]), len(scene.direct.matrix))
    rows, trees = len(scene.rows.rows), len(scene.forest.bodies)
    columns = len(scene.ports.velocity)
    return new_direct_system(rows, columns, nodes, trees, entries, space)
