# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Order the entities in the arrays of a scene: those that sleep come last.

The arrays of bodies, positions and degrees of freedom are reordered in place, and all indices into
them are renumbered. The scene that steps consists of the leading parts of the arrays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from hrpsim.dynamics.constraint_bodies import forget_numbers, velocity_entries
from hrpsim.jit.fields import Axis, Life, at, declared_fields, replaced
from hrpsim.kinematics.forest import breadth_first, joints_first
from hrpsim.step.arrays import Scene
from hrpsim.world.objects.entity import Entity


def rearrange(scene: Scene, entities: Sequence[Entity]) -> None:
    """Put the entities of a scene in its arrays in the given order."""
    sources = {
        Axis.BODY: _indices(entities, "first_body", lambda e: len(e.system.parent)),
        Axis.POSITION: _indices(entities, "first_q", lambda e: e.nq),
        Axis.DOF: _indices(entities, "first_v", lambda e: e.nv),
    }
    before = None
    for entity in entities:
        entity.stand_after(before)
        before = entity
    new_indices = {axis: _inverse(indices) for axis, indices in sources.items()}
    for path, field in declared_fields(Scene):
        if field.life is Life.WORK:
            continue
        array = at(scene, path)
        if field.axis in sources:
            array[:] = array[sources[field.axis]]
        live = array[: int(scene.counts[field.live][0])] if field.live else array
        for name, axis in field.refers.items():
            if axis in new_indices:
                live[name] = new_indices[axis][live[name]]
    bodies = scene.forest.bodies
    scene.forest.order[:] = breadth_first(bodies["parent"], bodies["root"])
    scene.forest.joints[:] = joints_first(scene.forest.dofs["q_index"])
    forget_numbers(scene.constrained)


def front(scene: Scene, sizes: Mapping[Axis, int]) -> Scene:
    """Return a scene of the given numbers of bodies and positions, on the same memory."""
    columns = velocity_entries(sizes[Axis.BODY], sizes[Axis.DOF])
    sizes = {**sizes, Axis.COLUMN: columns}
    forget_numbers(scene.constrained)
    return replaced(
        scene,
        {
            path: at(scene, path)[: sizes[field.axis]]
            for path, field in declared_fields(Scene)
            if field.axis in sizes
        },
    )


def _indices(entities: Sequence[Entity], first: str, count) -> np.ndarray:
    """Return the present indices in an array of the entities' entries, entity by entity."""
    parts = [np.arange(getattr(e, first), getattr(e, first) + count(e)) for e in entities]
    return np.concatenate([np.zeros(0, dtype=np.int64), *parts])


def _inverse(indices: np.ndarray) -> np.ndarray:
    """Return the new index of each old one, and at the end -1 for -1."""
    inverse = np.full(len(indices) + 1, -1, dtype=np.int64)
    inverse[indices] = np.arange(len(indices))
    return inverse
