# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Meet what a step requests: larger arrays, kernels."""

from __future__ import annotations

from hrpsim.jit.fields import Axis, at, declared_fields, new_array, replaced
from hrpsim.jit.lazy_kernels import provide_requested
from hrpsim.solvers.direct_system import DirectSystem, new_direct_system
from hrpsim.solvers.newton.system import as_roomy_newton_system, roomier_newton_system
from hrpsim.step.arrays import Scene
from hrpsim.step.scene import status as ended

_AXIS_OF_STATUS = {
    ended.MORE_CANDIDATES: Axis.PAIR,
    ended.MORE_CONTACTS: Axis.CONTACT,
    ended.MORE_BLOCKS: Axis.BLOCK,
    ended.MORE_ROWS: Axis.ROW,
    ended.MORE_RESPONSES: Axis.RESPONSE,
}


def grow(scene: Scene, status: int) -> Scene:
    """Return the scene with twice the capacity that the step requested; nothing else changes.

    Kernels that it requested are put into the scene itself.
    """
    if status == ended.NEEDS_KERNEL:
        provide_requested(scene)
        return scene
    if status == ended.MORE_DIRECT:
        return scene._replace(direct=_roomier(scene))
    if status == ended.MORE_NEWTON:
        newton = roomier_newton_system(scene.newton)
        return scene._replace(newton=newton, newton_part=as_roomy_newton_system(newton))
    return with_room(scene, _AXIS_OF_STATUS[status], 2 * int(scene.failure["needed"][0]))


def with_room(scene: Scene, axis: Axis, room: int) -> Scene:
    """Return the scene with at least `room` entries along an axis in each array with that axis."""
    grown = {}
    for path, field in declared_fields(Scene):
        if axis not in field.shape:
            continue
        array = at(scene, path)
        shape = [
            max(room, size) if name is axis else size
            for name, size in zip(field.shape, array.shape, strict=True)
        ]
        grown[path] = new_array(shape, array.dtype, field.fill)
        grown[path][tuple(map(slice, array.shape))] = array
    return replaced(scene, grown)


def _roomier(scene: Scene) -> DirectSystem:
    """Return a direct system with twice the capacity that its counts require."""
    counts = scene.direct.elimination.counts[0]
    nodes = max(2 * int(counts["node_count"]), len(scene.direct.nodes))
    entries = max(2 * int(counts["entry_count"]), len(scene.direct.elimination.entries))
    space = max(2 * int(counts["block_space"]), len(scene.direct.matrix))
    rows, trees = len(scene.rows.rows), len(scene.forest.bodies)
    columns = len(scene.constrained.velocity)
    return new_direct_system(rows, columns, nodes, trees, entries, space)
